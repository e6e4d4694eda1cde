//! Tables 2, 3 and 4: one table per data set and group of metrics, one row per competitor.

use std::collections::BTreeSet;

use graphfill_eval::experiments::published::published;
use graphfill_eval::experiments::{Experiment, Failure};
use graphfill_eval::protocols::Protocol;

use super::numbers::{Metric, figure, with_deviation};
use super::remarks;
use super::results::{Results, Row, Summary};
use crate::markdown::{Alignment, Cell, Table};

/// The tables of all data sets, and a sentence on every large difference.
pub(super) fn body(experiment: Experiment, results: &Results<'_>) -> String {
    let mut text = String::new();
    for dataset in results.datasets() {
        text.push_str(&format!("### {dataset}\n\n"));
        let rows: Vec<&Row<'_>> = results.of_dataset(dataset).collect();
        for metrics in groups(experiment, &rows) {
            text.push_str(&table(dataset, &rows, &metrics).to_string());
            text.push('\n');
        }
        let all: Vec<Metric> = groups(experiment, &rows).into_iter().flatten().collect();
        let remarks: Vec<String> =
            rows.iter().filter_map(|row| remarks::sentence(row, &all)).collect();
        if !remarks.is_empty() {
            text.push_str("Differences above 5%:\n\n");
            text.push_str(&remarks.join("\n"));
            text.push_str("\n\n");
        }
    }
    text
}

/// The metrics that stand in one table.
fn groups(experiment: Experiment, rows: &[&Row<'_>]) -> Vec<Vec<Metric>> {
    if experiment == Experiment::Table4 {
        let of_classifier = |classifier: &str| {
            let title = classifier.to_uppercase();
            vec![
                Metric::new(format!("{classifier}_best_epoch"), format!("{title}, best epoch")),
                Metric::new(
                    format!("{classifier}_inner_validation"),
                    format!("{title}, inner validation"),
                ),
            ]
        };
        return ["mlp", "gcn"].map(of_classifier).into();
    }
    // Tables of the caller's own may have ranks, numbers and classes in one.
    let depths = depths(rows);
    let ranks = [("recall", "R"), ("ndcg", "nDCG")].map(|(name, title)| {
        let metric =
            |depth: &u32| Metric::new(format!("{name}@{depth}"), format!("{title}@{depth}"));
        depths.iter().map(metric).collect::<Vec<Metric>>()
    });
    let others = [("rmse", "RMSE"), ("r2", "R²"), ("nrmse", "RMSE/sd"), ("accuracy", "accuracy")]
        .map(|(name, title)| Metric::new(name, title));
    let is_there = |metric: &Metric| {
        rows.iter().any(|row| {
            row.summary(&metric.name).or_else(|| row.tuned_summary(&metric.name)).is_some()
        })
    };
    let others: Vec<Metric> = others.into_iter().filter(is_there).collect();
    ranks.into_iter().chain([others]).filter(|group| !group.is_empty()).collect()
}

/// The k of recall@k, ascending.
fn depths(rows: &[&Row<'_>]) -> Vec<u32> {
    let outcomes = rows.iter().flat_map(|row| row.outcomes.iter().chain(&row.tuned));
    let names = outcomes.flat_map(|outcome| outcome.metrics.keys());
    let depths: BTreeSet<u32> =
        names.filter_map(|name| name.strip_prefix("recall@")?.parse().ok()).collect();
    depths.into_iter().collect()
}

/// Method, seeds, and for every metric the paper's figure, ours as published, the difference, and ours
/// tuned. The paper's figures stand only where it has some for the metric, tuned ones where any row has.
fn table(dataset: &str, rows: &[&Row<'_>], metrics: &[Metric]) -> Table {
    let is_tuned = |row: &&Row<'_>| row.tuned.iter().any(|own| own.protocol == Protocol::Tuned);
    let with_tuned = rows.iter().any(is_tuned);
    let mut columns =
        vec![("method".to_owned(), Alignment::Left), ("seeds".to_owned(), Alignment::Right)];
    let mut column = |title: &str| columns.push((title.to_owned(), Alignment::Right));
    for metric in metrics {
        match is_published(dataset, rows, metric) {
            true => {
                column(&format!("{}, paper", metric.title));
                column("as published");
                column("difference");
            }
            false if with_tuned => column(&format!("{}, as published", metric.title)),
            false => column(&metric.title),
        }
        if with_tuned {
            column("tuned");
        }
    }
    let mut table = Table::new(columns);
    for row in rows {
        let mut cells = vec![Cell::code(row.label), Cell::plain(row.seeds_text(with_tuned))];
        for metric in metrics {
            let name = &metric.name;
            let paper = published(dataset, row.label, name);
            let ours = row.summary(name);
            let of_protocol = |own: Option<Summary>, best: Option<f64>| match (own, row.failure) {
                (Some(own), _) => emphasised(&with_deviation(own), best == Some(own.mean)),
                (None, Some(Failure::Memory(_))) => Cell::plain("o.o.m."),
                _ => dash(),
            };
            let is_published = is_published(dataset, rows, metric);
            if is_published {
                let best = best(metric, rows, |row| published(dataset, row.label, name));
                cells
                    .push(paper.map_or_else(dash, |paper| {
                        emphasised(&figure(paper), best == Some(paper))
                    }));
            }
            let best_published = best(metric, rows, |row| Some(row.summary(name)?.mean));
            cells.push(of_protocol(ours, best_published));
            if is_published {
                let both = ours.zip(paper);
                cells.push(both.map_or_else(dash, |(ours, paper)| {
                    Cell::plain(metric.difference(ours.mean, paper))
                }));
            }
            if with_tuned {
                let best_tuned = best(metric, rows, |row| Some(row.tuned_summary(name)?.mean));
                cells.push(of_protocol(row.tuned_summary(name), best_tuned));
            }
        }
        table.push(cells);
    }
    table
}

fn is_published(dataset: &str, rows: &[&Row<'_>], metric: &Metric) -> bool {
    rows.iter().any(|row| published(dataset, row.label, &metric.name).is_some())
}

fn best<'a, 'r>(
    metric: &Metric,
    rows: &'r [&'r Row<'a>],
    value: impl Fn(&Row<'a>) -> Option<f64>,
) -> Option<f64> {
    let values = rows.iter().filter_map(|row| value(row));
    values.reduce(|best, value| if metric.is_better(value, best) { value } else { best })
}

fn emphasised(text: &str, is_best: bool) -> Cell {
    if is_best { Cell::bold(text) } else { Cell::plain(text) }
}

fn dash() -> Cell {
    Cell::plain("–")
}
