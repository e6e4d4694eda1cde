//! What the report shows of each column: hidden cells, errors, confusion, reliability, distributions.

use graphfill_data::{Column, ColumnData, Kind, NodeTable, Unused};
use graphfill_methods::Choice;
use graphfill_methods::features::{Features, GroupKind};
use graphfill_methods::uncertainty::{CheckedColumn, CheckedLevel, CheckedNumber};

use super::super::data::{
    ColumnError, ColumnPage, Confusion, Coverage, Distribution, HiddenCell, ReliabilityBin,
};
use super::{Checked, FillSource};

/// The largest number of hidden cells, levels and bins that are shown of a column.
const MAX_CELLS: usize = 150;
const MAX_LEVELS: usize = 12;
const BINS: usize = 24;
/// Values so many standard deviations from the mean are pointed out.
const OUTLIER: f64 = 8.0;

/// The columns with estimated cells, in the order of the table.
pub(super) fn pages(source: &FillSource<'_>, checked: Option<&Checked<'_>>) -> Vec<ColumnPage> {
    let pages = source.choices.iter().filter_map(|choice| {
        let group = source.features.groups().iter().position(|own| own.name == choice.group)?;
        let column = &source.table.columns()[source.features.groups()[group].column];
        (column.missing_count() > 0).then(|| page(source, choice, group, column, checked))
    });
    pages.collect()
}

fn page(
    source: &FillSource<'_>,
    choice: &Choice,
    group: usize,
    column: &Column,
    checked: Option<&Checked<'_>>,
) -> ColumnPage {
    let filled = &source.filled.columns()[source.features.groups()[group].column];
    let cells = match column.data() {
        ColumnData::Array(_) => column.rows(),
        ColumnData::Block(block) => block.rows() * block.width(),
    };
    let mut page = ColumnPage {
        name: choice.group.clone(),
        kind: column.kind().as_str().to_owned(),
        missing: column.missing_count(),
        observed: cells - column.missing_count(),
        method: choice.method.clone(),
        reason: choice.reason.clone(),
        distribution: distribution(column, filled),
        is_date: *column.kind() == Kind::Date,
        ..ColumnPage::default()
    };
    let Some(checked) = checked else { return page };
    let own = &checked.check.columns[group];
    let coverage = checked.coverages.iter().enumerate().filter_map(|(level, &nominal)| {
        let (real, cells) = own.coverage(level)?;
        Some(Coverage { nominal, real, cells })
    });
    page.coverage = coverage.collect();
    match own {
        CheckedColumn::Numbers(features) => {
            add_numbers(&mut page, source.features, group, features, checked.level);
        }
        CheckedColumn::Levels(cells) => add_levels(&mut page, source, group, cells),
        CheckedColumn::Ones(cells) => add_ones(&mut page, cells),
    }
    page
}

fn add_numbers(
    page: &mut ColumnPage,
    features: &Features<'_>,
    group: usize,
    columns: &[Vec<CheckedNumber>],
    level: usize,
) {
    page.hidden = columns.iter().map(Vec::len).sum();
    let every = page.hidden.div_ceil(MAX_CELLS).max(1);
    let shown = columns.iter().flatten().step_by(every);
    page.cells = shown
        .map(|cell| HiddenCell {
            observed: cell.cell.truth,
            estimate: cell.cell.estimate,
            interval: cell.intervals[level],
        })
        .collect();
    // Columns of a block have units of their own: errors are compared in deviations.
    let is_block = columns.len() > 1;
    let (mut own, mut baseline) = (0.0, 0.0);
    for (feature, cells) in columns.iter().enumerate() {
        let (mean, sd) = mean_and_deviation(features, group, feature);
        let unit = if is_block { sd } else { 1.0 };
        for cell in cells {
            own += (cell.cell.error() / unit).powi(2);
            baseline += ((cell.cell.truth - mean) / unit).powi(2);
        }
    }
    if page.hidden > 0 {
        let root = |squares: f64| (squares / page.hidden as f64).sqrt();
        let measure = if is_block { "RMSE in standard deviations" } else { "RMSE" };
        page.error = Some(ColumnError {
            measure: measure.to_owned(),
            method: root(own),
            baseline: root(baseline),
            lower_is_better: true,
        });
    }
}

