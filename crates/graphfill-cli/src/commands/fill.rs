//! `graphfill fill`: estimate every missing cell.

use std::path::Path;
use std::time::Instant;

use graphfill::data::atomic_file::{AtomicFile, check_not_an_input};
use graphfill::data::formats::{self, Location, OutputFormat};
use graphfill::data::{Dataset, Kind};
use graphfill::methods::fill::{self, FillOptions, Filled};
use graphfill::methods::{Choice, FixedParameters, Method, registry};
use serde::Serialize;

use crate::arguments::{Fill, Format, General, WrongCall};
use crate::output::messages::Messages;
use crate::output::numbers::{count, seconds};
use crate::output::progress::Bars;
use crate::output::text_table::TextTable;
use crate::{input, output};

/// More columns than this are summed up rather than listed.
const MOST_LISTED: usize = 40;

pub(crate) fn run(arguments: &Fill, general: &General) -> anyhow::Result<()> {
    let started = Instant::now();
    let messages = Messages::new(general.quiet);
    let progress = Bars::new(general.quiet);
    let method = registry::find(&arguments.method)?;
    let fixed = fixed_parameters(&arguments.param, &[method])?;
    OutputFormat::of(&arguments.output).map_err(|error| WrongCall(error.to_string()))?;
    let location = Location::find(&arguments.nodes, arguments.edges.as_deref())?;
    check_not_an_input(&arguments.output, &location.files())?;
    // A place that cannot be written should be known before hours of work, not after.
    drop(AtomicFile::create(&arguments.output)?);
    let dataset = input::read(&location, &arguments.reading, &messages, &progress)?;
    if dataset.graph.arcs() == 0 {
        messages.note("there are no edges: every estimate is the mean of its column");
    }
    let graph = dataset.graph.undirected();
    let options = FillOptions { method, fixed: &fixed, seed: arguments.seed, progress: &progress };
    let filled = fill::fill(&dataset.table, &graph, &options)?;
    if filled.estimated == 0 {
        messages.note("no cell is missing: the output is the input");
    }
    let Filled { table, estimated, choices } = filled;
    let mut summary = Summary::new(&dataset, &arguments.output, graph.edges());
    summary.estimated(&dataset, estimated, &choices);
    formats::write_nodes(&Dataset { table, ..dataset }, &arguments.output)?;
    summary.seconds = started.elapsed().as_secs_f64();
    match general.format() {
        Format::Json => output::json(&summary)?,
        Format::Csv => output::csv(&summary.rows())?,
        Format::Table => say(&summary, &messages),
    }
    Ok(())
}

/// Reads `METHOD.NAME=VALUE` arguments and checks them against the methods that will run.
pub(crate) fn fixed_parameters(
    arguments: &[String],
    methods: &[&dyn Method],
) -> anyhow::Result<FixedParameters> {
    let mut fixed = FixedParameters::default();
    for argument in arguments {
        fixed.parse(argument).map_err(WrongCall)?;
    }
    registry::check_parameters(&fixed)?;
    let runs = |name: &str| {
        methods.iter().any(|method| method.info().name == name || method.info().name == "auto")
    };
    let idle = fixed.methods().find(|name| !runs(name)).map(str::to_owned);
    match idle {
        None => Ok(fixed),
        Some(idle) => {
            let found =
                format!("--param fixes a parameter of '{idle}', which is not among the methods");
            Err(WrongCall(found).into())
        }
    }
}

#[derive(Serialize)]
struct Summary {
    output: String,
    nodes: usize,
    edges: usize,
    estimated: usize,
    columns: Vec<ColumnSummary>,
    unused: Vec<UnusedColumn>,
    seconds: f64,
}

#[derive(Serialize)]
struct ColumnSummary {
    column: String,
    kind: &'static str,
    estimated: usize,
    method: &'static str,
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
            nodes: dataset.table.rows(),
            edges,
            estimated: 0,
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
                kind: column.kind().word(),
                estimated: column.missing_count(),
                method: choice.method,
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
                column.method.to_owned(),
                parameters(&column.parameters),
                column.reason.clone().unwrap_or_default(),
            ]
        }));
        rows
    }
}

/// Parameters as a person writes them.
pub(crate) fn parameters(parameters: &graphfill::methods::Parameters) -> String {
    let parts: Vec<String> =
        parameters.iter().map(|(name, value)| format!("{name} {value}")).collect();
    parts.join(", ")
}

fn say(summary: &Summary, messages: &Messages) {
    let touched: Vec<&ColumnSummary> =
        summary.columns.iter().filter(|column| column.estimated > 0).collect();
    if !touched.is_empty() {
        let mut table = TextTable::new(&["column", "kind", "estimated", "method", "why"]);
        table = table.left(&[1, 3, 4]);
        for column in touched.iter().take(MOST_LISTED) {
            let parameters = parameters(&column.parameters);
            let method = match parameters.as_str() {
                "" => column.method.to_owned(),
                _ => format!("{} ({parameters})", column.method),
            };
            table.row(vec![
                column.column.clone(),
                column.kind.to_owned(),
                count(column.estimated),
                method,
                column.reason.clone().unwrap_or_default(),
            ]);
        }
        messages.say(&table.render());
        if touched.len() > MOST_LISTED {
            let more = count(touched.len() - MOST_LISTED);
            messages.say(&format!("  … and {more} more columns (--format json lists all)"));
        }
    }
    for column in summary.unused.iter().filter(|column| column.missing > 0) {
        messages.note(&format!(
            "column '{}' was left as it is, {} cells missing: {}",
            column.column,
            count(column.missing),
            column.reason
        ));
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
