//! Scores against the share of observed labels.

use super::numbers::with_deviation;
use super::results::{Results, Row, Summary};
use crate::figure::{Axis, Drawn, Figure, Panel, Point, Series};
use crate::markdown::{Alignment, Cell, Table};

/// A table and a panel for every data set.
pub(super) fn body(results: &Results<'_>) -> (String, Option<String>) {
    let (mut text, mut panels) = (String::new(), Vec::new());
    for (at, dataset) in results.datasets().into_iter().enumerate() {
        let Some(metric) = results.first_metric(dataset) else { continue };
        let rows: Vec<&Row<'_>> = results.of_dataset(dataset).collect();
        text.push_str(&format!("### {dataset}\n\n{}\n", table(&rows, &metric)));
        panels.push(Panel {
            title: format!("({}) {dataset}", (b'a' + at as u8) as char),
            x: Axis::linear("share of nodes with an observed label"),
            y: Axis::linear(title(&metric)),
            series: rows.iter().filter_map(|row| series(row, &metric)).collect(),
        });
    }
    let figure = Figure::new("Scores against the share of observed labels", panels);
    (text, Some(figure.to_svg()))
}

/// A share and its score over the seeds, by share.
fn by_share(row: &Row<'_>, metric: &str) -> Vec<(f64, usize, Summary)> {
    let mut shares: Vec<f64> = row.outcomes.iter().map(|outcome| outcome.labels).collect();
    shares.sort_by(f64::total_cmp);
    shares.dedup();
    let summary = |&share: &f64| {
        let own = row.outcomes.iter().filter(|outcome| outcome.labels == share);
        let values: Vec<f64> =
            own.filter_map(|outcome| outcome.metrics.get(metric).copied()).collect();
        Some((share, values.len(), Summary::of(&values)?))
    };
    shares.iter().filter_map(summary).collect()
}

fn series(row: &Row<'_>, metric: &str) -> Option<Series> {
    let by_share = by_share(row, metric);
    // A method that learns from no labels is a line to beat.
    if let [(_, _, only)] = by_share[..] {
        return Some(Series::rule(row.label, only.mean, only.deviation));
    }
    let points = by_share.iter().map(|(share, _, summary)| Point {
        x: *share,
        y: summary.mean,
        spread: summary.deviation,
    });
    (!by_share.is_empty()).then(|| Series::new(row.label, Drawn::LineWithMarkers, points))
}

fn table(rows: &[&Row<'_>], metric: &str) -> Table {
    let columns = [
        ("method", Alignment::Left),
        ("labels", Alignment::Right),
        ("seeds", Alignment::Right),
        (&title(metric), Alignment::Right),
    ];
    let mut table = Table::new(columns);
    for row in rows {
        let by_share = by_share(row, metric);
        let best = by_share.iter().map(|(_, _, summary)| summary.mean).fold(f64::MIN, f64::max);
        for (share, seeds, summary) in by_share {
            let text = with_deviation(summary);
            table.push([
                Cell::code(row.label),
                Cell::plain(format!("{:.0}%", share * 100.0)),
                Cell::plain(seeds.to_string()),
                if summary.mean == best { Cell::bold(text) } else { Cell::plain(text) },
            ]);
        }
    }
    table
}

/// "Recall@10" for "recall@10", "RMSE" for "rmse".
pub(super) fn title(metric: &str) -> String {
    metric.replace("recall", "Recall").replace("rmse", "RMSE")
}
