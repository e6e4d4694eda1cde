//! Inputs in bins: what histograms of gradients are made over.
//!
//! Every column is cut at up to 63 of its quantiles. A code is 0 where a value is missing (NaN), else one
//! more than the number of cuts that the value is not below.

use rayon::prelude::*;

/// Bins of a column, the one of missing values included.
pub(super) const BINS: usize = 64;
/// Values that quantiles are taken from.
const SAMPLE: usize = 8192;

/// Inputs as codes, rows × columns.
pub(super) struct Bins {
    pub(super) columns: usize,
    codes: Vec<u8>,
    /// The cuts of each column, ascending. A value with code c + 1 is at least `cuts[c − 1]`.
    cuts: Vec<Vec<f32>>,
}

impl Bins {
    /// Of inputs \[rows × columns\]; NaN where a value is missing.
    pub(super) fn of(inputs: &[f32], columns: usize) -> Self {
        let rows = inputs.len().checked_div(columns).unwrap_or(0);
        let step = rows.div_ceil(SAMPLE).max(1);
        let cuts: Vec<Vec<f32>> = (0..columns)
            .into_par_iter()
            .map(|column| {
                let values = inputs.iter().skip(column).step_by(columns * step).copied();
                cuts_of(values.filter(|value| value.is_finite()).collect())
            })
            .collect();
        let mut codes = vec![0u8; rows * columns];
        let by_row = codes.par_chunks_mut(columns.max(1)).zip(inputs.par_chunks(columns.max(1)));
        by_row.for_each(|(codes, inputs)| {
            for ((code, &value), cuts) in codes.iter_mut().zip(inputs).zip(&cuts) {
                if !value.is_nan() {
                    *code = 1 + cuts.partition_point(|&cut| cut <= value) as u8;
                }
            }
        });
        Bins { columns, codes, cuts }
    }

    /// The codes of a row.
    pub(super) fn row(&self, row: usize) -> &[u8] {
        &self.codes[row * self.columns..(row + 1) * self.columns]
    }

    /// How much of the squares of some numbers, one per row, the codes of each column explain, less what
    /// they would explain of noise: Σ over codes (sum² / count) − (codes / rows) Σ squares.
    pub(super) fn explained(&self, rows: &[u32], numbers: &[f32]) -> Vec<f32> {
        let mut sums = vec![(0.0f32, 0u32); self.columns * BINS];
        let mut squares = 0.0f32;
        for &row in rows {
            let number = numbers[row as usize];
            squares += number * number;
            for (sums, &code) in sums.chunks_exact_mut(BINS).zip(self.row(row as usize)) {
                let sum = &mut sums[usize::from(code) % BINS];
                *sum = (sum.0 + number, sum.1 + 1);
            }
        }
        let noise = squares / rows.len().max(1) as f32;
        let of_column = |sums: &[(f32, u32)]| {
            let seen = sums.iter().filter(|(_, count)| *count > 0);
            seen.map(|(sum, count)| sum * sum / *count as f32 - noise).sum()
        };
        sums.chunks_exact(BINS).map(of_column).collect()
    }

    /// The number of codes of a column.
    pub(super) fn count(&self, column: usize) -> usize {
        self.cuts[column].len() + 2
    }

    /// The smallest value that lies above a code.
    pub(super) fn cut_above(&self, column: usize, code: usize) -> f32 {
        self.cuts[column][code - 1]
    }
}

/// Cuts half way between different values, at their quantiles where they are many.
fn cuts_of(mut values: Vec<f32>) -> Vec<f32> {
    const MAX_CUTS: usize = BINS - 2;
    values.sort_unstable_by(f32::total_cmp);
    let total = values.len();
    let mut cuts: Vec<f32> = Vec::new();
    let mut distinct = values.clone();
    distinct.dedup();
    let mut cut_between = |below: f32, above: f32| {
        let middle = below + (above - below) / 2.0;
        let cut = if middle > below { middle } else { above };
        if cuts.last().is_none_or(|&last| last < cut) {
            cuts.push(cut);
        }
    };
    if distinct.len() <= MAX_CUTS + 1 {
        distinct.windows(2).for_each(|pair| cut_between(pair[0], pair[1]));
        return cuts;
    }
    for at in 1..=MAX_CUTS {
        let place = at * total / (MAX_CUTS + 1);
        let above = values[place];
        let below = values[..place].partition_point(|&value| value < above);
        if below > 0 {
            cut_between(values[below - 1], above);
        }
    }
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_follow_the_cuts() {
        let inputs = [1.0f32, f32::NAN, 3.0, 3.0, 2.0, f32::INFINITY];
        let bins = Bins::of(&inputs, 1);
        let codes: Vec<u8> = (0..6).map(|row| bins.row(row)[0]).collect();
        assert_eq!(codes, [1, 0, 3, 3, 2, 3]);
        assert_eq!((bins.cut_above(0, 1), bins.cut_above(0, 2)), (1.5, 2.5));
    }

    #[test]
    fn many_values_are_cut_at_their_quantiles() {
        let inputs: Vec<f32> = (0..5000).map(|value| (value as f32).powi(3)).collect();
        let bins = Bins::of(&inputs, 1);
        assert_eq!(bins.count(0), BINS);
        let mut rows = [0usize; BINS];
        (0..5000).for_each(|row| rows[usize::from(bins.row(row)[0])] += 1);
        assert_eq!(rows[0], 0);
        assert!(rows[1..].iter().all(|&count| (60..=100).contains(&count)), "{rows:?}");
    }
}
