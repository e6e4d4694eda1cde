//! Nodes and edges of a call: tables, pairs of row numbers, or files.

use std::path::PathBuf;

use graphfill::data::formats::EdgeFrame;
use graphfill_cli::calls::Input;
use pyo3::prelude::*;

use crate::buffers::Numbers;
use crate::errors::data_error;
use crate::table::{Table, positions};

/// Edges between the row numbers of the nodes.
#[pyclass(frozen, module = "graphfill._native")]
pub(crate) struct Edges {
    sources: Vec<u32>,
    targets: Vec<u32>,
    weights: Option<Vec<f32>>,
    /// Whether edges point one way.
    #[pyo3(get)]
    directed: bool,
}

#[pymethods]
impl Edges {
    /// Arcs `sources[i] → targets[i]` with weight `weights[i]`: buffers of whole numbers, and of numbers.
    #[new]
    #[pyo3(signature = (sources, targets, weights=None, directed=false))]
    fn new(
        sources: &Bound<'_, PyAny>,
        targets: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyAny>>,
        directed: bool,
    ) -> PyResult<Self> {
        let sources = positions(Numbers::of(sources)?.integers()?)?;
        let targets = positions(Numbers::of(targets)?.integers()?)?;
        let weights = weights.map(|weights| Numbers::of(weights)?.doubles()).transpose()?;
        let single = |weights: Vec<f64>| weights.into_iter().map(|weight| weight as f32).collect();
        Ok(Edges { sources, targets, weights: weights.map(single), directed })
    }

    fn __len__(&self) -> usize {
        self.sources.len()
    }
}

/// Nodes: a table or the path of a file.
#[derive(FromPyObject)]
pub(crate) enum Nodes<'py> {
    #[pyo3(transparent)]
    Table(Bound<'py, Table>),
    #[pyo3(transparent)]
    File(PathBuf),
}

/// Edges: a table of ids, pairs of row numbers, or the path of a file.
#[derive(FromPyObject)]
pub(crate) enum GivenEdges<'py> {
    #[pyo3(transparent)]
    Table(Bound<'py, Table>),
    #[pyo3(transparent)]
    Rows(Bound<'py, Edges>),
    #[pyo3(transparent)]
    File(PathBuf),
}

/// Where a call's data comes from.
pub(crate) fn input(nodes: Nodes<'_>, edges: Option<GivenEdges<'_>>) -> PyResult<Input> {
    let table = match nodes {
        Nodes::File(path) => {
            let edges = match edges {
                None => None,
                Some(GivenEdges::File(edges)) => Some(edges),
                Some(_) => {
                    return Err(data_error(
                        "the nodes are a file, the edges are not\n  give the paths of both, or read both",
                    ));
                }
            };
            return Ok(Input::Files(path, edges));
        }
        Nodes::Table(table) => table.get().node_frame()?,
    };
    let edges = match edges {
        None => None,
        Some(GivenEdges::Table(edges)) => Some(edges.get().edge_frame()?),
        Some(GivenEdges::Rows(edges)) => {
            let Edges { sources, targets, weights, .. } = edges.get();
            let (sources, targets) = (sources.clone(), targets.clone());
            Some(EdgeFrame::Rows { sources, targets, weights: weights.clone() })
        }
        Some(GivenEdges::File(_)) => {
            return Err(data_error(
                "the edges are a file, the nodes are not\n  give the paths of both, or read both",
            ));
        }
    };
    Ok(Input::Frames(table, edges))
}
