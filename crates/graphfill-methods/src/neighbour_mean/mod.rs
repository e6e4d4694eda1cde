//! The mean over the observed neighbours (NeighAgg):
//!
//!   x̂_i = Σ_j a_ij x_j / Σ_j a_ij   over neighbours j whose cell is known
//!
//! On directed graphs a_ij are the weights of A_a for a share a of in-neighbours
//! ([`crate::propagation::IN_SHARE`]), chosen by validation. Where no neighbour in the only direction that
//! counts (a = 0 or 1) is known, those in the other direction are the mean.
//!
//! A node without such a neighbour gets nothing: the column mean where values are centred, a row
//! of zeros in a ranking.

use rayon::prelude::*;

use crate::error::Result;
use crate::method::MethodInfo;
use crate::parameters;
use crate::parameters::{Allowed, Parameters};
use crate::propagation::{Each, Loaded, Propagation};

parameters! {
    /// Mean of observed neighbours.
    pub struct NeighbourMean {
        /// share of in-neighbours: 0 out-neighbours only, 0.5 both alike, 1 in-neighbours only; directed graphs only
        in_share: Option<f64> = None, Allowed::Number { min: 0.0, max: 1.0 }, default "0, 0.25, 0.5, 0.75 or 1 by validation, else 0.5";
    }
}

impl Propagation for NeighbourMean {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: "neighbour-mean",
            title: "Neighbour mean",
            about: "The mean of the neighbours whose value is known; the column mean where there is none.",
            reference: "Şimşek and Jensen, PNAS 2008 (NeighAgg)",
            edges: "out-neighbours and in-neighbours count as in_share says; edge weights count",
            parameters: NeighbourMean::PARAMETERS,
        }
    }

    fn run(
        &self,
        loaded: &Loaded<'_>,
        parameters: &Parameters,
        _rounds: &[usize],
        each: &mut Each<'_>,
    ) -> Result<()> {
        let Loaded { operators, panel, .. } = loaded;
        let width = panel.width;
        let along = operators.along(parameters);
        let known = panel.known_as_numbers();
        let mut weights = along.adjacency_product(&known, width)?;
        let mut means = along.adjacency_product(&panel.values, width)?;
        if along.is_one_way() && weights.contains(&0.0) {
            let all_weights = operators.adjacency_product(&known, width)?;
            let all_sums = operators.adjacency_product(&panel.values, width)?;
            let cells = means.par_iter_mut().zip(&mut weights);
            cells.zip(all_sums.par_iter().zip(&all_weights)).for_each(
                |((sum, weight), (all_sum, all_weight))| {
                    if *weight == 0.0 {
                        (*sum, *weight) = (*all_sum, *all_weight);
                    }
                },
            );
        }
        means.par_iter_mut().zip(&weights).for_each(|(mean, weight)| {
            *mean = if *weight > 0.0 { *mean / weight } else { 0.0 };
        });
        each(1, &means);
        Ok(())
    }
}
