//! Times against the number of edges, with the line through them.

use super::results::{Results, Row};
use crate::figure::{Axis, Drawn, Figure, Panel, Series};
use crate::fit::Line;
use crate::markdown::{Alignment, Cell, Table};

/// What is timed, and what it is called.
const TIMES: [(&str, &str); 2] = [("inference_ms", "inference"), ("update_ms", "update")];

/// One table of lines, and two panels.
pub(super) fn body(results: &Results<'_>) -> (String, Option<String>) {
    let columns = [
        ("data set", Alignment::Left),
        ("time of", Alignment::Left),
        ("edges", Alignment::Right),
        ("ms at the least", Alignment::Right),
        ("ms at the most", Alignment::Right),
        ("ms for 100,000 edges more", Alignment::Right),
        ("R² of the line", Alignment::Right),
    ];
    let mut table = Table::new(columns);
    for row in &results.rows {
        for (name, title) in TIMES {
            let points = points(row, name);
            let (Some(first), Some(last)) = (points.first(), points.last()) else { continue };
            let line = Line::least_squares(&points);
            let of_line = |text: &dyn Fn(Line) -> String| {
                line.map_or_else(|| Cell::plain("–"), |line| Cell::plain(text(line)))
            };
            table.push([
                Cell::code(row.dataset),
                Cell::plain(title),
                Cell::plain(format!("{:.0} to {:.0}", first.0, last.0)),
                Cell::plain(format!("{:.2}", first.1)),
                Cell::plain(format!("{:.2}", last.1)),
                of_line(&|line| format!("{:.2}", line.slope * 1e5)),
                of_line(&|line| format!("{:.4}", line.r_squared)),
            ]);
        }
    }
    let panel = |(at, (name, title)): (usize, (&str, &str))| Panel {
        title: format!("({}) {title}", (b'a' + at as u8) as char),
        x: Axis::linear("edges"),
        y: Axis::linear("time (ms)"),
        series: results
            .rows
            .iter()
            .map(|row| Series::new(row.dataset, Drawn::Markers, points(row, name)).fitted())
            .collect(),
    };
    let panels = TIMES.into_iter().enumerate().map(panel);
    let figure = Figure::new("Times of SVGA against the number of edges", panels);
    (table.to_string(), Some(figure.to_svg()))
}

fn points(row: &Row<'_>, name: &str) -> Vec<(f64, f64)> {
    let Some(outcome) = row.outcomes.first() else { return Vec::new() };
    match (outcome.series.get("edges"), outcome.series.get(name)) {
        (Some(edges), Some(times)) => edges.iter().copied().zip(times.iter().copied()).collect(),
        _ => Vec::new(),
    }
}
