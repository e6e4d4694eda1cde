//! How fast one training update is on this machine, and how much memory it takes.
//!
//! A random graph of a published data set's size is made, one SVGA update is planned, and the update
//! is timed; so is a large matrix product, before and after, which is the most that the device can
//! do. What an update takes beyond its products is the engine's own. On a GPU, where updates are
//! bound by memory, a copy is timed as well: what an update moves at the copy's rate is the floor.

pub(crate) mod clock;
mod limits;
mod machine;
mod propagation;
mod shapes;
mod workload;

use std::time::{Duration, Instant};

use graphfill_engine::cuda::Precision;
use graphfill_engine::{Device, MemoryLimit, OperationTime, Result, Session};
use graphfill_methods::svga::TRAINING;
use serde::Serialize;

pub use machine::Machine;
pub use propagation::{RoundOf, RoundTiming, time_round};
pub(crate) use shapes::published_model;
pub use shapes::{BenchShape, Values, shapes};
pub use workload::{Variant, Workload};

use limits::{copy_rate, product_rate};

use crate::memory;
use crate::summary::median;

/// How often an update is timed at least.
const MIN_BATCHES: usize = 3;

/// How an update is timed.
#[derive(Clone)]
pub struct BenchOptions<'a> {
    /// Which update.
    pub variant: Variant,
    /// Where it runs.
    pub device: &'a Device,
    /// The most memory that it may take there.
    pub memory: MemoryLimit,
    /// How long it is repeated.
    pub time: Duration,
    /// Once it says so, no further update is begun.
    pub stopped: &'a dyn Fn() -> bool,
}

impl BenchOptions<'_> {
    fn precision(&self) -> Precision {
        self.device.cuda_options().map_or(Precision::F32, |chosen| chosen.precision)
    }
}

/// One update at one shape.
#[derive(Debug, Clone, Serialize)]
pub struct UpdateTiming {
    /// What was timed: `svga-update` or `svga-u-update`.
    pub task: &'static str,
    /// The data set whose size the graph has.
    pub shape: String,
    /// Where it ran: `cpu`, `cuda:0` and so on.
    pub device: String,
    /// How exactly matrices are multiplied there.
    pub precision: String,
    /// On how many threads.
    pub threads: usize,
    /// The median.
    pub ms_per_update: f64,
    /// What the products of an update need, in 10⁹ floating-point operations.
    pub gflop_per_update: f64,
    /// The best rate of a large product, in 10⁹ operations per second.
    pub gemm_gflops: f64,
    /// The rate of the update as a share of that.
    pub share_of_gemm_rate: f64,
    /// The fewest bytes that an update can move.
    pub moved_bytes: u64,
    /// What the plan says.
    pub planned_bytes: u64,
    /// The most memory of the device above what was taken before; none where the system doesn't
    /// tell.
    pub peak_bytes: Option<u64>,
    /// The size of the graph, its table and the model.
    #[serde(flatten)]
    pub size: Size,
    /// What only a GPU has.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub gpu: Option<GpuTiming>,
}

