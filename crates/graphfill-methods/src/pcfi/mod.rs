//! PCFI (arXiv 2305.16618): propagation that trusts values near observed nodes more.
//!
//! First, diffusion between nodes, a column at a time. With h_j the hops from node j to the nearest
//! node whose cell is known, a message from j to i weighs α^(h_j − h_i + 1); rows are normalised, so
//! that α^(1 − h_i) cancels:
//!
//!   x̂_i = Σ_j a_ij c_j x̂_j / Σ_j a_ij c_j      c_j = α^h_j, known cells reset every round
//!
//! On directed graphs a_ij are the weights of A_a for a share a of in-neighbours
//! ([`crate::propagation::IN_SHARE`]), chosen by validation; hops are counted in both directions.
//!
//! Then propagation between the columns of each node, weighed by β (`between_columns`).
//!
//! # Differences from the paper
//!
//! - Rounds and α are chosen by validation. The paper always makes 100 rounds, and searches α and β on
//!   the accuracy of a classifier. β is 0 unless it is set: on validation cells of three tables the
//!   second step gained nothing clear (nRMSE on london_ward .4840 → .4832, climate and elect80 slightly
//!   worse), and it doubles the search.
//! - The second step works on standardised columns: columns of a table have units, and the paper's
//!   sum over channels has none. Where all columns have the same spread the two agree.
//! - It works among the columns of a panel, 64 at the most; a wider table has several panels, and
//!   columns of different panels say nothing about each other.
//! - Values are centred, so that a node that no known cell reaches gets the mean of the column, with
//!   confidence 0; published code has 0 and confidence 1 there.

mod between_columns;

use std::collections::VecDeque;

use graphfill_data::UndirectedGraph;
use graphfill_engine::cpu::{FinishRow, Store, sparse_product};
use rayon::prelude::*;

use crate::error::Result;
use crate::features::Panel;
use crate::method::MethodInfo;
use crate::parameters;
use crate::parameters::{Allowed, Parameters};
use crate::propagation::{Each, Loaded, Propagation, Purpose, ROUNDS};
use between_columns::between_columns;

const ALPHA: &str = "alpha";
const ALPHA_GRID: [f64; 4] = [0.3, 0.5, 0.7, 0.9];
const ALPHA_DEFAULT: f64 = 0.9;
const BETA: &str = "beta";
/// The rounds of the published method.
const PUBLISHED_ROUNDS: usize = 100;

/// A node that no known cell reaches.
const UNREACHED: u32 = u32::MAX;

parameters! {
    /// Pseudo-confidence-based feature imputation.
    pub struct Pcfi {
        /// how much of its weight a value keeps with each hop
        alpha: Option<f64> = None, Allowed::Number { min: 0.01, max: 1.0 },
            default "by validation, else 0.9";
        /// how much the other columns of a node say where few values reach; 0: nothing
        beta: f64 = 0.0, Allowed::Number { min: 0.0, max: 100.0 }, default "0";
        /// share of in-neighbours: 0 out-neighbours only, 0.5 both alike, 1 in-neighbours only; directed graphs only
        in_share: Option<f64> = None, Allowed::Number { min: 0.0, max: 1.0 }, default "0, 0.25, 0.5, 0.75 or 1 by validation, else 0.5";
        /// number of rounds
        rounds: Option<usize> = None, Allowed::Whole { min: 1.0, max: 10_000.0 }, default "1 to 100 by validation, else 100";
    }
}

