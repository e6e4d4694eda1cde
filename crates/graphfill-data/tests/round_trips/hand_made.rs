//! Tables made by hand survive: ids, directions, weights and cells that are hard on a format.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Float32Array, Float64Array, Int64Array, StringArray,
};
use graphfill_data::block::{BlockBuilder, BlockLayout};
use graphfill_data::formats::{self, Input, ReadOptions};
use graphfill_data::{
    CellMask, Column, Dataset, DeclaredKind, Direction, EdgeList, Graph, IdColumn, Kind,
    NoProgress, NodeIds, NodeTable, Unused,
};

use crate::assert_survives;

const ROWS: usize = 12;

/// A table read from text.
fn read_text(nodes: &str, edges: &str, options: &ReadOptions) -> Dataset {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (node_file, edge_file) = (folder.path().join("n.csv"), folder.path().join("e.csv"));
    fs::write(&node_file, nodes).expect("a written file");
    fs::write(&edge_file, edges).expect("a written file");
    let input = Input::detect(&node_file, Some(&edge_file)).expect("two tables");
    input.read(options, &NoProgress).unwrap_or_else(|error| panic!("{error}"))
}

/// A ring over the rows, with a weight each where they are given.
fn ring(rows: usize, weights: Option<&[f32]>, direction: Direction) -> Graph {
    let mut list = if weights.is_some() { EdgeList::weighted() } else { EdgeList::unweighted() };
    for row in 0..rows {
        let weight = weights.map_or(1.0, |weights| weights[row % weights.len()]);
        list.push(row as u32, ((row + 1) % rows) as u32, weight);
    }
    list.into_graph(rows, direction).expect("valid arcs")
}

fn made_of(ids: NodeIds, columns: Vec<Column>, direction: Direction) -> Dataset {
    let graph = ring(ids.len(), None, direction);
    let id_column =
        IdColumn { name: "key".into(), position: Some(1), field: None, headerless: false };
    let table = NodeTable::new(id_column, ids, columns, None).expect("columns of one length");
    Dataset::new("made", "by hand", table, graph).expect("a row per node")
}

fn counted() -> NodeIds {
    NodeIds::Integers((0..ROWS as i64).map(|row| row * 3 - 10).collect())
}

#[test]
fn text_ids_that_are_hard_on_a_format_survive() {
    let ids = [
        "plain",
        "a,b",
        "tab\there",
        "two\nlines",
        "\"quoted\"",
        " padded ",
        "#hash",
        "007",
        "source",
        "target",
        "ünïcode 漢字 🦀",
        "weight",
    ];
    let value = Float64Array::from_iter_values((0..ids.len()).map(|row| row as f64 * 0.5 - 1.0));
    let columns = vec![Column::new("value", Kind::Number, Arc::new(value))];
    let ids = NodeIds::Strings(StringArray::from(ids.to_vec()));
    assert_survives(&made_of(ids, columns, Direction::Undirected), "hard ids");
}

#[test]
fn whole_number_ids_survive_in_any_column() {
    let nodes = "size,key,colour\n1.5,30,red\n2.5,-7,blue\n,9223372036854775807,red\n4,0,blue\n";
    let edges = "source,target\n30,-7\n0,9223372036854775807\n";
    let options = ReadOptions { id: Some("key".into()), ..ReadOptions::default() };
    let dataset = read_text(nodes, edges, &options);
    assert_eq!(dataset.table.id_column.position, Some(1));
    let folder = tempfile::tempdir().expect("a temporary folder");
    for ending in crate::ENDINGS {
        let path = folder.path().join(format!("{}.{ending}", ending.replace('.', "_")));
        formats::write(&dataset, &path).expect("a written table");
        let input = Input::detect(&path, None).expect("a table");
        let id = (ending != "npz").then(|| "key".to_owned());
        let options = ReadOptions { id, ..ReadOptions::default() };
        let again = input.read(&options, &NoProgress).expect("a readable table");
        crate::assert_same(&dataset, &again, ending);
    }
}

#[test]
fn directed_and_weighted_graphs_survive() {
    let ids = NodeIds::numbered(ROWS);
    let value = Float32Array::from_iter_values((0..ROWS).map(|row| row as f32 * 0.1));
    let columns = vec![Column::new("value", Kind::Number, Arc::new(value) as ArrayRef)];
    let table = NodeTable::new(IdColumn::default(), ids, columns, None);
    let table = table.expect("columns of one length");
    let weights = [0.1, 2.5, 0.0, 1e-7, 3e8, 1.0];
    for direction in [Direction::Directed, Direction::Undirected] {
        for weights in [None, Some(&weights[..])] {
            let graph = ring(ROWS, weights, direction);
            let dataset = Dataset::new("ring", "by hand", table.clone(), graph);
            let dataset = dataset.expect("a row per node");
            assert_survives(&dataset, &format!("{direction:?}, weights {weights:?}"));
        }
    }
}

