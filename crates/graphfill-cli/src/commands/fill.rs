//! `graphfill fill`: estimate every missing cell.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use graphfill::data::formats::OutputFormat;
use graphfill::data::{Column, DataError, Dataset, Kind, NodeTable};
use graphfill::datasets::Source;
use graphfill::methods::features::Features;
use graphfill::methods::fill::{self, Filled, WithUncertainty};
use graphfill::methods::learning::StopReason;
use graphfill::methods::uncertainty::{CellSource, CoverageCheck, percentage};
use graphfill::methods::{
    CheckpointOptions, Choice, Context, Method, Model, ParamOverrides, Registry,
};
use serde::Serialize;

use super::report::{FillReport, run_info};
use super::{device, outputs, training, uncertainty};
use crate::arguments::{Fill, Format, General, Reading, UsageError};
use crate::output::messages::Messages;
use crate::output::numbers::{count, seconds};
use crate::output::progress::Bars;
use crate::output::text_table::TextTable;
use crate::stop::Stopped;
use crate::{input, output};

/// More columns than this are summed up rather than listed.
const MAX_LISTED: usize = 40;

pub(crate) fn run(arguments: &Fill, general: &General) -> anyhow::Result<()> {
    let started = Instant::now();
    let messages = Messages::new(general.quiet);
    let progress = Bars::new(general);
    let registry = Registry::with_defaults();
    let saved = arguments.checkpoint.model.as_deref();
    let saved = saved.map(|path| Model::load(path, &registry)).transpose()?;
    let method = match &saved {
        Some(saved) => Arc::clone(saved.method()),
        None => registry.find(&arguments.method)?,
    };
    let methods = [&*method];
    let mut overrides = training::parameters(&arguments.training, &arguments.param, &methods)?;
    OutputFormat::of(&arguments.output)?;
    uncertainty::check(&arguments.uncertainty, &arguments.output)?;
    let source = Source::detect(&arguments.nodes, arguments.edges.as_deref())?;
    let written = [
        Some(&arguments.output),
        arguments.training.history.as_ref(),
        arguments.uncertainty.uncertainty.as_ref(),
        arguments.uncertainty.report.as_ref(),
    ];
    let written: Vec<&PathBuf> =
        written.into_iter().flatten().chain(&arguments.checkpoint.checkpoint).collect();
    let files_read = [source.files(), arguments.checkpoint.model.iter().cloned().collect()];
    outputs::check(&written, &files_read.concat())?;
    if general.format() != Format::Table
        && let Some(to_stdout) = written.iter().position(|path| outputs::is_standard_stream(path))
    {
        let flag = if to_stdout == 0 { "-o" } else { "--uncertainty" };
        let found = format!(
            "{flag} - writes a table to standard output, where --format would write the summary"
        );
        return Err(UsageError(found).into());
    }
    let device = device::for_methods(&arguments.device, &methods, &messages)?;
    let used_device = device.clone();
    let mut options = input::read_options(&arguments.reading, arguments.training.memory_limit)?;
    if let Some(saved) = &saved {
        // What a type file or the call declares goes first.
        options.types = saved.schema().declared_types().overridden_by(&options.types);
    }
    let dataset = input::read(source, &options, &messages, &progress)
        .map_err(|error| lacking_column(error, saved.as_ref(), &arguments.reading))?;
    uncertainty::check_columns(&arguments.uncertainty, &dataset.table, saved.as_ref())?;
    if dataset.graph.arcs() == 0 {
        messages.warning("there are no edges: no estimate can use a neighbour");
    }
    let graph = dataset.graph.undirected();
    input::note_conflicting_weights(&graph, &options, &messages);
    let context = Context {
        seed: arguments.seed,
        checkpoint: arguments.checkpoint.checkpoint.as_ref().map(|path| CheckpointOptions {
            path: path.clone(),
            every: arguments.checkpoint.checkpoint_every,
        }),
        ..training::context(&arguments.training, device, &progress)
    };
    if let (Some(trials), Some(path)) = (arguments.training.tune, &arguments.training.params_file) {
        let name = training::tuned(&*method);
        let (nodes, edges, seed) = (dataset.table.rows(), graph.edges(), arguments.seed);
        let run = format!("{name} to fill {nodes} nodes, {edges} edges, seed {seed}");
        let given = &arguments.param;
        training::tune(path, &run, &name, given, &mut overrides, &messages, |own, known, each| {
            let method = Registry::with_defaults().with_overrides(own)?.find(&name)?;
            let (table, trials) = (&dataset.table, trials as usize);
            fill::tune(&*method, &own.of(&name), table, &graph, &context, trials, known, each)
        })?;
    }
    let wanted = match arguments.uncertainty.is_wanted() {
        true => WithUncertainty::Yes,
        false => WithUncertainty::No,
    };
    let mut fitted = None;
    let mut filled = match &saved {
        Some(saved) => {
            check_calibrated(saved, wanted, &messages)?;
            saved.transform(&dataset.table, &graph, &context)?
        }
        None => {
            let method = registry.with_overrides(&overrides)?.find(&arguments.method)?;
            let table = &dataset.table;
            let (filled, model) = fill::fill_with(&method, table, &graph, &context, wanted)?;
            if let (Some(model), Some(checkpoint)) = (&model, &context.checkpoint)
                && model.stopped_early().is_none()
            {
                model.save(&checkpoint.path)?;
            }
            fitted = model;
            filled
        }
    };
    if wanted == WithUncertainty::Yes {
        uncertainty::warn(&filled, &arguments.uncertainty.coverages(), &messages);
        if arguments.uncertainty.draws.is_some() {
            uncertainty::check_drawable(&filled)?;
        }
    }
    for choice in &filled.choices {
        tracing::info!(
            column = choice.group,
            method = choice.method.as_str(),
            parameters = parameters(&choice.parameters),
            "method chosen"
        );
    }
    input::say_notes(&filled.notes, &messages);
    if filled.estimated == 0 {
        messages.note("no cell is missing: the output is the input");
    }
    let uncertainty = filled.uncertainty.take();
    let Filled { table, estimated, estimated_labels, choices, history, stopped_early, .. } = filled;
    let read = match &saved {
        // The columns have the types of the model.
        Some(saved) => {
            Dataset { table: saved.schema().apply(&dataset.table)?.0, ..dataset.clone() }
        }
        None => dataset.clone(),
    };
    let mut summary = Summary::new(&read, &table, &arguments.output, graph.edges());
    summary.estimated(&read, estimated, &choices);
    summary.estimated_labels = estimated_labels;
    let features = match &saved {
        Some(saved) => Features::with_schema(&read.table, saved.schema()),
        None => Features::of(&read.table),
    };
    let complete = Dataset { table, ..dataset };
    let source = CellSource {
        table: &read.table,
        filled: &complete.table,
        features: &features,
        graph: &graph,
        choices: &choices,
    };
    let (asked, output) = (&arguments.uncertainty, &arguments.output);
    uncertainty::write(asked, &source, uncertainty.as_ref(), &complete, output, &messages)?;
    let coverages = asked.coverages();
    let hidden = fitted.as_ref().and_then(Model::hidden_cells);
    if let Some(check) = hidden.map(|hidden| hidden.check(&coverages)) {
        summary.add_coverage(&features, &check, &coverages);
    }
    if let Some(path) = &asked.report {
        let report = FillReport {
            dataset: &read,
            filled: &complete,
            graph: &graph,
            features: &features,
            choices: &choices,
            model: fitted.as_ref(),
            coverages: &coverages,
            estimated,
        };
        let seconds = started.elapsed().as_secs_f64();
        report.write(path, run_info(arguments.seed, seconds, &used_device), &messages)?;
    }
    if let (Some(path), Some(history)) = (&arguments.training.history, history) {
        graphfill::data::atomic_file::write(path, history.to_csv().as_bytes())?;
    }
    summary.seconds = started.elapsed().as_secs_f64();
    match general.format() {
        Format::Json => output::json(&summary)?,
        Format::Csv => output::csv(&summary.rows())?,
        Format::Table => say(&summary, &messages),
    }
    match stopped_early {
        Some(StopReason::Cancelled) => Err(Stopped(format!(
            "stopped early, as asked: {} has the best estimates so far",
            arguments.output.display()
        ))
        .into()),
        Some(_) => {
            messages.warning("the time limit ended training: these are the best estimates so far");
            Ok(())
        }
        None => Ok(()),
    }
}

