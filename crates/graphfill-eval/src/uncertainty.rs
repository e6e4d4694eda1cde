//! Scores of intervals, probabilities and prediction sets on hidden cells.
//!
//! | metric | |
//! |---|---|
//! | `coverage@90` | share of numbers inside their 90% interval |
//! | `width@90` | mean width, in standard deviations of the column |
//! | `interval_score@90` | width + 2/α times the distance of what lies outside, in standard deviations (Gneiting and Raftery 2007) |
//! | `crps` | continuous ranked probability score of the predictive distribution, in standard deviations |
//! | `set_coverage@90`, `set_size@90` | share of levels inside their prediction set, and its mean size |
//! | `log_loss` | mean −log probability of the true level |
//! | `calibration_error` | mean distance between the probability of a one and how often there is one, over ten bins |

use std::collections::BTreeMap;

use graphfill_data::CellMask;
use graphfill_methods::features::{Features, GroupKind};
use graphfill_methods::uncertainty::{
    ColumnCells, LevelCell, NumberCalibration, NumberCell, Uncertainty, percentage,
};

use crate::score::Metrics;
use crate::summary::mean;

/// The metrics of one column.
type ColumnMetrics = BTreeMap<String, f64>;

/// Scores the distributions of hidden cells, whose values the table has; `unknown` were not observed.
pub(crate) fn score(
    uncertainty: &Uncertainty,
    features: &Features<'_>,
    unknown: &CellMask,
    coverages: &[f64],
) -> Metrics {
    let mut metrics = Metrics::default();
    for column in &uncertainty.columns {
        let mut own: Vec<ColumnMetrics> = Vec::new();
        match &column.cells {
            ColumnCells::Numbers(of_features) => {
                let first = features.groups()[column.group].features.start;
                for (at, cells) in of_features.iter().enumerate() {
                    if let Some(calibration) = uncertainty.number_calibration(column.group, at) {
                        let truth = Truth::of(features, column.group, first + at, unknown);
                        own.push(numbers(calibration, cells, &truth, coverages));
                    }
                }
            }
            ColumnCells::Levels(cells) => {
                own.push(levels(uncertainty, column.group, cells, features, coverages));
            }
            ColumnCells::Ones(_) => {
                own.push(ones(
                    uncertainty.block_probabilities(column.group),
                    features,
                    column.group,
                ));
            }
        }
        let own = average(&own);
        if !own.is_empty() {
            metrics.columns.insert(column.name.clone(), own);
        }
    }
    metrics.table = average(&metrics.columns.values().cloned().collect::<Vec<_>>());
    metrics
}

/// Each metric, averaged over those that have it.
fn average(all: &[ColumnMetrics]) -> ColumnMetrics {
    let mut gathered: BTreeMap<&String, Vec<f64>> = BTreeMap::new();
    for (name, value) in all.iter().flatten().filter(|(_, value)| value.is_finite()) {
        gathered.entry(name).or_default().push(*value);
    }
    gathered.into_iter().map(|(name, values)| (name.clone(), mean(&values))).collect()
}

/// The true values of a column of numbers.
struct Truth<'a> {
    features: &'a Features<'a>,
    group: usize,
    feature: usize,
    /// The standard deviation of the observed values.
    sd: f64,
}

impl<'a> Truth<'a> {
    fn of(features: &'a Features<'a>, group: usize, feature: usize, unknown: &CellMask) -> Self {
        let cell = features.groups()[group].cell_of(feature);
        let observed = (0..features.rows()).filter(|&row| !unknown.contains(row, cell));
        let values = observed.map(|row| features.value(group, row, feature));
        let values: Vec<f64> = values.filter(|value| !value.is_nan()).collect();
        let centre = mean(&values);
        let square = values.iter().map(|value| (value - centre).powi(2)).sum::<f64>();
        let sd = (square / values.len().max(1) as f64).sqrt() * features.groups()[group].unit;
        Truth { features, group, feature, sd: if sd > 0.0 { sd } else { 1.0 } }
    }

    fn value(&self, row: u32) -> f64 {
        let unit = self.features.groups()[self.group].unit;
        self.features.value(self.group, row as usize, self.feature) * unit
    }
}