fn add_levels(
    page: &mut ColumnPage,
    source: &FillSource<'_>,
    group: usize,
    cells: &[CheckedLevel],
) {
    page.hidden = cells.len();
    let about = &source.features.groups()[group];
    let names = match &about.kind {
        GroupKind::Category(names) => names.clone(),
        _ => ["false", "true"].map(str::to_owned).to_vec(),
    };
    let mut frequency = vec![0usize; names.len()];
    cells.iter().for_each(|cell| frequency[cell.cell.truth] += 1);
    let hits = cells.iter().filter(|cell| cell.cell.estimate() == cell.cell.truth).count();
    let commonest = observed_commonest(source, group, names.len());
    if !cells.is_empty() {
        let share = |count: usize| count as f64 / cells.len() as f64;
        page.error = Some(ColumnError {
            measure: "hit rate".to_owned(),
            method: share(hits),
            baseline: share(frequency[commonest]),
            lower_is_better: false,
        });
    }
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&level| (std::cmp::Reverse(frequency[level]), level));
    let shown = &order[..order.len().min(MAX_LEVELS)];
    let has_others = order.len() > shown.len();
    let position = |level: usize| shown.iter().position(|&own| own == level).unwrap_or(shown.len());
    let size = shown.len() + usize::from(has_others);
    let mut counts = vec![vec![0; size]; size];
    for cell in cells {
        counts[position(cell.cell.truth)][position(cell.cell.estimate())] += 1;
    }
    let mut levels: Vec<String> = shown.iter().map(|&level| names[level].clone()).collect();
    if has_others {
        levels.push(format!("{} others", order.len() - shown.len()));
    }
    page.confusion = Some(Confusion { levels, counts });
    let right = cells
        .iter()
        .filter_map(|cell| Some((cell.probability?, cell.cell.estimate() == cell.cell.truth)));
    page.reliability = reliability(right);
}

/// The level that most observed cells have.
fn observed_commonest(source: &FillSource<'_>, group: usize, levels: usize) -> usize {
    let mut counts = vec![0usize; levels];
    let first = source.features.groups()[group].features.start;
    for row in 0..source.features.rows() {
        let level = match source.features.groups()[group].kind {
            GroupKind::Category(_) => source.features.level(group, row).map(|level| level as usize),
            _ => {
                let value = source.features.value(group, row, first);
                (!value.is_nan()).then(|| usize::from(value == 1.0))
            }
        };
        if let Some(level) = level {
            counts[level] += 1;
        }
    }
    (0..levels).max_by_key(|&level| (counts[level], std::cmp::Reverse(level))).unwrap_or(0)
}

fn add_ones(page: &mut ColumnPage, cells: &[(f64, bool)]) {
    page.hidden = cells.len();
    page.reliability = reliability(cells.iter().copied());
    if cells.is_empty() {
        return;
    }
    let count = cells.len() as f64;
    let ones = cells.iter().filter(|(_, one)| *one).count() as f64 / count;
    let brier = |estimate: &dyn Fn(f64) -> f64| {
        let square = |(p, one): &(f64, bool)| (estimate(*p) - f64::from(u8::from(*one))).powi(2);
        cells.iter().map(square).sum::<f64>() / count
    };
    page.error = Some(ColumnError {
        measure: "Brier score".to_owned(),
        method: brier(&|p| p),
        baseline: brier(&|_| ones),
        lower_is_better: true,
    });
}

/// Ten bins of probability, those that have cells.
fn reliability(cells: impl Iterator<Item = (f64, bool)>) -> Vec<ReliabilityBin> {
    let mut bins = [(0.0, 0usize, 0usize); 10];
    for (probability, is_right) in cells {
        let bin = &mut bins[((probability * 10.0) as usize).min(9)];
        *bin = (bin.0 + probability, bin.1 + usize::from(is_right), bin.2 + 1);
    }
    let bins = bins.iter().filter(|bin| bin.2 > 0);
    bins.map(|&(sum, right, cells)| ReliabilityBin {
        probability: sum / cells as f64,
        share: right as f64 / cells as f64,
        cells,
    })
    .collect()
}

