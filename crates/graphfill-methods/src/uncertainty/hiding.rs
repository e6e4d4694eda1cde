//! Which observed cells are hidden for calibration: hidden as the missing cells are missing.
//!
//! Coverage carries over from hidden to missing cells as far as the two are alike. So a hidden row
//! takes over the pattern of an incomplete row of about its degree: if that row lacks everything, so
//! does the hidden one; if it lacks two cells, the hidden one does. A row that lacks cells itself takes
//! a pattern that contains its own, or loses as many cells as make it as incomplete as the pattern, at least
//! one and about a tenth. One more hidden cell in a row with holes at random is exactly like a missing cell.

use std::collections::{HashSet, VecDeque};

use graphfill_data::{CellMask, UndirectedGraph, splits};

use crate::features::Features;

/// The share of a column's observed cells that one fold hides: enough to calibrate on, and few enough
/// for the second fit to be nearly as good as the first.
const HIDDEN_SHARE: f64 = 0.1;
/// Hidden cells per column beyond which a fold is large enough.
const MAX_CELLS: usize = 1000;
/// Hidden cells that a column gets first where it is missing in few rows.
const RARE_CELLS: usize = 50;
/// In small tables folds are added, at most so many, until each column has this many hidden cells.
const ENOUGH_CELLS: usize = 30;
const MAX_FOLDS: usize = 4;
/// The fewest rows with an observed cell that can spare any.
const MIN_ROWS: usize = 20;
/// The share of the rows of about one degree that a fold may hide, counted by cells.
const MAX_SHARE_OF_DEGREE: f64 = 0.34;
/// Among how many rows one that fits a pattern is looked for.
const CANDIDATES: usize = 12;

/// Sets of observed cells to hide, one per fold; no cell is in two of them. None where nothing is missing, or
/// where the table is too small to spare any.
pub fn calibration_folds(
    features: &Features<'_>,
    graph: &UndirectedGraph,
    missing: &CellMask,
    seed: u64,
) -> Vec<CellMask> {
    let incomplete = missing.touched_rows();
    let holes = holes_per_cell(features, missing, &incomplete);
    let holed: Vec<u32> = (0..features.cells() as u32).filter(|&c| holes[c as usize] > 0).collect();
    let observed: Vec<u32> = (0..features.rows() as u32)
        .filter(|&row| holed.iter().any(|&cell| !missing.contains(row as usize, cell as usize)))
        .collect();
    if incomplete.is_empty() || observed.len() < MIN_ROWS {
        return Vec::new();
    }
    let observed_cells = |cell: u32| features.rows() - holes[cell as usize];
    let quota = |cell: u32| {
        let share = (observed_cells(cell) as f64 * HIDDEN_SHARE).ceil() as usize;
        share.min(MAX_CELLS)
    };
    let patterns = splits::shuffled(&incomplete, seed.wrapping_add(0xca12));
    let mut hidden = vec![0usize; features.cells()];
    let mut used = HashSet::new();
    let mut folds = Vec::new();
    while folds.len() < MAX_FOLDS {
        let wanted: Vec<usize> = holed.iter().map(|&c| hidden[c as usize] + quota(c)).collect();
        let order =
            splits::shuffled(&observed, seed.wrapping_add(0xca11 + (folds.len() << 16) as u64));
        let mut rows = RowsByDegree::new(graph, &order);
        let mut fold = Fold { missing, used: &used, holed: &holed, wanted, hidden: &mut hidden };
        let rows = fold.take(&mut rows, graph, &patterns);
        if rows.is_empty() {
            break;
        }
        used.extend(rows.iter().flat_map(|(row, cells)| cells.iter().map(move |&c| (*row, c))));
        folds.push(mask_of(features, rows));
        let is_short = |&&cell: &&u32| hidden[cell as usize] < ENOUGH_CELLS;
        // A large table has enough in one fold, but for columns that are hardly ever missing.
        if !holed.iter().filter(is_short).any(|&cell| quota(cell) < ENOUGH_CELLS) {
            break;
        }
    }
    folds
}