/// Fails where the uncertainty of a model's estimates is asked for and the model does not know it.
fn check_calibrated(
    saved: &Model,
    wanted: WithUncertainty,
    messages: &Messages,
) -> anyhow::Result<()> {
    if wanted == WithUncertainty::No {
        return Ok(());
    }
    if saved.calibration().is_none() {
        anyhow::bail!(
            "the model does not know how sure its estimates are\n  give --intervals where it is trained, beside --checkpoint"
        );
    }
    messages.warning("intervals, probabilities and draws were calibrated on the table that the model was trained on: nothing is promised for nodes that are unlike those");
    Ok(())
}

/// The error of a column that only the model names, in words about the model.
fn lacking_column(error: anyhow::Error, saved: Option<&Model>, reading: &Reading) -> anyhow::Error {
    let Some(DataError::UnknownColumn { place, name, hint }) = error.downcast_ref() else {
        return error;
    };
    let is_of_model =
        saved.is_some_and(|saved| saved.schema().columns.iter().any(|own| own.name == *name));
    if !is_of_model || reading.type_.iter().any(|(column, _)| column == name) {
        return error;
    }
    anyhow::anyhow!(
        "{place}: the model was trained with the column '{name}', which the table lacks{hint}"
    )
}

/// Reads `METHOD.NAME=VALUE` arguments and checks them against the methods that will run.
pub(crate) fn fixed_parameters(
    arguments: &[String],
    methods: &[&dyn Method],
) -> anyhow::Result<ParamOverrides> {
    let mut fixed = ParamOverrides::default();
    for argument in arguments {
        fixed.parse(argument).map_err(UsageError)?;
    }
    Registry::with_defaults().with_overrides(&fixed)?;
    let runs = |name: &str| {
        methods.iter().any(|method| method.info().name == name || method.info().name == "auto")
    };
    let idle = fixed.methods().find(|name| !runs(name)).map(str::to_owned);
    match idle {
        None => Ok(fixed),
        Some(idle) => {
            let found =
                format!("--param fixes a parameter of '{idle}', which is not among the methods");
            Err(UsageError(found).into())
        }
    }
}

