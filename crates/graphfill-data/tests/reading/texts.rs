//! Encodings, separators, compression and pipes.

use std::io::Write;

use graphfill_data::formats::{Delimiter, Encoding, Input, ReadOptions, TextOptions};
use graphfill_data::{DataError, NoProgress};

use crate::{Files, notes};

const NODES: &str = "id,city,v\na,Zürich,1.5\nb,Genève,2.5\nc,Zürich,3.5\nd,Genève,\n";
const EDGES: &str = "source,target\na,b\nb,c\nc,d\n";

fn utf16(text: &str, mark: bool) -> Vec<u8> {
    let units = mark.then_some(0xfeff).into_iter().chain(text.encode_utf16());
    units.flat_map(u16::to_le_bytes).collect()
}

#[test]
fn other_encodings_are_read_and_said_and_written_back() {
    let latin1: Vec<u8> = NODES.chars().map(|c| c as u32 as u8).collect();
    let cases =
        [(latin1, "Latin-1"), (utf16(NODES, true), "utf-16le"), (utf16(NODES, false), "utf-16le")];
    for (bytes, said) in cases {
        let files = Files::new(&bytes, EDGES);
        let dataset = files.read();
        assert!(notes(&dataset).contains(said), "{}", notes(&dataset));
        assert_eq!(dataset.table.column("city").expect("cities").text().value(0), "Zürich");
        assert_eq!(files.written(&dataset, "out.csv"), bytes);
    }
    // Bytes that are not UTF-8 far down in the file stop with the line.
    let mut late = String::from("id,city\n");
    (0..9000).for_each(|row| late.push_str(&format!("n{row},Bern\n")));
    let mut late = late.into_bytes();
    late.extend(b"z,Gen\xe8ve\n");
    let files = Files::new(late, "source,target\nz,n1\n");
    let error = files.error();
    assert!(error.contains("line 9002") && error.contains("Encoding"), "{error}");
    let nodes = TextOptions { encoding: Some(Encoding::Latin1), ..TextOptions::default() };
    assert!(files.try_read(&ReadOptions { nodes, ..ReadOptions::default() }).is_ok());
}

#[test]
fn the_output_keeps_separator_line_ends_and_mark() {
    let text = "\u{feff}id;v;w\r\na;1,5;x\r\nb;2,5;x\r\nc;;y\r\nd;4;y\r\n";
    let files = Files::new(text, EDGES);
    let dataset = files.read();
    assert_eq!(dataset.table.id_column.name, "id");
    assert_eq!(String::from_utf8_lossy(&files.written(&dataset, "out.csv")), text);
    let tabs = files.written(&dataset, "out.tsv");
    assert!(String::from_utf8_lossy(&tabs).contains("id\tv\tw\r\n"));
}

#[test]
fn each_file_has_a_separator_of_its_own() {
    let files = Files::named("nodes.csv", NODES, "edges.txt", "a b\nb c\nc d\n");
    assert_eq!(files.read().graph.arcs(), 3);
    // networkx writes a dictionary behind the ends.
    let files = Files::named("nodes.csv", NODES, "g.edgelist", "a b {}\nb c {}\n");
    let dataset = files.read();
    assert_eq!((dataset.graph.arcs(), dataset.graph.is_weighted()), (2, false));
    let weighted = "a b {'weight': 0.5}\nb c {'weight': 2, 'day': 7}\n";
    let dataset = Files::named("nodes.csv", NODES, "g.edgelist", weighted).read();
    assert_eq!(dataset.graph.weights_of(1), Some(&[2.0][..]));
    let files = Files::new(NODES, "source:target\na:b\n");
    let edges = TextOptions { delimiter: Some(Delimiter::Byte(b':')), ..TextOptions::default() };
    let options = ReadOptions { edges, ..ReadOptions::default() };
    assert_eq!(files.try_read(&options).expect("read").graph.arcs(), 1);
}

#[test]
fn compressed_tables_are_read_and_written() {
    let packed = zstd::encode_all(NODES.as_bytes(), 0).expect("packed");
    let files = Files::named("nodes.csv.zst", packed, "edges.csv", EDGES);
    let dataset = files.read();
    let out = files.written(&dataset, "out.csv.zst");
    assert_eq!(zstd::decode_all(out.as_slice()).expect("unpacked"), NODES.as_bytes());
    let files = Files::named("nodes.csv.zst", NODES, "edges.csv", EDGES);
    assert!(files.error().contains("the name says Zstandard"));
}

#[cfg(unix)]
#[test]
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn a_pipe_is_opened_once() {
    let files = Files::new(NODES, EDGES);
    let pipe = files.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no mkfifo here");
        return;
    }
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || {
            let mut file = std::fs::File::create(pipe).expect("opened");
            file.write_all(NODES.as_bytes()).expect("written");
        }
    });
    let input = Input::detect(&pipe, Some(&files.path("edges.csv"))).expect("an input");
    let dataset = input.read(&ReadOptions::default(), &NoProgress).expect("read");
    writer.join().expect("joined");
    assert_eq!((dataset.table.rows(), dataset.graph.arcs()), (4, 3));
}

#[test]
fn a_record_has_a_cap_and_a_table_a_limit() {
    // Two kilobytes that unpack to a line of 256 MiB.
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(b"id,v\na,").expect("packed");
    let zeros = vec![b'0'; 1 << 20];
    for _ in 0..256 {
        encoder.write_all(&zeros).expect("packed");
    }
    let bytes = encoder.finish().expect("packed");
    let files = Files::named("nodes.csv.gz", bytes, "edges.csv", "source,target\na,a\n");
    let error = files.error();
    assert!(error.contains("64 MiB"), "{error}");

    let rows: String = (0..40_000).map(|row| format!("node number {row},{row}\n")).collect();
    let files = Files::new(format!("id,v\n{rows}"), "source,target\nnode number 1,node number 2\n");
    let options = ReadOptions { memory_limit: 1 << 18, ..ReadOptions::default() };
    let error = files.try_read(&options).expect_err("too large");
    assert!(matches!(error, DataError::MemoryLimit { .. }), "{error}");
}

/// Lines are counted alike whatever ends them.
#[test]
fn errors_name_the_line_of_windows_files_too() {
    for end in ["\n", "\r\n"] {
        let edges = ["source,target", "a,b", "b,zed", "a,c", ""].join(end);
        let error = Files::new("id,v\na,5.5\nb,6.5\nc,7\n", &edges).error();
        assert!(error.contains("line 3") && error.contains("'zed'"), "{end:?}: {error}");
    }
}
