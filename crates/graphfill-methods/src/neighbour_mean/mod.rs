//! The mean over the observed neighbours (NeighAgg):
//!
//!   x̂_i = Σ_j a_ij x_j / Σ_j a_ij   over neighbours j whose cell is known
//!
//! A node without such a neighbour gets nothing: the column mean where values are centred, a row
//! of zeros in a ranking.

use rayon::prelude::*;

use crate::error::Result;
use crate::method::MethodInfo;
use crate::parameters;
use crate::parameters::Parameters;
use crate::propagation::{Each, Loaded, Propagation};

parameters! {
    /// Mean of observed neighbours.
    pub struct NeighbourMean {}
}

impl Propagation for NeighbourMean {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: "neighbour-mean",
            title: "Neighbour mean",
            about: "The mean of the neighbours whose value is known; the column mean where there is none.",
            reference: "Şimşek and Jensen, PNAS 2008 (NeighAgg)",
            parameters: NeighbourMean::PARAMETERS,
        }
    }

    fn run(
        &self,
        loaded: &Loaded<'_>,
        _parameters: &Parameters,
        _rounds: &[usize],
        each: &mut Each<'_>,
    ) -> Result<()> {
        let Loaded { operators, panel, .. } = loaded;
        let width = panel.width;
        let weights = operators.adjacency_product(&panel.known_as_numbers(), width)?;
        let mut means = operators.adjacency_product(&panel.values, width)?;
        means.par_iter_mut().zip(&weights).for_each(|(mean, weight)| {
            *mean = if *weight > 0.0 { *mean / weight } else { 0.0 };
        });
        each(1, &means);
        Ok(())
    }
}
