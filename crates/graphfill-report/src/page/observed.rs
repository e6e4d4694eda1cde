//! Observed against estimated values on hidden cells: one plot per column.
//!
//! Numbers are points with their intervals and the diagonal, levels are a confusion matrix, blocks
//! of binary attributes are a reliability diagram.

use serde_json::json;

use super::data::{ColumnPage, Confusion, HiddenCell};
use super::format::{self, count, level, number, percent};
use super::plot::{Axis, Data, Mark, Plot, rounded_json};
use super::reliability;
use crate::figure::interval::{AtZero, Interval, Room};
use crate::figure::{Axis as Scaled, Scale};

/// The levels of a confusion matrix; rarer ones are summed up.
const MAX_LEVELS: usize = 8;
const ROOM: Room = Room { margin: 0.04, zero_below: 0.0, at_zero: AtZero::Margin };

/// The plot of a column; none where no cells were hidden. At most `max_cells` cells are shown.
pub(super) fn plot(
    index: usize,
    column: &ColumnPage,
    nominal: Option<f64>,
    max_cells: usize,
) -> Option<Plot> {
    let id = format!("o{index}");
    let cells = thinned(&column.cells, max_cells);
    let mut plot = if !cells.is_empty() {
        cells_plot(column, &cells)
    } else if let Some(confusion) = &column.confusion {
        matrix_plot(column, confusion)?
    } else {
        reliability::plot(id.clone(), column)?
    };
    plot.id = id;
    plot.note = note(column, nominal);
    Some(plot)
}

/// What stands below the name of a column: kind, method, error and coverage.
fn note(column: &ColumnPage, nominal: Option<f64>) -> String {
    let mut note = format!("{} · {}", format::name(&column.kind), format::name(&column.method));
    if let Some(error) = &column.error
        && error.method.is_finite()
    {
        let unit = if column.is_date { " days" } else { "" };
        note += &format!(". {} {}{unit}", format::name(&error.measure), number(error.method));
        if column.confusion.is_some() && error.baseline.is_finite() {
            note += &format!(" (most frequent level: {})", number(error.baseline));
        } else if let Some(gain) = error.gain() {
            note += &format!(", {}", better(gain));
        }
    }
    if let Some(coverage) = nominal.and_then(|nominal| column.coverage_at(nominal)) {
        let kind = if column.cells.is_empty() { "sets" } else { "intervals" };
        note += &format!(
            ". {} {kind} hold {} of {} hidden cells",
            level(coverage.nominal),
            percent(coverage.real),
            count(coverage.cells)
        );
    }
    note + "."
}

/// "43.1% better than the baseline".
pub(super) fn better(gain: f64) -> String {
    match gain {
        0.0 => "as good as the baseline".to_owned(),
        0.0.. => format!("{} better than the baseline", percent(gain)),
        _ => format!("{} worse than the baseline", percent(-gain)),
    }
}

/// Cells whose values are finite, at most `max`, evenly spaced over the sample.
fn thinned(cells: &[HiddenCell], max: usize) -> Vec<HiddenCell> {
    let finite: Vec<HiddenCell> = cells
        .iter()
        .filter(|cell| cell.observed.is_finite() && cell.estimate.is_finite())
        .copied()
        .collect();
    let kept = finite.len().min(max);
    (0..kept).map(|position| finite[position * finite.len() / kept]).collect()
}

fn cells_plot(column: &ColumnPage, cells: &[HiddenCell]) -> Plot {
    let interval = common_interval(cells, column.is_date);
    let range = values(cells).fold((f64::INFINITY, f64::NEG_INFINITY), |range, value| {
        (range.0.min(value), range.1.max(value))
    });
    let json = |value| rounded_json(value, range.1 - range.0);
    let mut data = Data::new(["observed", "estimate", "lower bound", "upper bound"]);
    for cell in cells {
        let (low, high) = cell.interval.unwrap_or((f64::NAN, f64::NAN));
        data.rows.push(vec![json(cell.observed), json(cell.estimate), json(low), json(high)]);
    }
    let mut outside = 0;
    for (row, cell) in cells.iter().enumerate() {
        let observed = data.number(row, 0);
        let missed = observed < data.number(row, 2) || observed > data.number(row, 3);
        outside += usize::from(missed && cell.interval.is_some());
    }
    if column.is_date {
        data.dates = vec![0, 1, 2, 3];
    }
    let unit = match (column.is_date, interval.scale) {
        (true, _) => " (date)",
        (false, Scale::Logarithmic) => " (log scale)",
        (false, Scale::Linear) => "",
    };
    let bounded = cells.iter().filter(|cell| cell.interval.is_some()).count();
    let held = match bounded {
        0 => "They have no intervals.".to_owned(),
        bounded => {
            format!("{} of {} intervals drawn hold the observed value.", bounded - outside, bounded)
        }
    };
    let ends = (interval.value(0.0), interval.value(1.0));
    Plot {
        id: String::new(),
        title: format::name(&column.name),
        note: String::new(),
        description: format!(
            "Estimates against observed values of {} hidden cells, with the diagonal on which they \
             are equal. {held}",
            cells.len()
        ),
        x: Axis::numeric(format!("observed{unit}"), &interval, column.is_date),
        y: Axis::numeric(format!("estimated{unit}"), &interval, column.is_date),
        marks: vec![
            Mark::Line { class: "dg", points: vec![(ends.0, ends.0), (ends.1, ends.1)] },
            Mark::Cells,
        ],
        data,
    }
}

fn values(cells: &[HiddenCell]) -> impl Iterator<Item = f64> + '_ {
    cells.iter().flat_map(|cell| [cell.observed, cell.estimate])
}