/// How many rows lack each cell.
fn holes_per_cell(features: &Features<'_>, missing: &CellMask, incomplete: &[u32]) -> Vec<usize> {
    let mut holes = vec![0usize; features.cells()];
    for &row in incomplete {
        match missing.is_whole(row as usize) {
            true => holes.iter_mut().for_each(|holes| *holes += 1),
            false => missing.cells(row as usize).iter().for_each(|&c| holes[c as usize] += 1),
        }
    }
    holes
}

fn mask_of(features: &Features<'_>, mut rows: Vec<(u32, Vec<u32>)>) -> CellMask {
    rows.sort_unstable();
    let mut next = rows.into_iter().peekable();
    CellMask::build(features.rows(), features.cells(), |row, cells| {
        while let Some((_, hidden)) = next.next_if(|(other, _)| *other as usize == row) {
            cells.extend(hidden);
        }
    })
}

/// Rows that may be hidden, by the power of two of their degree.
struct RowsByDegree {
    groups: Vec<VecDeque<u32>>,
    /// How many rows of each group may still be hidden in this fold; a row of which some cells are hidden
    /// counts in part.
    left: Vec<f64>,
}

impl RowsByDegree {
    fn new(graph: &UndirectedGraph, order: &[u32]) -> Self {
        let mut groups = vec![VecDeque::new(); 33];
        for &row in order {
            groups[degree_group(graph, row)].push_back(row);
        }
        RowsByDegree { left: vec![0.0; groups.len()], groups }
    }

    fn begin_fold(&mut self) {
        let share = |group: &VecDeque<u32>| group.len() as f64 * MAX_SHARE_OF_DEGREE;
        self.left = self.groups.iter().map(share).collect();
    }

    /// A row of about this degree that fits best, the first of some rows with the highest rank, and its
    /// group.
    fn take(&mut self, degree_group: usize, rank: impl Fn(u32) -> u32) -> Option<(u32, usize)> {
        let nearest = |group: &usize| group.abs_diff(degree_group);
        let free = (0..self.groups.len())
            .filter(|&group| self.left[group] > 0.0 && !self.groups[group].is_empty());
        let group = free.min_by_key(nearest)?;
        let candidates = self.groups[group].iter().take(CANDIDATES).enumerate();
        let best = candidates.max_by_key(|(at, row)| (rank(**row), std::cmp::Reverse(*at)));
        let best = best?.0;
        let row = self.groups[group].remove(best)?;
        Some((row, group))
    }
}

fn degree_group(graph: &UndirectedGraph, row: u32) -> usize {
    (graph.neighbours(row as usize).len() as u32 + 1).ilog2() as usize
}

/// One fold while it is filled.
struct Fold<'a> {
    missing: &'a CellMask,
    /// Rows and cells that an earlier fold has hidden.
    used: &'a HashSet<(u32, u32)>,
    /// The cells that are missing in any row.
    holed: &'a [u32],
    /// How many cells of each are wanted.
    wanted: Vec<usize>,
    /// How many are hidden in all folds so far, one per cell of the table.
    hidden: &'a mut [usize],
}

