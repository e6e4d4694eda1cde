//! `graphfill fill`: estimate every missing cell.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use graphfill::data::atomic_file::{AtomicFile, check_not_an_input};
use graphfill::data::formats::{self, OutputFormat, STANDARD_STREAM};
use graphfill::data::{DataError, Dataset, Kind};
use graphfill::datasets::Source;
use graphfill::methods::fill::{self, Filled};
use graphfill::methods::learning::StopReason;
use graphfill::methods::{
    CheckpointOptions, Choice, Context, Method, Model, ParamOverrides, Registry,
};
use serde::Serialize;

use super::{device, training};
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
    let source = Source::detect(&arguments.nodes, arguments.edges.as_deref())?;
    // A path that cannot be written is an error before hours of work, not after.
    let written = [Some(&arguments.output), arguments.training.history.as_ref()];
    let written: Vec<&PathBuf> =
        written.into_iter().flatten().chain(&arguments.checkpoint.checkpoint).collect();
    for (at, path) in written.iter().enumerate() {
        check_not_an_input(path, &source.files())?;
        if written[..at].contains(path) {
            let found = format!("{} is to be written twice: name two files", path.display());
            return Err(UsageError(found).into());
        }
        if path.as_path() != Path::new(STANDARD_STREAM) {
            drop(AtomicFile::create(path)?);
        }
    }
    let to_stdout = arguments.output == Path::new(STANDARD_STREAM);
    if to_stdout && general.format() != Format::Table {
        let found =
            "-o - writes the table to standard output, where --format would write the summary";
        return Err(UsageError(found.to_owned()).into());
    }
    let device = device::for_methods(&arguments.device, &methods, &messages)?;
    let mut options = input::read_options(&arguments.reading, arguments.training.memory_limit)?;
    if let Some(saved) = &saved {
        // What a type file or the call declares goes first.
        options.types = saved.schema().declared_types().overridden_by(&options.types);
    }
    let dataset = input::read(source, &options, &messages, &progress)
        .map_err(|error| lacking_column(error, saved.as_ref(), &arguments.reading))?;
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
    let filled = match &saved {
        Some(saved) => saved.transform(&dataset.table, &graph, &context)?,
        None => {
            let method = registry.with_overrides(&overrides)?.find(&arguments.method)?;
            let (filled, model) = fill::fill(&method, &dataset.table, &graph, &context)?;
            if let (Some(model), Some(checkpoint)) = (&model, &context.checkpoint)
                && model.stopped_early().is_none()
            {
                model.save(&checkpoint.path)?;
            }
            filled
        }
    };
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
    let Filled { table, estimated, estimated_labels, choices, history, stopped_early, .. } = filled;
    let read = match &saved {
        // The columns have the types of the model.
        Some(saved) => {
            Dataset { table: saved.schema().apply(&dataset.table)?.0, ..dataset.clone() }
        }
        None => dataset.clone(),
    };
    let mut summary = Summary::new(&read, &arguments.output, graph.edges());
    summary.estimated(&read, estimated, &choices);
    summary.estimated_labels = estimated_labels;
    formats::write_nodes(&Dataset { table, ..dataset }, &arguments.output)?;
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
    fn new(dataset: &Dataset, output: &Path, edges: usize) -> Self {
        let unused = dataset.table.columns().iter().filter_map(|column| match column.kind() {
            Kind::Unused(reason) => Some(UnusedColumn {
                column: column.name().to_owned(),
                missing: column.missing_count(),
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
            })
        });
        self.columns = columns.collect();
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let header = ["column", "kind", "estimated", "method", "parameters", "reason"];
        let mut rows = vec![header.map(String::from).to_vec()];
        rows.extend(self.columns.iter().map(|column| {
            vec![
                column.column.clone(),
                column.kind.to_owned(),
                column.estimated.to_string(),
                column.method.clone(),
                parameters(&column.parameters),
                column.reason.clone().unwrap_or_default(),
            ]
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
        let mut table = TextTable::new(&["column", "kind", "estimated", "method", "why"]);
        table = table.left(&[1, 3, 4]);
        for column in touched.iter().take(MAX_LISTED) {
            table.row(vec![
                column.column.clone(),
                column.kind.to_owned(),
                count(column.estimated),
                column.method.clone(),
                column.reason.clone().unwrap_or_default(),
            ]);
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
