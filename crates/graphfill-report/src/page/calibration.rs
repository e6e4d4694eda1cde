//! Calibration: nominal against real coverage of intervals and sets, over all columns and per column.

use serde_json::json;

use super::card::{COLUMNS, PlotData};
use super::data::{ColumnPage, Coverage, FillPage};
use super::document::paragraph;
use super::format::{self, level};
use super::plot::{Axis, Data, Mark, Plot, short_json};
use super::reliability::{self, hundredths};
use super::table::{Cell, Table};
use crate::figure::interval::{AtZero, Interval, Room};
use crate::figure::{Axis as Scaled, Scale};

/// With more columns than this, one dot per column replaces one row per column.
const MAX_ROWS: usize = 16;
/// The standard normal quantile of a two-sided 95% range.
const NORMAL_95: f64 = 1.959_963_984_540_054;
const ROOM: Room = Room { margin: 0.05, zero_below: 0.0, at_zero: AtZero::Margin };

/// The section's HTML.
pub(super) fn section(page: &FillPage, order: &[usize], plots: &mut PlotData) -> String {
    let measured: Vec<&ColumnPage> = order
        .iter()
        .map(|index| &page.columns[*index])
        .filter(|column| !column.coverage.is_empty())
        .collect();
    let mut html = String::new();
    let pooled = pooled(&measured);
    match page.nominal() {
        Some(nominal) if !pooled.is_empty() => {
            html += &paragraph(
                "Intervals are calibrated on observed cells that were hidden from the method. Of the \
                 intervals with a nominal coverage of 90%, about 90% should hold the observed value. \
                 Lines around the dots of columns show the range of chance (95%) that the number of \
                 hidden cells leaves.",
            );
            let mut cards = vec![overall(&pooled, measured.len())];
            cards.extend(per_column(&measured, nominal));
            html += &plots.cards(&cards);
            html += &table(&measured, &pooled);
        }
        _ if page.columns.is_empty() => {}
        _ => {
            html += "<p class=\"none\"><strong>Not calibrated:</strong> run with intervals to learn \
                     how far the estimates may be off. The page then shows nominal against real \
                     coverage here.</p>\n";
        }
    }
    let diagrams: Vec<Plot> = order
        .iter()
        .filter_map(|index| reliability::plot(format!("r{index}"), &page.columns[*index]))
        .collect();
    if !diagrams.is_empty() {
        html += "<h3 class=\"sub\">Reliability of probabilities</h3>\n";
        html += &paragraph(
            "Of the cells that were estimated with a probability of 70%, about 70% should be right. \
             Below the diagonal, estimates are too confident.",
        );
        html += &plots.grid("r", COLUMNS, &diagrams);
    }
    html
}

/// Coverage over all columns, by nominal level.
pub(super) fn pooled(columns: &[&ColumnPage]) -> Vec<Coverage> {
    let mut levels: Vec<Coverage> = Vec::new();
    for coverage in columns.iter().flat_map(|column| &column.coverage) {
        let is_share = |value: f64| (0.0..=1.0).contains(&value);
        if !is_share(coverage.nominal) || !is_share(coverage.real) || coverage.cells == 0 {
            continue;
        }
        let same = |known: &&mut Coverage| (known.nominal - coverage.nominal).abs() < 1e-9;
        match levels.iter_mut().find(same) {
            Some(known) => {
                known.real += coverage.real * coverage.cells as f64;
                known.cells += coverage.cells;
            }
            None => {
                levels.push(Coverage { real: coverage.real * coverage.cells as f64, ..*coverage });
            }
        }
    }
    for known in &mut levels {
        known.real /= known.cells as f64;
    }
    levels.sort_by(|a, b| a.nominal.total_cmp(&b.nominal));
    levels
}