fn numbers(
    calibration: &NumberCalibration,
    cells: &[NumberCell],
    truth: &Truth<'_>,
    coverages: &[f64],
) -> ColumnMetrics {
    let mut metrics = ColumnMetrics::new();
    let with_truth = || cells.iter().map(|cell| (cell, truth.value(cell.row)));
    for &coverage in coverages {
        let intervals = with_truth()
            .filter_map(|(cell, truth)| Some((calibration.interval(cell, coverage)?, truth)));
        let intervals: Vec<((f64, f64), f64)> = intervals.collect();
        if intervals.is_empty() {
            continue;
        }
        let over = |measure: &dyn Fn((f64, f64), f64) -> f64| {
            mean(&intervals.iter().map(|&(ends, truth)| measure(ends, truth)).collect::<Vec<_>>())
        };
        let tail = 1.0 - coverage;
        let percent = percentage(coverage);
        let inside = over(&|(low, high), truth| f64::from(u8::from((low..=high).contains(&truth))));
        metrics.insert(format!("coverage@{percent}"), inside);
        let width = over(&|(low, high), _| (high - low) / truth.sd);
        metrics.insert(format!("width@{percent}"), width);
        let score = over(&|(low, high), value| {
            let outside = (low - value).max(0.0) + (value - high).max(0.0);
            (high - low + 2.0 / tail * outside) / truth.sd
        });
        metrics.insert(format!("interval_score@{percent}"), score);
    }
    let crps: Vec<f64> = with_truth()
        .map(|(cell, value)| {
            let values: Vec<f64> = calibration.values(cell).collect();
            continuous_ranked_probability_score(&values, value) / truth.sd
        })
        .collect();
    if !crps.is_empty() {
        metrics.insert("crps".to_owned(), mean(&crps));
    }
    metrics
}

/// E|X − x| − E|X − X′| / 2 for X one of these values, ascending and equally likely.
fn continuous_ranked_probability_score(values: &[f64], truth: f64) -> f64 {
    let count = values.len().max(1) as f64;
    let distance = values.iter().map(|value| (value - truth).abs()).sum::<f64>() / count;
    let pairs = values.iter().enumerate().map(|(at, value)| {
        let weight = 2.0 * at as f64 + 1.0 - count;
        weight * value
    });
    distance - pairs.sum::<f64>() / (count * count)
}

fn levels(
    uncertainty: &Uncertainty,
    group: usize,
    cells: &[LevelCell],
    features: &Features<'_>,
    coverages: &[f64],
) -> ColumnMetrics {
    let about = &features.groups()[group];
    let truth = |row: u32| match about.kind {
        GroupKind::Boolean => {
            let value = features.value(group, row as usize, about.features.start);
            (!value.is_nan()).then(|| usize::from(value == 1.0))
        }
        _ => features.level(group, row as usize).map(|level| level as usize),
    };
    let mut metrics = ColumnMetrics::new();
    for &coverage in coverages {
        let sets = cells.iter().filter_map(|cell| {
            let set = uncertainty.set(group, cell, coverage)?;
            Some((f64::from(u8::from(set.contains(&truth(cell.row)?))), set.len() as f64))
        });
        let (covered, sizes): (Vec<f64>, Vec<f64>) = sets.unzip();
        if !covered.is_empty() {
            let percent = percentage(coverage);
            metrics.insert(format!("set_coverage@{percent}"), mean(&covered));
            metrics.insert(format!("set_size@{percent}"), mean(&sizes));
        }
    }
    let losses = cells.iter().filter_map(|cell| {
        let probability = cell.probabilities.get(truth(cell.row)?)?;
        Some(-probability.max(1e-12).ln())
    });
    let losses: Vec<f64> = losses.collect();
    if !losses.is_empty() {
        metrics.insert("log_loss".to_owned(), mean(&losses));
    }
    metrics
}

/// The calibration error of the probabilities of ones.
fn ones(
    probabilities: impl Iterator<Item = (u32, u32, f64)>,
    features: &Features<'_>,
    group: usize,
) -> ColumnMetrics {
    const BINS: usize = 10;
    let first = features.groups()[group].features.start;
    let mut bins = [(0.0f64, 0.0f64, 0.0f64); BINS];
    for (row, column, probability) in probabilities {
        let value = features.value(group, row as usize, first + column as usize);
        let bin = &mut bins[((probability * BINS as f64) as usize).min(BINS - 1)];
        *bin = (bin.0 + probability, bin.1 + value, bin.2 + 1.0);
    }
    let cells: f64 = bins.iter().map(|bin| bin.2).sum();
    let error = bins.iter().map(|bin| (bin.0 - bin.1).abs()).sum::<f64>() / cells;
    match cells > 0.0 {
        true => ColumnMetrics::from([("calibration_error".to_owned(), error)]),
        false => ColumnMetrics::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_of_a_distribution_is_that_of_all_pairs() {
        let (values, truth) = ([-1.0, 0.5, 2.0, 7.0], 1.2);
        let mean_distance = values.iter().map(|value| f64::abs(value - truth)).sum::<f64>() / 4.0;
        let pairs = values.iter().flat_map(|a| values.iter().map(move |b| f64::abs(a - b)));
        let wanted = mean_distance - pairs.sum::<f64>() / 32.0;
        let own = continuous_ranked_probability_score(&values, truth);
        assert!((own - wanted).abs() < 1e-12, "{own} {wanted}");
    }
}
