//! Sample evaluations.

use std::collections::BTreeMap;

use graphfill_eval::comparison::Comparison;
use graphfill_eval::{
    ChosenMethod, ChosenParameters, Evaluation, MethodEvaluation, Metrics, SeedEvaluation, mean,
    standard_deviation,
};
use graphfill_methods::Parameters;

use crate::samples::Numbers;

/// An evaluation without methods.
pub(crate) fn empty() -> Evaluation {
    Evaluation {
        dataset: "nothing".to_owned(),
        nodes: 0,
        edges: 0,
        features: 0,
        hidden: "nothing hidden".to_owned(),
        primary: "rmse".to_owned(),
        methods: Vec::new(),
        comparisons: Vec::new(),
    }
}

/// Six methods, five seeds, with metrics of uncertainty.
pub(crate) fn evaluation(columns: usize) -> Evaluation {
    let mut numbers = Numbers::new(3);
    let names =
        ["svga", "feature_propagation", "pcfi", "neighbour_mean", "row_gaussian", "column_mean"];
    let methods: Vec<MethodEvaluation> = names
        .iter()
        .enumerate()
        .map(|(rank, name)| method(name, rank as f64, columns, &mut numbers))
        .collect();
    let comparisons = names[1..]
        .iter()
        .enumerate()
        .map(|(index, against)| Comparison {
            metric: "nrmse".to_owned(),
            method: "svga".to_owned(),
            against: (*against).to_owned(),
            difference: -0.05 * (index as f64 + 1.0),
            p_value: Some(0.2 / 10f64.powi(index as i32)),
            real: index > 0,
            paired_by: "seeds",
            pairs: 5,
        })
        .collect();
    Evaluation {
        dataset: "london_ward".to_owned(),
        nodes: 625,
        edges: 1800,
        features: columns,
        hidden: "20% of the observed cells hidden at random".to_owned(),
        primary: "nrmse".to_owned(),
        methods,
        comparisons,
    }
}

fn method(name: &str, rank: f64, columns: usize, numbers: &mut Numbers) -> MethodEvaluation {
    let chosen = ChosenMethod { method: None, parameters: Parameters::default() };
    let seeds: Vec<SeedEvaluation> = (0..5)
        .map(|seed| SeedEvaluation {
            seed,
            parameters: ChosenParameters::Table(chosen.clone()),
            validation: Metrics::default(),
            test: metrics(rank, columns, numbers),
            seconds: 0.05 * 6f64.powf(5.0 - rank) / 20.0 * (1.0 + numbers.uniform()),
            peak_memory_bytes: Some(300 << 20),
            by_row: Vec::new(),
            history: None,
        })
        .collect();
    let over = |combine: &dyn Fn(&[f64]) -> f64| {
        let table = seeds[0].test.table.keys().map(|key| {
            let values: Vec<f64> = seeds.iter().map(|seed| seed.test.table[key]).collect();
            (key.clone(), combine(&values))
        });
        Metrics { table: table.collect(), columns: seeds[0].test.columns.clone() }
    };
    let (mean, sd) = (
        over(&|values| mean(values)),
        over(&|values| standard_deviation(values).unwrap_or(f64::NAN)),
    );
    MethodEvaluation { method: name.to_owned(), parameters: Parameters::default(), seeds, mean, sd }
}

fn metrics(rank: f64, columns: usize, numbers: &mut Numbers) -> Metrics {
    let error = 0.5 + 0.08 * rank + 0.02 * numbers.normal();
    let coverage = 0.9 + 0.01 * numbers.normal();
    let table: BTreeMap<String, f64> = [
        ("nrmse", error),
        ("accuracy", 0.9 - 0.05 * rank + 0.01 * numbers.normal()),
        ("coverage@90", coverage),
        ("interval_score@90", error * 3.1),
        ("crps", error * 0.55),
        ("set_size@90", 1.4 + 0.1 * rank),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect();
    let columns = (0..columns).map(|column| {
        let own = [("rmse", error * 10f64.powi(column as i32 % 5)), ("coverage@90", coverage)];
        (format!("column_{column:03}"), own.map(|(name, value)| (name.to_owned(), value)).into())
    });
    Metrics { table, columns: columns.collect() }
}
