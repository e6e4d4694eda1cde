//! The mean over the observed neighbours (NeighAgg):
//!
//!   x̂_i = Σ_j a_ij x_j / Σ_j a_ij   over neighbours j whose cell is known
//!
//! A node without such a neighbour gets nothing: the column mean where values are centred, a row
//! of zeros in a ranking.

use graphfill_engine::cpu::{FinishRow, Store, sparse_product};

use crate::features::Panel;
use crate::method::MethodInfo;
use crate::parameters::Parameters;
use crate::propagation::{Operators, Propagation};

/// Mean of observed neighbours.
#[derive(Debug, Clone, Copy)]
pub struct NeighbourMean;

impl Propagation for NeighbourMean {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: "neighbour-mean",
            title: "Neighbour mean",
            about: "The mean of the neighbours whose value is known; the column mean where there is none.",
            reference: "Şimşek and Jensen, PNAS 2008 (NeighAgg)",
            parameters: &[],
        }
    }

    fn run(
        &self,
        operators: &Operators<'_>,
        panel: &Panel,
        _parameters: &Parameters,
        _rounds: usize,
        each: &mut dyn FnMut(usize, &[f32]),
    ) {
        let width = panel.width;
        let adjacency = operators.adjacency();
        let known = panel.known_as_numbers();
        let mut weights = vec![0.0f32; known.len()];
        sparse_product(adjacency, &known, width, &mut weights, &Store);
        let mut means = known;
        let over = Divide { weights: &weights };
        sparse_product(adjacency, &panel.values, width, &mut means, &over);
        each(1, &means);
    }
}

/// Divides each sum by its weight; zero where no neighbour is known.
struct Divide<'a> {
    weights: &'a [f32],
}

impl FinishRow for Divide<'_> {
    #[inline(always)]
    fn finish(&self, row: usize, sum: &[f32], out: &mut [f32]) {
        let weights = &self.weights[row * sum.len()..(row + 1) * sum.len()];
        for ((out, sum), weight) in out.iter_mut().zip(sum).zip(weights) {
            *out = if *weight > 0.0 { sum / weight } else { 0.0 };
        }
    }
}
