//! ARB (arXiv 2501.00743): propagation that admits new edges and frees the observed rows.
//!
//!   out ← α S out + (1 − α) · mean over all nodes       a virtual edge between all pairs
//!   out_known ← β out_known + (1 − β) X                 known cells may move, and so pass on
//!                                                       what their surroundings say
//!
//! Its fixed point is the mean of a sparse Gaussian field. On directed graphs S is S_a for a share a of
//! in-neighbours ([`crate::propagation::IN_SHARE`]), chosen by validation.
//!
//! # Differences from the paper
//!
//! - α, β and the number of rounds (1 to 30) are chosen by validation, for every group of columns.
//! - Numbers and categories are centred on the mean of their known cells before the first round.

use graphfill_engine::cpu::{FinishRow, column_means, sparse_product};

use crate::error::Result;
use crate::features::Panel;
use crate::method::MethodInfo;
use crate::parameters;
use crate::parameters::{Allowed, Parameters};
use crate::propagation::{Each, Loaded, Propagation, Purpose, ROUNDS};

const ALPHA: &str = "alpha";
const BETA: &str = "beta";

/// α and β worth comparing. Rankings want nearly all from the neighbours; values of columns that
/// hardly follow the graph want a strong pull to the mean.
const RANKING_GRID: ([f64; 4], [f64; 4]) = ([0.9, 0.95, 0.98, 1.0], [0.7, 0.8, 0.9, 0.95]);
const VALUES_GRID: ([f64; 6], [f64; 4]) = ([0.2, 0.4, 0.7, 0.9, 0.97, 1.0], [0.3, 0.5, 0.65, 0.8]);

/// α, β and rounds where nothing can be compared.
const RANKING_DEFAULT: [f64; 3] = [0.98, 0.9, 10.0];
const VALUES_DEFAULT: [f64; 3] = [1.0, 0.6, 14.0];

parameters! {
    /// ARB: propagation with a virtual edge between all nodes.
    pub struct Arb {
        /// share that comes from the neighbours, the rest from the mean of all
        alpha: Option<f64> = None, Allowed::Number { min: 0.0, max: 1.0 }, default "by validation, else 0.98 (1 for numbers)";
        /// how far a known value may move towards its surroundings
        beta: Option<f64> = None, Allowed::Number { min: 0.0, max: 1.0 }, default "by validation, else 0.9 (0.6 for numbers)";
        /// share of in-neighbours: 0 out-neighbours only, 0.5 both alike, 1 in-neighbours only; directed graphs only
        in_share: Option<f64> = None, Allowed::Number { min: 0.0, max: 1.0 }, default "0, 0.25, 0.5, 0.75 or 1 by validation, else 0.5";
        /// number of rounds
        rounds: Option<usize> = None, Allowed::Whole { min: 1.0, max: 10_000.0 }, default "1 to 30 by validation, else 10 (14 for numbers)";
    }
}

impl Propagation for Arb {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: "arb",
            title: "ARB",
            about: "Propagation with a virtual edge between all nodes and observed rows that may move.",
            reference: "AttriReBoost, arXiv 2501.00743",
            edges: "out-neighbours and in-neighbours count as in_share says; edge weights count",
            parameters: Arb::PARAMETERS,
        }
    }

    fn settings(&self, purpose: Purpose, fixed: &Parameters) -> Vec<Parameters> {
        let (alphas, betas): (&[f64], &[f64]) = match purpose {
            Purpose::Ranking => (&RANKING_GRID.0, &RANKING_GRID.1),
            Purpose::Values => (&VALUES_GRID.0, &VALUES_GRID.1),
        };
        let open = |name: &str, grid: &[f64]| match fixed.get(name) {
            Some(value) => vec![value],
            None => grid.to_vec(),
        };
        let betas = open(BETA, betas);
        let pairs = open(ALPHA, alphas).into_iter().flat_map(|alpha| {
            betas.iter().map(move |&beta| Parameters::default().with(ALPHA, alpha).with(BETA, beta))
        });
        pairs.collect()
    }

    fn default(&self, purpose: Purpose, fixed: &Parameters) -> Parameters {
        let [alpha, beta, rounds] = match purpose {
            Purpose::Ranking => RANKING_DEFAULT,
            Purpose::Values => VALUES_DEFAULT,
        };
        Parameters::default()
            .with(ALPHA, fixed.get(ALPHA).unwrap_or(alpha))
            .with(BETA, fixed.get(BETA).unwrap_or(beta))
            .with(ROUNDS, fixed.get(ROUNDS).unwrap_or(rounds))
    }

    fn max_rounds(&self) -> usize {
        30
    }

    fn run(
        &self,
        loaded: &Loaded<'_>,
        parameters: &Parameters,
        rounds: &[usize],
        each: &mut Each<'_>,
    ) -> Result<()> {
        let [alpha, beta, _] = RANKING_DEFAULT;
        let alpha = parameters.get(ALPHA).unwrap_or(alpha) as f32;
        let beta = parameters.get(BETA).unwrap_or(beta) as f32;
        let along = loaded.operators.along(parameters);
        if let Some(programs) = loaded.programs()
            && programs.mix(loaded, along.weights(), [alpha, beta], rounds, each)?
        {
            return Ok(());
        }
        let panel = loaded.panel;
        let symmetric = along.symmetric();
        let width = panel.width;
        let mut current = panel.values.clone();
        let mut next = vec![0.0f32; current.len()];
        for round in 1..=rounds.last().copied().unwrap_or(0) {
            let pull: Vec<f32> = match alpha {
                1.0 => vec![0.0; width],
                _ => column_means(&current, width).iter().map(|m| (1.0 - alpha) * m).collect(),
            };
            let round_of = Round { panel, pull: &pull, alpha, beta };
            sparse_product(symmetric, &current, width, &mut next, &round_of);
            std::mem::swap(&mut current, &mut next);
            if rounds.contains(&round) {
                each(round, &current);
            }
        }
        Ok(())
    }
}

/// Both equations for one row: α · sum + (1 − α) · mean, then known cells back towards X.
struct Round<'a> {
    panel: &'a Panel,
    pull: &'a [f32],
    alpha: f32,
    beta: f32,
}

impl FinishRow for Round<'_> {
    #[inline(always)]
    fn finish(&self, row: usize, sum: &[f32], out: &mut [f32]) {
        let (alpha, beta) = (self.alpha, self.beta);
        for ((out, sum), pull) in out.iter_mut().zip(sum).zip(self.pull) {
            *out = alpha * sum + pull;
        }
        let known = self.panel.known[row];
        if known == 0 {
            return;
        }
        let given = &self.panel.values[row * sum.len()..(row + 1) * sum.len()];
        for (column, (out, given)) in out.iter_mut().zip(given).enumerate() {
            let moved = beta * *out + (1.0 - beta) * given;
            *out = if known >> column & 1 == 1 { moved } else { *out };
        }
    }
}
