//! Open Graph Benchmark's node sets: `edge.csv.gz`, `node-feat.csv.gz`, `node-label.csv.gz`.
//!
//! No file has a header. A line of the features is a node, a line of the labels its class, a line
//! of the edges an arc between two node numbers. Plain `.csv` files are read as well.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use crate::block::{Block, BlockLayout};
use crate::column::Column;
use crate::dataset::Dataset;
use crate::edge_list::EdgeList;
use crate::error::{DataError, Place, Result};
use crate::formats::feature_rows::FeatureRows;
use crate::formats::lines::each_line;
use crate::graph::Direction;
use crate::ids::NodeIds;
use crate::labels::Labels;
use crate::progress::Progress;
use crate::table::{IdColumn, NodeTable};

/// Reads the set in `dir`, or in its folder `raw`.
pub fn read(dir: &Path, progress: &dyn Progress) -> Result<Dataset> {
    let folder = Folder::holding_edges(dir)?;
    let block = read_features(&folder.needed("node-feat")?, progress)?;
    let nodes = block.rows();
    if let Some(path) = folder.found("num-node-list") {
        check_nodes(&path, nodes, progress)?;
    }
    let labels = match folder.found("node-label") {
        Some(path) => read_labels(&path, nodes, progress)?,
        None => None,
    };
    let arcs = read_edges(&folder.needed("edge")?, nodes, progress)?;
    let columns = vec![Column::block("x", block)];
    let table = NodeTable::new(IdColumn::default(), NodeIds::numbered(nodes), columns, labels)?;
    let graph = arcs.into_graph(nodes, Direction::Directed)?;
    Dataset::new(&name_of(dir), "ogb", table, graph)
}

/// The folder that holds the files.
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn holding_edges(dir: &Path) -> Result<Self> {
        for path in [dir.to_path_buf(), dir.join("raw")] {
            let folder = Folder { path };
            if folder.found("edge").is_some() {
                return Ok(folder);
            }
        }
        Err(missing(dir, "edge"))
    }

    fn found(&self, stem: &str) -> Option<PathBuf> {
        let candidates = ["csv.gz", "csv"].map(|end| self.path.join(format!("{stem}.{end}")));
        candidates.into_iter().find(|path| path.is_file())
    }

    fn needed(&self, stem: &str) -> Result<PathBuf> {
        self.found(stem).ok_or_else(|| missing(&self.path, stem))
    }
}

fn missing(dir: &Path, stem: &str) -> DataError {
    DataError::malformed(
        Place::file(dir),
        format!("neither {stem}.csv.gz nor {stem}.csv is here"),
        "name the folder that the set was unpacked into; its files are there or under raw/",
    )
}

/// The name of the folder, `raw` looked through.
fn name_of(dir: &Path) -> String {
    let named = if dir.ends_with("raw") { dir.parent() } else { Some(dir) };
    let name = named.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| "ogb".to_owned())
}

/// One line a node. The format's numbers are single precision, however many digits it spells.
fn read_features(path: &Path, progress: &dyn Progress) -> Result<Block> {
    let mut rows: Option<FeatureRows> = None;
    let mut width = 0;
    let mut cells = Vec::new();
    each_line(path, progress, |line, text| {
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
        let remedy = "it needs one line a node";
        DataError::malformed(Place::file(path), "the file is empty", remedy)
    })?;
    if u32::try_from(rows.rows()).is_err() {
        let remedy = "graphs of up to 4,294,967,295 nodes can be read";
        return Err(DataError::malformed(Place::file(path), "too many nodes", remedy));
    }
    Ok(rows.finish())
}

/// One class a node; `nan` or a negative number where there is none.
fn read_labels(path: &Path, nodes: usize, progress: &dyn Progress) -> Result<Option<Labels>> {
    let mut numbers = Vec::with_capacity(nodes);
    each_line(path, progress, |line, text| {
        let place = || Place::line(path, line);
        if text.contains(',') {
            return Err(DataError::malformed(
                place(),
                "the line has more than one label",
                "sets with one class a node are read; keep one column, or take the file away",
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

/// Classes are whole numbers, which some sets spell with a fraction of zero.
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

/// One arc a line.
fn read_edges(path: &Path, nodes: usize, progress: &dyn Progress) -> Result<EdgeList> {
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
        Ok(())
    })?;
    Ok(arcs)
}

/// The file of node counts must agree with the features.
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
