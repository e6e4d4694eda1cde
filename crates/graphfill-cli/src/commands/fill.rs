//! `graphfill fill`: estimate every missing cell.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use graphfill::data::formats::{OutputFormat, ReadOptions};
use graphfill::data::{Column, DataError, Dataset, Kind, Progress};
use graphfill::datasets::Source;
use graphfill::engine::Device;
use graphfill::methods::features::Features;
use graphfill::methods::fill::{self, WithUncertainty};
use graphfill::methods::learning::StopReason;
use graphfill::methods::propagation::{IN_SHARE, describe_in_share};
use graphfill::methods::tuning::Trial;
use graphfill::methods::uncertainty::{CoverageCheck, notes, percentage};
use graphfill::methods::{
    CheckpointOptions, Context, Method, Model, ParamOverrides, Registry, Score, Value,
};
use graphfill::{Data, FilledData};
use serde::Serialize;

use super::report::run_info;
use super::{device, outputs, report, training, uncertainty};
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
    let mut job = FillJob::new(arguments)?;
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
    let device = job.device(&messages)?;
    let options = job.read_options()?;
    let dataset = input::read(source, &options, &messages, &progress)
        .map_err(|error| lacking_column(error, job.saved.as_ref(), &arguments.reading))?;
    uncertainty::check_columns(&arguments.uncertainty, &dataset.table, job.saved.as_ref())?;
    let asked = &arguments.uncertainty;
    let filled = job.fill(dataset, device.clone(), asked.is_wanted(), &messages, &progress)?;
    if asked.is_wanted() && asked.draws.is_some() {
        uncertainty::check_drawable(&filled)?;
    }
    if filled.estimated() == 0 {
        messages.note("no cell is missing: the output is the input");
    }
    let mut summary = Summary::new(&filled, &arguments.output);
    uncertainty::write(asked, &filled, &arguments.output, &messages)?;
    let coverages = asked.coverages();
    if let Some(check) = filled.coverage(&coverages) {
        summary.add_coverage(&filled.features(), &check, &coverages);
    }
    if let Some(path) = &asked.report {
        let run = run_info(arguments.seed, started.elapsed().as_secs_f64(), &device);
        report::write_fill(path, &filled, &coverages, run, &messages)?;
    }
    if let (Some(path), Some(history)) = (&arguments.training.history, filled.history()) {
        graphfill::data::atomic_file::write(path, history.to_csv().as_bytes())?;
    }
    summary.seconds = started.elapsed().as_secs_f64();
    match general.format() {
        Format::Json => output::json(&summary)?,
        Format::Csv => output::csv(&summary.rows())?,
        Format::Table => say(&summary, &messages),
    }
    match filled.stopped_early() {
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

/// The method, its parameters and the device of a call: what `fill` does between reading and writing.
pub(crate) struct FillJob<'a> {
    arguments: &'a Fill,
    method: Arc<dyn Method>,
    overrides: ParamOverrides,
    /// A model that was fitted before.
    pub(crate) saved: Option<Model>,
}

impl<'a> FillJob<'a> {
    /// Checks the names of the method and its parameters, and reads the model that the call names.
    pub(crate) fn new(arguments: &'a Fill) -> anyhow::Result<Self> {
        let registry = Registry::with_defaults();
        let saved = arguments.checkpoint.model.as_deref();
        let saved = saved.map(|path| Model::load(path, &registry)).transpose()?;
        FillJob::with_model(arguments, saved)
    }

    /// The same with a model from memory.
    pub(crate) fn with_model(arguments: &'a Fill, saved: Option<Model>) -> anyhow::Result<Self> {
        let method = match &saved {
            Some(saved) => Arc::clone(saved.method()),
            None => Registry::with_defaults().find(&arguments.method)?,
        };
        let overrides = training::parameters(&arguments.training, &arguments.param, &[&*method])?;
        Ok(FillJob { arguments, method, overrides, saved })
    }

    /// The device that the method runs on.
    pub(crate) fn device(&self, messages: &Messages) -> anyhow::Result<Device> {
        device::for_methods(&self.arguments.device, &[&*self.method], messages)
    }