/// The range (95%) in which the real share of a proportion lies, by Wilson's score.
pub(super) fn wilson(share: f64, cells: usize) -> (f64, f64) {
    if cells == 0 || !(0.0..=1.0).contains(&share) {
        return (f64::NAN, f64::NAN);
    }
    let n = cells as f64;
    let square = NORMAL_95 * NORMAL_95;
    let middle = (share + square / (2.0 * n)) / (1.0 + square / n);
    let half = NORMAL_95 / (1.0 + square / n)
        * (share * (1.0 - share) / n + square / (4.0 * n * n)).max(0.0).sqrt();
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

fn overall(pooled: &[Coverage], columns: usize) -> Plot {
    let mut data = Data::new(["nominal coverage (%)", "real coverage (%)", "hidden cells"]);
    for Coverage { nominal, real, cells } in pooled {
        data.rows.push(vec![hundredths(*nominal), hundredths(*real), json!(cells)]);
    }
    let points: Vec<(f64, f64)> =
        (0..pooled.len()).map(|row| (data.number(row, 0), data.number(row, 1))).collect();
    let lowest = points.iter().map(|(x, y)| x.min(*y)).fold(100.0, f64::min);
    let low = if lowest >= 55.0 { 50.0 } else { 0.0 };
    let range = Interval { low, high: 100.0, scale: Scale::Linear };
    let words: Vec<String> = pooled
        .iter()
        .map(|Coverage { nominal, real, .. }| {
            format!("nominal {}: {}", level(*nominal), format::percent(*real))
        })
        .collect();
    Plot {
        id: "coverage".to_owned(),
        title: "Over all columns".to_owned(),
        note: format!("{}, {}.", format::counted(columns, "column"), words.join(", ")),
        description: format!("Real against nominal coverage. {}.", words.join(", ")),
        x: Axis::numeric("nominal coverage (%)", &range, false),
        y: Axis::numeric("real coverage (%)", &range, false),
        marks: vec![
            Mark::Line { class: "dg", points: vec![(low, low), (100.0, 100.0)] },
            Mark::Line { class: "ln", points },
            Mark::Dots { class: "dt big", x: 0, y: 1 },
        ],
        data,
    }
}

fn per_column(measured: &[&ColumnPage], nominal: f64) -> Option<Plot> {
    let mut rows: Vec<(&str, Coverage)> = measured
        .iter()
        .filter_map(|column| Some((column.name.as_str(), *column.coverage_at(nominal)?)))
        .filter(|(_, coverage)| (0.0..=1.0).contains(&coverage.real) && coverage.cells > 0)
        .collect();
    if rows.is_empty() {
        return None;
    }
    rows.sort_by(|a, b| a.1.real.total_cmp(&b.1.real).then(a.0.cmp(b.0)));
    let names =
        ["column", "hidden cells", "real coverage (%)", "lower bound (%)", "upper bound (%)"];
    let mut data = Data::new(names);
    let mut unlikely = 0;
    for (name, Coverage { real, cells, .. }) in &rows {
        let (low, high) = wilson(*real, *cells);
        unlikely += usize::from(nominal < low || nominal > high);
        data.rows.push(vec![
            json!(format::name(name)),
            json!(cells),
            hundredths(*real),
            hundredths(low),
            hundredths(high),
        ]);
    }
    let note = format!(
        "Nominal coverage {}. The range of chance excludes it in {} of {}; chance alone would in about \
         5% of columns.",
        level(nominal),
        unlikely,
        format::counted(rows.len(), "column")
    );
    let target = nominal * 100.0;
    let (x, y, marks) = if rows.len() <= MAX_ROWS {
        let values = data.rows.iter().enumerate();
        let low = values.map(|(row, _)| data.number(row, 3)).fold(target, f64::min);
        let range =
            Interval { low: (low / 10.0).floor() * 10.0, high: 100.0, scale: Scale::Linear };
        let names: Vec<String> = rows.iter().map(|(name, _)| (*name).to_owned()).collect();
        let line = vec![(target, 0.0), (target, rows.len() as f64)];
        (
            Axis::numeric("real coverage (%)", &range, false),
            Axis::rows("", &names),
            vec![
                Mark::Line { class: "rf", points: line },
                Mark::Ranges { class: "dt big", x: 2, bounds: Some((3, 4)) },
            ],
        )
    } else {
        funnel(&data, nominal)
    };
    Some(Plot {
        id: "coverage-columns".to_owned(),
        title: format!("Per column, at {}", level(nominal)),
        description: format!("Real coverage of {} columns. {note}", rows.len()),
        note,
        x,
        y,
        marks,
        data,
    })
}

/// Real coverage against the number of hidden cells, with the range of chance.
fn funnel(data: &Data, nominal: f64) -> (Axis, Axis, Vec<Mark>) {
    const STEPS: usize = 24;
    let cells = || (0..data.rows.len()).map(|row| data.number(row, 1));
    let (low, high) = cells()
        .fold((f64::INFINITY, 0f64), |range, cells| (range.0.min(cells), range.1.max(cells)));
    let scaled = if high > 20.0 * low { Scaled::logarithmic("") } else { Scaled::linear("") };
    let across = Interval::of(&scaled, cells(), ROOM);
    let chance = |sign: f64| -> Vec<(f64, f64)> {
        (0..=STEPS)
            .map(|step| across.value(step as f64 / STEPS as f64).max(1.0))
            .map(|cells| {
                let half = NORMAL_95 * (nominal * (1.0 - nominal) / cells).sqrt();
                (cells, ((nominal + sign * half) * 100.0).clamp(0.0, 100.0))
            })
            .map(|(x, y)| ((x * 100.0).round() / 100.0, (y * 100.0).round() / 100.0))
            .collect()
    };
    let reals = (0..data.rows.len()).map(|row| data.number(row, 2));
    let lowest = reals.fold(nominal * 100.0, f64::min);
    let up = Interval {
        low: ((lowest - 2.0) / 10.0).floor().max(0.0) * 10.0,
        high: 100.0,
        scale: Scale::Linear,
    };
    let target = nominal * 100.0;
    let ends = (across.value(0.0), across.value(1.0));
    let marks = vec![
        Mark::Line { class: "rf", points: vec![(ends.0, target), (ends.1, target)] },
        Mark::Line { class: "dg", points: chance(-1.0) },
        Mark::Line { class: "dg", points: chance(1.0) },
        Mark::Dots { class: "dt", x: 1, y: 2 },
    ];
    (
        Axis::numeric("hidden cells", &across, false),
        Axis::numeric("real coverage (%)", &up, false),
        marks,
    )
}

fn table(measured: &[&ColumnPage], pooled: &[Coverage]) -> String {
    let mut table = Table::new("Real coverage per column", ["Column", "Hidden cells"]);
    table.header.extend(pooled.iter().map(|coverage| level(coverage.nominal)));
    for column in measured {
        let mut row = vec![Cell::name(&column.name), Cell::count(column.hidden)];
        row.extend(pooled.iter().map(|coverage| {
            Cell::percent(column.coverage_at(coverage.nominal).map_or(f64::NAN, |own| own.real))
        }));
        table.rows.push(row);
    }
    let mut overall = vec![
        Cell::Text("all columns".to_owned()),
        Cell::count(pooled.iter().map(|coverage| coverage.cells).max().unwrap_or(0)),
    ];
    overall.extend(pooled.iter().map(|coverage| Cell::percent(coverage.real)));
    if measured.len() > 1 {
        table.rows.push(overall);
    }
    table.to_details()
}

/// A share with its range of chance, in percent, as JSON.
pub(super) fn share_with_range(share: f64, cells: usize) -> [serde_json::Value; 3] {
    let (low, high) = wilson(share, cells);
    [share, low, high].map(|value| short_json((value * 1e4).round() / 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pooled_coverage_weighs_cells() {
        let column = |real, cells| ColumnPage {
            coverage: vec![Coverage { nominal: 0.9, real, cells }],
            ..ColumnPage::default()
        };
        let columns = [column(1.0, 100), column(0.6, 300), column(f64::NAN, 50)];
        let pooled = pooled(&columns.iter().collect::<Vec<_>>());
        assert_eq!((pooled.len(), pooled[0].cells), (1, 400));
        assert!((pooled[0].real - 0.7).abs() < 1e-12);
    }

    #[test]
    fn wilson_ranges() {
        let (low, high) = wilson(0.9, 100);
        assert!((low - 0.825_6).abs() < 1e-3 && (high - 0.944_8).abs() < 1e-3, "{low} {high}");
        assert!((wilson(1.0, 10).1 - 1.0).abs() < 1e-12);
        assert!(wilson(0.5, 0).0.is_nan());
    }
}
