//! Hit rates of booleans and categories on validation cells:
//!
//!   hit rate = share of the cells whose estimated level is the observed one
//!
//! The estimated level is the one that a filled table gets: of a boolean true from a probability of one
//! half on, of a category the level with the largest probability, the first of equals. Hit rates are
//! reported; they choose nothing, because probabilities tell estimates apart that have the same level.

use std::ops::Range;

use super::ScoredCells;
use crate::features::{Group, GroupKind};
use crate::method::{Estimates, HitRate};

/// The probability from which on a boolean is true.
const HALF: f64 = 0.5;
/// The level of a cell about which nothing is known.
const NONE: u32 = u32::MAX;

/// The estimated and the observed level of every scored cell of a boolean or category.
#[derive(Debug, Clone)]
pub(super) struct Hits {
    is_boolean: bool,
    /// The level that most known cells have.
    most_frequent: u32,
    cells: Vec<LevelCell>,
}

#[derive(Debug, Clone, Copy)]
struct LevelCell {
    estimated: u32,
    /// The probability of the estimated level; of a category so far, which may have several panels.
    probability: f32,
    observed: u32,
}

impl Hits {
    /// Nothing estimated yet of so many rows; none where a group has no levels. `means` are the means
    /// of the group's features over known cells.
    pub(super) fn new(group: &Group, means: &[f64], rows: usize) -> Option<Self> {
        let most_frequent = match group.kind {
            GroupKind::Boolean => u32::from(means[0] >= HALF),
            GroupKind::Category(_) => {
                let ahead =
                    |best: usize, at: usize| if means[at] > means[best] { at } else { best };
                (1..means.len()).fold(0, ahead) as u32
            }
            _ => return None,
        };
        let nothing = LevelCell { estimated: NONE, probability: f32::NEG_INFINITY, observed: NONE };
        let is_boolean = group.kind == GroupKind::Boolean;
        Some(Hits { is_boolean, most_frequent, cells: vec![nothing; rows] })
    }

    /// Adds the estimates of some features of the group; `before` counts the rows of earlier sets.
    pub(super) fn add(
        &mut self,
        cells: &ScoredCells<'_>,
        before: usize,
        estimates: &Estimates<'_>,
        group: &Group,
        features: Range<usize>,
    ) {
        let (width, first) = (cells.range.len(), features.start - cells.range.start);
        let first_level = (features.start - group.features.start) as u32;
        for (cell, at) in self.cells[before..].iter_mut().zip(cells.rows.summed()) {
            let from = at * width + first;
            let truth = &cells.truth[from..from + features.len()];
            let row = cells.rows.rows()[at] as usize;
            let levels = (first_level..).zip(estimates.row(row, features.clone())).zip(truth);
            for ((level, probability), &truth) in levels.filter(|(_, truth)| !truth.is_nan()) {
                if self.is_boolean {
                    cell.estimated = u32::from(probability >= HALF);
                    cell.observed = u32::from(truth >= HALF);
                    continue;
                }
                if probability as f32 > cell.probability {
                    (cell.estimated, cell.probability) = (level, probability as f32);
                }
                if truth >= HALF {
                    cell.observed = level;
                }
            }
        }
    }

    /// The hit rate of the estimates, and that of the most frequent level; none where no cell was
    /// scored.
    pub(super) fn rate(&self) -> Option<HitRate> {
        let scored = || self.cells.iter().filter(|cell| cell.observed != NONE);
        let count = scored().count();
        let share = |is_hit: &dyn Fn(&LevelCell) -> bool| {
            scored().filter(|cell| is_hit(cell)).count() as f64 / count as f64
        };
        (count > 0).then(|| HitRate {
            value: share(&|cell| cell.estimated == cell.observed),
            most_frequent: share(&|cell| cell.observed == self.most_frequent),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{BooleanArray, Float64Array, StringArray};
    use graphfill_data::{CellMask, Column, IdColumn, Kind, NodeIds, NodeTable};

    use super::super::{Detail, Scores, ValidationRows};
    use super::*;
    use crate::features::{ColumnMeans, Features};

    /// A boolean, a category of three levels and a number; nothing is missing.
    fn table() -> NodeTable {
        let booleans = BooleanArray::from(vec![true, true, true, false, false]);
        let levels = StringArray::from(vec!["c", "a", "b", "b", "b"]);
        let numbers = Float64Array::from_iter_values((0..5).map(f64::from));
        let columns = vec![
            Column::new("boolean", Kind::Boolean, Arc::new(booleans)),
            Column::new("category", Kind::Category, Arc::new(levels)),
            Column::new("number", Kind::Number, Arc::new(numbers)),
        ];
        NodeTable::new(IdColumn::default(), NodeIds::numbered(5), columns, None).expect("a table")
    }

    #[test]
    fn hits_are_counted_over_all_panels_of_a_category() {
        let table = table();
        let features = Features::of(&table);
        let hidden = CellMask::of_cells(5, 3, &[(0, 0), (0, 1), (1, 1), (2, 1), (3, 0), (3, 2)]);
        let sets = [ValidationRows::of(&features, &hidden)];
        let known = ColumnMeans::of(&features, &hidden);
        let levels = features.groups()[1].kind.clone();
        let GroupKind::Category(names) = levels else { panic!("{levels:?}") };
        let at = |name: &str| names.iter().position(|own| own == name).expect("a level");
        // Rows 0 and 3: one half is true. Rows 0 to 2 of the category: right, two alike, wrong.
        let mut values = vec![0.0f32; 5 * features.width()];
        let mut set = |row: usize, feature: usize, value: f32| {
            values[row * features.width() + feature] = value;
        };
        set(0, 0, 0.5);
        set(3, 0, 0.7);
        set(0, 1 + at("c"), 0.9);
        set(1, 1 + at("a"), 0.4);
        set(1, 1 + at("b"), 0.4);
        set(2, 1 + at("a"), 0.6);
        let mut scores = Scores::new(&features, &sets, 10, Detail::Totals)
            .with_hit_rates(&features, &sets, &known);
        for range in [0..2, 2..3, 3..features.width()] {
            let estimates = Estimates {
                features: (0, features.width()),
                width: features.width(),
                values: &values,
                column_means: &[0.0; 5],
                scales: None,
            };
            let cells = ScoredCells::new(&features, &sets[0], &hidden, range.clone());
            scores.add(&cells, &[], &estimates.part(range));
        }
        let found: Vec<Option<HitRate>> =
            scores.finish(&sets).iter().map(|score| score.and_then(|own| own.hit_rate)).collect();
        let rate = |value, most_frequent| Some(HitRate { value, most_frequent });
        // Known are two trues beside one false, and two of "b".
        assert_eq!(found, [rate(0.5, 0.5), rate(2.0 / 3.0, 1.0 / 3.0), None]);
    }
}
