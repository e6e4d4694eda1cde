//! A data set ready for experiments, split as the paper does and identified by its content.

use std::path::PathBuf;

use graphfill_data::formats::splits_file;
use graphfill_data::splits::SplitRatio;
use graphfill_data::{CellMask, DataError, Dataset, Direction, UndirectedGraph};
use graphfill_methods::features::{Features, Group};
use graphfill_methods::{MethodError, Result};
use sha1::{Digest, Sha1};

use crate::hiding::Hiding;
use crate::score::default_depths;

/// A data set ready for experiments.
pub struct Benchmark {
    /// Its name, by which published settings and figures are found.
    pub name: String,
    pub(super) dataset: Dataset,
    pub(super) graph: UndirectedGraph,
    pub(super) hiding: Hiding,
    /// The k of recall@k and nDCG@k.
    pub(super) depths: Vec<usize>,
    /// A hash of its content and its splits.
    pub(super) fingerprint: String,
}

impl Benchmark {
    /// A data set with its file of splits; without one, rows are split 4 : 1 : 5.
    pub fn new(name: &str, mut dataset: Dataset, splits: Option<PathBuf>) -> Result<Self> {
        // The published experiments have no directions.
        dataset.graph = dataset.graph.with_direction(Direction::Undirected);
        let graph = dataset.graph.undirected();
        let features = Features::of(&dataset.table);
        if features.width() == 0 {
            return Err(MethodError::Table(format!("no column of {name} can be estimated")));
        }
        // The paper ranks Steam's few tags at 3, 5 and 10.
        let depths = match name.starts_with("steam") {
            true => vec![3, 5, 10],
            false => default_depths(&features).to_vec(),
        };
        let mut hasher = Sha1::new();
        add_graph(&mut hasher, &graph);
        add_features(&mut hasher, &features);
        add_missing(&mut hasher, &features.missing());
        if let Some(labels) = dataset.table.labels() {
            for label in &labels.codes {
                hasher.update(label.map_or(u64::MAX, u64::from).to_le_bytes());
            }
        }
        let hiding = match splits {
            Some(path) => {
                let bytes =
                    std::fs::read(&path).map_err(|source| DataError::read(&path, source))?;
                hasher.update(&bytes);
                Hiding::SplitsFile(path)
            }
            None => Hiding::Rows(SplitRatio::default()),
        };
        let fingerprint = hexadecimal(&hasher.finalize());
        Ok(Benchmark { name: name.to_owned(), graph, hiding, depths, fingerprint, dataset })
    }

    /// Fails if a seed has no split.
    pub fn check_seed(&self, seed: u64) -> Result<()> {
        if let Hiding::SplitsFile(path) = &self.hiding {
            splits_file::sizes(path, seed)?;
        }
        Ok(())
    }

    /// Whether its nodes have labels.
    pub fn has_labels(&self) -> bool {
        self.dataset.table.labels().is_some_and(|labels| labels.classes.len() > 1)
    }

    /// The metric by which models are selected on it.
    pub fn measure(&self) -> String {
        let features = Features::of(&self.dataset.table);
        match features.groups().iter().any(Group::is_ranking) {
            true => format!("recall@{}", self.depths[0]),
            false => "− error / error of the column means".to_owned(),
        }
    }

    /// The number of its edges.
    pub fn edges(&self) -> usize {
        self.graph.edges()
    }
}

fn add_graph(hasher: &mut Sha1, graph: &UndirectedGraph) {
    hasher.update((graph.nodes() as u64).to_le_bytes());
    for (source, target, weight) in graph.iter() {
        hasher.update(source.to_le_bytes());
        hasher.update(target.to_le_bytes());
        hasher.update(weight.to_le_bytes());
    }
}

fn add_features(hasher: &mut Sha1, features: &Features<'_>) {
    for (group, about) in features.groups().iter().enumerate() {
        hasher.update(about.name.as_bytes());
        hasher.update(format!("{:?}", about.kind).as_bytes());
        for row in 0..features.rows() {
            match features.block(group) {
                Some(block) => {
                    for (column, value) in block.cells(row) {
                        hasher.update(column.to_le_bytes());
                        hasher.update(value.to_le_bytes());
                    }
                }
                None => {
                    for feature in about.features.clone() {
                        hasher.update(features.value(group, row, feature).to_le_bytes());
                    }
                }
            }
            hasher.update([0xFF]);
        }
    }
}

fn add_missing(hasher: &mut Sha1, missing: &CellMask) {
    for row in (0..missing.rows()).filter(|&row| !missing.is_clear(row)) {
        hasher.update((row as u64).to_le_bytes());
        hasher.update([u8::from(missing.is_whole(row))]);
        missing.cells(row).iter().for_each(|cell| hasher.update(cell.to_le_bytes()));
    }
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
