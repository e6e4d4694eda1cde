//! Curves of SVGA and of what is left without its parts.

use super::About;
use super::labels::title;
use super::numbers::with_deviation;
use super::results::{Results, Row, Summary};
use crate::figure::{Axis, Drawn, Figure, Panel, Point, Series};
use crate::markdown::{Alignment, Cell, Table};

/// The curves, and what they are called.
const CURVES: [(&str, &str); 2] = [("training", "training nodes"), ("test", "test nodes")];

/// A table and two panels for every data set.
pub(super) fn body(results: &Results<'_>, about: &About<'_>) -> (String, Option<String>) {
    let (mut text, mut panels) = (String::new(), Vec::new());
    let datasets = results.datasets();
    for dataset in &datasets {
        let rows: Vec<&Row<'_>> = results.of_dataset(dataset).collect();
        let place = about.datasets.iter().position(|name| name == dataset);
        let measure =
            place.and_then(|place| about.measures.get(place)).map_or("score", |name| name);
        text.push_str(&format!(
            "### {dataset}\n\n{} of nodes:\n\n{}\n",
            title(measure),
            table(&rows)
        ));
        for (name, nodes) in CURVES {
            let letter = (b'a' + panels.len() as u8) as char;
            let series =
                rows.iter().map(|row| Series::new(row.label, Drawn::Line, points(row, name)));
            panels.push(Panel {
                title: format!("({letter}) {dataset}, {nodes}"),
                x: Axis::linear("updates"),
                y: Axis::linear(title(measure)),
                series: series.collect(),
            });
        }
    }
    let mut figure = Figure::new("Training and test curves of SVGA and its variants", panels);
    figure.panels_per_row = Some(2);
    (text, Some(figure.to_svg()))
}

/// The mean over seeds after each number of updates that all of them had.
fn points(row: &Row<'_>, name: &str) -> Vec<Point> {
    let curves: Vec<(&Vec<f64>, &Vec<f64>)> = row
        .outcomes
        .iter()
        .filter_map(|outcome| Some((outcome.series.get("update")?, outcome.series.get(name)?)))
        .collect();
    let Some((updates, _)) = curves.iter().min_by_key(|(updates, _)| updates.len()) else {
        return Vec::new();
    };
    let point = |(at, &x): (usize, &f64)| {
        let values: Vec<f64> =
            curves.iter().filter_map(|(_, values)| values.get(at).copied()).collect();
        let Summary { mean, deviation } = Summary::of(&values)?;
        Some(Point { x, y: mean, spread: deviation })
    };
    updates.iter().enumerate().filter_map(point).collect()
}

fn table(rows: &[&Row<'_>]) -> Table {
    let columns = [
        ("method", Alignment::Left),
        ("seeds", Alignment::Right),
        ("updates", Alignment::Right),
        ("training nodes, at the end", Alignment::Right),
        ("test nodes, at the end", Alignment::Right),
        ("test nodes, best of the mean curve", Alignment::Right),
    ];
    let mut table = Table::new(columns);
    let best_of = |row: &Row<'_>| {
        points(row, "test").iter().map(|point| point.y).fold(f64::NEG_INFINITY, f64::max)
    };
    let end_of = |row: &Row<'_>, name: &str| {
        points(row, name).last().map_or(f64::NEG_INFINITY, |point| point.y)
    };
    let most = |value: &dyn Fn(&Row<'_>) -> f64| {
        rows.iter().map(|row| value(row)).fold(f64::NEG_INFINITY, f64::max)
    };
    let emphasised =
        |text: String, is_best: bool| if is_best { Cell::bold(text) } else { Cell::plain(text) };
    for row in rows {
        let last = |name: &str| {
            let points = points(row, name);
            let Some(point) = points.last() else { return Cell::plain("–") };
            let text = with_deviation(Summary { mean: point.y, deviation: point.spread });
            emphasised(text, point.y == most(&|row| end_of(row, name)))
        };
        let updates = points(row, "test").last().map_or(0.0, |point| point.x);
        let best = best_of(row);
        table.push([
            Cell::code(row.label),
            Cell::plain(row.seeds().to_string()),
            Cell::plain(format!("{updates:.0}")),
            last("training"),
            last("test"),
            emphasised(format!("{best:.4}"), best == most(&best_of)),
        ]);
    }
    table
}
