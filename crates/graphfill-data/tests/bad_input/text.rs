//! Text tables with faults.

use graphfill_data::formats::{ReadOptions, UnknownNodes, WeightColumn};
use graphfill_data::{DeclaredBlock, DeclaredKind, MissingWords};

use crate::{assert_helpful, folder, read};

struct Case {
    name: &'static str,
    nodes: &'static [u8],
    edges: &'static [u8],
    /// The file that the message names.
    file: &'static str,
    parts: &'static [&'static str],
}

const NODES: &[u8] = b"id,x\na,0.5\nb,1.5\nc,2.5\n";
const EDGES: &[u8] = b"source,target\na,b\n";

const CASES: [Case; 23] = [
    Case {
        name: "unknown target",
        nodes: NODES,
        edges: b"source,target\na,b\nb,z\n",
        file: "edges.csv",
        parts: &["line 3", "'z'", "UnknownNodes"],
    },
    Case {
        name: "unknown source",
        nodes: NODES,
        edges: b"source,target\nq,b\n",
        file: "edges.csv",
        parts: &["line 2", "'q'", "not in the node table"],
    },
    Case {
        name: "a short row",
        nodes: b"id,x,y\na,1,2\nb,1\n",
        edges: EDGES,
        file: "nodes.csv",
        parts: &["line 3", "2 cells", "the first row 3", "quotes"],
    },
    Case {
        name: "a long row",
        nodes: b"id,x\na,1\nb,1,5\n",
        edges: EDGES,
        file: "nodes.csv",
        parts: &["line 3", "3 cells", "the first row 2"],
    },
    Case {
        name: "a long row of edges",
        nodes: NODES,
        edges: b"source,target\na,b,c\n",
        file: "edges.csv",
        parts: &["line 2", "3 cells"],
    },
    Case {
        name: "a slip behind a cell of two lines",
        nodes: b"id,x,note\na,1,\"two\nlines\"\nb,2,\nc,3,\nd,4,\ne,5,\nf,6,\ng,7,\nh,8,\ni,9,\nj,1O,\n",
        edges: EDGES,
        file: "nodes.csv",
        parts: &["line 12", "column 'x'", "'1O'", "9 of 10", "MissingValue(\"1O\")", "Category"],
    },
    Case {
        name: "infinite",
        nodes: b"id,x\na,1\nb,-inf\nc,2\n",
        edges: EDGES,
        file: "nodes.csv",
        parts: &["line 3", "column 'x'", "infinite", "leave the cell empty"],
    },
    Case {
        name: "beyond double precision",
        nodes: b"id,x\na,1\nb,2\nc,1e999\n",
        edges: EDGES,
        file: "nodes.csv",
        parts: &["line 4", "column 'x'", "infinite"],
    },
    Case {
        name: "two rows of one id",
        nodes: b"id,x\na,1\nb,2\na,3\n",
        edges: EDGES,
        file: "nodes.csv",
        parts: &["line 4", "column 'id'", "'a'", "second time", "another id column"],
    },
    Case {
        name: "two rows of one number",
        nodes: b"id,x\n10,1\n20,2\n10,3\n",
        edges: b"source,target\n10,20\n",
        file: "nodes.csv",
        parts: &["line 4", "'10'"],
    },
    Case {
        name: "a row without an id",
        nodes: b"id,x\na,1\n,2\nc,3\n",
        edges: EDGES,
        file: "nodes.csv",
        parts: &["line 3", "column 'id'", "no id"],
    },
    Case { name: "empty", nodes: b"", edges: EDGES, file: "nodes.csv", parts: &["is empty"] },
    Case {
        name: "no row",
        nodes: b"id,x\n",
        edges: EDGES,
        file: "nodes.csv",
        parts: &["a line of column names and no row"],
    },
    Case {
        name: "empty edges",
        nodes: NODES,
        edges: b"",
        file: "edges.csv",
        parts: &["is empty", "source and target"],
    },
    Case {
        name: "binary",
        nodes: b"\x7fELF\x02\x01\x01\0\0\0\0\0\0",
        edges: EDGES,
        file: "nodes.csv",
        parts: &["neither text nor Parquet", "CSV or TSV"],
    },
    Case {
        name: "two columns of one name",
        nodes: b"id,x,x\na,1,2\n",
        edges: EDGES,
        file: "nodes.csv",
        parts: &["two columns are called 'x'", "name of its own"],
    },
    Case {
        name: "an edge without a target",
        nodes: NODES,
        edges: b"source,target\na,b\nb, \n",
        file: "edges.csv",
        parts: &["line 3", "lacks its source or its target"],
    },
    Case {
        name: "one column of edges",
        nodes: NODES,
        edges: b"source\na\n",
        file: "edges.csv",
        parts: &["two columns", "has 1", "Delimiter"],
    },
    Case {
        name: "a negative weight",
        nodes: NODES,
        edges: b"source,target,weight\na,b,1\nb,c,-2\n",
        file: "edges.csv",
        parts: &["line 3", "weight -2", "Weight(None)"],
    },
    Case {
        name: "an infinite weight",
        nodes: NODES,
        edges: b"source,target,weight\na,b,inf\n",
        file: "edges.csv",
        parts: &["line 2", "weight inf"],
    },
    Case {
        name: "a weight beyond single precision",
        nodes: NODES,
        edges: b"source,target,weight\na,b,1e300\n",
        file: "edges.csv",
        parts: &["line 2", "weight 1", "3e38"],
    },
    Case {
        name: "no weight",
        nodes: NODES,
        edges: b"source,target,weight\na,b,1\nb,c,NaN\n",
        file: "edges.csv",
        parts: &["line 3", "column 'weight'", "'NaN'", "Weight(None)"],
    },
    Case {
        name: "a quote that never ends",
        nodes: b"id,x\na,\"open\nb,2\n",
        edges: EDGES,
        file: "edges.csv",
        parts: &["'b'", "not in the node table"],
    },
];

