//! `graphfill evaluate`: hide known values, estimate them, score methods side by side.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use graphfill::data::formats::splits_file;
use graphfill::data::splits::{self, SplitRatio};
use graphfill::data::{Dataset, Progress, atomic_file};
use graphfill::datasets::Source;
use graphfill::engine::Device;
use graphfill::eval::comparison::Comparison;
use graphfill::eval::{
    EvaluateOptions, Evaluation, Hiding, MethodEvaluation, evaluate as score, mean, tune,
};
use graphfill::methods::tuning::Trial;
use graphfill::methods::{Method, ParamOverrides, Registry};

use serde::Serialize;

use super::{device, outputs, report, training};
use crate::arguments::{Evaluate, Format, General, UsageError, ascending};
use crate::output::messages::Messages;
use crate::output::numbers::{bytes, count, metric, seconds};
use crate::output::progress::Bars;
use crate::output::text_table::TextTable;
use crate::{input, output};

/// More columns than this are not listed one by one.
const MAX_COLUMNS: usize = 30;

pub(crate) fn run(arguments: &Evaluate, general: &General) -> anyhow::Result<()> {
    let started = Instant::now();
    let messages = Messages::new(general.quiet);
    let progress = Bars::new(general);
    let mut job = EvaluateJob::new(arguments)?;
    outputs::check_report(arguments.report.as_ref())?;
    let (source, own_splits) = source(arguments)?;
    let written: Vec<&PathBuf> =
        arguments.training.history.iter().chain(&arguments.report).collect();
    outputs::check(&written, &source.files())?;
    let device = job.device(&messages)?;
    let reading = input::read_options(&arguments.reading, arguments.training.memory_limit)?;
    let mut dataset = input::read(source, &reading, &messages, &progress)?;
    if let Some(name) = &arguments.dataset {
        dataset = super::as_published(dataset, name)?;
    }
    let found = dataset.found.as_ref().map(output::FoundJson::of);
    let evaluation = job.evaluate(dataset, own_splits, device.clone(), &messages, &progress)?;
    if let Some(path) = &arguments.training.history {
        atomic_file::write(path, histories(&evaluation).as_bytes())?;
    }
    if let Some(path) = &arguments.report {
        let seconds = started.elapsed().as_secs_f64();
        let run = report::run_info(arguments.seeds.0[0], seconds, &device);
        report::write_evaluation(path, &evaluation, &run, &messages)?;
    }
    match general.format() {
        Format::Json => output::json(&Report { found, evaluation: &evaluation }),
        Format::Csv => Ok(output::csv(&rows(&evaluation))?),
        Format::Table => print(&evaluation),
    }
}

/// The methods, their parameters and the device of a call: what `evaluate` does between reading and
/// printing.
pub(crate) struct EvaluateJob<'a> {
    arguments: &'a Evaluate,
    methods: Vec<Arc<dyn Method>>,
    overrides: ParamOverrides,
}

impl<'a> EvaluateJob<'a> {
    /// Checks the names of methods and parameters, and shares.
    pub(crate) fn new(arguments: &'a Evaluate) -> anyhow::Result<Self> {
        let registry = Registry::with_defaults();
        let methods: Vec<Arc<dyn Method>> = match arguments.methods.as_slice() {
            [] => registry.usual(),
            names => names.iter().map(|name| registry.find(name)).collect::<Result<_, _>>()?,
        };
        let named: Vec<&dyn Method> = methods.iter().map(|method| &**method).collect();
        let overrides = training::parameters(&arguments.training, &arguments.param, &named)?;
        if let Some(rate) = arguments.hide_cells
            && !(rate > 0.0 && rate < 1.0)
        {
            let found = format!("--hide-cells {rate}: the rate lies between 0 and 1");
            return Err(UsageError(found).into());
        }
        if !(0.0..=1.0).contains(&arguments.label_share) {
            let share = arguments.label_share;
            let found = format!("--label-share {share}: the share lies between 0 and 1");
            return Err(UsageError(found).into());
        }
        Ok(EvaluateJob { arguments, methods, overrides })
    }

    /// The device that the methods run on.
    pub(crate) fn device(&self, messages: &Messages) -> anyhow::Result<Device> {
        device::for_methods(&self.arguments.device, &self.named(), messages)
    }

    fn named(&self) -> Vec<&dyn Method> {
        self.methods.iter().map(|method| &**method).collect()
    }