#[derive(Serialize)]
struct Summary {
    output: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<output::FoundJson>,
    nodes: usize,
    edges: usize,
    estimated: usize,
    #[serde(skip_serializing_if = "is_zero")]
    estimated_labels: usize,
    columns: Vec<ColumnSummary>,
    unused: Vec<UnusedColumn>,
    seconds: f64,
}

#[derive(Serialize)]
struct ColumnSummary {
    column: String,
    kind: &'static str,
    estimated: usize,
    method: String,
    parameters: graphfill::methods::Parameters,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Nominal and real coverage on hidden cells.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    coverage: Vec<CoverageSummary>,
}

/// How often intervals and sets of a nominal coverage covered hidden cells.
#[derive(Serialize)]
struct CoverageSummary {
    nominal: f64,
    real: f64,
    cells: usize,
}

impl ColumnSummary {
    /// The real coverage at a nominal one.
    fn real_coverage(&self, nominal: f64) -> Option<f64> {
        self.coverage.iter().find(|level| level.nominal == nominal).map(|level| level.real)
    }
}

/// The levels of the column that has the most: high ones are unknown where few cells were hidden.
fn levels_of<'a>(columns: &mut dyn Iterator<Item = &'a ColumnSummary>) -> &'a [CoverageSummary] {
    let levels = columns.map(|column| column.coverage.as_slice());
    levels.max_by_key(|levels| levels.len()).unwrap_or_default()
}