#[test]
fn faults_are_named_where_they_stand() {
    for case in &CASES {
        let (folder, nodes) = folder(&[("nodes.csv", case.nodes), ("edges.csv", case.edges)]);
        let edges = folder.path().join("edges.csv");
        let found = read(&nodes, Some(&edges), &ReadOptions::default());
        assert_helpful(case.name, found, case.file, case.parts);
    }
}

#[test]
fn columns_that_are_not_there_are_named_with_those_that_are() {
    let nodes = b"key,x\na,0.5\nb,1.5\n";
    let edges = b"left,right,strength\na,b,1\n";
    let named = |name: &str| Some(name.to_owned());
    let mut types = ReadOptions::default();
    types.types.declare("size", DeclaredKind::Number);
    let block = |first: &str, last: &str| {
        let block = DeclaredBlock { name: "b".into(), first: first.into(), last: last.into() };
        ReadOptions { blocks: vec![block], ..ReadOptions::default() }
    };
    let weight = WeightColumn::Named("mass".to_owned());
    let default = ReadOptions::default;
    let cases = [
        (ReadOptions { id: named("ident"), ..default() }, "nodes.csv", "'ident'", "'key', 'x'"),
        (ReadOptions { label: named("kind"), ..default() }, "nodes.csv", "'kind'", "'key', 'x'"),
        (types, "nodes.csv", "'size'", "'key', 'x'"),
        (block("x", "z"), "nodes.csv", "'z'", "'x'"),
        (ReadOptions { source: named("from"), ..default() }, "edges.csv", "'from'", "'left'"),
        (ReadOptions { target: named("to"), ..default() }, "edges.csv", "'to'", "'right'"),
        (ReadOptions { weight, ..default() }, "edges.csv", "'mass'", "'strength'"),
    ];
    for (options, file, wanted, known) in cases {
        let (folder, path) = folder(&[("nodes.csv", nodes), ("edges.csv", edges)]);
        let found = read(&path, Some(&folder.path().join("edges.csv")), &options);
        assert_helpful(wanted, found, file, &["there is no column", wanted, known]);
    }
}

#[test]
fn a_named_weight_is_not_passed_over_in_a_file_without_header() {
    let (folder, nodes) = folder(&[("nodes.csv", b"id,x\n0,1\n1,2\n"), ("e.csv", b"0,1,5\n")]);
    let weight = WeightColumn::Named("mass".to_owned());
    let options = ReadOptions { weight, ..ReadOptions::default() };
    let found = read(&nodes, Some(&folder.path().join("e.csv")), &options);
    assert_helpful("weight", found, "e.csv", &["there is no column 'mass'"]);
}

