//! `graphfill bench --variant fp` and `arb`: how fast one round of propagation is here.

use std::time::Duration;

use graphfill::eval::bench::{Machine, RoundOf, RoundTiming, time_round};
use serde::Serialize;

use super::bench::chosen_shapes;
use super::device::{self, Workload};
use crate::arguments::{Bench, Format, General, UsageError};
use crate::output;
use crate::output::messages::Messages;
use crate::output::text_table::TextTable;
use crate::stop;

#[derive(Serialize)]
struct Report {
    machine: Machine,
    results: Vec<RoundTiming>,
}

pub(super) fn run(round: RoundOf, arguments: &Bench, general: &General) -> anyhow::Result<()> {
    check(arguments)?;
    let messages = Messages::new(general.quiet);
    let time = Duration::from_secs_f64(arguments.seconds);
    let device =
        device::open(&arguments.device, arguments.launch, Workload::Propagation, &messages)?;
    let mut report = Report { machine: Machine::here(), results: Vec::new() };
    for shape in &chosen_shapes(arguments)? {
        stop::check()?;
        messages.say(&format!("{}: {} nodes, {} edges", shape.name, shape.nodes, shape.edges));
        let timing = time_round(shape, round, &device, time, &stop::is_interrupted)
            .map_err(|error| anyhow::anyhow!("{}: {error}", shape.name))?;
        stop::check()?;
        report.results.push(timing);
    }
    match general.format.unwrap_or(Format::Json) {
        Format::Json => output::json(&report),
        Format::Csv => {
            let header = vec![HEADER.map(String::from).to_vec()];
            let rows: Vec<_> = header.into_iter().chain(report.results.iter().map(cells)).collect();
            Ok(output::csv(&rows)?)
        }
        Format::Table => {
            let mut table = TextTable::new(&HEADER).left(&[0, 1, 2]);
            report.results.iter().for_each(|timing| table.row(cells(timing)));
            Ok(output::table(&table)?)
        }
    }
}

/// Refuses options that are for updates alone.
fn check(arguments: &Bench) -> Result<(), UsageError> {
    let problem = if arguments.profile {
        "--profile says where the time of an update goes; a round has one operation"
    } else if arguments.hidden.is_some() {
        "--hidden is the width of a model's rows; a round has no model, leave it out"
    } else if arguments.memory_limit.is_some() {
        "--memory-limit is for updates; a round has no model, leave it out"
    } else {
        return Ok(());
    };
    Err(UsageError(problem.to_owned()))
}

const HEADER: [&str; 12] = [
    "task",
    "shape",
    "device",
    "threads",
    "ms_per_round",
    "moved_bytes",
    "moved_gbps",
    "copy_gbps",
    "floor_ms",
    "nodes",
    "edges",
    "width",
];

fn cells(timing: &RoundTiming) -> Vec<String> {
    vec![
        timing.task.to_owned(),
        timing.shape.clone(),
        timing.device.clone(),
        timing.threads.to_string(),
        format!("{:.4}", timing.ms_per_round),
        timing.moved_bytes.to_string(),
        format!("{:.2}", timing.moved_gbps),
        timing.copy_gbps.map_or(String::new(), |rate| format!("{rate:.2}")),
        timing.floor_ms.map_or(String::new(), |floor| format!("{floor:.4}")),
        timing.nodes.to_string(),
        timing.edges.to_string(),
        timing.width.to_string(),
    ]
}
