//! `graphfill bench`: how fast one training update is here, and how much memory it takes.

use std::time::Duration;

use graphfill::data::did_you_mean;
use graphfill::engine::{EngineError, MemoryLimit};
use graphfill::eval::bench::{
    BenchOptions, BenchShape, GpuTiming, Machine, RoundOf, UpdateTiming, Variant, profile_update,
    shapes, time_update,
};
use serde::Serialize;

use super::bench_rounds;
use super::device::{self, Workload};
use crate::arguments::{Bench, BenchVariant, Format, General, UsageError};
use crate::output;
use crate::output::messages::Messages;
use crate::output::numbers::bytes;
use crate::output::text_table::TextTable;
use crate::stop;

#[derive(Serialize)]
struct Report {
    machine: Machine,
    results: Vec<UpdateTiming>,
}

pub(crate) fn run(arguments: &Bench, general: &General) -> anyhow::Result<()> {
    let messages = Messages::new(general.quiet);
    let variant = match arguments.variant {
        BenchVariant::Svga => Variant::Svga,
        BenchVariant::SvgaU => Variant::SvgaU,
        BenchVariant::Fp => {
            return bench_rounds::run(RoundOf::FeaturePropagation, arguments, general);
        }
        BenchVariant::Arb => return bench_rounds::run(RoundOf::Arb, arguments, general),
    };
    let limit = arguments.memory_limit.map_or(MemoryLimit::Available, MemoryLimit::Allowed);
    let time = Duration::from_secs_f64(arguments.seconds);
    let shapes = chosen_shapes(arguments)?;
    let device = device::open(&arguments.device, arguments.launch, Workload::Training, &messages)?;
    let stopped = &stop::is_interrupted;
    let options = BenchOptions { variant, device: &device, memory: limit, time, stopped };
    if arguments.profile {
        return profile(&shapes, &options, general);
    }
    let mut report = Report { machine: Machine::here(), results: Vec::new() };
    for shape in &shapes {
        stop::check()?;
        messages.say(&format!("{}: {} nodes, {} edges", shape.name, shape.nodes, shape.edges));
        let timing = time_update(shape, &options).map_err(|error| named(shape, &error))?;
        stop::check()?;
        report.results.push(timing);
    }
    match general.format.unwrap_or(Format::Json) {
        Format::Json => output::json(&report),
        Format::Csv => Ok(output::csv(&rows(&report.results))?),
        Format::Table => {
            let Machine { processor, cores, vectors, .. } = &report.machine;
            let processor = processor.as_deref().unwrap_or("unknown processor");
            output::line(&format!("{processor}, {cores} cores, vectors of {vectors}"))?;
            Ok(output::table(&table(&report.results))?)
        }
    }
}

/// The error with the shape that it came from.
fn named(shape: &BenchShape, error: &EngineError) -> anyhow::Error {
    let flag = match error {
        EngineError::Memory { .. } => "\n  --hidden N",
        _ => "",
    };
    anyhow::anyhow!("{}: {error}{flag}", shape.name)
}

/// How often an update is run for its profile.
const PROFILE_RUNS: u32 = 20;

#[derive(Serialize)]
struct ProfileLine {
    shape: &'static str,
    operation: &'static str,
    place: String,
    output: String,
    ms: f64,
    share: f64,
    gflops: f64,
}

fn profile(
    shapes: &[BenchShape],
    options: &BenchOptions<'_>,
    general: &General,
) -> anyhow::Result<()> {
    let mut lines = Vec::new();
    for shape in shapes {
        stop::check()?;
        let times =
            profile_update(shape, options, PROFILE_RUNS).map_err(|error| named(shape, &error))?;
        stop::check()?;
        let whole: f64 = times.iter().map(|time| time.seconds).sum();
        lines.extend(times.into_iter().map(|time| ProfileLine {
            shape: shape.name,
            operation: time.operation,
            place: time.place,
            output: time.shape.to_string(),
            ms: time.seconds * 1e3,
            share: time.seconds / whole,
            gflops: time.flop as f64 / time.seconds / 1e9,
        }));
    }
    let header = ["shape", "operation", "output", "ms", "share", "GFLOP/s"];
    let cells = |line: &ProfileLine| {
        vec![
            line.shape.to_owned(),
            line.operation.to_owned(),
            line.output.clone(),
            format!("{:.3}", line.ms),
            format!("{:.1}%", 100.0 * line.share),
            format!("{:.1}", line.gflops),
        ]
    };
    match general.format() {
        Format::Json => output::json_list("operations", &lines),
        Format::Csv => {
            let header = vec![header.map(String::from).to_vec()];
            let rows: Vec<_> = header.into_iter().chain(lines.iter().map(cells)).collect();
            Ok(output::csv(&rows)?)
        }
        Format::Table => {
            let mut table = TextTable::new(&header).left(&[0, 1]);
            lines.iter().for_each(|line| table.row(cells(line)));
            Ok(output::table(&table)?)
        }
    }
}

