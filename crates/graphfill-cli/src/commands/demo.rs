//! `graphfill demo`: the main job on an example that is made on the spot, with nothing to install
//! and no file to find. Since the example knows the truth, it can show how good the estimates are.

use std::fs;
use std::path::Path;
use std::time::Instant;

use graphfill::Data;
use graphfill::data::formats;
use graphfill::data::generator::{Generated, GeneratorConfig, generate};
use graphfill::data::{ColumnData, Dataset, Kind, NodeTable};
use graphfill::engine::cuda::Launching;
use graphfill::eval::{EvaluateOptions, Hiding, evaluate};
use graphfill::methods::fill::WithUncertainty;
use graphfill::methods::{Context, Registry};

use super::device::{self, Workload};
use super::evaluate::methods_table;
use super::outputs;
use super::report::{self, run_info};
use crate::arguments::{Demo, Format, General, UsageError};
use crate::output;
use crate::output::messages::Messages;
use crate::output::numbers::{count, metric, percent, seconds};
use crate::output::progress::Bars;
use crate::output::text_table::TextTable;

/// How many people are shown before and after.
const SHOWN: usize = 4;

pub(crate) fn run(arguments: &Demo, general: &General) -> anyhow::Result<()> {
    let started = Instant::now();
    let progress = Bars::new(general);
    if general.format() != Format::Table {
        let found = "demo prints for people; try graphfill evaluate --format json";
        return Err(UsageError(found.to_owned()).into());
    }
    if let Some(folder) = &arguments.output {
        check_free(folder)?;
    }
    outputs::check_report(arguments.report.as_ref())?;
    if let Some(path) = &arguments.report {
        if let Some(folder) = arguments.output.as_ref().filter(|folder| path.starts_with(folder)) {
            fs::create_dir_all(folder)
                .map_err(|error| graphfill::data::DataError::write(folder, error))?;
        }
        outputs::check(&[path], &[])?;
    }
    let messages = Messages::new(general.quiet);
    let launching = Launching::default();
    let device = device::open(&arguments.device, launching, Workload::Training, &messages)?;
    let used_device = device.clone();
    let context =
        Context { seed: arguments.seed, device, progress: &progress, ..Context::default() };
    let config = GeneratorConfig {
        nodes: arguments.nodes as usize,
        seed: arguments.seed,
        ..GeneratorConfig::default()
    };
    let Generated { dataset, truth } = generate(&config)?;
    introduce(&dataset)?;

    let registry = Registry::with_defaults();
    let uncertainty = match arguments.report.is_some() {
        true => WithUncertainty::Yes,
        false => WithUncertainty::No,
    };
    let auto = registry.find("auto")?;
    let filled = Data::new(dataset).fill_with(&auto, &context, uncertainty)?;
    if let Some(path) = &arguments.report {
        let run = run_info(arguments.seed, started.elapsed().as_secs_f64(), &used_device);
        report::write_fill(path, &filled, &[0.9], run, &messages)?;
    }
    let (dataset, completed) = (filled.before(), &filled.dataset().table);
    output::line(&format!(
        "\n1. fill   {} missing cells estimated in {}. Some of them, beside the truth:\n",
        count(filled.estimated()),
        seconds(started.elapsed().as_secs_f64())
    ))?;
    output::table(&before_and_after(&dataset.table, completed, &truth))?;
    output::line("\n   How good, and which method each column took:\n")?;
    output::table(&how_good(&dataset.table, completed, &truth, filled.choices()))?;
    let chosen = filled.choices().iter();
    let chosen = chosen.map(|choice| (choice.method.as_str(), &choice.parameters));
    for line in super::fill::parameter_lines(chosen) {
        output::line(&format!("  {line}"))?;
    }

    output::line(
        "\n2. evaluate   the same question without knowing the truth: hide what is known, estimate it, score:\n",
    )?;
    let evaluation = evaluate(
        dataset,
        &EvaluateOptions {
            hiding: Hiding::Rows(graphfill::data::splits::SplitRatio::new(7.0, 1.0, 2.0)?),
            context: Context { seed: 0, ..context.clone() },
            ..EvaluateOptions::new(registry.usual())
        },
    )?;
    output::table(&methods_table(&evaluation))?;

    match &arguments.output {
        Some(folder) => keep(folder, dataset, completed, &truth)?,
        None => output::line(
            "\nOn your own files:   graphfill fill nodes.csv edges.csv -o filled.csv\nThis example's files: graphfill demo -o FOLDER",
        )?,
    }
    output::line(&format!("\nDone in {}.", seconds(started.elapsed().as_secs_f64())))?;
    Ok(())
}

