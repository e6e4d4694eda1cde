//! Writes the HTML reports of `fill`, `evaluate` and `demo`.

use std::path::Path;

use graphfill::FilledData;
use graphfill::data::atomic_file;
use graphfill::engine::Device;
use graphfill::eval::Evaluation;
use graphfill::report::page::{RunInfo, evaluation_page};

use crate::output::messages::Messages;

/// Writes the page of a filled table.
pub(super) fn write_fill(
    path: &Path,
    filled: &FilledData,
    coverages: &[f64],
    run: RunInfo,
    messages: &Messages,
) -> anyhow::Result<()> {
    let page = filled.report(coverages, said(filled, messages), run);
    atomic_file::write(path, page.to_html().as_bytes())?;
    messages.say(&format!("report: {}", path.display()));
    Ok(())
}

/// What the reader found and what was said so far.
pub(crate) fn said(filled: &FilledData, messages: &Messages) -> Vec<String> {
    let found = filled.before().found.as_ref().map(ToString::to_string);
    found.into_iter().chain(messages.said()).collect()
}

/// Writes the page of an evaluation.
pub(super) fn write_evaluation(
    path: &Path,
    evaluation: &Evaluation,
    run: &RunInfo,
    messages: &Messages,
) -> anyhow::Result<()> {
    atomic_file::write(path, evaluation_page(evaluation, run).as_bytes())?;
    messages.say(&format!("report: {}", path.display()));
    Ok(())
}

/// The command line, the version, the seed, the time and the device.
pub(super) fn run_info(seed: u64, seconds: f64, device: &Device) -> RunInfo {
    let quoted = |argument: String| match argument.contains([' ', '\'', '"', '$', '*', '?', '&']) {
        true => format!("'{}'", argument.replace('\'', "'\\''")),
        false => argument,
    };
    let arguments = std::env::args_os().skip(1).map(|one| quoted(one.to_string_lossy().into()));
    let command = std::iter::once("graphfill".to_owned()).chain(arguments);
    RunInfo {
        command: command.collect::<Vec<_>>().join(" "),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed,
        seconds,
        device: device.name(),
    }
}