    /// How tables are read: as the call says, else as the model has them.
    pub(crate) fn read_options(&self) -> anyhow::Result<ReadOptions> {
        let limit = self.arguments.training.memory_limit;
        let mut options = input::read_options(&self.arguments.reading, limit)?;
        if let Some(saved) = &self.saved {
            options.types = saved.schema().declared_types().overridden_by(&options.types);
        }
        Ok(options)
    }

    /// Seed, limits and checkpoint of the call.
    pub(crate) fn context<'p>(&self, device: Device, progress: &'p dyn Progress) -> Context<'p> {
        let checkpoint = &self.arguments.checkpoint;
        Context {
            seed: self.arguments.seed,
            checkpoint: checkpoint.checkpoint.as_ref().map(|path| CheckpointOptions {
                path: path.clone(),
                every: checkpoint.checkpoint_every,
            }),
            ..training::context(&self.arguments.training, device, progress)
        }
    }

    /// Fills a table: with the model where there is one, else by fitting the method, after a search for
    /// its parameters where that is asked for. What was noticed is said.
    pub(crate) fn fill(
        &mut self,
        dataset: Dataset,
        device: Device,
        with_uncertainty: bool,
        messages: &Messages,
        progress: &dyn Progress,
    ) -> anyhow::Result<FilledData> {
        let context = self.context(device, progress);
        self.notice_edges(&dataset, messages);
        let filled = match &self.saved {
            Some(saved) => {
                if with_uncertainty {
                    check_calibrated(saved, messages)?;
                }
                Data::new(dataset).fill_with_model(saved, &context)?
            }
            None => {
                let method = self.tuned_method(&dataset, &context, messages)?;
                let wanted = match with_uncertainty {
                    true => WithUncertainty::Yes,
                    false => WithUncertainty::No,
                };
                let filled = Data::new(dataset).fill_with(&method, &context, wanted)?;
                if let (Some(model), Some(checkpoint)) = (filled.model(), &context.checkpoint)
                    && model.stopped_early().is_none()
                {
                    model.save(&checkpoint.path)?;
                }
                filled
            }
        };
        if with_uncertainty {
            let coverages = self.arguments.uncertainty.coverages();
            let notes = notes(filled.uncertainty(), filled.choices(), &coverages);
            input::say_notes(&notes, messages);
        }
        for choice in filled.choices() {
            tracing::info!(
                column = choice.group,
                method = choice.method.as_str(),
                parameters = parameters(&choice.parameters),
                "method chosen"
            );
        }
        input::say_notes(filled.notes(), messages);
        Ok(filled)
    }

    /// Fits the method to a table, after a search for its parameters where that is asked for; nothing is
    /// estimated.
    pub(crate) fn fit(
        &mut self,
        dataset: &Dataset,
        device: Device,
        with_uncertainty: bool,
        messages: &Messages,
        progress: &dyn Progress,
    ) -> anyhow::Result<Model> {
        let context = self.context(device, progress);
        self.notice_edges(dataset, messages);
        let graph = dataset.graph.undirected();
        let method = self.tuned_method(dataset, &context, messages)?;
        let mut model = Model::fit(method, &dataset.table, &graph, &context)?;
        if with_uncertainty && model.stopped_early() != Some(StopReason::Cancelled) {
            model.calibrate(&dataset.table, &graph, &context)?;
        }
        Ok(model)
    }

    /// Says what is strange about the edges.
    fn notice_edges(&self, dataset: &Dataset, messages: &Messages) {
        if dataset.graph.arcs() == 0 {
            messages.warning("there are no edges: no estimate can use a neighbour");
        }
        let policy = self.arguments.reading.duplicate_edges;
        let graph = dataset.graph.undirected();
        input::note_conflicting_weights(&graph, policy, messages);
        input::note_direction(&dataset.graph, &graph, messages);
    }

    /// The method with its parameters: as given, or the best of a search.
    fn tuned_method(
        &mut self,
        dataset: &Dataset,
        context: &Context<'_>,
        messages: &Messages,
    ) -> anyhow::Result<Arc<dyn Method>> {
        let training = &self.arguments.training;
        if let (Some(trials), Some(path)) = (training.tune, &training.params_file) {
            let name = training::tuned(&*self.method);
            let graph = dataset.graph.undirected();
            let (nodes, edges, seed) = (dataset.table.rows(), graph.edges(), self.arguments.seed);
            let run = format!("{name} to fill {nodes} nodes, {edges} edges, seed {seed}");
            let given = &self.arguments.param;
            let search = |own: &ParamOverrides, known, each: &mut dyn FnMut(&[Trial]) -> _| {
                let method = Registry::with_defaults().with_overrides(own)?.find(&name)?;
                let (table, trials) = (&dataset.table, trials as usize);
                fill::tune(&*method, &own.of(&name), table, &graph, context, trials, known, each)
            };
            training::tune(path, &run, &name, given, &mut self.overrides, messages, search)?;
        }
        let registry = Registry::with_defaults().with_overrides(&self.overrides)?;
        Ok(registry.find(self.method.info().name)?)
    }
}

