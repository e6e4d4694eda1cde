//! How fast one training update is on this machine, and how much memory it takes.
//!
//! A random graph of a published data set's size is made, one SVGA update is planned, and the update
//! is timed; so is a large matrix product, before and after, which is the most that the machine can
//! do. What an update takes beyond its products is the engine's own.

mod machine;
mod propagation;
mod shapes;
mod workload;

use std::time::{Duration, Instant};

use graphfill_engine::{Initial, MemoryLimit, OperationTime, Plan, Program, Result, Session};
use graphfill_methods::svga::TRAINING;
use serde::Serialize;

pub use machine::Machine;
pub use propagation::{RoundOf, RoundTiming, time_round};
pub use shapes::{BenchShape, SHAPES, Values};
pub use workload::{Variant, Workload};

use crate::memory;
use crate::summary::median;

/// How often an update is timed at least.
const LEAST_RUNS: usize = 3;
/// Rows and columns of the large product.
const PRODUCT_SIZE: usize = 2048;
/// How often it is tried, before and after.
const PRODUCT_TRIES: usize = 4;

/// One update at one shape.
#[derive(Debug, Clone, Serialize)]
pub struct UpdateTiming {
    /// What was timed: `svga-update` or `svga-u-update`.
    pub task: &'static str,
    /// The data set whose size the graph has.
    pub shape: String,
    /// Where it ran.
    pub device: &'static str,
    /// On how many threads.
    pub threads: usize,
    /// The median.
    pub ms_per_update: f64,
    /// What the products of an update need, in 10⁹ floating-point operations.
    pub gflop_per_update: f64,
    /// The best rate of a large product, in 10⁹ operations a second.
    pub gemm_gflops: f64,
    /// The rate of the update as a share of that.
    pub share_of_gemm_rate: f64,
    /// What the plan says.
    pub planned_bytes: u64,
    /// The most resident memory above what the process had before; none where the system doesn't
    /// tell.
    pub peak_bytes: Option<u64>,
    /// The size of the graph, its table and the model.
    #[serde(flatten)]
    pub size: Size,
}

/// How large the task is.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Size {
    /// Nodes.
    pub nodes: usize,
    /// Undirected edges.
    pub edges: usize,
    /// Columns of the table.
    pub features: usize,
    /// The width of hidden and latent rows.
    pub hidden: usize,
}

/// Plans and times an update, unless the plan needs more memory than the limit allows. Once
/// `stopped` says so, no further update is begun.
pub fn time_update(
    shape: &BenchShape,
    variant: Variant,
    limit: MemoryLimit,
    time: Duration,
    stopped: &dyn Fn() -> bool,
) -> Result<UpdateTiming> {
    let before = large_product_rate()?;
    let resident = memory::resident_bytes();
    memory::reset_peak();
    let workload = Workload::new(shape)?;
    let plan = workload.plan(variant)?;
    let edges = workload.edges();
    drop(workload);
    plan.check_memory(limit, "--hidden")?;
    let planned_bytes = plan.peak_bytes();
    let gflop_per_update = plan.arithmetic(TRAINING)? as f64 / 1e9;
    let mut session = Session::new(plan, 0)?;
    let seconds = seconds_a_run(&mut session, TRAINING, time, stopped)?;
    let peak = memory::peak_bytes();
    drop(session);
    let gemm_gflops = before.max(large_product_rate()?);
    Ok(UpdateTiming {
        task: variant.task(),
        shape: shape.name.to_owned(),
        device: "cpu",
        threads: rayon::current_num_threads(),
        ms_per_update: seconds * 1e3,
        gflop_per_update,
        gemm_gflops,
        share_of_gemm_rate: gflop_per_update / seconds / gemm_gflops,
        planned_bytes,
        peak_bytes: peak.zip(resident).map(|(peak, before)| peak.saturating_sub(before)),
        size: Size {
            nodes: shape.nodes,
            edges,
            features: shape.features,
            hidden: shape.model.width,
        },
    })
}

/// How long each operation of an update takes, the mean of `runs` after one to warm up.
pub fn profile_update(
    shape: &BenchShape,
    variant: Variant,
    limit: MemoryLimit,
    runs: u32,
) -> Result<Vec<OperationTime>> {
    let plan = Workload::new(shape)?.plan(variant)?;
    plan.check_memory(limit, "--hidden")?;
    let mut session = Session::new(plan, 0)?;
    session.run(TRAINING)?;
    session.profile(TRAINING, runs)
}

/// The median over as many runs as fit the time, at least three, after one to warm up.
fn seconds_a_run(
    session: &mut Session,
    program: &str,
    time: Duration,
    stopped: &dyn Fn() -> bool,
) -> Result<f64> {
    session.run(program)?;
    let begin = Instant::now();
    let mut seconds = Vec::new();
    while seconds.is_empty() || !stopped() && (seconds.len() < LEAST_RUNS || begin.elapsed() < time)
    {
        let run = Instant::now();
        session.run(program)?;
        seconds.push(run.elapsed().as_secs_f64());
    }
    Ok(median(&mut seconds))
}

/// The best rate of a large product, in 10⁹ operations a second.
fn large_product_rate() -> Result<f64> {
    let program = Program::new("product");
    let square = [PRODUCT_SIZE, PRODUCT_SIZE];
    let left = program.parameter("left", square, Initial::Glorot);
    let right = program.parameter("right", square, Initial::Glorot);
    program.output("product", left.product(right));
    let mut session = Session::new(Plan::new(vec![program.finish()?])?, 0)?;
    let flop = session.plan().arithmetic("product")? as f64;
    let mut best = f64::INFINITY;
    for _ in 0..=PRODUCT_TRIES {
        let begin = Instant::now();
        session.run("product")?;
        best = best.min(begin.elapsed().as_secs_f64());
    }
    Ok(flop / best / 1e9)
}
