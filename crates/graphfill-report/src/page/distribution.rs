//! How observed and estimated values are distributed: histograms of numbers, frequencies of levels.

use serde_json::json;

use super::data::{ColumnPage, Distribution};
use super::format::{self, count};
use super::plot::{Axis, Data, Mark, Plot, rounded_json};
use super::reliability::hundredths;
use crate::figure::Axis as Scaled;
use crate::figure::Scale;
use crate::figure::interval::{AtZero, Interval, Room};

/// The bins of a histogram; finer ones are merged.
const MAX_BINS: usize = 32;
/// The levels of a plot; rarer ones are summed up.
const MAX_LEVELS: usize = 10;
const ROOM: Room = Room { margin: 0.04, zero_below: 1.0, at_zero: AtZero::Touches };

/// The plot of a column; none where its distribution is not known.
pub(super) fn plot(index: usize, column: &ColumnPage) -> Option<Plot> {
    let mut plot = match column.distribution.as_ref()? {
        Distribution::Histogram { edges, observed, estimated } => {
            histogram(column, edges, observed, estimated)?
        }
        Distribution::Levels(levels) => frequencies(levels)?,
    };
    plot.id = format!("d{index}");
    plot.title = format::name(&column.name);
    plot.note =
        format!("{} observed, {} estimated.", count(column.observed), count(column.missing));
    Some(plot)
}

fn histogram(
    column: &ColumnPage,
    edges: &[f64],
    observed: &[usize],
    estimated: &[usize],
) -> Option<Plot> {
    let bins = observed.len().min(estimated.len()).min(edges.len().saturating_sub(1));
    if bins == 0 || !edges.iter().all(|edge| edge.is_finite()) {
        return None;
    }
    let merged = bins.div_ceil(MAX_BINS);
    let totals = (sum(&observed[..bins]), sum(&estimated[..bins]));
    let range = edges[bins] - edges[0];
    let scales = (100.0 / totals.0.max(1) as f64, 100.0 / totals.1.max(1) as f64);
    let mut data = Data::new(["from", "to", "observed", "estimated"]);
    let mut highest = 0f64;
    for start in (0..bins).step_by(merged) {
        let end = (start + merged).min(bins);
        let counts = (sum(&observed[start..end]), sum(&estimated[start..end]));
        highest = highest.max(counts.0 as f64 * scales.0).max(counts.1 as f64 * scales.1);
        let (from, to) = (edges[start], edges[end]);
        data.rows.push(vec![
            rounded_json(from, range),
            rounded_json(to, range),
            json!(counts.0),
            json!(counts.1),
        ]);
    }
    if column.is_date {
        data.dates = vec![0, 1];
    }
    let last = data.rows.len() - 1;
    let (low, high) = (data.number(0, 0), data.number(last, 1));
    let across = Interval::of(&Scaled::linear("").within(low, high), [low, high], ROOM);
    let up = Interval::of(&Scaled::linear(""), [0.0, highest], ROOM);
    let unit = if column.is_date { "date" } else { "value" };
    Some(Plot {
        id: String::new(),
        title: String::new(),
        note: String::new(),
        description: format!(
            "Histograms of {} observed and {} estimated values, in percent of each.",
            count(totals.0),
            count(totals.1)
        ),
        x: Axis::numeric(unit, &across, column.is_date),
        y: Axis::numeric("share per bin (%)", &up, false),
        marks: vec![
            Mark::Steps { class: "ob", y: 2, scale: scales.0 },
            Mark::Steps { class: "es", y: 3, scale: scales.1 },
        ],
        data,
    })
}

fn frequencies(levels: &[(String, usize, usize)]) -> Option<Plot> {
    let total = levels
        .iter()
        .fold((0, 0), |total, (_, observed, estimated)| (total.0 + observed, total.1 + estimated));
    let mut levels = levels.to_vec();
    levels.sort_by_key(|(_, observed, estimated)| std::cmp::Reverse(observed + estimated));
    if levels.len() > MAX_LEVELS {
        let rare = levels.split_off(MAX_LEVELS - 1);
        let counts = rare.iter().fold((0, 0), |sum, level| (sum.0 + level.1, sum.1 + level.2));
        levels.push((format!("{} others", rare.len()), counts.0, counts.1));
    }
    if levels.is_empty() {
        return None;
    }
    let mut data = Data::new(["level", "observed (%)", "estimated (%)", "observed", "estimated"]);
    let mut highest = 0f64;
    for (name, observed, estimated) in &levels {
        let shares = (share(*observed, total.0), share(*estimated, total.1));
        highest = highest.max(shares.0).max(shares.1);
        data.rows.push(vec![
            json!(format::name(name)),
            hundredths(shares.0),
            hundredths(shares.1),
            json!(observed),
            json!(estimated),
        ]);
    }
    let names: Vec<String> = levels.into_iter().map(|(name, ..)| name).collect();
    let across =
        Interval { low: 0.0, high: (highest * 105.0).clamp(1.0, 100.0), scale: Scale::Linear };
    Some(Plot {
        id: String::new(),
        title: String::new(),
        note: String::new(),
        description: format!(
            "Frequencies of {} levels among {} observed and {} estimated values, in percent of each.",
            names.len(),
            count(total.0),
            count(total.1)
        ),
        x: Axis::numeric("share (%)", &across, false),
        y: Axis::rows("", &names),
        marks: vec![
            Mark::Bars { class: "ob", x: 1, slot: 0, slots: 2 },
            Mark::Bars { class: "es", x: 2, slot: 1, slots: 2 },
        ],
        data,
    })
}

fn sum(counts: &[usize]) -> usize {
    counts.iter().sum()
}

fn share(part: usize, total: usize) -> f64 {
    part as f64 / total.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fine_bins_are_merged() {
        let edges: Vec<f64> = (0..=100).map(f64::from).collect();
        let column = ColumnPage::default();
        let plot = histogram(&column, &edges, &[2; 100], &[1; 100]).expect("a histogram");
        assert_eq!(plot.data.rows.len(), 25);
        assert_eq!((plot.data.number(24, 1), plot.data.number(3, 3)), (100.0, 4.0));
        assert_eq!(plot.data.number(0, 2), 8.0);
    }

    #[test]
    fn histograms_without_bins_or_with_infinite_bounds_are_left_out() {
        let column = ColumnPage::default();
        assert!(histogram(&column, &[], &[], &[]).is_none());
        assert!(histogram(&column, &[0.0, f64::INFINITY], &[1], &[1]).is_none());
        assert!(histogram(&column, &[2.0, 2.0], &[1], &[1]).is_some());
    }

    #[test]
    fn rare_levels_are_summed_up() {
        let levels: Vec<_> = (0..30).map(|level| (format!("level {level}"), level, 1)).collect();
        let plot = frequencies(&levels).expect("a plot");
        assert_eq!(plot.data.rows.len(), MAX_LEVELS);
        assert_eq!(plot.data.rows[9][0], json!("21 others"));
    }
}