/// Fails where the uncertainty of a model's estimates is asked for and the model does not know it.
fn check_calibrated(saved: &Model, messages: &Messages) -> anyhow::Result<()> {
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
    /// How good the estimates were on hidden cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<ScoreSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Nominal and real coverage on hidden cells.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    coverage: Vec<CoverageSummary>,
}

/// The hit rate of a boolean or category beside that of its most frequent level, the error of the others.
#[derive(Serialize)]
struct ScoreSummary {
    measure: String,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    most_frequent: Option<f64>,
}

impl ScoreSummary {
    fn of(score: Score) -> Self {
        let (measure, value, most_frequent) = match score.hit_rate {
            Some(rate) => ("hit rate".to_owned(), rate.value, Some(rate.most_frequent)),
            None => (score.measure.to_string().to_lowercase(), score.value, None),
        };
        ScoreSummary { measure, value, most_frequent }
    }
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
    fn new(filled: &FilledData, output: &Path) -> Self {
        let dataset = filled.before();
        let unused = dataset.table.columns().iter().filter_map(|column| match column.kind() {
            Kind::Unused(reason) => Some(UnusedColumn {
                column: column.name().to_owned(),
                // Constants are filled without being used.
                missing: filled
                    .dataset()
                    .table
                    .column(column.name())
                    .map_or(0, Column::missing_count),
                reason: reason.to_string(),
            }),
            _ => None,
        });
        let columns = filled.choices().iter().filter_map(|choice| {
            let column = dataset.table.column(&choice.group)?;
            Some(ColumnSummary {
                column: choice.group.clone(),
                kind: column.kind().as_str(),
                estimated: column.missing_count(),
                method: choice.method.clone(),
                parameters: choice.parameters.clone(),
                score: choice.validation.map(ScoreSummary::of),
                reason: choice.reason.clone(),
                coverage: Vec::new(),
            })
        });
        Summary {
            output: output.display().to_string(),
            found: dataset.found.as_ref().map(output::FoundJson::of),
            nodes: dataset.table.rows(),
            edges: filled.graph().edges(),
            estimated: filled.estimated(),
            estimated_labels: filled.estimated_labels(),
            columns: columns.collect(),
            unused: unused.collect(),
            seconds: 0.0,
        }
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
    let parts: Vec<String> = parameters.iter().map(|(name, value)| in_words(name, value)).collect();
    parts.join(", ")
}

/// A parameter with its value, and what it means where a number says little.
fn in_words(name: &str, value: &Value) -> String {
    match value {
        Value::Number(share) if name == IN_SHARE => {
            format!("{name} {share} ({})", describe_in_share(*share))
        }
        value => format!("{name} {value}"),
    }
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
        let cells = if column.missing == 1 { "cell" } else { "cells" };
        messages.warning(&format!(
            "column '{}' was left as it is, {} {cells} missing: {}",
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
