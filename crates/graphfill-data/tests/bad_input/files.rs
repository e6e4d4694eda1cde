//! Files that are not what their names say, cut short, or not there.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use graphfill_data::formats::ReadOptions;

use crate::{assert_helpful, folder, read};

fn gzipped(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).expect("packed text");
    encoder.finish().expect("packed text")
}

#[test]
fn a_name_that_contradicts_the_content_is_an_error() {
    let text = b"id,x\na,1\nb,2\n";
    let cases: [(&str, &[u8], &str); 6] = [
        ("nodes.parquet", text, "the name says Parquet, the content doesn't"),
        ("nodes.csv.gz", text, "the name says gzip, the content doesn't"),
        ("nodes.npz", text, "the name says .npz, the content doesn't"),
        ("nodes.npz", b"", "the name says .npz, the content doesn't"),
        ("nodes.csv", b"PK\x03\x04 no archive", "no whole .npz archive"),
        ("nodes.csv", b"PAR1 no table PAR1", "damaged or cut short"),
    ];
    for (name, content, found) in cases {
        let (_folder, path) = folder(&[(name, content)]);
        assert_helpful(found, read(&path, None, &ReadOptions::default()), name, &[found]);
    }
}

#[test]
fn an_archive_is_no_table_of_edges() {
    let archive = crate::samples::archive(&crate::samples::own_arrays());
    let (folder, nodes) = folder(&[("nodes.csv", b"id,x\na,1\n"), ("edges.npz", &archive)]);
    let found = read(&nodes, Some(&folder.path().join("edges.npz")), &ReadOptions::default());
    assert_helpful("archive", found, "edges.npz", &["give it alone"]);
}

#[test]
fn a_folder_of_several_graphs_lists_them() {
    let archive = crate::samples::archive(&crate::samples::own_arrays());
    let (folder, _) = folder(&[("one.npz", &archive), ("two.npz", &archive)]);
    let found = read(folder.path(), None, &ReadOptions::default());
    let parts = ["several .npz graphs", "name one", "one.npz", "two.npz"];
    assert_helpful("several", found, &folder.path().display().to_string(), &parts);
}

#[test]
fn every_cut_of_a_gzipped_table_is_an_error() {
    let mut text = b"id,x\n".to_vec();
    for row in 0..2000u32 {
        writeln!(text, "n{row},{}", row.wrapping_mul(2_654_435_761) % 1000).expect("text grows");
    }
    let whole = gzipped(&text);
    for end in (2..whole.len()).step_by(whole.len() / 60) {
        let (_folder, path) = folder(&[("nodes.csv.gz", &whole[..end])]);
        let found = read(&path, None, &ReadOptions::default());
        assert_helpful(&format!("cut at {end}"), found, "nodes.csv.gz", &["damaged or cut short"]);
    }
    let (_folder, path) = folder(&[("nodes.csv.gz", &whole)]);
    assert_eq!(read(&path, None, &ReadOptions::default()).expect("a table").table.rows(), 2000);
}

#[test]
fn a_file_that_is_not_there_or_is_a_folder_is_named() {
    let (folder, nodes) = folder(&[("nodes.csv", b"id,x\na,1\n")]);
    let options = ReadOptions::default();
    let absent = folder.path().join("absent.csv");
    assert_helpful("absent", read(&absent, None, &options), "absent.csv", &["check the path"]);
    let found = read(&nodes, Some(&absent), &options);
    assert_helpful("absent edges", found, "absent.csv", &["check the path"]);
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).expect("a folder");
    let found = read(&nodes, Some(&inner), &options);
    assert_helpful("folder as edges", found, "inner", &["this is a folder", "name a file"]);
    let found = read(&inner, None, &options);
    assert_helpful("empty folder", found, "inner", &["no graph", "CSV, TSV, Parquet"]);
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path) = folder(&[("nodes.csv", b"id,x\na,1\n")]);
    let closed = std::fs::Permissions::from_mode(0o000);
    std::fs::set_permissions(&path, closed).expect("changed permissions");
    if std::fs::File::open(&path).is_ok() {
        #[allow(clippy::print_stdout, reason = "a test that is skipped says so")]
        {
            println!("skipped: this user may read every file");
        }
        return;
    }
    let found = read(&path, None, &ReadOptions::default());
    assert_helpful("closed", found, "nodes.csv", &["check the permissions"]);
}
