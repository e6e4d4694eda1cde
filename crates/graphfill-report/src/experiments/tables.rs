//! Tables 2, 3 and 4: a table a data set and group of metrics, a row a method.

use graphfill_eval::experiments::published::published;
use graphfill_eval::experiments::{Experiment, Failure};

use super::numbers::{Metric, figure, with_deviation};
use super::remarks;
use super::results::{Results, Row};
use crate::markdown::{Alignment, Cell, Table};

/// The tables of all data sets, and a sentence on every large difference.
pub(super) fn body(experiment: Experiment, results: &Results<'_>) -> String {
    let mut text = String::new();
    for dataset in results.datasets() {
        text.push_str(&format!("### {dataset}\n\n"));
        let rows: Vec<&Row<'_>> = results.of_dataset(dataset).collect();
        for metrics in groups(experiment, dataset, &rows) {
            text.push_str(&table(dataset, &rows, &metrics).to_string());
            text.push('\n');
        }
        let all: Vec<Metric> = groups(experiment, dataset, &rows).into_iter().flatten().collect();
        let remarks: Vec<String> =
            rows.iter().filter_map(|row| remarks::sentence(experiment, row, &all)).collect();
        if !remarks.is_empty() {
            text.push_str("Differences above 5%:\n\n");
            text.push_str(&remarks.join("\n"));
            text.push_str("\n\n");
        }
    }
    text
}

/// The metrics that stand in one table.
fn groups(experiment: Experiment, dataset: &str, rows: &[&Row<'_>]) -> Vec<Vec<Metric>> {
    let depths = if dataset.starts_with("steam") { [3, 5, 10] } else { [10, 20, 50] };
    match experiment {
        Experiment::Table4 => ["mlp", "gcn"]
            .map(|classifier| {
                let title = classifier.to_uppercase();
                let best = format!("{classifier}_best_epoch");
                let inner = format!("{classifier}_inner_validation");
                vec![
                    Metric::new(best, format!("{title}, best epoch")),
                    Metric::new(inner, format!("{title}, inner validation")),
                ]
            })
            .into(),
        Experiment::Table3 => vec![vec![Metric::new("rmse", "RMSE"), Metric::new("r2", "R²")]],
        _ => {
            let ranks = [("recall", "R"), ("ndcg", "nDCG")].map(|(name, title)| {
                let metric = |depth: &u32| {
                    Metric::new(format!("{name}@{depth}"), format!("{title}@{depth}"))
                };
                depths.iter().map(metric).collect::<Vec<Metric>>()
            });
            let is_ranked = rows.iter().any(|row| row.summary(&ranks[0][0].name).is_some());
            match is_ranked {
                true => ranks.into(),
                // A table that is no block of zeros and ones has no ranks.
                false => groups(Experiment::Table3, dataset, rows),
            }
        }
    }
}

/// Method, seeds, and the paper's figure, ours and the difference for every metric; where the paper
/// has none at all for a metric, ours alone.
fn table(dataset: &str, rows: &[&Row<'_>], metrics: &[Metric]) -> Table {
    let mut columns =
        vec![("method".to_owned(), Alignment::Left), ("seeds".to_owned(), Alignment::Right)];
    for metric in metrics {
        if is_published(dataset, rows, metric) {
            columns.push((format!("{}, paper", metric.title), Alignment::Right));
            columns.push(("ours".to_owned(), Alignment::Right));
            columns.push(("difference".to_owned(), Alignment::Right));
        } else {
            columns.push((metric.title.clone(), Alignment::Right));
        }
    }
    let mut table = Table::new(columns);
    for row in rows {
        let mut cells = vec![Cell::code(row.method), Cell::plain(row.seeds().to_string())];
        for metric in metrics {
            let paper = published(dataset, row.method, &metric.name);
            let ours = row.summary(&metric.name);
            if is_published(dataset, rows, metric) {
                cells.push(paper.map_or_else(dash, |paper| {
                    let best =
                        best(metric, rows, |row| published(dataset, row.method, &metric.name));
                    emphasised(&figure(paper), best == Some(paper))
                }));
            }
            cells.push(match (ours, row.failure) {
                (Some(ours), _) => {
                    let best = best(metric, rows, |row| Some(row.summary(&metric.name)?.mean));
                    emphasised(&with_deviation(ours), best == Some(ours.mean))
                }
                (None, Some(Failure::Memory(_))) => Cell::plain("o.o.m."),
                _ => dash(),
            });
            if is_published(dataset, rows, metric) {
                let both = ours.zip(paper);
                cells.push(both.map_or_else(dash, |(ours, paper)| {
                    Cell::plain(metric.difference(ours.mean, paper))
                }));
            }
        }
        table.push(cells);
    }
    table
}

fn is_published(dataset: &str, rows: &[&Row<'_>], metric: &Metric) -> bool {
    rows.iter().any(|row| published(dataset, row.method, &metric.name).is_some())
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
