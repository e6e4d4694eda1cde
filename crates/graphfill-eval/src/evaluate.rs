//! Hide, estimate, score: every method on the same splits, seed by seed.

use std::collections::BTreeMap;
use std::sync::Arc;

use graphfill_data::Dataset;
use graphfill_data::splits::SplitRatio;
use graphfill_methods::features::Features;
use graphfill_methods::tuning::{self, Trial};
use graphfill_methods::{Context, Deadline, Method, MethodError, Parameters, Result};

use crate::comparison::{Comparison, LEVEL, by_row, by_seed};
use crate::hiding::Hiding;
use crate::report::{ChosenParameters, Evaluation, MethodEvaluation, SeedEvaluation};
use crate::run::{DiscardEstimates, Run, shown_labels};
use crate::score::{Metrics, default_depths};
use crate::summary::{mean, standard_deviation};

/// What [`evaluate`] needs to know beside the data.
#[derive(Clone)]
pub struct EvaluateOptions<'a> {
    /// The methods with their parameters, in the order of the report.
    pub methods: Vec<Arc<dyn Method>>,
    /// Device, limits and progress; each run has its own seed.
    pub context: Context<'a>,
    /// How values are hidden.
    pub hiding: Hiding,
    /// The share of nodes whose labels methods may learn from.
    pub label_share: f64,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// The k of recall@k and nDCG@k; the first selects. By the table where none is given.
    pub depths: Option<Vec<usize>>,
    /// The coverages at which intervals and prediction sets are scored. None where they are not wanted:
    /// they take a second fit.
    pub coverages: Vec<f64>,
}

impl EvaluateOptions<'_> {
    /// Methods on one split of the rows.
    pub fn new(methods: Vec<Arc<dyn Method>>) -> Self {
        EvaluateOptions {
            methods,
            context: Context::default(),
            hiding: Hiding::Rows(SplitRatio::default()),
            label_share: 0.0,
            seeds: vec![0],
            depths: None,
            coverages: Vec::new(),
        }
    }
}

/// Scores methods side by side.
pub fn evaluate(dataset: &Dataset, options: &EvaluateOptions<'_>) -> Result<Evaluation> {
    let features = Features::of(&dataset.table);
    if features.width() == 0 {
        return Err(MethodError::NoFeatures);
    }
    let graph = dataset.graph.undirected();
    let depths = options.depths.clone().unwrap_or_else(|| default_depths(&features).to_vec());
    if depths.is_empty() || depths.contains(&0) {
        return Err(MethodError::Parameter(
            "the k of recall@k are whole numbers from 1".to_owned(),
        ));
    }
    let mut seeds: Vec<Vec<SeedEvaluation>> = vec![Vec::new(); options.methods.len()];
    let mut primary = None;
    let mut sizes = (1, 1);
    for &seed in &options.seeds {
        let hidden = options.hiding.for_seed(&dataset.table, &features, seed)?;
        if hidden.test.is_empty() {
            return Err(MethodError::Table(format!(
                "nothing is left to score for seed {seed}: no hidden cell has a known value"
            )));
        }
        sizes = (hidden.test_size, hidden.train_size);
        let labels = shown_labels(dataset, options.label_share, seed);
        for (method, seeds) in options.methods.iter().zip(&mut seeds) {
            // Every method has the same time.
            let deadline = options.context.deadline.as_ref().map(Deadline::restarted);
            let context = Context { seed, deadline, ..options.context.clone() };
            let run = Run {
                graph: &graph,
                features: &features,
                hidden: &hidden,
                depths: &depths,
                labels: labels.as_ref(),
                watched: &[],
                coverages: &options.coverages,
                context: &context,
            };
            let scored = run.score(&**method, &mut DiscardEstimates)?;
            primary = primary.or(scored.primary);
            seeds.push(scored.evaluation);
        }
    }
    let primary = primary.unwrap_or_default();
    let methods: Vec<MethodEvaluation> = options
        .methods
        .iter()
        .zip(seeds)
        .map(|(method, seeds)| summarise(method.info().name, seeds))
        .collect();
    let comparisons = compare(&methods, &primary, sizes);
    Ok(Evaluation {
        dataset: dataset.name.clone(),
        nodes: dataset.table.rows(),
        edges: graph.edges(),
        features: dataset.table.features(),
        hidden: describe(&options.hiding, sizes),
        primary,
        methods,
        comparisons,
    })
}