/// How observed and estimated values are distributed.
fn distribution(column: &Column, filled: &Column) -> Option<Distribution> {
    match (column.data(), filled.data()) {
        (ColumnData::Block(before), ColumnData::Block(after)) => {
            // Ones per column of the block; of numeric blocks, cells that are not zero.
            let mut counts = vec![(0usize, 0usize); before.width()];
            for row in 0..before.rows() {
                for &at in after.columns(row) {
                    let counts = &mut counts[at as usize];
                    match before.missing().contains(row, at as usize) {
                        true => counts.1 += 1,
                        false => counts.0 += 1,
                    }
                }
            }
            let mut order: Vec<usize> = (0..counts.len()).collect();
            order.sort_by_key(|&at| (std::cmp::Reverse(counts[at].0), at));
            let level =
                |&at: &usize| (before.column_name(column.name(), at), counts[at].0, counts[at].1);
            let is_binary = matches!(column.kind(), Kind::Block(graphfill_data::BlockKind::Binary));
            let levels = order.iter().take(MAX_LEVELS).map(level).collect();
            is_binary.then_some(Distribution::Levels(levels))
        }
        _ if column.kind().is_numeric() || *column.kind() == Kind::Date => {
            histogram(&column.numbers(), &filled.numbers())
        }
        _ => {
            let (before, after) = (column.levels(), filled.levels());
            let count = |codes: &[Option<u32>], level: usize| {
                codes.iter().filter(|code| **code == Some(level as u32)).count()
            };
            let mut levels: Vec<(String, usize, usize)> = after
                .names
                .iter()
                .enumerate()
                .map(|(at, name)| {
                    let own = before.names.iter().position(|other| other == name);
                    let observed = own.map_or(0, |own| count(&before.codes, own));
                    (name.clone(), observed, count(&after.codes, at) - observed)
                })
                .collect();
            levels.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
            levels.truncate(MAX_LEVELS);
            Some(Distribution::Levels(levels))
        }
    }
}

/// Histograms of observed and estimated numbers over the same bins, without the outermost half percent.
fn histogram(before: &[f64], after: &[f64]) -> Option<Distribution> {
    let mut all: Vec<f64> = after.iter().copied().filter(|value| value.is_finite()).collect();
    all.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| all[((all.len() - 1) as f64 * share).round() as usize];
    if all.is_empty() || at(0.005) >= at(0.995) {
        return None;
    }
    let (low, high) = (at(0.005), at(0.995));
    let edges: Vec<f64> =
        (0..=BINS).map(|bin| low + (high - low) * bin as f64 / BINS as f64).collect();
    let (mut observed, mut estimated) = (vec![0; BINS], vec![0; BINS]);
    for (before, after) in before.iter().zip(after) {
        let bin = ((after - low) / (high - low) * BINS as f64).floor();
        if !(low..=high).contains(after) {
            continue;
        }
        let counts = if before.is_nan() { &mut estimated } else { &mut observed };
        counts[(bin as usize).min(BINS - 1)] += 1;
    }
    Some(Distribution::Histogram { edges, observed, estimated })
}

/// The mean and standard deviation of a column's known values, in its own units.
fn mean_and_deviation(features: &Features<'_>, group: usize, feature: usize) -> (f64, f64) {
    let about = &features.groups()[group];
    let value = |row| features.value(group, row, about.features.start + feature) * about.unit;
    let values: Vec<f64> = (0..features.rows()).map(value).filter(|v| !v.is_nan()).collect();
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let square = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (mean, if square > 0.0 { square.sqrt() } else { 1.0 })
}

/// The standard deviation of a column's known values.
pub(super) fn deviation(features: &Features<'_>, group: usize, feature: usize) -> f64 {
    mean_and_deviation(features, group, feature).1
}

/// Constant columns, and columns with outliers.
pub(super) fn warnings(table: &NodeTable) -> Vec<String> {
    let mut warnings = Vec::new();
    for column in table.columns() {
        let name = column.name();
        if *column.kind() == Kind::Unused(Unused::Constant) {
            warnings.push(format!("Column '{name}' has one value: its missing cells get it"));
        }
        if !column.kind().is_numeric() || matches!(column.data(), ColumnData::Block(_)) {
            continue;
        }
        let values: Vec<f64> = column.numbers().into_iter().filter(|v| v.is_finite()).collect();
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let sd = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count).sqrt();
        let far = values.iter().filter(|value| (*value - mean).abs() > OUTLIER * sd).count();
        if far > 0 && sd > 0.0 {
            let cells = if far == 1 { "1 value".to_owned() } else { format!("{far} values") };
            warnings.push(format!(
                "Column '{name}' has {cells} more than {OUTLIER} standard deviations from its mean: outliers, or another unit?"
            ));
        }
    }
    warnings
}