fn introduce(dataset: &Dataset) -> anyhow::Result<()> {
    let missing = dataset.table.missing();
    output::line(&format!(
        "A town of {} people who know one another ({} friendships). Of {} of them the table says\nnothing at all, and of the others {} single cells are missing.",
        count(dataset.table.rows()),
        count(dataset.graph.undirected().edges()),
        count(missing.whole_rows()),
        count(missing.count() - missing.whole_rows() * missing.width()),
    ))?;
    Ok(())
}

/// Rows that were missing altogether: the estimate and the truth of every single column.
fn before_and_after(holed: &NodeTable, filled: &NodeTable, truth: &NodeTable) -> TextTable {
    let missing = holed.missing();
    let names: Vec<&str> = single_columns(holed).collect();
    let mut header = vec!["person", ""];
    header.extend(&names);
    let mut table = TextTable::new(&header).left(&[1]);
    let rows = (0..holed.rows()).filter(|&row| missing.is_whole(row)).take(SHOWN);
    for row in rows {
        for (what, source) in [("estimate", filled), ("truth", truth)] {
            let person = if what == "estimate" { holed.ids().text(row) } else { String::new() };
            let mut cells = vec![person, what.to_owned()];
            cells.extend(names.iter().map(|name| match source.column(name) {
                Some(column) => column.text().value(row).to_owned(),
                None => String::new(),
            }));
            table.row(cells);
        }
    }
    table
}

/// The columns of single values that had something to estimate.
fn single_columns(table: &NodeTable) -> impl Iterator<Item = &str> {
    table
        .used_columns()
        .filter(|column| matches!(column.data(), ColumnData::Array(_)))
        .map(graphfill::data::Column::name)
}

fn how_good(
    holed: &NodeTable,
    filled: &NodeTable,
    truth: &NodeTable,
    choices: &[graphfill::methods::Choice],
) -> TextTable {
    let mut table =
        TextTable::new(&["column", "kind", "estimated", "our error", "column mean's", "method"])
            .left(&[1, 5]);
    for choice in choices {
        let columns = (holed.column(&choice.group), filled.column(&choice.group));
        let ((Some(before), Some(after)), Some(real)) = (columns, truth.column(&choice.group))
        else {
            continue;
        };
        let errors = match before.data() {
            ColumnData::Array(_) => single_errors(before, after, real),
            ColumnData::Block(_) => block_errors(before, after, real),
        };
        let (ours, theirs) = errors.unwrap_or_default();
        table.row(vec![
            choice.group.clone(),
            before.kind().as_str().to_owned(),
            count(before.missing_count()),
            ours,
            theirs,
            choice.method.clone(),
        ]);
    }
    table
}

