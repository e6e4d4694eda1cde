//! Node data sets of the Open Graph Benchmark: `edge.csv.gz`, `node-feat.csv.gz`,
//! `node-label.csv.gz`, without headers.
//!
//! One line per node in the features and the labels, one line per arc (two node numbers) in the
//! edges. Plain `.csv` files are read as well.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use graphfill_data::block::BlockLayout;
use graphfill_data::{
    Block, Column, DataError, Dataset, Direction, EdgeList, IdColumn, Labels, NodeIds, NodeTable,
    Place, Progress, Result,
};

use crate::feature_rows::FeatureRows;
use crate::lines::each_line;
use crate::memory;

/// Reads the files in `dir`, or in `dir/raw`.
pub(crate) fn read(dir: &Path, limit: u64, progress: &dyn Progress) -> Result<Dataset> {
    let folder = folder_of(dir).ok_or_else(|| missing(dir, "edge"))?;
    let needed = |stem: &str| find(&folder, stem).ok_or_else(|| missing(&folder, stem));
    let block = read_features(&needed("node-feat")?, limit, progress)?;
    let nodes = block.rows();
    if let Some(path) = find(&folder, "num-node-list") {
        check_nodes(&path, nodes, progress)?;
    }
    let labels = match find(&folder, "node-label") {
        Some(path) => read_labels(&path, nodes, progress)?,
        None => None,
    };
    let arcs = read_edges(&needed("edge")?, nodes, limit, progress)?;
    let columns = vec![Column::block("x", block)];
    let table = NodeTable::new(IdColumn::default(), NodeIds::numbered(nodes), columns, labels)?;
    let graph = arcs.into_graph(nodes, Direction::Directed)?;
    Dataset::new(&name_of(dir), "ogb", table, graph)
}

/// The files that would be read in `dir`; none if there is no file of edges.
pub(crate) fn files(dir: &Path) -> Vec<PathBuf> {
    let Some(folder) = folder_of(dir) else { return Vec::new() };
    let stems = ["edge", "node-feat", "node-label", "num-node-list"];
    stems.iter().filter_map(|stem| find(&folder, stem)).collect()
}

/// `dir` or `dir/raw`, whichever has a file of edges.
fn folder_of(dir: &Path) -> Option<PathBuf> {
    [dir.to_path_buf(), dir.join("raw")].into_iter().find(|path| find(path, "edge").is_some())
}

/// `STEM.csv.gz` or `STEM.csv`, whichever exists.
fn find(folder: &Path, stem: &str) -> Option<PathBuf> {
    let candidates = ["csv.gz", "csv"].map(|end| folder.join(format!("{stem}.{end}")));
    candidates.into_iter().find(|path| path.is_file())
}

fn missing(dir: &Path, stem: &str) -> DataError {
    DataError::malformed(
        Place::file(dir),
        format!("neither {stem}.csv.gz nor {stem}.csv is here"),
        "name the folder that the set was unpacked into; its files are there or under raw/",
    )
}

/// The name of the folder; that of its parent if it is called `raw`.
fn name_of(dir: &Path) -> String {
    let named = if dir.ends_with("raw") { dir.parent() } else { Some(dir) };
    let name = named.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| "ogb".to_owned())
}

