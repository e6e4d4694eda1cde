//! How long a round of propagation takes on a random graph, a panel of 64 columns at the most.
//!
//! A round is bound by memory: of every entry of the matrix, its column, its value and a row of the
//! panel are fetched; a row of the panel is written for every node.

use std::time::{Duration, Instant};

use graphfill_engine::Device;
use graphfill_engine::cpu::panel_width;
use graphfill_engine::random::{Key, uniforms};
use graphfill_methods::arb::Arb;
use graphfill_methods::feature_propagation::FeaturePropagation;
use graphfill_methods::features::Panel;
use graphfill_methods::propagation::{Loaded, Operators, Propagation};
use graphfill_methods::{Parameters, Result};
use serde::Serialize;

use super::BenchShape;
use super::limits::copy_rate;
use super::workload::random_graph;
use crate::summary::median;

/// Rounds that come before those that are timed, on the CPU and on a GPU, which compiles in
/// the first of them and captures in the next.
const WARMING_ROUNDS: [usize; 2] = [1, 6];
/// Seconds that rounds which are timed together should take, and the most of them.
const BATCH_SECONDS: f64 = 0.05;
const LARGEST_BATCH: usize = 1000;
/// How often a batch is timed at least.
const MIN_BATCHES: usize = 3;

/// Which round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundOf {
    /// Feature propagation's.
    FeaturePropagation,
    /// ARB's, with a pull to the mean and known cells that move.
    Arb,
}

impl RoundOf {
    /// Its name in results.
    pub fn task(self) -> &'static str {
        match self {
            RoundOf::FeaturePropagation => "fp-round",
            RoundOf::Arb => "arb-round",
        }
    }

    fn method(self) -> (Box<dyn Propagation>, Parameters) {
        let parameters = Parameters::default();
        match self {
            RoundOf::FeaturePropagation => (Box::new(FeaturePropagation::new()), parameters),
            RoundOf::Arb => (Box::new(Arb::new()), parameters.with("alpha", 0.9).with("beta", 0.7)),
        }
    }
}

/// One round at one shape.
#[derive(Debug, Clone, Serialize)]
pub struct RoundTiming {
    /// What was timed: `fp-round` or `arb-round`.
    pub task: &'static str,
    /// The data set whose size the graph has.
    pub shape: String,
    /// Where it ran.
    pub device: String,
    /// On how many threads.
    pub threads: usize,
    /// The median.
    pub ms_per_round: f64,
    /// What a round moves if no row of the panel stays in a cache.
    pub moved_bytes: u64,
    /// That, in 10⁹ bytes per second.
    pub moved_gbps: f64,
    /// On a GPU, the best rate of a large copy, read and written, in 10⁹ bytes per second.
    pub copy_gbps: Option<f64>,
    /// What moving a round's bytes takes at that rate; less where rows stay in a cache.
    pub floor_ms: Option<f64>,
    /// Nodes.
    pub nodes: usize,
    /// Undirected edges, each of which is two entries of the matrix.
    pub edges: usize,
    /// Columns of the panel.
    pub width: usize,
}

/// Times a round on a panel of the shape's columns, on a device, for so long. Once `stopped` says so,
/// no further round is begun.
pub fn time_round(
    shape: &BenchShape,
    round: RoundOf,
    device: &Device,
    time: Duration,
    stopped: &dyn Fn() -> bool,
) -> Result<RoundTiming> {
    let graph = random_graph(shape.nodes, shape.edges);
    let panel = random_panel(shape.nodes, panel_width(shape.features));
    // One row is enough to know that a round is done.
    let operators = Operators::on(&graph, device).with_row_subsets(vec![vec![0]]);
    let loaded = operators.load(&panel).with_rows(0);
    let warming = WARMING_ROUNDS[usize::from(device.is_cuda())];
    Batch { round, loaded: &loaded, rounds: warming }.seconds_per_round()?;
    let mut batch = Batch { round, loaded: &loaded, rounds: 1 };
    let first = batch.seconds_per_round()?;
    batch.rounds = (BATCH_SECONDS / first).ceil().clamp(1.0, LARGEST_BATCH as f64) as usize;
    let begin = Instant::now();
    let mut seconds = Vec::new();
    while seconds.is_empty()
        || !stopped() && (seconds.len() < MIN_BATCHES || begin.elapsed() < time)
    {
        seconds.push(batch.seconds_per_round()?);
    }
    let seconds = median(&mut seconds);
    let moved_bytes = moved_bytes(graph.nodes(), graph.all_neighbours().len(), panel.width);
    let copy = if device.is_cuda() { Some(copy_rate(device)?) } else { None };
    Ok(RoundTiming {
        task: round.task(),
        shape: shape.name.to_owned(),
        device: device.name(),
        threads: rayon::current_num_threads(),
        ms_per_round: seconds * 1e3,
        moved_bytes,
        moved_gbps: moved_bytes as f64 / seconds / 1e9,
        copy_gbps: copy.map(|rate| rate / 1e9),
        floor_ms: copy.map(|rate| moved_bytes as f64 / rate * 1e3),
        nodes: graph.nodes(),
        edges: graph.edges(),
        width: panel.width,
    })
}

/// Column and value of every entry, the row that it fetches, and the row that is written.
fn moved_bytes(nodes: usize, entries: usize, width: usize) -> u64 {
    let row = 4 * width as u64;
    entries as u64 * (8 + row) + nodes as u64 * row
}

/// Some rounds that are timed together.
struct Batch<'a> {
    round: RoundOf,
    loaded: &'a Loaded<'a>,
    rounds: usize,
}

impl Batch<'_> {
    /// The mean over the rounds behind the first.
    fn seconds_per_round(&self) -> Result<f64> {
        let (method, parameters) = self.round.method();
        let mut moments = Vec::new();
        let looked_at = [1, 1 + self.rounds];
        method.run(self.loaded, &parameters, &looked_at, &mut |_, _| {
            moments.push(Instant::now());
        })?;
        let elapsed = moments[moments.len() - 1] - moments[0];
        Ok(elapsed.as_secs_f64() / self.rounds as f64)
    }
}

/// One cell of every row is known, so that every row is computed.
fn random_panel(nodes: usize, width: usize) -> Panel {
    let mut numbers = vec![0.0; nodes];
    uniforms(Key::new(0, 4, 0), &mut numbers);
    let mut values = vec![0.0; nodes * width];
    for (row, number) in numbers.into_iter().enumerate() {
        values[row * width + row % width] = number;
    }
    let known = (0..nodes).map(|row| 1 << (row % width)).collect();
    Panel { features: 0..width, width, values, known, offsets: vec![0.0; width] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::shapes;

    #[test]
    fn a_round_is_timed_and_its_bytes_are_counted() {
        let shape = BenchShape { nodes: 50, edges: 300, ..shapes()[0] };
        for round in [RoundOf::FeaturePropagation, RoundOf::Arb] {
            let timed = time_round(&shape, round, &Device::cpu(), Duration::ZERO, &|| false);
            let timed = timed.expect("a timing");
            assert!(timed.ms_per_round > 0.0 && timed.moved_gbps > 0.0);
            assert_eq!((timed.nodes, timed.edges, timed.width), (50, 300, 64));
            assert_eq!(timed.moved_bytes, 2 * 300 * (8 + 256) + 50 * 256);
        }
    }
}
