//! Which known cells a method is tested on before it fills: cells that are known, hidden as the
//! missing ones are. A row is hidden as some incomplete row is, cell for cell; so a table of whole
//! missing rows is tested on whole rows, and one of single holes on single holes, with everything
//! else in the row still to be seen.

use graphfill_data::{CellMask, splits};

use crate::features::Features;

/// The share of rows that one set hides cells of: small, so that what is left is nearly as dense as
/// what the method will fill from.
const HIDDEN_SHARE: f64 = 0.1;
/// The largest number of rows of a set: more do not sharpen a comparison.
const MAX_HIDDEN: usize = 4000;
/// The number of sets. Two are the fewest that can choose parameters and compare methods; small tables
/// need more for a steady choice.
const MIN_SETS: usize = 2;
const MAX_SETS: usize = 10;
/// Rows hidden as a whole, in all sets, beyond which a further set adds nothing. Of rows that lose single
/// cells it takes so many more.
const ENOUGH_ROWS: f64 = 1200.0;
/// The fewest rows of a set, and the fewest observed rows that can tell methods apart.
const MIN_HIDDEN: usize = 2;
const MIN_OBSERVED: usize = 20;
/// A column with few holes is tested on so many cells of a set all the same, or on a tenth.
const MIN_CELLS: usize = 10;

/// Sets of known cells to hide, mostly of other rows each. None where the table is too small to spare any.
pub fn validation_sets(features: &Features<'_>, missing: &CellMask, seed: u64) -> Vec<CellMask> {
    let incomplete = missing.touched_rows();
    let known = KnownCells::of(features, missing, &incomplete);
    let observed: Vec<u32> = known.rows();
    if observed.len() < MIN_OBSERVED {
        return Vec::new();
    }
    let hidden = (observed.len() as f64 * HIDDEN_SHARE).round() as usize;
    let hidden = hidden.clamp(MIN_HIDDEN, MAX_HIDDEN);
    let enough = (ENOUGH_ROWS / known.share_hidden(&incomplete)) as usize;
    let sets = (enough / hidden).clamp(MIN_SETS, MAX_SETS).min(observed.len() / hidden);
    let order = splits::shuffled(&observed, seed);
    let patterns = splits::shuffled(&incomplete, seed.wrapping_add(1));
    (0..sets)
        .map(|set| {
            let rows = &order[set * hidden..(set + 1) * hidden];
            let pattern = |at: usize| patterns[(set * hidden + at) % patterns.len()];
            let mut hiding: Vec<(u32, Vec<u32>)> = rows
                .iter()
                .enumerate()
                .map(|(at, &row)| (row, known.hidden_as(row, pattern(at))))
                .collect();
            // Single cells of other rows, which keep the rest of theirs.
            let others = order[(set + 1) * hidden..].iter().chain(&order[..set * hidden]);
            known.top_up(&mut hiding, &others.copied().collect::<Vec<u32>>());
            hiding.sort_unstable();
            CellMask::build(features.rows(), features.cells(), |row, cells| {
                let from = hiding.partition_point(|(other, _)| (*other as usize) < row);
                let own = hiding[from..].iter().take_while(|(other, _)| *other as usize == row);
                own.for_each(|(_, hidden)| cells.extend_from_slice(hidden));
            })
        })
        .collect()
}

/// Known cells of the columns that have holes.
struct KnownCells<'a> {
    missing: &'a CellMask,
    /// The cells of a row that are missing anywhere.
    holed: Vec<u32>,
    /// How many rows know each of them.
    counts: Vec<usize>,
}

impl<'a> KnownCells<'a> {
    fn of(features: &Features<'_>, missing: &'a CellMask, incomplete: &[u32]) -> Self {
        let mut holes = vec![0usize; features.cells()];
        for &row in incomplete {
            match missing.is_whole(row as usize) {
                true => holes.iter_mut().for_each(|holes| *holes += 1),
                false => missing.cells(row as usize).iter().for_each(|&c| holes[c as usize] += 1),
            }
        }
        let holed: Vec<u32> =
            (0..features.cells() as u32).filter(|&cell| holes[cell as usize] > 0).collect();
        let counts = holed.iter().map(|&cell| features.rows() - holes[cell as usize]).collect();
        KnownCells { missing, holed, counts }
    }

    /// The rows that know any of these cells.
    fn rows(&self) -> Vec<u32> {
        let knows = |row: &u32| {
            let row = *row as usize;
            !self.missing.is_whole(row)
                && self.holed.iter().any(|&cell| !self.missing.contains(row, cell as usize))
        };
        (0..self.missing.rows() as u32).filter(knows).collect()
    }

    /// The mean share of these cells that an incomplete row lacks.
    fn share_hidden(&self, incomplete: &[u32]) -> f64 {
        let lacked = |row: &u32| match self.missing.is_whole(*row as usize) {
            true => self.holed.len(),
            false => self.missing.cells(*row as usize).len(),
        };
        let lacked: usize = incomplete.iter().map(lacked).sum();
        let all = incomplete.len() * self.holed.len();
        if all == 0 { 1.0 } else { (lacked as f64 / all as f64).clamp(0.02, 1.0) }
    }

    /// The cells that a row knows and another one lacks; one that it knows where there are none.
    fn hidden_as(&self, row: u32, pattern: u32) -> Vec<u32> {
        let known = |cell: &&u32| !self.missing.contains(row as usize, **cell as usize);
        let lacked = |cell: &&u32| self.missing.contains(pattern as usize, **cell as usize);
        let cells: Vec<u32> = self.holed.iter().filter(known).filter(lacked).copied().collect();
        match cells.is_empty() {
            false => cells,
            true => self.holed.iter().filter(known).take(1).copied().collect(),
        }
    }

    /// Hides single cells of other rows where few of the patterns lack a column.
    fn top_up(&self, hiding: &mut Vec<(u32, Vec<u32>)>, others: &[u32]) {
        let mut counts = vec![0usize; self.holed.len()];
        for (_, cells) in hiding.iter() {
            for cell in cells {
                if let Ok(at) = self.holed.binary_search(cell) {
                    counts[at] += 1;
                }
            }
        }
        let mut next = others.iter().cycle();
        for ((&cell, &known), count) in self.holed.iter().zip(&self.counts).zip(counts) {
            let enough = MIN_CELLS.min((known as f64 * HIDDEN_SHARE) as usize);
            let wanted = enough.saturating_sub(count);
            let knows = |row: &&u32| !self.missing.contains(**row as usize, cell as usize);
            let rows = next.by_ref().take(others.len()).filter(knows).take(wanted);
            hiding.extend(rows.map(|&row| (row, vec![cell])));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Features;
    use graphfill_data::generator::{GeneratorConfig, generate};

    #[test]
    fn cells_are_hidden_as_the_missing_ones_are() {
        let town = generate(&GeneratorConfig { nodes: 400, ..GeneratorConfig::default() })
            .expect("a town")
            .dataset;
        let features = Features::of(&town.table);
        let missing = features.missing();
        let sets = validation_sets(&features, &missing, 7);
        assert!(sets.len() > 1);
        let mut seen = CellMask::none(features.rows(), features.cells());
        for set in &sets {
            assert_eq!(set.without(&missing), *set, "only known cells");
            assert!(!set.is_empty(), "something to test on");
            seen = seen.union(set);
        }
        // Some people of the town lack everything, others single cells: both are tried.
        assert!(seen.whole_rows() > 0 && seen.whole_rows() < seen.touched_rows().len());
        assert_eq!(sets, validation_sets(&features, &missing, 7));
    }
}
