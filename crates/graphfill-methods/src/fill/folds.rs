//! Which observed rows a method is tested on before it fills.

use graphfill_data::{CellMask, splits};

use crate::features::Features;

/// The share of observed rows that one set hides: small, so that what is left is nearly as dense
/// as what the method will fill from.
const HIDDEN_SHARE: f64 = 0.1;
/// The most sets; small tables need several for a steady choice.
const MOST_SETS: usize = 10;
/// Rows hidden altogether beyond which a further set adds nothing.
const ENOUGH_ROWS: usize = 5000;
/// The fewest rows of a set, and the fewest observed rows that can tell methods apart.
const LEAST_HIDDEN: usize = 2;
const LEAST_OBSERVED: usize = 20;

/// Sets of observed rows to hide, each from all of the others' point of view observed. None where
/// the table is too small to spare any.
pub fn validation_sets(features: &Features<'_>, missing: &CellMask, seed: u64) -> Vec<CellMask> {
    let observed: Vec<u32> =
        (0..features.rows()).filter(|&row| !missing.is_whole(row)).map(|row| row as u32).collect();
    if observed.len() < LEAST_OBSERVED {
        return Vec::new();
    }
    let hidden = ((observed.len() as f64 * HIDDEN_SHARE).round() as usize).max(LEAST_HIDDEN);
    let sets = (ENOUGH_ROWS / hidden).clamp(1, MOST_SETS).min(observed.len() / hidden);
    let order = splits::shuffled(&observed, seed);
    (0..sets)
        .map(|set| {
            let rows = &order[set * hidden..(set + 1) * hidden];
            let whole = CellMask::of_rows(
                features.rows(),
                features.cells(),
                rows.iter().map(|&row| row as usize),
            );
            // Cells that the table lacks cannot be scored.
            whole.without(missing)
        })
        .collect()
}