impl Fold<'_> {
    /// Hides rows after the patterns until every column has its share: once each, then those that lack a
    /// column which has few so far, then all again.
    fn take(
        &mut self,
        rows: &mut RowsByDegree,
        graph: &UndirectedGraph,
        patterns: &[u32],
    ) -> Vec<(u32, Vec<u32>)> {
        rows.begin_fold();
        let mut taken = Vec::new();
        for &pattern in patterns {
            self.take_one(rows, graph, pattern, &mut taken);
        }
        let before: Vec<usize> =
            self.holed.iter().map(|&cell| self.hidden[cell as usize]).collect();
        for (at, &cell) in self.holed.iter().enumerate() {
            let enough = self.wanted[at].min(before[at].max(RARE_CELLS));
            if self.hidden[cell as usize] >= enough {
                continue;
            }
            let own = patterns.iter().filter(|&&pattern| self.lacks(pattern, cell));
            let own: Vec<u32> = own.copied().collect();
            // Some rows do not have the cell themselves.
            for &pattern in own.iter().cycle().take(4 * RARE_CELLS) {
                if self.hidden[cell as usize] >= enough {
                    break;
                }
                self.take_one(rows, graph, pattern, &mut taken);
            }
        }
        let mut passed_over = 0;
        for &pattern in patterns.iter().cycle() {
            if passed_over >= patterns.len() || self.is_full() {
                break;
            }
            match self.take_one(rows, graph, pattern, &mut taken) {
                true => passed_over = 0,
                false => passed_over += 1,
            }
        }
        taken
    }

    /// Hides one row after a pattern. False where all columns of the pattern have their share, or no row
    /// is left.
    fn take_one(
        &mut self,
        rows: &mut RowsByDegree,
        graph: &UndirectedGraph,
        pattern: u32,
        taken: &mut Vec<(u32, Vec<u32>)>,
    ) -> bool {
        let lacked: Vec<u32> =
            self.holed.iter().copied().filter(|&c| self.lacks(pattern, c)).collect();
        if !lacked.iter().any(|&cell| self.is_wanted(cell)) {
            return false;
        }
        let rank = |row: u32| self.fit(row, &lacked);
        let Some((row, group)) = rows.take(degree_group(graph, pattern), rank) else {
            return false;
        };
        let cells = self.hidden_as(row, &lacked);
        let known = self.holed.len() - self.missing.cells(row as usize).len().min(self.holed.len());
        rows.left[group] -= cells.len() as f64 / known.max(1) as f64;
        cells.iter().for_each(|&cell| self.hidden[cell as usize] += 1);
        let is_hidden = !cells.is_empty();
        if is_hidden {
            taken.push((row, cells));
        }
        is_hidden
    }

    fn is_full(&self) -> bool {
        self.holed.iter().zip(&self.wanted).all(|(&c, &wanted)| self.hidden[c as usize] >= wanted)
    }

    fn is_wanted(&self, cell: u32) -> bool {
        let Ok(at) = self.holed.binary_search(&cell) else { return false };
        self.hidden[cell as usize] < self.wanted[at]
    }

    fn lacks(&self, row: u32, cell: u32) -> bool {
        self.missing.contains(row as usize, cell as usize)
    }

    fn can_hide(&self, row: u32, cell: u32) -> bool {
        !self.lacks(row, cell) && !self.used.contains(&(row, cell))
    }

    /// How well a row can take over a pattern: 2 if it lacks nothing else, 1 if it has any of the
    /// pattern's cells, 0 if none.
    fn fit(&self, row: u32, pattern: &[u32]) -> u32 {
        let has_any = pattern.iter().any(|&cell| self.can_hide(row, cell));
        let own = self.missing.cells(row as usize);
        let lacks_no_other = own.iter().all(|cell| pattern.binary_search(cell).is_ok());
        u32::from(has_any) * (1 + u32::from(lacks_no_other))
    }

    /// The cells of the pattern that the row has; no more than make it as incomplete as the pattern, or
    /// a tenth of what it has, those first of which the fold has the fewest.
    fn hidden_as(&self, row: u32, pattern: &[u32]) -> Vec<u32> {
        let mut cells: Vec<u32> =
            pattern.iter().copied().filter(|&cell| self.can_hide(row, cell)).collect();
        let own = self.missing.cells(row as usize).len();
        let tenth = (self.holed.len() - own.min(self.holed.len())) as f64 * HIDDEN_SHARE;
        let count = pattern.len().saturating_sub(own).max(tenth.round() as usize).max(1);
        if cells.len() > count {
            let share = |cell: &u32| {
                let at = self.holed.binary_search(cell).unwrap_or(0);
                self.hidden[*cell as usize] as f64 / self.wanted[at].max(1) as f64
            };
            cells.sort_by(|a, b| share(a).total_cmp(&share(b)));
            cells.truncate(count);
            cells.sort_unstable();
        }
        cells
    }
}