#[test]
fn cells_that_do_not_fit_a_declared_type_are_named() {
    let cases = [
        (DeclaredKind::Count, "id,x\na,1\nb,-3\nc,2\n", "line 3", "'-3', which is no count"),
        (DeclaredKind::Count, "id,x\na,1\nb,3\nc,2.5\n", "line 4", "'2.5', which is no count"),
        (DeclaredKind::Boolean, "id,x\na,yes\nb,perhaps\n", "line 3", "'perhaps'"),
        (DeclaredKind::Number, "id,x\na,1\nb,two\n", "line 3", "'two', which is no number"),
    ];
    for (kind, nodes, line, found) in cases {
        let (_folder, path) = folder(&[("nodes.csv", nodes.as_bytes())]);
        let mut options = ReadOptions::default();
        options.types.declare("x", kind);
        assert_helpful(found, read(&path, None, &options), "nodes.csv", &[line, "'x'", found]);
    }
}

#[test]
fn a_cell_of_a_declared_block_that_is_no_number_is_named() {
    let block = DeclaredBlock { name: "b".into(), first: "x".into(), last: "y".into() };
    let options = ReadOptions { blocks: vec![block], ..ReadOptions::default() };
    for (cell, shown) in [("two", "'two'"), ("inf", "'inf'")] {
        let nodes = format!("id,x,y\na,1,2\nb,3,{cell}\n");
        let (_folder, path) = folder(&[("nodes.csv", nodes.as_bytes())]);
        let found = read(&path, None, &options);
        assert_helpful(cell, found, "nodes.csv", &["line 3", "column 'y'", shown, "block"]);
    }
}

#[test]
fn unknown_nodes_are_skipped_or_added_as_asked() {
    let edges = b"source,target\na,b\na,z\ny,z\n";
    let (folder, nodes) = folder(&[("nodes.csv", NODES), ("edges.csv", edges)]);
    let edges = folder.path().join("edges.csv");
    let skip = ReadOptions { unknown_nodes: UnknownNodes::Skip, ..ReadOptions::default() };
    let dataset = read(&nodes, Some(&edges), &skip).expect("a graph");
    assert_eq!((dataset.table.rows(), dataset.graph.arcs()), (3, 1));
    assert!(dataset.notes.iter().any(|note| note.text.contains("2 edges to unknown nodes")));
    let add = ReadOptions { unknown_nodes: UnknownNodes::Add, ..ReadOptions::default() };
    let dataset = read(&nodes, Some(&edges), &add).expect("a graph");
    assert_eq!((dataset.table.rows(), dataset.graph.arcs()), (5, 3));
    assert_eq!([dataset.table.ids().text(3), dataset.table.ids().text(4)], ["z", "y"]);
    assert_eq!(dataset.table.missing().whole_rows(), 2);
    assert!(dataset.notes.iter().any(|note| note.text.contains("2 nodes that only edges name")));
}

#[test]
fn nan_is_missing_however_it_is_spelt() {
    let nodes = b"id,x\na,NaN\nb,nan\nc,\nd, \ne,1.5\nf,2.5\ng,n/a\n";
    let (_folder, path) = folder(&[("nodes.csv", nodes)]);
    let options = ReadOptions {
        missing_words: MissingWords::Only(vec!["n/a".into()]),
        ..ReadOptions::default()
    };
    let dataset = read(&path, None, &options).expect("a table");
    assert_eq!(dataset.table.missing().count(), 5);
    assert_eq!(dataset.table.columns()[0].kind().as_str(), "number");
}

#[test]
fn windows_files_read_as_others_do() {
    let nodes = "\u{feff}id;x\r\na;0.5\r\nb;1.5\r\nc;\r\n".as_bytes();
    let edges = "\u{feff}\"source\";\"target\"\r\na;b\r\nb;c\r\n".as_bytes();
    let (folder, path) = folder(&[("nodes.csv", nodes), ("edges.csv", edges)]);
    let edges = folder.path().join("edges.csv");
    let dataset = read(&path, Some(&edges), &ReadOptions::default()).expect("a graph");
    assert_eq!((dataset.table.rows(), dataset.graph.arcs()), (3, 2));
    assert_eq!(dataset.table.columns()[0].name(), "x");
    assert_eq!(dataset.table.missing().count(), 1);
}

#[test]
fn comments_of_an_edge_list_are_no_edges_and_hide_no_separator() {
    let edges =
        b"# Directed graph, each arc once, saved as pairs, sorted\n# From\tTo\n0\t1\n1\t2\n";
    let (_web, path) = folder(&[("web.txt", edges)]);
    let nodes = folder(&[("n.csv", b"id,x\n0,1\n1,2\n2,5\n")]);
    let dataset = read(&nodes.1, Some(&path), &ReadOptions::default()).expect("a graph");
    assert_eq!(dataset.graph.arcs(), 2);
}