/// Searches for the parameters of the first method on the validation cells of the first seed; see
/// [`tuning::search`]. The parameters `fixed` stay as the method has them.
pub fn tune(
    dataset: &Dataset,
    options: &EvaluateOptions<'_>,
    fixed: &Parameters,
    trials: usize,
    known: Vec<Trial>,
    each: &mut dyn FnMut(&[Trial]) -> Result<()>,
) -> Result<Vec<Trial>> {
    let features = Features::of(&dataset.table);
    let graph = dataset.graph.undirected();
    let seed = options.seeds[0];
    let hidden = options.hiding.for_seed(&dataset.table, &features, seed)?;
    let labels = shown_labels(dataset, options.label_share, seed);
    let depths = options.depths.clone().unwrap_or_else(|| default_depths(&features).to_vec());
    let context = Context { seed, ..options.context.clone() };
    let run = Run {
        graph: &graph,
        features: &features,
        hidden: &hidden,
        depths: &depths,
        labels: labels.as_ref(),
        watched: &[],
        coverages: &[],
        context: &context,
    };
    tuning::search(&*options.methods[0], fixed, &run.task(), trials, known, each)
}

fn describe(hiding: &Hiding, (test, train): (usize, usize)) -> String {
    match hiding {
        Hiding::SplitsFile(path) => {
            format!("{test} rows by the splits of {}, {train} observed", path.display())
        }
        Hiding::Splits(_) => format!("{test} rows (masks of the table, {train} observed)"),
        Hiding::Rows(shares) => {
            format!("{test} rows (split {shares}), {train} observed")
        }
        Hiding::Cells(rate) => format!("{test} cells ({}%)", rate * 100.0),
    }
}

fn summarise(name: &str, seeds: Vec<SeedEvaluation>) -> MethodEvaluation {
    let table = |pick: fn(&[f64]) -> Option<f64>| {
        let of = |tables: Vec<&BTreeMap<String, f64>>| -> BTreeMap<String, f64> {
            let names: Vec<&String> = tables.iter().flat_map(|table| table.keys()).collect();
            names
                .into_iter()
                .filter_map(|name| {
                    let values: Vec<f64> =
                        tables.iter().filter_map(|table| table.get(name).copied()).collect();
                    Some((name.clone(), pick(&values)?))
                })
                .collect()
        };
        let columns: Vec<&String> =
            seeds.iter().flat_map(|seed| seed.test.columns.keys()).collect();
        Metrics {
            table: of(seeds.iter().map(|seed| &seed.test.table).collect()),
            columns: columns
                .into_iter()
                .map(|column| {
                    let own = seeds.iter().filter_map(|seed| seed.test.columns.get(column));
                    (column.clone(), of(own.collect()))
                })
                .filter(|(_, metrics)| !metrics.is_empty())
                .collect(),
        }
    };
    let (mean, sd) = (table(|values| Some(mean(values))), table(standard_deviation));
    MethodEvaluation { method: name.to_owned(), parameters: agreed(&seeds), seeds, mean, sd }
}

/// The parameters on which all seeds and columns agree.
fn agreed(seeds: &[SeedEvaluation]) -> Parameters {
    let mut all = seeds.iter().flat_map(|seed| match &seed.parameters {
        ChosenParameters::Table(chosen) => vec![chosen],
        ChosenParameters::Columns(columns) => columns.values().collect(),
    });
    let Some(first) = all.next() else { return Parameters::default() };
    all.fold(first.parameters.clone(), |agreed, chosen| agreed.shared_with(&chosen.parameters))
}

/// The best method against each of the others.
fn compare(
    methods: &[MethodEvaluation],
    primary: &str,
    (test, train): (usize, usize),
) -> Vec<Comparison> {
    let values = |method: &MethodEvaluation| -> Vec<f64> {
        method.seeds.iter().filter_map(|seed| seed.test.table.get(primary).copied()).collect()
    };
    let lower_is_better = primary.contains("rmse");
    let order = |method: &&MethodEvaluation| {
        let value = mean(&values(method));
        if lower_is_better { -value } else { value }
    };
    let Some(best) = methods.iter().max_by(|a, b| order(a).total_cmp(&order(b))) else {
        return Vec::new();
    };
    let others = methods.iter().filter(|other| other.method != best.method);
    others
        .map(|other| {
            let rows = match (best.seeds.as_slice(), other.seeds.as_slice()) {
                ([own], [theirs])
                    if !own.by_row.is_empty() && own.by_row.len() == theirs.by_row.len() =>
                {
                    Some((&own.by_row, &theirs.by_row))
                }
                _ => None,
            };
            let (difference, p_value, pairs) = match rows {
                Some((own, theirs)) => {
                    let (difference, p) = by_row(own, theirs);
                    (difference, p, own.len())
                }
                None => {
                    let (own, theirs) = (values(best), values(other));
                    let (difference, p) = by_seed(&own, &theirs, test, train);
                    (difference, p, own.len())
                }
            };
            Comparison {
                metric: primary.to_owned(),
                method: best.method.clone(),
                against: other.method.clone(),
                difference,
                real: p_value.is_some_and(|p| p < LEVEL),
                p_value,
                paired_by: if rows.is_some() { "rows" } else { "seeds" },
                pairs,
            }
        })
        .collect()
}