/// The part of a timing that only a GPU has.
#[derive(Debug, Clone, Serialize)]
pub struct GpuTiming {
    /// The GPU's model.
    pub gpu: String,
    /// How updates were launched.
    pub launch: String,
    /// The best rate of a large copy, read and written, in 10⁹ bytes per second.
    pub copy_gbps: f64,
    /// What moving an update's bytes takes at that rate.
    pub floor_ms: f64,
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

/// Plans and times an update, unless the plan needs more memory than the limit allows.
pub fn time_update(shape: &BenchShape, options: &BenchOptions<'_>) -> Result<UpdateTiming> {
    let BenchOptions { variant, device, .. } = *options;
    let before = product_rate(device)?;
    let taken = Taken::now(device);
    let workload = Workload::new(shape)?;
    let mut plan = workload.plan(variant)?.on(device);
    let edges = workload.edges();
    drop(workload);
    plan.check_memory(options.memory, "the hidden width")?;
    let planned_bytes = plan.peak_bytes();
    let moved_bytes = plan.bytes_moved(TRAINING)?;
    let gflop_per_update = plan.arithmetic(TRAINING)? as f64 / 1e9;
    let mut session = Session::new(plan, 0)?;
    let seconds = seconds_per_update(&mut session, options)?;
    let peak_bytes = taken.more(device);
    drop(session);
    let gemm_gflops = before.max(product_rate(device)?);
    let gpu = match (device.model(), device.cuda_options()) {
        (Some(model), Some(chosen)) => {
            let rate = copy_rate(device)?;
            Some(GpuTiming {
                gpu: model.to_owned(),
                launch: chosen.launching.to_string(),
                copy_gbps: rate / 1e9,
                floor_ms: moved_bytes as f64 / rate * 1e3,
            })
        }
        _ => None,
    };
    Ok(UpdateTiming {
        task: variant.task(),
        shape: shape.name.to_owned(),
        device: device.name(),
        precision: options.precision().to_string(),
        threads: rayon::current_num_threads(),
        ms_per_update: seconds * 1e3,
        gflop_per_update,
        gemm_gflops,
        share_of_gemm_rate: gflop_per_update / seconds / gemm_gflops,
        moved_bytes,
        planned_bytes,
        peak_bytes,
        size: Size {
            nodes: shape.nodes,
            edges,
            features: shape.features,
            hidden: shape.model.width,
        },
        gpu,
    })
}

/// How long each operation of an update takes, the mean of at most `runs` after those to warm up.
pub fn profile_update(
    shape: &BenchShape,
    options: &BenchOptions<'_>,
    runs: u32,
) -> Result<Vec<OperationTime>> {
    let mut plan = Workload::new(shape)?.plan(options.variant)?.on(options.device);
    plan.check_memory(options.memory, "the hidden width")?;
    let mut session = Session::new(plan, 0)?;
    clock::warm_up(&mut session, TRAINING)?;
    let mut times = session.profile(TRAINING, 1)?;
    let mut done = 1;
    while done < runs && !(options.stopped)() {
        let more = session.profile(TRAINING, 1)?;
        times.iter_mut().zip(more).for_each(|(sum, time)| sum.seconds += time.seconds);
        done += 1;
    }
    times.iter_mut().for_each(|time| time.seconds /= f64::from(done));
    Ok(times)
}

/// The median over as many batches of updates as fit the time, at least three.
fn seconds_per_update(session: &mut Session, options: &BenchOptions<'_>) -> Result<f64> {
    clock::warm_up(session, TRAINING)?;
    let batch = clock::batch_size(session, TRAINING)?;
    let begin = Instant::now();
    let mut seconds = Vec::new();
    let is_short = |times: usize| times < MIN_BATCHES || begin.elapsed() < options.time;
    while seconds.is_empty() || !(options.stopped)() && is_short(seconds.len()) {
        seconds.push(clock::seconds_per_run(session, TRAINING, batch)?);
    }
    Ok(median(&mut seconds))
}

/// The memory of a device that is taken before an update.
enum Taken {
    /// What the process holds, of which the system keeps the peak.
    Resident(Option<u64>),
    /// Free memory of the GPU.
    Free(Option<u64>),
}

impl Taken {
    fn now(device: &Device) -> Self {
        if device.is_cuda() {
            return Taken::Free(device.available_memory());
        }
        let resident = memory::resident_bytes();
        memory::reset_peak();
        Taken::Resident(resident)
    }

    /// What has been taken since, at the most.
    fn more(&self, device: &Device) -> Option<u64> {
        let (most, least) = match *self {
            Taken::Resident(before) => (memory::peak_bytes(), before),
            Taken::Free(before) => (before, device.available_memory()),
        };
        most.zip(least).map(|(most, least)| most.saturating_sub(least))
    }
}