    /// Hides values of a table, estimates them and scores the methods, after a search for parameters where
    /// that is asked for. `own_splits` is the file of splits that belongs to the data.
    pub(crate) fn evaluate(
        &mut self,
        mut dataset: Dataset,
        own_splits: Option<PathBuf>,
        device: Device,
        messages: &Messages,
        progress: &dyn Progress,
    ) -> anyhow::Result<Evaluation> {
        let arguments = self.arguments;
        let policy = arguments.reading.duplicate_edges;
        let graph = dataset.graph.undirected();
        input::note_conflicting_weights(&graph, policy, messages);
        input::note_direction(&dataset.graph, &graph, messages);
        let hiding = self.hiding(&mut dataset, own_splits, messages)?;
        if arguments.label_share > 0.0 && dataset.table.labels().is_none() {
            let remedy = "name the column that has them with --label";
            return Err(
                UsageError(format!("--label-share: there are no labels\n  {remedy}")).into()
            );
        }
        let mut options = EvaluateOptions {
            methods: Vec::new(),
            context: training::context(&arguments.training, device, progress),
            hiding,
            label_share: arguments.label_share,
            seeds: arguments.seeds.0.clone(),
            depths: depths(arguments, &dataset.name),
            coverages: ascending(&arguments.intervals),
        };
        let tuning = &arguments.training;
        if let (Some(trials), Some(path)) = (tuning.tune, &tuning.params_file) {
            let [method] = self.named()[..] else {
                let found = "--tune takes one method: name it with --methods";
                return Err(UsageError(found.into()).into());
            };
            let (name, seed) = (training::tuned(method), options.seeds[0]);
            let run = format!("{name} on {}, seed {seed}", dataset.name);
            let given = &arguments.param;
            let search = |own: &ParamOverrides, known, each: &mut dyn FnMut(&[Trial]) -> _| {
                let method = Registry::with_defaults().with_overrides(own)?.find(&name)?;
                let options = EvaluateOptions { methods: vec![method], ..options.clone() };
                tune(&dataset, &options, &own.of(&name), trials as usize, known, each)
            };
            training::tune(path, &run, &name, given, &mut self.overrides, messages, search)?;
        }
        let registry = Registry::with_defaults().with_overrides(&self.overrides)?;
        let names = self.methods.iter().map(|method| method.info().name);
        options.methods = names.map(|name| registry.find(name)).collect::<Result<_, _>>()?;
        Ok(score(&dataset, &options)?)
    }

    /// What is hidden: as the call says, else as the data says, else half of the rows.
    fn hiding(
        &self,
        dataset: &mut Dataset,
        own_splits: Option<PathBuf>,
        messages: &Messages,
    ) -> anyhow::Result<Hiding> {
        let arguments = self.arguments;
        let splits = arguments.splits_file.clone().or(own_splits);
        if let Some(path) = &splits
            && let Ok(sizes) = splits_file::sizes(path, arguments.seeds.0[0])
            && sizes.iter().sum::<usize>() != dataset.table.rows()
        {
            messages.warning(&format!(
                "{} names {} of {} rows: is it of another data set?",
                path.display(),
                count(sizes.iter().sum()),
                count(dataset.table.rows())
            ));
        }
        let masks = splits::from_mask_columns(&dataset.table)?;
        if masks.is_some() {
            dataset.table = splits::without_mask_features(&dataset.table)?;
        }
        Ok(match (arguments.hide_cells, arguments.split, splits, masks) {
            (Some(rate), _, _, _) => Hiding::Cells(rate),
            (None, Some(ratio), _, _) => Hiding::Rows(ratio),
            (None, None, Some(path), _) => Hiding::SplitsFile(path),
            (None, None, None, Some(masks)) => {
                messages.note("rows are hidden as the columns train_mask, val_mask and test_mask say (--split hides others)");
                Hiding::Splits(masks)
            }
            (None, None, None, None) => Hiding::Rows(SplitRatio::default()),
        })
    }
}

/// The training histories of all methods and seeds, as one CSV.
fn histories(evaluation: &Evaluation) -> String {
    let mut text = String::new();
    for method in &evaluation.methods {
        for seed in &method.seeds {
            let Some(history) = &seed.history else { continue };
            let own = history.to_csv();
            let mut lines = own.lines();
            let header = lines.next().unwrap_or_default();
            if text.is_empty() {
                text = format!("method,seed,{header}\n");
            }
            for line in lines {
                text.push_str(&format!("{},{},{line}\n", method.method, seed.seed));
            }
        }
    }
    text
}

