//! Writes the HTML reports of `fill`, `evaluate` and `demo`.

use std::path::Path;

use graphfill::data::{Dataset, UndirectedGraph, atomic_file};
use graphfill::engine::Device;
use graphfill::eval::Evaluation;
use graphfill::methods::features::Features;
use graphfill::methods::uncertainty::HiddenCells;
use graphfill::methods::{Choice, Model};
use graphfill::report::page::{FillPage, FillSource, RunInfo, evaluation_page};

use crate::output::messages::Messages;

/// What the report of a filled table is made of.
pub(super) struct FillReport<'a> {
    /// The data before it was filled.
    pub(super) dataset: &'a Dataset,
    /// The data after it was filled.
    pub(super) filled: &'a Dataset,
    pub(super) graph: &'a UndirectedGraph,
    pub(super) features: &'a Features<'a>,
    pub(super) choices: &'a [Choice],
    pub(super) model: Option<&'a Model>,
    pub(super) coverages: &'a [f64],
    pub(super) estimated: usize,
}

impl FillReport<'_> {
    /// Writes the page.
    pub(super) fn write(
        &self,
        path: &Path,
        run: RunInfo,
        messages: &Messages,
    ) -> anyhow::Result<()> {
        // The level that people ask for most, where it is among several.
        let level = self.coverages.iter().find(|level| **level == 0.9);
        let level = level.or(self.coverages.last()).copied().unwrap_or(0.9);
        let hidden: Option<&HiddenCells> = self.model.and_then(Model::hidden_cells);
        let mut warnings: Vec<String> = Vec::new();
        warnings.extend(self.dataset.found.as_ref().map(ToString::to_string));
        warnings.extend(messages.said());
        let page = FillPage::new(&FillSource {
            title: self.dataset.name.clone(),
            table: &self.dataset.table,
            filled: &self.filled.table,
            graph: self.graph,
            features: self.features,
            choices: self.choices,
            hidden,
            level,
            estimated: self.estimated,
            warnings,
            run,
        });
        atomic_file::write(path, page.to_html().as_bytes())?;
        messages.say(&format!("report: {}", path.display()));
        Ok(())
    }
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