#[test]
fn repeated_arcs_and_self_loops_leave_the_same_simple_graph() {
    let nodes = "id,x\na,0.5\nb,1.5\nc,2.5\nd,9\n";
    let edges = "source,target,weight\na,b,1\nb,a,2\na,a,5\nb,c,0.25\nb,c,0.5\n";
    let dataset = read_text(nodes, edges, &ReadOptions::default());
    assert_survives(&dataset, "merged arcs");
    let options = ReadOptions { direction: Some(Direction::Directed), ..ReadOptions::default() };
    assert_survives(&read_text(nodes, edges, &options), "directed merged arcs");
}

#[test]
fn every_kind_of_text_column_survives() {
    let mut options = ReadOptions::default();
    options.types.declare("zip", DeclaredKind::Category);
    options.types.declare("secret", DeclaredKind::Unused);
    options.types.declare("year", DeclaredKind::Number);
    let mut nodes =
        String::from("id,zip,member,pets,change,share,secret,remark,year,mixed;|\there\n");
    for row in 0..ROWS {
        let zip = ["01067", "1067", "1.0", "", "99"][row % 5];
        let member = ["yes", "no", ""][row % 3];
        let pets = ["0", "3", "12", ""][row % 4];
        let change = ["-5", "7", "-12"][row % 3];
        let share = ["0.25", "-1e-3", ""][row % 3];
        let secret = ["1", "2"][row % 2];
        let year = ["1999", "2024"][row % 2];
        let mixed = ["\"a, b\"", "\"say \"\"hi\"\"\"", "\"line\nend\"", "plain"][row % 4];
        nodes += &format!(
            "n{row},{zip},{member},{pets},{change},{share},{secret},remark {row},{year},{mixed}\n"
        );
    }
    let dataset = read_text(&nodes, "source,target\nn0,n1\nn1,n2\n", &options);
    let words: Vec<&str> = dataset.table.columns().iter().map(|c| c.kind().as_str()).collect();
    let expected = [
        "category", "boolean", "count", "number", "number", "unused", "unused", "number",
        "category",
    ];
    assert_eq!(words, expected);
    assert_survives(&dataset, "text columns");
}

#[test]
fn columns_of_typed_files_survive() {
    let level = |row: usize| ["b", "a", "10", "9"][row % 4];
    let hole = |row: usize| row % 5 == 4;
    let category = StringArray::from_iter((0..ROWS).map(|row| (!hole(row)).then(|| level(row))));
    let flags = BooleanArray::from_iter((0..ROWS).map(|row| (!hole(row)).then_some(row % 2 == 0)));
    let counts = Int64Array::from_iter((0..ROWS).map(|row| (!hole(row)).then_some(row as i64)));
    let numbers = Float64Array::from_iter((0..ROWS).map(|row| match row % 3 {
        0 => Some(f64::NAN),
        1 => None,
        _ => Some(row as f64 / 3.0),
    }));
    let days = Date32Array::from_iter_values((0..ROWS).map(|row| 19_000 + row as i32 % 3));
    let dates = Kind::Unused(Unused::UnsupportedType("Date32".into()));
    let columns = vec![
        Column::new("category", Kind::Category, Arc::new(category) as ArrayRef),
        Column::new("flag", Kind::Boolean, Arc::new(flags)),
        Column::new("count", Kind::Count, Arc::new(counts)),
        Column::new("number", Kind::Number, Arc::new(numbers)),
        Column::new("day", dates, Arc::new(days)),
    ];
    assert_survives(&made_of(counted(), columns, Direction::Directed), "typed columns");
}

/// `ROWS` rows of five numbers, some of them missing, one row missing as a whole.
fn numeric_block(layout: BlockLayout) -> Column {
    let mut builder = BlockBuilder::new(5, layout);
    for row in 0..ROWS {
        let value = row as f64 * 0.3 - 1.0;
        let mut cells = vec![(row as u32 % 5, value), ((row as u32 + 2) % 5, -2.0)];
        cells.retain(|cell| !(row == 3 || row == 6 && cell.0 == 1));
        builder.push_row(&mut cells);
    }
    let missing = CellMask::build(ROWS, 5, |row, cells| match row {
        3 => cells.extend(0..5),
        6 => cells.push(1),
        _ => {}
    });
    Column::block("measure", builder.finish(missing))
}