/// Reads one line per node. Numbers are in single precision, however many digits they have.
fn read_features(path: &Path, limit: u64, progress: &dyn Progress) -> Result<Block> {
    let mut rows: Option<FeatureRows> = None;
    let mut width = 0;
    let mut cells = Vec::new();
    each_line(path, progress, |line, text| {
        // A cell takes 16 bytes while its row is read, and at least two characters of the line.
        let needed = rows.as_ref().map_or(0, FeatureRows::memory) + 8 * text.len() as u64;
        memory::check(path, "the features", needed, limit)?;
        for (column, field) in text.split(',').enumerate() {
            match field.trim_ascii().parse::<f32>() {
                Ok(value) if !value.is_infinite() => cells.push((column as u32, f64::from(value))),
                _ => {
                    let place = Place::line(path, line).column((column + 1).to_string());
                    return Err(no_number(place, field, "a number, or nan where it is unknown"));
                }
            }
        }
        if line == 1 {
            width = cells.len();
        }
        if cells.len() != width {
            return Err(DataError::malformed(
                Place::line(path, line),
                format!("the line has {} numbers, the first has {width}", cells.len()),
                "give every node the same number of features",
            ));
        }
        let layout = || FeatureRows::new(width, BlockLayout::List);
        rows.get_or_insert_with(layout).push(&mut cells);
        Ok(())
    })?;
    let rows = rows.ok_or_else(|| {
        let advice = "it needs one line per node";
        DataError::malformed(Place::file(path), "the file is empty", advice)
    })?;
    if u32::try_from(rows.rows()).is_err() {
        let advice = "graphs of up to 4,294,967,295 nodes can be read";
        return Err(DataError::malformed(Place::file(path), "too many nodes", advice));
    }
    Ok(rows.finish())
}

/// Reads one class per node; `nan` or a negative number means none.
fn read_labels(path: &Path, nodes: usize, progress: &dyn Progress) -> Result<Option<Labels>> {
    let mut numbers = Vec::with_capacity(nodes);
    each_line(path, progress, |line, text| {
        let place = || Place::line(path, line);
        if text.contains(',') {
            return Err(DataError::malformed(
                place(),
                "the line has more than one label",
                "sets with one class per node are read; keep one column, or take the file away",
            ));
        }
        if numbers.len() == nodes {
            let found = format!("there are more labels than the {nodes} nodes of node-feat");
            return Err(DataError::malformed(place(), found, "give each node one line"));
        }
        let class = class_number(text.trim_ascii());
        numbers.push(class.ok_or_else(|| no_number(place(), text, "the number of a class"))?);
        Ok(())
    })?;
    if numbers.len() != nodes {
        let found = format!("{} labels for the {nodes} nodes of node-feat", numbers.len());
        return Err(DataError::malformed(Place::file(path), found, "give each node one line"));
    }
    Ok(Labels::from_numbers("y", &numbers))
}

/// Parses the number of a class, which some sets write as `1.0`.
fn class_number(text: &str) -> Option<i64> {
    if let Ok(class) = text.parse() {
        return Some(class);
    }
    let class: f64 = text.parse().ok()?;
    if class.is_nan() {
        return Some(-1);
    }
    (class.fract() == 0.0 && class.abs() < f64::from(u32::MAX)).then_some(class as i64)
}

/// Reads one arc per line.
fn read_edges(path: &Path, nodes: usize, limit: u64, progress: &dyn Progress) -> Result<EdgeList> {
    let mut arcs = EdgeList::unweighted();
    each_line(path, progress, |line, text| {
        let Some((source, target)) = text.split_once(',') else {
            return Err(no_number(Place::line(path, line), text, "two node numbers and a comma"));
        };
        let node = |field: &str| {
            let number = field.trim_ascii().parse::<u32>().ok();
            number.filter(|&number| (number as usize) < nodes).ok_or_else(|| {
                let expected = format!("a node number from 0 to {}", nodes - 1);
                no_number(Place::line(path, line), field, &expected)
            })
        };
        arcs.push(node(source)?, node(target)?, 1.0);
        // Two ends per arc, while it is read and when it is placed.
        memory::check(path, "the arcs", 16 * arcs.len() as u64, limit)?;
        Ok(())
    })?;
    Ok(arcs)
}

/// Checks the file of node counts against the features.
fn check_nodes(path: &Path, nodes: usize, progress: &dyn Progress) -> Result<()> {
    each_line(path, progress, |line, text| {
        if line == 1 && text.trim_ascii().parse() == Ok(nodes) {
            return Ok(());
        }
        let expected = format!("one line, {nodes}, as many as node-feat has");
        Err(no_number(Place::line(path, line), text, &expected))
    })
}

fn no_number(place: Place, found: &str, expected: &str) -> DataError {
    let start: String = found.chars().take(40).collect();
    let found = format!("found '{}', expected {expected}", start.escape_debug());
    DataError::malformed(place, found, "correct the line, or fetch the file again")
}