impl Propagation for Pcfi {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: "pcfi",
            title: "PCFI",
            about: "Propagation in which a value counts less the farther it is from an observed one.",
            reference: "Um et al., ICLR 2023, arXiv 2305.16618",
            edges: "out-neighbours and in-neighbours count as in_share says; edge weights count",
            parameters: Pcfi::PARAMETERS,
        }
    }

    fn settings(&self, _purpose: Purpose, fixed: &Parameters) -> Vec<Parameters> {
        let alphas = fixed.get(ALPHA).map_or_else(|| ALPHA_GRID.to_vec(), |alpha| vec![alpha]);
        let setting = |alpha| Parameters::default().with(ALPHA, alpha).with(BETA, self.beta);
        alphas.into_iter().map(setting).collect()
    }

    fn default(&self, _purpose: Purpose, fixed: &Parameters) -> Parameters {
        Parameters::default()
            .with(ALPHA, fixed.get(ALPHA).unwrap_or(ALPHA_DEFAULT))
            .with(BETA, self.beta)
            .with(ROUNDS, fixed.get(ROUNDS).unwrap_or(PUBLISHED_ROUNDS as f64))
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
        let Loaded { operators, panel, .. } = loaded;
        let alpha = parameters.get(ALPHA).unwrap_or(ALPHA_DEFAULT) as f32;
        let width = panel.width;
        let confidence = confidences(operators.graph(), panel, alpha);
        let beta = parameters.get(BETA).unwrap_or(0.0);
        let each: &mut Each<'_> = &mut |round, values| match beta {
            0.0 => each(round, values),
            beta => each(round, &between_columns(panel, &confidence, beta, values)),
        };
        // Correlations are taken over all nodes.
        let all_rows = loaded.with_all_rows();
        let loaded = if beta == 0.0 { loaded } else { &all_rows };
        let along = operators.along(parameters);
        if let Some(programs) = loaded.programs()
            && programs.weigh(loaded, along.weights(), &confidence, rounds, each)?
        {
            return Ok(());
        }
        let adjacency = along.adjacency();
        let mut weights = vec![0.0f32; confidence.len()];
        sparse_product(adjacency, &confidence, width, &mut weights, &Store);
        // `messages` are c ∘ x̂: what a node sends; `values` are x̂.
        let mut messages = panel.values.clone();
        let mut values = panel.values.clone();
        for round in 1..=rounds.last().copied().unwrap_or(0) {
            let mean = WeightedMean { panel, weights: &weights };
            sparse_product(adjacency, &messages, width, &mut values, &mean);
            messages
                .par_chunks_mut(width)
                .zip(values.par_chunks(width).zip(confidence.par_chunks(width)))
                .for_each(|(message, (value, confidence))| {
                    for (message, (value, confidence)) in
                        message.iter_mut().zip(value.iter().zip(confidence))
                    {
                        *message = value * confidence;
                    }
                });
            if rounds.contains(&round) {
                each(round, &values);
            }
        }
        Ok(())
    }
}

/// Divides what came in by the confidence that came with it; known cells stay.
struct WeightedMean<'a> {
    panel: &'a Panel,
    weights: &'a [f32],
}

impl FinishRow for WeightedMean<'_> {
    #[inline(always)]
    fn wants(&self, row: usize) -> bool {
        self.panel.known[row] != self.panel.all_known()
    }

    #[inline(always)]
    fn finish(&self, row: usize, sum: &[f32], out: &mut [f32]) {
        let known = self.panel.known[row];
        let weights = &self.weights[row * sum.len()..(row + 1) * sum.len()];
        for (column, (out, (sum, weight))) in
            out.iter_mut().zip(sum.iter().zip(weights)).enumerate()
        {
            let mean = if *weight > 0.0 { sum / weight } else { 0.0 };
            *out = if known >> column & 1 == 1 { *out } else { mean };
        }
    }
}

/// c = a^h for every cell of the panel; zero where no known cell of the column is in reach.
fn confidences(graph: &UndirectedGraph, panel: &Panel, alpha: f32) -> Vec<f32> {
    let width = panel.width;
    let mut confidence = vec![0.0f32; panel.values.len()];
    let all_known = panel.all_known();
    let by_row = panel.known.iter().all(|&known| known == 0 || known == all_known);
    let columns = if by_row { 1 } else { panel.features.len() };
    for column in 0..columns {
        let hops = hops_to_known(graph, |row| panel.known[row] >> column & 1 == 1);
        for (row, &hops) in hops.iter().enumerate() {
            if hops != UNREACHED {
                let weight = alpha.powi(hops.min(1 << 20) as i32);
                let end = if by_row { panel.features.len() } else { column + 1 };
                confidence[row * width + column..row * width + end].fill(weight);
            }
        }
    }
    confidence
}

/// The number of hops from each node to the nearest known one.
fn hops_to_known(graph: &UndirectedGraph, known: impl Fn(usize) -> bool) -> Vec<u32> {
    let mut hops = vec![UNREACHED; graph.nodes()];
    let mut open: VecDeque<usize> = (0..graph.nodes()).filter(|&node| known(node)).collect();
    for &node in &open {
        hops[node] = 0;
    }
    while let Some(node) = open.pop_front() {
        for &other in graph.neighbours(node) {
            if hops[other as usize] == UNREACHED {
                hops[other as usize] = hops[node] + 1;
                open.push_back(other as usize);
            }
        }
    }
    hops
}
