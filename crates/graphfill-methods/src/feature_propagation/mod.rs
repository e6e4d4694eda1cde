//! Feature propagation (arXiv 2111.12128): known values spread like heat and never change.
//!
//!   X ← S X,  then  X_known ← what is known        S = D^-½ A D^-½
//!
//! On directed graphs S is S_a for a share a of in-neighbours ([`crate::propagation::IN_SHARE`]), chosen by
//! validation.
//!
//! Works a cell at a time. Rows that are known throughout are never computed.
//!
//! # Differences from the paper
//!
//! - The number of rounds, 1 to the published 40, is chosen by validation.
//! - Numbers and categories are centred: a value that nothing reaches is the mean of its column, not 0.

use graphfill_engine::cpu::{FinishRow, sparse_product};

use crate::error::Result;
use crate::features::Panel;
use crate::method::MethodInfo;
use crate::parameters;
use crate::parameters::{Allowed, Parameters};
use crate::propagation::{Each, Loaded, Propagation, Purpose, ROUNDS};

/// The rounds of the published method.
const PUBLISHED_ROUNDS: usize = 40;

parameters! {
    /// Feature propagation.
    pub struct FeaturePropagation {
        /// share of in-neighbours: 0 out-neighbours only, 0.5 both alike, 1 in-neighbours only; directed graphs only
        in_share: Option<f64> = None, Allowed::Number { min: 0.0, max: 1.0 }, default "0, 0.25, 0.5, 0.75 or 1 by validation, else 0.5";
        /// number of rounds
        rounds: Option<usize> = None, Allowed::Whole { min: 1.0, max: 10_000.0 }, default "1 to 40 by validation, else 40";
    }
}

impl Propagation for FeaturePropagation {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: "fp",
            title: "Feature propagation",
            about: "Spreads known values along edges and resets them after every round.",
            reference: "Rossi et al., LoG 2022, arXiv 2111.12128",
            edges: "out-neighbours and in-neighbours count as in_share says; edge weights count",
            parameters: FeaturePropagation::PARAMETERS,
        }
    }

    fn default(&self, _purpose: Purpose, fixed: &Parameters) -> Parameters {
        Parameters::default().with(ROUNDS, fixed.get(ROUNDS).unwrap_or(PUBLISHED_ROUNDS as f64))
    }

    fn max_rounds(&self) -> usize {
        PUBLISHED_ROUNDS
    }

    fn run(
        &self,
        loaded: &Loaded<'_>,
        parameters: &Parameters,
        rounds: &[usize],
        each: &mut Each<'_>,
    ) -> Result<()> {
        let along = loaded.operators.along(parameters);
        // All from the neighbours, and what is known stays.
        if let Some(programs) = loaded.programs()
            && programs.mix(loaded, along.weights(), [1.0, 0.0], rounds, each)?
        {
            return Ok(());
        }
        let panel = loaded.panel;
        let symmetric = along.symmetric();
        let mut current = panel.values.clone();
        // Both buffers hold the known cells from the start, and rounds write the others alone.
        let mut next = panel.values.clone();
        for round in 1..=rounds.last().copied().unwrap_or(0) {
            sparse_product(symmetric, &current, panel.width, &mut next, &Reset { panel });
            std::mem::swap(&mut current, &mut next);
            if rounds.contains(&round) {
                each(round, &current);
            }
        }
        Ok(())
    }
}

/// Writes unknown cells alone.
struct Reset<'a> {
    panel: &'a Panel,
}

impl FinishRow for Reset<'_> {
    #[inline(always)]
    fn wants(&self, row: usize) -> bool {
        self.panel.known[row] != self.panel.all_known()
    }

    #[inline(always)]
    fn finish(&self, row: usize, sum: &[f32], out: &mut [f32]) {
        match self.panel.known[row] {
            0 => out.copy_from_slice(sum),
            known => {
                for (column, (out, sum)) in out.iter_mut().zip(sum).enumerate() {
                    *out = if known >> column & 1 == 1 { *out } else { *sum };
                }
            }
        }
    }
}