/// The data, and the splits that belong to it.
fn source(arguments: &Evaluate) -> anyhow::Result<(Source, Option<PathBuf>)> {
    match (&arguments.dataset, &arguments.nodes) {
        (Some(name), _) => {
            let prepared = input::prepared(name, arguments.data_dir.as_deref())?;
            Ok((prepared.source, prepared.splits))
        }
        (None, Some(nodes)) => Ok((Source::detect(nodes, arguments.edges.as_deref())?, None)),
        (None, None) => Err(UsageError("name a node table or --dataset".to_owned()).into()),
    }
}

/// An evaluation, with the columns that were found in the files.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<output::FoundJson>,
    #[serde(flatten)]
    evaluation: &'a Evaluation,
}

/// The paper ranks Steam's few tags at 3, 5 and 10.
fn depths(arguments: &Evaluate, name: &str) -> Option<Vec<usize>> {
    if !arguments.top_k.is_empty() {
        return Some(arguments.top_k.iter().map(|&k| usize::from(k)).collect());
    }
    name.starts_with("steam").then(|| vec![3, 5, 10])
}

/// One row per method and seed.
fn rows(evaluation: &Evaluation) -> Vec<Vec<String>> {
    let names = metric_names(evaluation);
    let mut header = vec!["dataset", "method", "seed", "seconds", "peak_memory_bytes"];
    header.extend(names.iter().map(String::as_str));
    let mut rows = vec![header.into_iter().map(str::to_owned).collect()];
    for method in &evaluation.methods {
        for seed in &method.seeds {
            let mut row = vec![
                evaluation.dataset.clone(),
                method.method.clone(),
                seed.seed.to_string(),
                format!("{:.3}", seed.seconds),
                seed.peak_memory_bytes.map_or_else(String::new, |bytes| bytes.to_string()),
            ];
            row.extend(
                names
                    .iter()
                    .map(|name| seed.test.table.get(name).map_or_else(String::new, f64::to_string)),
            );
            rows.push(row);
        }
    }
    rows
}

/// Table metrics in the order of the paper: ranking by depth, then errors.
fn metric_names(evaluation: &Evaluation) -> Vec<String> {
    let mut names: Vec<String> =
        evaluation.methods.iter().flat_map(|method| method.mean.table.keys().cloned()).collect();
    let key = |name: &String| {
        let order = ["recall", "ndcg", "rmse", "nrmse", "r2", "accuracy", "balanced_accuracy"];
        let (stem, depth) = name.split_once('@').unwrap_or((name, "0"));
        let position = order.iter().position(|known| *known == stem).unwrap_or(order.len());
        (position, depth.parse::<u32>().unwrap_or(0), name.clone())
    };
    names.sort_by_key(key);
    names.dedup();
    names
}

/// What the column of a table is called.
fn short(name: &str) -> String {
    name.replace("recall@", "R@")
        .replace("ndcg@", "nDCG@")
        .replace("r2_by_column", "R² by column")
        .replace("r2", "R²")
        .replace("nrmse", "RMSE/sd")
        .replace("rmse", "RMSE")
        .replace("balanced_accuracy", "balanced acc.")
}

fn print(evaluation: &Evaluation) -> anyhow::Result<()> {
    let seeds = evaluation.methods.first().map_or(0, |method| method.seeds.len());
    output::line(&format!(
        "{}: {} nodes, {} edges, {} features; hidden: {}; {}",
        evaluation.dataset,
        count(evaluation.nodes),
        count(evaluation.edges),
        count(evaluation.features),
        evaluation.hidden,
        if seeds == 1 { "1 seed".to_owned() } else { format!("mean of {seeds} seeds") }
    ))?;
    output::line("")?;
    output::table(&methods_table(evaluation))?;
    if let Some(table) = columns_table(evaluation) {
        output::line("")?;
        output::table(&table)?;
    }
    if !evaluation.comparisons.is_empty() {
        output::line("")?;
    }
    for comparison in &evaluation.comparisons {
        output::line(&format!("  {}", sentence(comparison)))?;
    }
    Ok(())
}

