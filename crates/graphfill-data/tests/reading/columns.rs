//! Which columns are ids and ends of edges.

use graphfill_data::formats::{ReadOptions, UnknownNodes};

use crate::Files;

/// Ids 1 to 8, `rank` their reverse: both columns match every edge end.
fn ranked(edges: &str) -> Files {
    let rows: String = (1..=8).map(|id| format!("{},{id},{}.5\n", 9 - id, id * 6)).collect();
    Files::new(format!("rank,user_id,v\n{rows}"), edges)
}

#[test]
fn ids_are_not_the_first_column_of_distinct_values() {
    let files = ranked("from_user,to_user\n1,2\n2,3\n3,8\n");
    let dataset = files.read();
    let found = dataset.found.as_ref().expect("columns").to_string();
    assert_eq!(found, "ids: column user_id (all 6 edge ends match); edges: from_user → to_user");
    // Node 1 is the first row, of rank 8.
    assert_eq!(dataset.graph.targets_of(0), [1]);
    assert_eq!(dataset.table.columns()[0].name(), "rank");
    assert!(
        String::from_utf8_lossy(&files.written(&dataset, "out.csv"))
            .starts_with("rank,user_id,v\n8,1,")
    );
}

#[test]
fn the_ends_of_edges_are_not_the_first_two_columns() {
    let edges = "edge_id,from_user,to_user\n1,4,5\n2,5,6\n3,6,7\n4,7,8\n5,8,1\n";
    let dataset = ranked(edges).read();
    let found = dataset.found.expect("columns").to_string();
    assert!(found.ends_with("edges: from_user → to_user"), "{found}");
    assert!(dataset.graph.targets_of(3).contains(&4));
    assert!(dataset.notes.iter().any(|note| note.text.contains("'edge_id'")));

    let edges = "day,user,friend\n1,4,5\n1,5,6\n2,6,7\n2,7,8\n3,8,1\n";
    let found = ranked(edges).read().found.expect("columns").to_string();
    assert!(found.ends_with("edges: user → friend"), "{found}");

    // No name helps: only two of three columns hold ids.
    let edges = "wann,wer,wen\n2020,4,5\n2020,5,6\n2021,6,7\n";
    let found = ranked(edges).read().found.expect("columns").to_string();
    assert!(found.ends_with("edges: wer → wen"), "{found}");
}

#[test]
fn what_fits_equally_well_is_asked_for() {
    let rows: String = (1..=8).map(|id| format!("{},{id},{}.5\n", 9 - id, id * 6)).collect();
    let error = Files::new(format!("first,second,v\n{rows}"), "source,target\n1,2\n2,3\n").error();
    for part in ["'first'", "'second'", "Id(\"first\")", "Id(\"second\")"] {
        assert!(error.contains(part), "{error}");
    }
    let edges = "p,q,r\n1,4,5\n5,5,6\n2,1,7\n7,7,8\n3,8,1\n";
    let error = ranked(edges).error();
    assert!(error.contains("'p', 'q', 'r'") && error.contains("EdgeColumns"), "{error}");
}

#[test]
fn a_poor_match_is_asked_for() {
    let files = Files::new("x,y\na,1\nb,2\nc,3\n", "p,q\na,zz\nzz,yy\nyy,xx\n");
    let error = files.error();
    assert!(
        error.contains("which is not in the node table") || error.contains("matches"),
        "{error}"
    );
    // Asked to leave such edges out, it must still not guess.
    let skip = ReadOptions { unknown_nodes: UnknownNodes::Skip, ..ReadOptions::default() };
    let error = files.try_read(&skip).expect_err("a guess").to_string();
    assert!(error.contains("'x'"), "{error}");
}

#[test]
fn unknown_nodes_are_added_where_names_leave_no_doubt() {
    let files = Files::new("id,v\na,1\nb,2\n", "source,target\na,b\nb,c\nc,d\n");
    let add = ReadOptions { unknown_nodes: UnknownNodes::Add, ..ReadOptions::default() };
    let dataset = files.try_read(&add).expect("read");
    assert_eq!(dataset.table.rows(), 4);
    let found = dataset.found.expect("columns").to_string();
    assert!(found.contains("3 of 6 edge ends match"), "{found}");
}

#[test]
fn ids_that_differ_in_spelling_are_suggested() {
    for (edge, known) in [("159.0,7", "'159'"), ("00159,7", "'159'")] {
        let files = Files::new("id,v\n159,1\n7,2\n", format!("source,target\n{edge}\n"));
        let error = files.error();
        assert!(error.contains(&format!("did you mean {known}")), "{error}");
    }
    let error = Files::new("id,v\n00159,1\n7,2\n", "source,target\n159,7\n").error();
    assert!(error.contains("did you mean '00159'"), "{error}");
}

#[test]
fn names_that_match_win_over_numbers_that_do_not() {
    let nodes = "id,name,age\n10,Ann,30\n11,Bob,31\n12,Cid,29\n";
    let dataset = Files::new(nodes, "a,b\nAnn,Bob\nBob,Cid\n").read();
    let found = dataset.found.expect("columns").to_string();
    assert_eq!(found, "ids: column name (all 4 edge ends match); edges: a → b");
    // The other column of numbers is a column like others.
    assert_eq!(dataset.table.columns().len(), 2);
}

#[test]
fn without_ids_nodes_are_row_numbers_and_no_column_is_added() {
    let files = Files::new("x,y\n1.5,red\n2.5,red\n3.5,blue\n", "source,target\n0,1\n1,2\n");
    let dataset = files.read();
    let found = dataset.found.as_ref().expect("columns").to_string();
    assert!(found.starts_with("ids: row numbers from 0"), "{found}");
    let text = files.written(&dataset, "out.csv");
    assert_eq!(String::from_utf8_lossy(&text), "x,y\n1.5,red\n2.5,red\n3.5,blue\n");
}