/// The range of both axes: all values, and intervals as far as they are not much longer.
fn common_interval(cells: &[HiddenCell], is_date: bool) -> Interval {
    const MAX_BEYOND: f64 = 0.4;
    let mut sorted: Vec<f64> = values(cells).collect();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted[0], sorted[sorted.len() - 1]);
    let median = sorted[sorted.len() / 2];
    // Most values would lie in one corner.
    let skewed = low > 0.0 && high / low > 100.0 && (median - low) < 0.08 * (high - low);
    let bounds = cells.iter().filter_map(|cell| cell.interval).flat_map(|(low, high)| [low, high]);
    if skewed && !is_date {
        let bounds = bounds.map(|bound| bound.clamp(low / 2.0, high * 2.0));
        let all = values(cells).chain(bounds.filter(|bound| bound.is_finite()));
        return Interval::of(&Scaled::logarithmic(""), all, ROOM);
    }
    let beyond = (high - low) * MAX_BEYOND;
    let bounds = bounds
        .filter(|bound| bound.is_finite() && beyond.is_finite())
        .map(|bound| bound.clamp(low - beyond, high + beyond));
    Interval::of(&Scaled::linear(""), values(cells).chain(bounds), ROOM)
}

fn matrix_plot(column: &ColumnPage, confusion: &Confusion) -> Option<Plot> {
    let confusion = without_rare(confusion);
    let size = confusion.levels.len();
    if size == 0 {
        return None;
    }
    let names: Vec<String> = confusion.levels.iter().map(|level| format::name(level)).collect();
    let mut data = Data::new(["observed", "estimated", "cells"]);
    let (mut right, mut total) = (0, 0);
    for (observed, counts) in confusion.counts.iter().enumerate() {
        for (estimated, cells) in counts.iter().enumerate() {
            data.rows.push(vec![json!(names[observed]), json!(names[estimated]), json!(cells)]);
            total += cells;
            right += if observed == estimated { *cells } else { 0 };
        }
    }
    Some(Plot {
        id: String::new(),
        title: format::name(&column.name),
        note: String::new(),
        description: format!(
            "Confusion matrix of {size} levels: {} of {} hidden cells are estimated as the level \
             that was observed.",
            count(right),
            count(total)
        ),
        x: Axis::columns("estimated", &names),
        y: Axis::rows("observed", &names),
        marks: vec![Mark::Matrix],
        data,
    })
}

/// The matrix with the commonest levels, square; the other levels are summed up.
fn without_rare(confusion: &Confusion) -> Confusion {
    let size = confusion.levels.len();
    let cell = |row: usize, column: usize| {
        confusion.counts.get(row).and_then(|row| row.get(column)).copied().unwrap_or(0)
    };
    let mut order: Vec<usize> = (0..size).collect();
    let mut groups = size;
    if size > MAX_LEVELS {
        groups = MAX_LEVELS;
        let total = |row: usize| (0..size).map(|column| cell(row, column)).sum::<usize>();
        order.sort_by_key(|row| (std::cmp::Reverse(total(*row)), *row));
    }
    let group = |position: usize| position.min(groups - 1);
    let mut counts = vec![vec![0; groups]; groups];
    for (row, &observed) in order.iter().enumerate() {
        for (column, &estimated) in order.iter().enumerate() {
            counts[group(row)][group(column)] += cell(observed, estimated);
        }
    }
    let mut levels: Vec<String> =
        order.iter().take(groups).map(|level| confusion.levels[*level].clone()).collect();
    if size > MAX_LEVELS {
        levels[groups - 1] = format!("{} others", size - groups + 1);
    }
    Confusion { levels, counts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_levels_are_summed_up() {
        let levels: Vec<String> = (0..20).map(|level| level.to_string()).collect();
        let counts = (0..20).map(|row| (0..20).map(|column| row + column).collect()).collect();
        let few = without_rare(&Confusion { levels, counts });
        assert_eq!(few.levels.len(), MAX_LEVELS);
        assert_eq!(few.levels[0], "19");
        assert_eq!(few.levels[7], "13 others");
        let total: usize = few.counts.iter().flatten().sum();
        assert_eq!(total, 20 * 20 * 19);
    }

    #[test]
    fn ragged_counts_are_square() {
        let levels = vec!["a".to_owned(), "b".to_owned()];
        let few = without_rare(&Confusion { levels, counts: vec![vec![3]] });
        assert_eq!(few.counts, [[3, 0], [0, 0]]);
    }

    #[test]
    fn cells_that_are_not_finite_are_left_out() {
        let cell = |observed, estimate| HiddenCell { observed, estimate, interval: None };
        let cells = [cell(1.0, f64::NAN), cell(f64::INFINITY, 1.0), cell(1.0, 2.0)];
        assert_eq!(thinned(&cells, 10), [cell(1.0, 2.0)]);
        let many: Vec<HiddenCell> = (0..100).map(|row| cell(f64::from(row), 0.0)).collect();
        assert_eq!(thinned(&many, 4).iter().map(|cell| cell.observed).sum::<f64>(), 150.0);
    }

    #[test]
    fn skewed_values_have_a_logarithmic_axis() {
        let cells: Vec<HiddenCell> = (0..50)
            .map(|power| 1.2f64.powi(power))
            .map(|value| HiddenCell {
                observed: value,
                estimate: value * 1.1,
                interval: Some((-1.0, 2.0 * value)),
            })
            .collect();
        let interval = common_interval(&cells, false);
        assert_eq!(interval.scale, Scale::Logarithmic);
        assert_eq!(common_interval(&cells[..5], false).scale, Scale::Linear);
    }
}