pub(super) fn methods_table(evaluation: &Evaluation) -> TextTable {
    let names = metric_names(evaluation);
    let mut header: Vec<String> = vec!["method".to_owned()];
    header.extend(names.iter().map(|name| short(name)));
    header.extend(["time".to_owned(), "memory".to_owned()]);
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = TextTable::new(&header);
    for method in &evaluation.methods {
        let mut row = vec![method.method.clone()];
        row.extend(names.iter().map(|name| cell(method, name)));
        let times: Vec<f64> = method.seeds.iter().map(|seed| seed.seconds).collect();
        row.push(seconds(mean(&times)));
        let peak = method.seeds.iter().filter_map(|seed| seed.peak_memory_bytes).max();
        row.push(peak.map_or_else(|| "–".to_owned(), bytes));
        table.row(row);
    }
    for (position, name) in names.iter().enumerate() {
        let value = |method: &MethodEvaluation| method.mean.table.get(name).copied();
        if let Some(row) = best_row(&evaluation.methods, name, value) {
            table.mark_best(row, position + 1);
        }
    }
    table
}

/// The mean, with the standard deviation where there are several seeds.
fn cell(method: &MethodEvaluation, name: &str) -> String {
    let Some(&value) = method.mean.table.get(name) else { return "–".to_owned() };
    match method.sd.table.get(name) {
        Some(&deviation) => format!("{} ±{}", metric(value), metric(deviation)),
        None => metric(value),
    }
}

fn best_row(
    methods: &[MethodEvaluation],
    name: &str,
    value: impl Fn(&MethodEvaluation) -> Option<f64>,
) -> Option<usize> {
    if name.contains("coverage") {
        // The best is the nearest to what was asked for, which is no matter of more or less.
        return None;
    }
    let stem = name.split('@').next().unwrap_or(name);
    let errors =
        ["mae", "width", "interval_score", "crps", "set_size", "log_loss", "calibration_error"];
    let lower = name.contains("rmse") || errors.contains(&stem);
    let known = methods.iter().enumerate().filter_map(|(row, m)| Some((row, value(m)?)));
    let signed = known.map(|(row, value)| (row, if lower { -value } else { value }));
    signed.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(row, _)| row)
}

/// One row per column of the data, one column per method: R² of numbers, accuracy of the others.
fn columns_table(evaluation: &Evaluation) -> Option<TextTable> {
    let first = evaluation.methods.first()?;
    let columns: Vec<&String> = first.mean.columns.keys().collect();
    if columns.is_empty() || columns.len() > MAX_COLUMNS {
        return None;
    }
    let mut header = vec!["column", "metric"];
    header.extend(evaluation.methods.iter().map(|method| method.method.as_str()));
    let mut table = TextTable::new(&header).left(&[1]);
    for column in columns {
        let own = first.mean.columns.get(column)?;
        let name = ["r2", "accuracy"].into_iter().map(str::to_owned).find(|n| own.contains_key(n));
        let Some(name) = name.or_else(|| own.keys().find(|n| n.starts_with("recall")).cloned())
        else {
            continue;
        };
        let value =
            |method: &MethodEvaluation| method.mean.columns.get(column)?.get(&name).copied();
        let mut row = vec![column.clone(), short(&name)];
        row.extend(
            evaluation.methods.iter().map(|m| value(m).map_or_else(|| "–".to_owned(), metric)),
        );
        table.row(row);
        if let Some(best) = best_row(&evaluation.methods, &name, value) {
            table.mark_last_best(best + 2);
        }
    }
    Some(table)
}

fn sentence(comparison: &Comparison) -> String {
    let name = short(&comparison.metric);
    let pairs = format!("{} {}", count(comparison.pairs), comparison.paired_by);
    let by = metric(comparison.difference.abs());
    match comparison.p_value {
        None => format!(
            "{} is ahead of {} by {by} in {name}; more seeds would tell whether that is real",
            comparison.method, comparison.against
        ),
        Some(p) if comparison.real => format!(
            "{} is better than {} by {by} in {name} ({}, {pairs})",
            comparison.method,
            comparison.against,
            probability(p)
        ),
        Some(p) => format!(
            "{} is not clearly better than {}: {by} in {name} ({}, {pairs})",
            comparison.method,
            comparison.against,
            probability(p)
        ),
    }
}

fn probability(p: f64) -> String {
    if p < 0.0001 { "p < 0.0001".to_owned() } else { format!("p = {p:.4}") }
}