#[derive(Serialize)]
struct UnusedColumn {
    column: String,
    missing: usize,
    reason: String,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Summary {
    fn new(dataset: &Dataset, filled: &NodeTable, output: &Path, edges: usize) -> Self {
        let unused = dataset.table.columns().iter().filter_map(|column| match column.kind() {
            Kind::Unused(reason) => Some(UnusedColumn {
                column: column.name().to_owned(),
                // Constants are filled without being used.
                missing: filled.column(column.name()).map_or(0, Column::missing_count),
                reason: reason.to_string(),
            }),
            _ => None,
        });
        Summary {
            output: output.display().to_string(),
            found: dataset.found.as_ref().map(output::FoundJson::of),
            nodes: dataset.table.rows(),
            edges,
            estimated: 0,
            estimated_labels: 0,
            columns: Vec::new(),
            unused: unused.collect(),
            seconds: 0.0,
        }
    }

    fn estimated(&mut self, dataset: &Dataset, estimated: usize, choices: &[Choice]) {
        self.estimated = estimated;
        let columns = choices.iter().filter_map(|choice| {
            let column = dataset.table.column(&choice.group)?;
            Some(ColumnSummary {
                column: choice.group.clone(),
                kind: column.kind().as_str(),
                estimated: column.missing_count(),
                method: choice.method.clone(),
                parameters: choice.parameters.clone(),
                reason: choice.reason.clone(),
                coverage: Vec::new(),
            })
        });
        self.columns = columns.collect();
    }

    /// Adds how often hidden cells were covered.
    fn add_coverage(&mut self, features: &Features<'_>, check: &CoverageCheck, coverages: &[f64]) {
        for (group, checked) in features.groups().iter().zip(&check.columns) {
            let own = self.columns.iter_mut().find(|column| column.column == group.name);
            let Some(own) = own else { continue };
            let levels = coverages.iter().enumerate().filter_map(|(level, &nominal)| {
                let (real, cells) = checked.coverage(level)?;
                Some(CoverageSummary { nominal, real, cells })
            });
            own.coverage = levels.collect();
        }
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let header = ["column", "kind", "estimated", "method", "parameters", "reason"];
        let mut header = header.map(String::from).to_vec();
        let levels = levels_of(&mut self.columns.iter());
        let nominal = levels.iter().map(|level| level.nominal);
        header.extend(nominal.map(|nominal| format!("coverage{}", percentage(nominal))));
        let mut rows = vec![header];
        rows.extend(self.columns.iter().map(|column| {
            let mut row = vec![
                column.column.clone(),
                column.kind.to_owned(),
                column.estimated.to_string(),
                column.method.clone(),
                parameters(&column.parameters),
                column.reason.clone().unwrap_or_default(),
            ];
            row.extend(levels.iter().map(|level| {
                column
                    .real_coverage(level.nominal)
                    .map_or_else(String::new, |real| real.to_string())
            }));
            row
        }));
        rows
    }
}

/// Parameters in words: `alpha 0.9, beta 1`.
pub(crate) fn parameters(parameters: &graphfill::methods::Parameters) -> String {
    let parts: Vec<String> =
        parameters.iter().map(|(name, value)| format!("{name} {value}")).collect();
    parts.join(", ")
}

/// Each method with its parameters on a line, once.
pub(crate) fn parameter_lines<'a>(
    chosen: impl Iterator<Item = (&'a str, &'a graphfill::methods::Parameters)>,
) -> Vec<String> {
    let mut lines = Vec::new();
    for (method, own) in chosen.filter(|(_, own)| !own.is_empty()) {
        let line = format!("{method}: {}", parameters(own));
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn say(summary: &Summary, messages: &Messages) {
    let touched: Vec<&ColumnSummary> =
        summary.columns.iter().filter(|column| column.estimated > 0).collect();
    if !touched.is_empty() {
        let levels = levels_of(&mut touched.iter().copied());
        let named: Vec<String> =
            levels.iter().map(|level| format!("{}% covers", percentage(level.nominal))).collect();
        let mut header = vec!["column", "kind", "estimated"];
        header.extend(named.iter().map(String::as_str));
        header.extend(["method", "why"]);
        let text = header.len() - 2;
        let mut table = TextTable::new(&header).left(&[1, text, text + 1]);
        for column in touched.iter().take(MAX_LISTED) {
            let mut row =
                vec![column.column.clone(), column.kind.to_owned(), count(column.estimated)];
            row.extend(levels.iter().map(|level| match column.real_coverage(level.nominal) {
                Some(real) => format!("{:.1}%", 100.0 * real),
                None => "–".to_owned(),
            }));
            row.push(column.method.clone());
            row.push(column.reason.clone().unwrap_or_default());
            table.row(row);
        }
        messages.table(&table);
        if touched.len() > MAX_LISTED {
            let more = count(touched.len() - MAX_LISTED);
            messages.say(&format!("  … and {more} more columns (--format json lists all)"));
        }
        let chosen = touched.iter().map(|column| (column.method.as_str(), &column.parameters));
        parameter_lines(chosen).iter().for_each(|line| messages.say(&format!("  {line}")));
    }
    for column in summary.unused.iter().filter(|column| column.missing > 0) {
        messages.warning(&format!(
            "column '{}' was left as it is, {} cells missing: {}",
            column.column,
            count(column.missing),
            column.reason
        ));
    }
    if summary.estimated_labels > 0 {
        let labels = count(summary.estimated_labels);
        messages.say(&format!("{labels} missing labels estimated as a by-product"));
    }
    messages.say(&format!(
        "{} cells estimated from {} nodes and {} edges in {}: {}",
        count(summary.estimated),
        count(summary.nodes),
        count(summary.edges),
        seconds(summary.seconds),
        summary.output
    ));
}