/// Root mean squared error of numbers, share of wrong cells of the others.
fn single_errors(
    before: &graphfill::data::Column,
    after: &graphfill::data::Column,
    real: &graphfill::data::Column,
) -> Option<(String, String)> {
    let missing = before.missing();
    let rows: Vec<usize> = (0..missing.len()).filter(|&row| missing[row]).collect();
    if rows.is_empty() {
        return None;
    }
    if before.kind().is_numeric() {
        let (estimates, truth, known) = (after.numbers(), real.numbers(), before.numbers());
        let known: Vec<f64> = known.into_iter().filter(|value| !value.is_nan()).collect();
        let centre = known.iter().sum::<f64>() / known.len() as f64;
        let error = |estimate: &dyn Fn(usize) -> f64| {
            let squares: f64 = rows.iter().map(|&row| (estimate(row) - truth[row]).powi(2)).sum();
            (squares / rows.len() as f64).sqrt()
        };
        let (ours, theirs) = (error(&|row| estimates[row]), error(&|_| centre));
        return Some((format!("±{}", metric(ours)), format!("±{}", metric(theirs))));
    }
    let (estimates, truth, known) = (after.text(), real.text(), before.levels());
    let most_frequent = (0..known.names.len())
        .max_by_key(|&level| known.codes.iter().filter(|own| **own == Some(level as u32)).count())
        .map(|level| known.names[level].clone())?;
    let wrong = |estimate: &dyn Fn(usize) -> String| {
        rows.iter().filter(|&&row| estimate(row) != truth.value(row)).count()
    };
    let ours = wrong(&|row| estimates.value(row).to_owned());
    let theirs = wrong(&|_| most_frequent.clone());
    let share = |count: usize| format!("{} wrong", percent(count, rows.len()));
    debug_assert!(*before.kind() == Kind::Category || *before.kind() == Kind::Boolean);
    Some((share(ours), share(theirs)))
}

/// The share of the true ones of missing rows that the estimate has not; against the most
/// frequent columns, as many as the estimate has.
fn block_errors(
    before: &graphfill::data::Column,
    after: &graphfill::data::Column,
    real: &graphfill::data::Column,
) -> Option<(String, String)> {
    let (ColumnData::Block(before), ColumnData::Block(after), ColumnData::Block(real)) =
        (before.data(), after.data(), real.data())
    else {
        return None;
    };
    let mut frequency = vec![0usize; before.width()];
    for row in 0..before.rows() {
        before.columns(row).iter().for_each(|&column| frequency[column as usize] += 1);
    }
    let mut order: Vec<u32> = (0..before.width() as u32).collect();
    order.sort_by_key(|&column| std::cmp::Reverse(frequency[column as usize]));
    let (mut ones, mut ours, mut theirs) = (0, 0, 0);
    for row in (0..before.rows()).filter(|&row| before.missing().is_whole(row)) {
        let truth = real.columns(row);
        let estimate = after.columns(row);
        let missed = |guess: &[u32]| truth.iter().filter(|column| !guess.contains(column)).count();
        ones += truth.len();
        ours += missed(estimate);
        theirs += missed(&order[..estimate.len()]);
    }
    let share = |count: usize| format!("{} missed", percent(count, ones));
    (ones > 0).then(|| (share(ours), share(theirs)))
}

/// Nothing of the user's is overwritten.
fn check_free(folder: &Path) -> anyhow::Result<()> {
    let mine = ["nodes.csv", "nodes.edges.csv", "nodes.types.toml", "filled.csv", "truth.csv"];
    match mine.iter().map(|name| folder.join(name)).find(|path| path.exists()) {
        None => Ok(()),
        Some(there) => Err(UsageError(format!(
            "{} is there already\n  name an empty or a new folder",
            there.display()
        ))
        .into()),
    }
}

fn keep(
    folder: &Path,
    dataset: &Dataset,
    filled: &NodeTable,
    truth: &NodeTable,
) -> anyhow::Result<()> {
    fs::create_dir_all(folder).map_err(|error| graphfill::data::DataError::write(folder, error))?;
    formats::write(dataset, &folder.join("nodes.csv"))?;
    let with = |table: &NodeTable| Dataset { table: table.clone(), ..dataset.clone() };
    formats::write_nodes(&with(filled), &folder.join("filled.csv"))?;
    formats::write_nodes(&with(truth), &folder.join("truth.csv"))?;
    output::line(&format!(
        "\nKept in {0}: nodes.csv, nodes.edges.csv, filled.csv, truth.csv. Try:\n  graphfill fill {0}/nodes.csv {0}/nodes.edges.csv -o again.csv",
        folder.display()
    ))?;
    Ok(())
}
