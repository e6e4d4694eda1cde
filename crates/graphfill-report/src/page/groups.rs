//! Error and coverage of groups of hidden cells: by hops to the nearest observed cell, by degree.

use serde_json::json;

use super::calibration::share_with_range;
use super::card::PlotData;
use super::data::{FillPage, GroupError};
use super::document::paragraph;
use super::format::{self, count, level};
use super::plot::{Axis, Data, Mark, Plot, rounded_json};
use crate::figure::interval::{AtZero, Interval, Room};
use crate::figure::{Axis as Scaled, Scale};

const ROOM: Room = Room { margin: 0.05, zero_below: 1.0, at_zero: AtZero::Touches };

/// The section's HTML; nothing where no groups were measured.
pub(super) fn section(page: &FillPage, plots: &mut PlotData) -> String {
    let mut cards = Vec::new();
    for (id, name, groups) in [
        ("hops", "hops to the nearest observed cell", &page.by_hops),
        ("degree", "degree", &page.by_degree),
    ] {
        cards.extend(error(id, name, groups));
        cards.extend(coverage(id, name, groups, page.nominal()));
    }
    if cards.is_empty() {
        return String::new();
    }
    let text = "Hidden cells of all numeric columns, grouped. Errors are root mean squared errors in \
                standard deviations of the column: 1 is about the error of the column mean. Estimates far \
                from observed cells and of nodes with few neighbours deserve less trust where their \
                bars are longer.";
    paragraph(text) + &plots.cards(&cards)
}

fn labels(groups: &[GroupError]) -> Vec<String> {
    groups.iter().map(|group| format::name(&group.label)).collect()
}

fn error(id: &str, name: &str, groups: &[GroupError]) -> Option<Plot> {
    let highest = groups.iter().map(|group| group.error).filter(|error| error.is_finite());
    let highest = highest.fold(f64::NAN, f64::max);
    if highest.is_nan() {
        return None;
    }
    let mut data = Data::new(["group", "hidden cells", "error (standard deviations)"]);
    for group in groups {
        data.rows.push(vec![
            json!(format::name(&group.label)),
            json!(group.cells),
            rounded_json(group.error, 1.0),
        ]);
    }
    // The line at one, the error of the column mean, is always on the plot.
    let range = Interval::of(&Scaled::linear(""), [0.0, 1.0, highest], ROOM);
    let rows = groups.len() as f64;
    Some(Plot {
        id: format!("error-{id}"),
        title: format!("Error by {name}"),
        note: cells(groups),
        description: words(groups, |group| format::number(group.error)),
        x: Axis::numeric("error (standard deviations)", &range, false),
        y: Axis::rows("", &labels(groups)),
        marks: vec![
            Mark::Bars { class: "ob", x: 2, slot: 0, slots: 1 },
            Mark::Line { class: "rf", points: vec![(1.0, 0.0), (1.0, rows)] },
        ],
        data,
    })
}

fn coverage(id: &str, name: &str, groups: &[GroupError], nominal: Option<f64>) -> Option<Plot> {
    let nominal = nominal?;
    if groups.iter().all(|group| group.coverage.is_none_or(f64::is_nan)) {
        return None;
    }
    let header =
        ["group", "hidden cells", "real coverage (%)", "lower bound (%)", "upper bound (%)"];
    let mut data = Data::new(header);
    for group in groups {
        let mut row = vec![json!(format::name(&group.label)), json!(group.cells)];
        row.extend(share_with_range(group.coverage.unwrap_or(f64::NAN), group.cells));
        data.rows.push(row);
    }
    let target = nominal * 100.0;
    let lowest = (0..groups.len()).map(|row| data.number(row, 3)).fold(target, f64::min);
    let range = Interval { low: (lowest / 10.0).floor() * 10.0, high: 100.0, scale: Scale::Linear };
    let rows = groups.len() as f64;
    Some(Plot {
        id: format!("coverage-{id}"),
        title: format!("Coverage by {name}"),
        note: format!("Nominal coverage {}; lines are the range of chance (95%).", level(nominal)),
        description: words(groups, |group| format::percent(group.coverage.unwrap_or(f64::NAN))),
        x: Axis::numeric("real coverage (%)", &range, false),
        y: Axis::rows("", &labels(groups)),
        marks: vec![
            Mark::Line { class: "rf", points: vec![(target, 0.0), (target, rows)] },
            Mark::Ranges { class: "dt big", x: 2, bounds: Some((3, 4)) },
        ],
        data,
    })
}

fn cells(groups: &[GroupError]) -> String {
    let total: usize = groups.iter().map(|group| group.cells).sum();
    format!("{} hidden cells; the line is about the error of the column mean.", count(total))
}

fn words(groups: &[GroupError], value: impl Fn(&GroupError) -> String) -> String {
    let words: Vec<String> = groups
        .iter()
        .map(|group| {
            format!(
                "{}: {} ({} cells)",
                format::name(&group.label),
                value(group),
                count(group.cells)
            )
        })
        .collect();
    words.join("; ") + "."
}
