//! Columns with heavy tails, on a scale where they are nearly normal.
//!
//!   t = asinh((x − median) / spread)        median and spread as in [`crate::features::reach`]
//!
//! It is linear in the middle and a logarithm far out, for either sign. A Gaussian of a row on this scale sees
//! how orders of magnitude belong together; the one on the columns' own scale sees sums and shares. Both are
//! components of the prior, and known cells weigh them.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::evidence::RowTable;
use crate::features::reach::{MARGIN, Middle};

/// Values that quantiles are taken from.
const SAMPLE: usize = 16_384;

/// The scale of a column.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Tail {
    median: f32,
    spread: f32,
    /// The known values, on the scale of t.
    range: (f32, f32),
}

impl Tail {
    fn of(values: Vec<f32>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().map(f64::from).collect();
        values.sort_unstable_by(f64::total_cmp);
        let middle = Middle::of(&values)?;
        let (first, last) = (*values.first()?, *values.last()?);
        if !middle.is_far(first) && !middle.is_far(last) {
            return None;
        }
        let tail =
            Tail { median: middle.median as f32, spread: middle.spread as f32, range: (0.0, 0.0) };
        Some(Tail { range: (tail.scaled(first as f32), tail.scaled(last as f32)), ..tail })
    }

    fn scaled(self, value: f32) -> f32 {
        ((value - self.median) / self.spread).asinh()
    }

    fn restored(self, value: f32) -> f32 {
        let margin = MARGIN as f32;
        let value = value.clamp(self.range.0 - margin, self.range.1 + margin);
        self.median + self.spread * value.sinh()
    }
}

/// The scales of all features; none for those that stay as they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Tails(Vec<Option<Tail>>);

impl Tails {
    /// The heavy tails of a table's numbers; none where there are none.
    pub(super) fn of(table: &RowTable) -> Option<Self> {
        let step = table.rows().div_ceil(SAMPLE).max(1);
        let tails: Vec<Option<Tail>> = (0..table.columns())
            .into_par_iter()
            .map(|feature| {
                let rows = (0..table.rows()).step_by(step);
                let values = rows.filter_map(|row| table.known_value(row, feature));
                table.is_number_at(feature).then(|| Tail::of(values.collect())).flatten()
            })
            .collect();
        tails.iter().any(Option::is_some).then_some(Tails(tails))
    }

    /// The table on these scales, its context too.
    pub(super) fn scaled(&self, table: &RowTable) -> RowTable {
        table.mapped(|feature, value| match self.0[feature] {
            Some(tail) => tail.scaled(value),
            None => value,
        })
    }

    /// Estimates \[rows × features\] back on the scale of the columns.
    pub(super) fn restore(&self, estimates: &mut [f32]) {
        estimates.par_chunks_mut(self.0.len().max(1)).for_each(|row| {
            for (value, tail) in row.iter_mut().zip(&self.0) {
                if let Some(tail) = tail {
                    *value = tail.restored(*value);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heavy_tails_are_told_from_others_and_come_back() {
        let even: Vec<f32> = (0..500).map(|value| value as f32).collect();
        assert_eq!(Tail::of(even), None);
        let powers: Vec<f32> = (0..500).map(|value| (value as f32 / 40.0).exp()).collect();
        let tail = Tail::of(powers.clone()).expect("a tail");
        for value in powers {
            let off = (tail.restored(tail.scaled(value)) - value).abs();
            assert!(off <= 1e-4 * value.abs().max(1.0), "{value} is off by {off}");
        }
        assert!(tail.restored(1e9).is_finite());
        assert_eq!(Tail::of(vec![3.0; 40]), None);
        assert_eq!(Tail::of(Vec::new()), None);
    }
}