#[test]
fn numeric_blocks_survive_as_columns_and_as_lists() {
    let names = ["alpha", "beta", "gamma, delta", "ε", "5"].map(str::to_owned).to_vec();
    for layout in [BlockLayout::Columns(names), BlockLayout::List] {
        let alone = vec![numeric_block(layout.clone())];
        assert_survives(&made_of(counted(), alone, Direction::Undirected), "block alone");
        let size = Float64Array::from_iter_values((0..ROWS).map(|row| row as f64 - 0.5));
        let size = Column::new("size", Kind::Number, Arc::new(size) as ArrayRef);
        let beside = vec![size, numeric_block(layout)];
        assert_survives(&made_of(counted(), beside, Direction::Undirected), "block beside");
    }
}

#[test]
fn many_declared_booleans_do_not_become_a_block() {
    let flag = |name: usize| {
        let cells = (0..ROWS).map(|row| Some((row + name).is_multiple_of(3)));
        let cells: ArrayRef = Arc::new(cells.collect::<BooleanArray>());
        Column::new(format!("flag{name}"), Kind::Boolean, cells)
    };
    let columns = (0..130).map(flag).collect();
    assert_survives(&made_of(counted(), columns, Direction::Undirected), "many booleans");
}

#[test]
fn long_and_empty_texts_survive() {
    let long = "long ".repeat(20_000);
    let text = |row: usize| match row {
        0 => Some(long.as_str()),
        1 => None,
        _ => Some("ordinary text"),
    };
    let unused = Kind::Unused(Unused::Declared);
    let cells = StringArray::from_iter((0..ROWS).map(text));
    let columns = vec![
        Column::new("text", unused.clone(), Arc::new(cells) as ArrayRef),
        Column::new("nothing", unused, Arc::new(StringArray::new_null(ROWS))),
        Column::new("size", Kind::Count, Arc::new(Int64Array::from_iter_values(0..ROWS as i64))),
    ];
    assert_survives(&made_of(counted(), columns, Direction::Undirected), "long text");
}

#[test]
fn typed_files_tell_an_empty_text_from_a_missing_one() {
    let cells = StringArray::from_iter((0..ROWS).map(|row| [Some(""), None, Some("a")][row % 3]));
    let columns = vec![Column::new("level", Kind::Category, Arc::new(cells) as ArrayRef)];
    let dataset = made_of(counted(), columns, Direction::Undirected);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let again = crate::through(&dataset, &folder.path().join("a.parquet"));
    crate::assert_same(&dataset, &again, "parquet");
    let again = crate::through(&again, &folder.path().join("b.npz"));
    crate::assert_same(&dataset, &again, "npz");
}

#[test]
fn a_graph_without_columns_survives() {
    let ids = NodeIds::Strings(StringArray::from(vec!["a", "b", "c"]));
    assert_survives(&made_of(ids, Vec::new(), Direction::Undirected), "no columns");
}

#[test]
fn nodes_that_only_edges_name_are_written_with_the_others() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let typed = folder.path().join("typed.parquet");
    let numbers = made_of(NodeIds::numbered(4), vec![], Direction::Undirected);
    formats::write_nodes(&numbers, &typed).expect("a written table");
    let edges = folder.path().join("more.csv");
    fs::write(&edges, "source,target\n0,stranger\n1,17\n").expect("a written file");
    let input = Input::detect(&typed, Some(&edges)).expect("two tables");
    let options =
        ReadOptions { unknown_nodes: formats::UnknownNodes::Add, ..ReadOptions::default() };
    let dataset = input.read(&options, &NoProgress).expect("a graph");
    assert_eq!(dataset.table.rows(), 6);
    assert_survives(&dataset, "added nodes");
}

#[test]
fn a_matrix_without_columns_is_a_graph_without_columns() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path: &Path = &folder.path().join("bare.npz");
    let builder = BlockBuilder::new(0, BlockLayout::List);
    let mut builder = builder;
    (0..4).for_each(|_| builder.push_row(&mut []));
    let block = Column::block("x", builder.finish(CellMask::none(4, 0)));
    let dataset = made_of(NodeIds::numbered(4), vec![block], Direction::Undirected);
    formats::write(&dataset, path).expect("a written graph");
    let input = Input::detect(path, None).expect("a graph");
    let again = input.read(&ReadOptions::default(), &NoProgress).expect("a graph");
    assert!(again.table.columns().is_empty());
    assert_survives(&again, "no features");
}
