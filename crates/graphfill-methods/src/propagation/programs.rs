//! Propagation as programs of the engine, for a device with memory of its own: what is given goes
//! there once a panel, rounds run there, and only what is looked at comes back.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use graphfill_data::UndirectedGraph;
use graphfill_engine::{Device, SparseRows};

use super::operators::symmetric_values;
use super::runner::{Matrix, Runner};
use super::{Each, Loaded};
use crate::error::Result;

/// The matrices of a graph and what runs rounds with them on a device.
pub(crate) struct Programs<'a> {
    graph: &'a UndirectedGraph,
    device: Device,
    looks: Vec<Vec<u32>>,
    symmetric: Side,
    adjacency: Side,
}

/// One of the two matrices, and what runs rounds with it for the width that was used last.
#[derive(Default)]
struct Side {
    matrix: OnceLock<Arc<SparseRows>>,
    runner: Mutex<Option<Runner>>,
}

impl<'a> Programs<'a> {
    pub(super) fn new(graph: &'a UndirectedGraph, device: &Device) -> Self {
        Programs {
            graph,
            device: device.clone(),
            looks: Vec::new(),
            symmetric: Side::default(),
            adjacency: Side::default(),
        }
    }

    pub(super) fn looking_at(self, looks: Vec<Vec<u32>>) -> Self {
        Programs { looks, ..self }
    }

    /// Rounds of  X ← α S X + (1 − α) · mean,  known cells then β of that and 1 − β of what is
    /// known; the shares are α and β.
    pub(crate) fn mix(
        &self,
        loaded: &Loaded<'_>,
        shares: [f32; 2],
        rounds: &[usize],
        each: &mut Each<'_>,
    ) -> Result<()> {
        self.with(Matrix::Symmetric, loaded.panel.width, |runner| {
            runner.mix(loaded, shares, rounds, each)
        })
    }

    /// Rounds of  X ← A (C ∘ X) ⊘ A C,  known cells reset, with confidences C.
    pub(crate) fn weigh(
        &self,
        loaded: &Loaded<'_>,
        confidences: &[f32],
        rounds: &[usize],
        each: &mut Each<'_>,
    ) -> Result<()> {
        self.with(Matrix::Adjacency, loaded.panel.width, |runner| {
            runner.weigh(loaded, confidences, rounds, each)
        })
    }

    /// A · X for a panel of this width.
    pub(super) fn adjacency_product(&self, panel: &[f32], width: usize) -> Result<Vec<f32>> {
        self.with(Matrix::Adjacency, width, |runner| runner.product(panel))
    }

    /// Does something with what runs rounds with a matrix on panels of a width.
    fn with<T>(
        &self,
        matrix: Matrix,
        width: usize,
        work: impl FnOnce(&mut Runner) -> Result<T>,
    ) -> Result<T> {
        let side = match matrix {
            Matrix::Symmetric => &self.symmetric,
            Matrix::Adjacency => &self.adjacency,
        };
        let mut kept = side.runner.lock().unwrap_or_else(PoisonError::into_inner);
        // One of another width gives its memory back before the next takes some.
        let mut runner = match kept.take().filter(|runner| runner.width() == width) {
            Some(runner) => runner,
            None => {
                let rows = side.matrix.get_or_init(|| Arc::new(self.rows_of(matrix)));
                Runner::new(matrix, rows, width, &self.looks, &self.device)?
            }
        };
        let done = work(&mut runner);
        *kept = Some(runner);
        done
    }

    fn rows_of(&self, matrix: Matrix) -> SparseRows {
        let graph = self.graph;
        let values = match matrix {
            Matrix::Symmetric => Some(symmetric_values(graph)),
            Matrix::Adjacency => graph.all_weights().map(<[f32]>::to_vec),
        };
        let (offsets, columns) = (graph.offsets().to_vec(), graph.all_neighbours().to_vec());
        SparseRows::new(offsets, columns, values, graph.nodes())
    }
}
