//! Single cells, chosen at random among the observed ones.
//!
//! Observed cells are numbered row by row, and the distance from one chosen cell to the next is
//! geometric, P(distance = k) = (1 − rate)ᵏ rate: this takes one random number per chosen cell, not
//! one per cell.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::SplitRatio;
use crate::cell_mask::CellMask;
use crate::random_stream::{self, Purpose};

/// Chooses each cell that is not `missing` with probability `rate`; at least one if there is any
/// and the rate is above 0, none otherwise.
pub fn hide_cells(missing: &CellMask, rate: f64, seed: u64) -> CellMask {
    choose_cells(missing, rate, &mut random_stream::open(seed, Purpose::HiddenCells))
}

/// Chooses observed cells for validation and for testing, in this ratio and without overlap; the
/// others are left to train on. Returns `(validation, test)`.
pub fn split_cells(missing: &CellMask, ratio: SplitRatio, seed: u64) -> (CellMask, CellMask) {
    let test =
        choose_cells(missing, ratio.test(), &mut random_stream::open(seed, Purpose::TestCells));
    let rate = ratio.validation() / (ratio.train() + ratio.validation());
    let mut random = random_stream::open(seed, Purpose::ValidationCells);
    let validation = choose_cells(&missing.union(&test), rate, &mut random);
    (validation, test)
}

/// As [`hide_cells`], from the given random stream.
pub(crate) fn choose_cells(missing: &CellMask, rate: f64, random: &mut ChaCha8Rng) -> CellMask {
    let none = || CellMask::none(missing.rows(), missing.width());
    if rate.is_nan() || rate <= 0.0 {
        return none();
    }
    let observed = (missing.rows() * missing.width() - missing.count()) as u64;
    if observed == 0 {
        return none();
    }
    let log_of_not_chosen = (rate < 1.0).then(|| libm::log1p(-rate));
    let mut step = || match log_of_not_chosen {
        None => 0,
        Some(log) => {
            let above_zero = 1.0 - random.random::<f64>();
            // A cast from a float saturates, so a tiny rate steps past the end and stops.
            (libm::log(above_zero) / log) as u64
        }
    };
    let first = step();
    if first >= observed {
        let only = random.random_range(0..observed);
        return pick(missing, only, || u64::MAX);
    }
    pick(missing, first, step)
}

/// The observed cells at `first`, then after `step()` others, and so on to the end.
fn pick(missing: &CellMask, first: u64, mut step: impl FnMut() -> u64) -> CellMask {
    let mut until_next = first;
    CellMask::build(missing.rows(), missing.width(), |row, cells| {
        if missing.is_whole(row) {
            return;
        }
        let taken = missing.cells(row);
        let observed = (missing.width() - taken.len()) as u64;
        let mut passed = 0;
        while until_next < observed {
            // The column of the observed cell at that place: as many further as missing columns
            // stand before it.
            let place = until_next as u32;
            while taken.get(passed).is_some_and(|&column| column <= place + passed as u32) {
                passed += 1;
            }
            cells.push(place + passed as u32);
            until_next = until_next.saturating_add(step()).saturating_add(1);
        }
        until_next -= observed;
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn mask(rows: usize, width: usize, cells: &BTreeSet<(usize, usize)>) -> CellMask {
        CellMask::build(rows, width, |row, list| {
            list.extend(cells.iter().filter(|cell| cell.0 == row).map(|cell| cell.1 as u32));
        })
    }

    proptest! {
        #[test]
        fn never_takes_what_is_missing(
            cells in prop::collection::btree_set((0usize..6, 0usize..5), 0..30),
            rate in 0.0f64..1.2,
            seed: u64,
        ) {
            let missing = mask(6, 5, &cells);
            let hidden = hide_cells(&missing, rate, seed);
            prop_assert_eq!(&hidden.without(&missing), &hidden);
            prop_assert_eq!(hidden.is_empty(), rate == 0.0 || cells.len() == 30);
            prop_assert_eq!(&hidden, &hide_cells(&missing, rate, seed));
            if rate >= 1.0 {
                prop_assert_eq!(hidden.count(), 30 - cells.len());
            }
        }

        #[test]
        fn validation_and_test_are_disjoint(
            cells in prop::collection::btree_set((0usize..6, 0usize..5), 0..30),
            seed: u64,
        ) {
            let missing = mask(6, 5, &cells);
            let (validation, test) = split_cells(&missing, SplitRatio::default(), seed);
            prop_assert_eq!(&validation.without(&test), &validation);
            prop_assert_eq!(&validation.without(&missing), &validation);
            prop_assert_eq!(&test.without(&missing), &test);
        }
    }

    #[test]
    fn every_place_is_hit_at_the_rate() {
        let missing = mask(2, 4, &BTreeSet::from([(0, 1), (1, 0), (1, 3)]));
        let mut hits = [[0u32; 4]; 2];
        for seed in 0..4000 {
            let hidden = hide_cells(&missing, 0.3, seed);
            for (row, hits) in hits.iter_mut().enumerate() {
                for (column, hits) in hits.iter_mut().enumerate() {
                    *hits += u32::from(hidden.contains(row, column));
                }
            }
        }
        for (row, column) in [(0, 1), (1, 0), (1, 3)] {
            assert_eq!(hits[row][column], 0);
        }
        for (row, column) in [(0, 0), (0, 2), (0, 3), (1, 1), (1, 2)] {
            // Chosen alone where nothing else was, one time in 0.7⁻⁵ ≈ 6, so a little above 0.3.
            let fraction = f64::from(hits[row][column]) / 4000.0;
            assert!((fraction - (0.3 + 0.168 / 5.0)).abs() < 0.03, "({row}, {column}): {fraction}");
        }
    }

    #[test]
    fn fractions_hold_on_a_large_table() {
        let missing = CellMask::of_rows(20_000, 1000, 0..10_000);
        let hidden = hide_cells(&missing, 0.01, 7);
        let fraction = hidden.count() as f64 / 1e7;
        assert!((fraction - 0.01).abs() < 2e-4, "{fraction}");
        let (validation, test) = split_cells(&missing, SplitRatio::default(), 7);
        assert!((test.count() as f64 / 1e7 - 0.5).abs() < 1e-3);
        assert!((validation.count() as f64 / 1e7 - 0.1).abs() < 1e-3);
    }

    #[test]
    fn one_cell_at_least_and_none_at_invalid_rates() {
        let missing = CellMask::none(3, 3);
        assert_eq!(hide_cells(&missing, 1e-300, 1).count(), 1);
        assert_eq!(hide_cells(&missing, f64::NAN, 1).count(), 0);
        assert_eq!(hide_cells(&missing, -1.0, 1).count(), 0);
        assert_eq!(hide_cells(&CellMask::none(0, 3), 0.5, 1).count(), 0);
        assert_eq!(hide_cells(&CellMask::none(3, 0), 0.5, 1).count(), 0);
    }
}
