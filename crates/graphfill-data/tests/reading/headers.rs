//! Files without a line of column names, and edges that stand twice.

use graphfill_data::formats::{Header, ReadOptions, TextOptions};

use crate::{Files, notes};

#[test]
fn an_edge_file_without_names_loses_no_edge() {
    let dataset = Files::new("id,v\n1,5.5\n2,6.5\n3,7\n", "1,2\n2,3\n").read();
    assert_eq!(dataset.graph.arcs(), 2);
    assert!(notes(&dataset).contains("no line of column names"), "{}", notes(&dataset));
    // The first edge names an unknown node: it is an edge all the same, and an error.
    let error = Files::new("id,v\n1,5.5\n2,6.5\n3,7\n", "1,99\n2,3\n").error();
    assert!(error.contains("line 1") && error.contains("'99'"), "{error}");
    let error = Files::new("id,v\nann,5.5\nbob,6.5\ncid,7\n", "ann,zed\nbob,cid\n").error();
    assert!(error.contains("line 1") && error.contains("'zed'"), "{error}");
}

#[test]
fn a_node_file_without_names_loses_no_row() {
    let files =
        Files::new("ann,5.5,red\nbob,6.5,red\ncid,7,blue\n", "source,target\nann,bob\nbob,cid\n");
    let dataset = files.read();
    assert_eq!(dataset.table.rows(), 3);
    assert!(notes(&dataset).contains("no line of column names"), "{}", notes(&dataset));
    let text = files.written(&dataset, "out.csv");
    assert_eq!(String::from_utf8_lossy(&text), "ann,5.5,red\nbob,6.5,red\ncid,7,blue\n");
    // Nothing but words: the edges show that the first line is a node, and the caller decides.
    let files = Files::new("ann,red\nbob,red\ncid,blue\n", "source,target\nann,bob\nbob,cid\n");
    let error = files.error();
    assert!(error.contains("line 1") && error.contains("Header"), "{error}");
    let nodes = TextOptions { header: Some(Header::No), ..TextOptions::default() };
    let options = ReadOptions { nodes, ..ReadOptions::default() };
    assert_eq!(files.try_read(&options).expect("read").table.rows(), 3);
}

#[test]
fn numbered_columns_are_names() {
    let dataset = Files::new("id,0,1,2\na,0.5,1,7\nb,1.5,3,9\n", "source,target\na,b\n").read();
    assert_eq!(dataset.table.rows(), 2);
    assert_eq!(dataset.table.columns()[0].name(), "0");
}

#[test]
fn lines_in_errors_are_those_of_the_file() {
    // A quoted cell of three lines, and the slip behind it.
    let mut nodes = String::from("id,text,v\na,\"one\ntwo\nthree\",1.5\n");
    for row in 0..12 {
        nodes.push_str(&format!("n{row},x,{row}.5\n"));
    }
    nodes.push_str("z,x,12x\n");
    let error = Files::new(nodes, "source,target\na,z\n").error();
    assert!(error.contains("line 17") && error.contains("'12x'"), "{error}");
}

#[test]
fn edges_mean_the_same_once_and_in_both_directions() {
    let nodes = "id,v\na,1.5\nb,2.5\nc,4\n";
    let once = Files::new(nodes, "source,target,weight\na,b,0.5\nb,c,2\n").read();
    let both = Files::new(nodes, "source,target,weight\na,b,0.5\nb,a,0.5\nb,c,2\nc,b,2\n").read();
    let (once, both) = (once.graph.undirected(), both.graph.undirected());
    for node in 0..3 {
        assert_eq!(once.neighbours(node), both.neighbours(node));
        assert_eq!(once.weights(node), both.weights(node));
    }
}