/// The shapes that the caller named, with the sizes that the caller gave.
pub(super) fn chosen_shapes(arguments: &Bench) -> anyhow::Result<Vec<BenchShape>> {
    let all = shapes();
    let find = |name: &String| {
        all.iter().find(|shape| shape.name == *name).copied().ok_or_else(|| {
            let known: Vec<&str> = all.iter().map(|shape| shape.name).collect();
            let closest = did_you_mean(name, known.iter().copied());
            let closest =
                closest.map_or_else(String::new, |name| format!(" (did you mean '{name}'?)"));
            let known = known.join(", ");
            UsageError(format!("there is no shape '{name}'{closest}; there are {known}"))
        })
    };
    let mut shapes = match arguments.shapes.as_slice() {
        [] => all.clone(),
        names => names.iter().map(find).collect::<Result<_, _>>()?,
    };
    for shape in &mut shapes {
        let or_own = |asked: Option<u32>, own: usize| asked.map_or(own, |asked| asked as usize);
        shape.nodes = or_own(arguments.nodes, shape.nodes);
        shape.edges = or_own(arguments.edges, shape.edges);
        shape.features = or_own(arguments.features, shape.features);
        shape.model.width = or_own(arguments.hidden, shape.model.width);
    }
    Ok(shapes)
}

const HEADER: [&str; 20] = [
    "task",
    "shape",
    "device",
    "threads",
    "ms_per_update",
    "gflop_per_update",
    "gemm_gflops",
    "share_of_gemm_rate",
    "planned_bytes",
    "peak_bytes",
    "nodes",
    "edges",
    "features",
    "hidden",
    "moved_bytes",
    "precision",
    "gpu",
    "launch",
    "copy_gbps",
    "floor_ms",
];

fn rows(results: &[UpdateTiming]) -> Vec<Vec<String>> {
    let mut rows = vec![HEADER.map(String::from).to_vec()];
    rows.extend(results.iter().map(|timing| {
        let gpu = timing.gpu.as_ref();
        let of_gpu = |cell: &dyn Fn(&GpuTiming) -> String| gpu.map_or(String::new(), cell);
        vec![
            timing.task.to_owned(),
            timing.shape.clone(),
            timing.device.clone(),
            timing.threads.to_string(),
            timing.ms_per_update.to_string(),
            timing.gflop_per_update.to_string(),
            timing.gemm_gflops.to_string(),
            timing.share_of_gemm_rate.to_string(),
            timing.planned_bytes.to_string(),
            timing.peak_bytes.map_or(String::new(), |peak| peak.to_string()),
            timing.size.nodes.to_string(),
            timing.size.edges.to_string(),
            timing.size.features.to_string(),
            timing.size.hidden.to_string(),
            timing.moved_bytes.to_string(),
            timing.precision.clone(),
            of_gpu(&|gpu| gpu.gpu.clone()),
            of_gpu(&|gpu| gpu.launch.clone()),
            of_gpu(&|gpu| gpu.copy_gbps.to_string()),
            of_gpu(&|gpu| gpu.floor_ms.to_string()),
        ]
    }));
    rows
}

fn table(results: &[UpdateTiming]) -> TextTable {
    let mut header =
        vec!["shape", "threads", "ms/update", "GFLOP", "GEMM GFLOP/s", "share", "planned", "peak"];
    if results.iter().any(|timing| timing.gpu.is_some()) {
        header.extend(["copy GB/s", "floor ms"]);
    }
    let mut table = TextTable::new(&header).left(&[0]);
    for timing in results {
        let mut row = vec![
            timing.shape.clone(),
            timing.threads.to_string(),
            format!("{:.2}", timing.ms_per_update),
            format!("{:.2}", timing.gflop_per_update),
            format!("{:.0}", timing.gemm_gflops),
            format!("{:.0}%", 100.0 * timing.share_of_gemm_rate),
            bytes(timing.planned_bytes),
            timing.peak_bytes.map_or("–".to_owned(), bytes),
        ];
        if let Some(gpu) = &timing.gpu {
            row.push(format!("{:.0}", gpu.copy_gbps));
            row.push(format!("{:.2}", gpu.floor_ms));
        }
        table.row(row);
    }
    table
}
