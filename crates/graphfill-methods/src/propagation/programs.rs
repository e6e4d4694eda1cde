//! Propagation as programs of the engine, for a GPU: known values are uploaded once per panel, rounds
//! run there, and only the rows that are read are downloaded. Where the memory of the GPU is too
//! small, nothing is done, and the caller runs the rounds on the CPU.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use graphfill_data::UndirectedGraph;
use graphfill_engine::{Device, EngineError, MemoryLimit, SparseRows};

use super::direction::DirectedWeights;
use super::operators::symmetric_values;
use super::runner::{Matrix, Runner};
use super::{Each, Loaded};
use crate::error::{MethodError, Result};

/// The matrices of a graph and what runs rounds with them on a device.
pub(crate) struct Programs<'a> {
    graph: &'a UndirectedGraph,
    device: Device,
    /// Without one, too little memory is an error.
    limit: Option<MemoryLimit>,
    row_subsets: Vec<Vec<u32>>,
    symmetric: Side,
    adjacency: Side,
}

/// One of the two matrices, and what runs rounds with it for the width and the share of in-arcs that were
/// used last.
#[derive(Default)]
struct Side {
    /// Of the undirected graph.
    matrix: OnceLock<Arc<SparseRows>>,
    runner: Mutex<Kept>,
}

#[derive(Default)]
enum Kept {
    #[default]
    None,
    /// With the share of in-arcs, where the matrix has one.
    Runner(Option<f64>, Box<Runner>),
    /// There was too little memory for one, and there is none for the next.
    Refused,
}

impl<'a> Programs<'a> {
    pub(super) fn new(graph: &'a UndirectedGraph, device: &Device) -> Self {
        Programs {
            graph,
            device: device.clone(),
            limit: None,
            row_subsets: Vec::new(),
            symmetric: Side::default(),
            adjacency: Side::default(),
        }
    }

    pub(super) fn with_row_subsets(self, row_subsets: Vec<Vec<u32>>) -> Self {
        Programs { row_subsets, ..self }
    }

    pub(super) fn within(self, limit: MemoryLimit) -> Self {
        Programs { limit: Some(limit), ..self }
    }

    /// Rounds of  X ← α S X + (1 − α) · mean,  known cells then β of that and 1 − β of what is
    /// known; the shares are α and β. Says whether there was the memory for it.
    pub(crate) fn mix(
        &self,
        loaded: &Loaded<'_>,
        directed: Option<&DirectedWeights>,
        shares: [f32; 2],
        rounds: &[usize],
        each: &mut Each<'_>,
    ) -> Result<bool> {
        let done = self.with(Matrix::Symmetric, directed, loaded.panel.width, |runner| {
            runner.mix(loaded, shares, rounds, each)
        });
        Ok(done?.is_some())
    }

    /// Rounds of  X ← A (C ∘ X) ⊘ A C,  known cells reset, with confidences C. Says whether there was
    /// the memory for it.
    pub(crate) fn weigh(
        &self,
        loaded: &Loaded<'_>,
        directed: Option<&DirectedWeights>,
        confidences: &[f32],
        rounds: &[usize],
        each: &mut Each<'_>,
    ) -> Result<bool> {
        let done = self.with(Matrix::Adjacency, directed, loaded.panel.width, |runner| {
            runner.weigh(loaded, confidences, rounds, each)
        });
        Ok(done?.is_some())
    }

    /// A · X for a panel of this width, if there is the memory for it.
    pub(super) fn adjacency_product(
        &self,
        directed: Option<&DirectedWeights>,
        panel: &[f32],
        width: usize,
    ) -> Result<Option<Vec<f32>>> {
        self.with(Matrix::Adjacency, directed, width, |runner| runner.product(panel))
    }

    /// Does something with what runs rounds with a matrix on panels of a width; nothing where there is
    /// too little memory for that.
    fn with<T>(
        &self,
        matrix: Matrix,
        directed: Option<&DirectedWeights>,
        width: usize,
        work: impl FnOnce(&mut Runner) -> Result<T>,
    ) -> Result<Option<T>> {
        let side = match matrix {
            Matrix::Symmetric => &self.symmetric,
            Matrix::Adjacency => &self.adjacency,
        };
        let mut kept = side.runner.lock().unwrap_or_else(PoisonError::into_inner);
        let in_share = directed.map(|weights| weights.in_share);
        // One of another width or share gives its memory back before the next takes some.
        let mut runner = match std::mem::take(&mut *kept) {
            Kept::Runner(share, runner) if runner.width() == width && share == in_share => runner,
            Kept::Refused => {
                *kept = Kept::Refused;
                return Ok(None);
            }
            other => {
                drop(other);
                let rows = match directed {
                    Some(_) => Arc::new(self.rows_of(matrix, directed)),
                    None => {
                        Arc::clone(side.matrix.get_or_init(|| Arc::new(self.rows_of(matrix, None))))
                    }
                };
                let place = (&self.device, self.limit);
                match Runner::new(matrix, &rows, width, &self.row_subsets, place) {
                    Err(error) if self.limit.is_some() && is_of_memory(&error) => {
                        *kept = Kept::Refused;
                        return Ok(None);
                    }
                    runner => Box::new(runner?),
                }
            }
        };
        let done = work(&mut runner);
        *kept = Kept::Runner(in_share, runner);
        done.map(Some)
    }

    fn rows_of(&self, matrix: Matrix, directed: Option<&DirectedWeights>) -> SparseRows {
        let graph = self.graph;
        let values = match (matrix, directed) {
            (Matrix::Symmetric, Some(weights)) => Some(weights.symmetric(graph).to_vec()),
            (Matrix::Adjacency, Some(weights)) => Some(weights.adjacency.clone()),
            (Matrix::Symmetric, None) => Some(symmetric_values(graph)),
            (Matrix::Adjacency, None) => graph.all_weights().map(<[f32]>::to_vec),
        };
        let (offsets, columns) = (graph.indptr().to_vec(), graph.all_neighbours().to_vec());
        SparseRows::new(offsets, columns, values, graph.nodes())
    }
}

/// Whether a device has too little memory: by its plan, or as its driver found.
fn is_of_memory(error: &MethodError) -> bool {
    match error {
        MethodError::Engine(EngineError::Memory { .. }) => true,
        MethodError::Engine(EngineError::Device { problem, .. }) => {
            problem.contains("out of memory")
        }
        _ => false,
    }
}
