//! Reliability diagrams: how often estimates of some probability were right.

use super::data::ColumnPage;
use super::format::{self, count};
use super::plot::{Axis, Data, Mark, Plot, short_json};
use crate::figure::Scale;
use crate::figure::interval::Interval;

/// An axis of percentages from 0 to 100.
pub(super) const PERCENT: Interval = Interval { low: 0.0, high: 100.0, scale: Scale::Linear };

/// The diagram of a column; none where it has no probabilities.
pub(super) fn plot(id: String, column: &ColumnPage) -> Option<Plot> {
    let is_share = |value: f64| (0.0..=1.0).contains(&value);
    let bins = column.reliability.iter();
    let mut bins: Vec<_> =
        bins.filter(|bin| is_share(bin.probability) && is_share(bin.share)).collect();
    if bins.is_empty() {
        return None;
    }
    bins.sort_by(|a, b| a.probability.total_cmp(&b.probability));
    let cells: usize = bins.iter().map(|bin| bin.cells).sum();
    let gap: f64 = bins
        .iter()
        .map(|bin| (bin.probability - bin.share).abs() * bin.cells as f64 / cells.max(1) as f64)
        .sum();
    let mut data = Data::new(["estimated probability (%)", "right (%)", "cells"]);
    for bin in &bins {
        data.rows.push(vec![hundredths(bin.probability), hundredths(bin.share), bin.cells.into()]);
    }
    let points = (0..bins.len()).map(|row| (data.number(row, 0), data.number(row, 1))).collect();
    Some(Plot {
        id,
        title: format::name(&column.name),
        note: format!(
            "{} hidden cells. Mean distance from the diagonal: {:.1} percentage points.",
            count(cells),
            gap * 100.0
        ),
        description: format!(
            "Share of right estimates against their estimated probability in {} bins, with the \
             diagonal on which they are equal.",
            bins.len()
        ),
        x: Axis::numeric("estimated probability (%)", &PERCENT, false),
        y: Axis::numeric("estimates that were right (%)", &PERCENT, false),
        marks: vec![
            Mark::Line { class: "dg", points: vec![(0.0, 0.0), (100.0, 100.0)] },
            Mark::Line { class: "ln", points },
            Mark::Dots { class: "dt big", x: 0, y: 1 },
        ],
        data,
    })
}

/// A share in percent, to a hundredth.
pub(super) fn hundredths(share: f64) -> serde_json::Value {
    short_json((share * 1e4).round() / 100.0)
}
