//! What propagation says about every cell, in several ways, as if the cell were unknown.
//!
//!   arb       propagation with the usual number of rounds, with few and with many
//!   one hop   (Σ over known neighbours x + mean) / (their number + 1)
//!   two hops  (A A X + mean) / (A A 1 + 1), over walks of two steps to known cells
//!
//! each nodes × features, as scores for numbers and as shares for everything that is 0 or 1.
//!
//! Unknown cells get what propagation says. A known cell gets what it says with the cell's row hidden,
//! in one of ten folds of the rows: so training sees guesses of the kind that missing rows will have,
//! and never the answer.

use std::ops::Range;

use graphfill_data::{CellMask, splits};
use rayon::prelude::*;

use crate::arb::Arb;
use crate::error::Result;
use crate::features::{GroupKind, Panel, Panels};
use crate::learning::Scales;
use crate::method::Task;
use crate::propagation::{Operators, Propagation, Purpose, ROUNDS};

/// Folds of the rows.
const FOLDS: usize = 10;
/// The rounds of the short and of the long propagation.
const FEW_ROUNDS: usize = 3;
const MANY_ROUNDS: usize = 30;
/// How many components there are, and which two are which.
pub(super) const WAYS: usize = 5;
pub(super) const USUAL: usize = 0;
pub(super) const ONE_HOP: usize = 3;

/// The components of some features: nodes × width each.
pub(super) struct PanelComponents {
    pub(super) features: Range<usize>,
    pub(super) width: usize,
    pub(super) parts: Vec<Vec<f32>>,
}

impl PanelComponents {
    /// One component of one cell.
    pub(super) fn value(&self, part: usize, row: usize, feature: usize) -> f64 {
        f64::from(self.parts[part][row * self.width + feature - self.features.start])
    }
}

/// A table as propagation sees it.
pub(super) struct Source<'a> {
    task: &'a Task<'a>,
    unknown: &'a CellMask,
    scales: &'a Scales,
    operators: Operators<'a>,
    offsets: Vec<f64>,
    /// The fold of each row; none where nothing of it is known.
    folds: Vec<Option<u8>>,
}

impl<'a> Source<'a> {
    pub(super) fn new(
        task: &'a Task<'a>,
        unknown: &'a CellMask,
        scales: &'a Scales,
        means: &[f64],
    ) -> Self {
        let features = task.features;
        let mut offsets = means.to_vec();
        for group in features.groups() {
            if !matches!(group.kind, GroupKind::Number | GroupKind::Count | GroupKind::NumericBlock)
            {
                offsets[group.features.clone()].fill(0.0);
            }
        }
        Source {
            task,
            unknown,
            scales,
            operators: Operators::of(task),
            offsets,
            folds: folds(features.rows(), unknown, task.seed),
        }
    }

    /// The panels that a table is cut into.
    pub(super) fn panels(&self) -> Panels {
        let Task { features, training, .. } = self.task;
        Panels::on(&training.device, features, &vec![true; features.groups().len()])
    }

    /// All components of a panel's features.
    pub(super) fn components(&self, range: Range<usize>) -> Result<PanelComponents> {
        let mut found: Option<PanelComponents> = None;
        for fold in [None].into_iter().chain((0..FOLDS as u8).map(Some)) {
            self.task.progress.check()?;
            let panel = self.panel(range.clone(), fold);
            let parts = self.propagated(&panel)?;
            let own = PanelComponents { features: range.clone(), width: panel.width, parts };
            match &mut found {
                None => found = Some(own),
                Some(found) => self.take_known(found, &own, fold),
            }
        }
        // The first fold is none at all, so there is always something.
        Ok(found.unwrap_or(PanelComponents { features: range, width: 0, parts: Vec::new() }))
    }

    /// The panel with a fold's rows hidden, as scores or shares.
    fn panel(&self, range: Range<usize>, fold: Option<u8>) -> Panel {
        let hidden: CellMask;
        let unknown = match fold {
            None => self.unknown,
            Some(_) => {
                let rows = (0..self.folds.len()).filter(|&row| self.folds[row] == fold);
                let features = self.task.features;
                let own = CellMask::of_rows(features.rows(), features.cells(), rows);
                hidden = self.unknown.union(&own);
                &hidden
            }
        };
        let mut panel = Panel::load(self.task.features, range.clone(), unknown, &self.offsets);
        for (group, about, inside) in self.task.features.groups_in(range.clone()) {
            for feature in inside {
                let (column, at) = (feature - about.features.start, feature - range.start);
                let offset = self.offsets[feature];
                for row in 0..panel.known.len() {
                    if panel.known[row] >> at & 1 == 1 {
                        let value = &mut panel.values[row * panel.width + at];
                        *value = self.scales.score(group, column, f64::from(*value) + offset);
                    }
                }
            }
        }
        panel
    }

    /// The five components of a panel.
    fn propagated(&self, panel: &Panel) -> Result<Vec<Vec<f32>>> {
        let ranking = self.task.features.groups_in(panel.features.clone());
        let ranking = ranking.into_iter().any(|(_, group, _)| group.is_ranking());
        let purpose = if ranking { Purpose::Ranking } else { Purpose::Values };
        let parameters = Arb.default(purpose, &self.task.fixed.of("arb"));
        let usual = parameters.get(ROUNDS).map_or(10, |rounds| rounds as usize);
        let mut parts = vec![Vec::new(); 3];
        let wanted = [usual, FEW_ROUNDS, MANY_ROUNDS];
        let mut rounds = wanted;
        rounds.sort_unstable();
        let loaded = self.operators.load(panel);
        Arb.run(&loaded, &parameters, &rounds, &mut |round, values| {
            for (part, wanted) in wanted.into_iter().enumerate() {
                if round == wanted {
                    parts[part] = values.to_vec();
                }
            }
        })?;
        let means = panel.known_means();
        let product = |panel_of: &[f32]| self.operators.adjacency_product(panel_of, panel.width);
        let (counts, mut sums) = (product(&panel.known_as_numbers())?, product(&panel.values)?);
        let (farther, mut two_hops) = (product(&counts)?, product(&sums)?);
        shrink(&mut two_hops, &farther, &means);
        shrink(&mut sums, &counts, &means);
        parts.extend([sums, two_hops]);
        Ok(parts)
    }

    /// Takes the known cells of a fold's rows from a run that has not seen them.
    fn take_known(&self, to: &mut PanelComponents, from: &PanelComponents, fold: Option<u8>) {
        let features = self.task.features;
        let rows = (0..self.folds.len()).filter(|&row| self.folds[row] == fold);
        for row in rows {
            if self.unknown.cells(row).is_empty() {
                let cells = row * to.width..(row + 1) * to.width;
                for (to, from) in to.parts.iter_mut().zip(&from.parts) {
                    to[cells.clone()].copy_from_slice(&from[cells.clone()]);
                }
                continue;
            }
            for (_, about, inside) in features.groups_in(to.features.clone()) {
                for feature in inside {
                    if self.unknown.contains(row, about.cell_of(feature)) {
                        continue;
                    }
                    let at = row * to.width + feature - to.features.start;
                    for (to, from) in to.parts.iter_mut().zip(&from.parts) {
                        to[at] = from[at];
                    }
                }
            }
        }
    }
}

/// sum ← (sum + mean) / (count + 1), the means being those of the columns.
fn shrink(sums: &mut [f32], counts: &[f32], means: &[f32]) {
    let rows = sums.par_chunks_mut(means.len()).zip(counts.par_chunks(means.len()));
    rows.for_each(|(sums, counts)| {
        for ((sum, count), mean) in sums.iter_mut().zip(counts).zip(means) {
            *sum = (*sum + mean) / (count + 1.0);
        }
    });
}

fn folds(rows: usize, unknown: &CellMask, seed: u64) -> Vec<Option<u8>> {
    let seen: Vec<u32> = (0..rows as u32).filter(|&row| !unknown.is_whole(row as usize)).collect();
    let mut folds = vec![None; rows];
    for (at, row) in splits::shuffled(&seen, seed).into_iter().enumerate() {
        folds[row as usize] = Some((at % FOLDS) as u8);
    }
    folds
}

#[cfg(test)]
mod tests {
    use graphfill_data::block::{BlockBuilder, BlockLayout};
    use graphfill_data::{
        Column, Direction, EdgeList, IdColumn, NodeIds, NodeTable, UndirectedGraph,
    };

    use super::*;
    use crate::features::{Centres, Features};
    use crate::learning::ScaleOptions;

    const ROWS: usize = 60;
    const WIDTH: usize = 9;

    /// Every node has the tags of its group of six; one cell is as it is not.
    fn table(changed: Option<(usize, u32)>) -> NodeTable {
        let mut builder = BlockBuilder::new(WIDTH, BlockLayout::List);
        for row in 0..ROWS {
            let is_one = |column: u32| (row / 6 + column as usize * 2 + row % 2) % 3 == 0;
            let columns = (0..WIDTH as u32).filter(|&c| is_one(c) != (changed == Some((row, c))));
            let mut cells: Vec<(u32, f64)> = columns.map(|column| (column, 1.0)).collect();
            builder.push_row(&mut cells);
        }
        let tags = builder.finish(CellMask::none(ROWS, WIDTH));
        let columns = vec![Column::block("tags", tags)];
        let ids = NodeIds::numbered(ROWS);
        NodeTable::new(IdColumn::default(), ids, columns, None).expect("a row per node")
    }

    fn ring_of_chords() -> UndirectedGraph {
        let mut edges = EdgeList::unweighted();
        for node in 0..ROWS as u32 {
            for step in [1, 2, 7] {
                edges.push(node, (node + step) % ROWS as u32, 1.0);
            }
        }
        edges.into_graph(ROWS, Direction::Undirected).expect("valid arcs").undirected()
    }

    /// All components, row by row.
    fn components(table: &NodeTable) -> Vec<Vec<f64>> {
        let (features, graph) = (Features::of(table), ring_of_chords());
        // Some rows unknown, some with a hole.
        let unknown = CellMask::build(ROWS, WIDTH, |row, cells| match row % 6 {
            5 => cells.extend(0..WIDTH as u32),
            4 => cells.push(3),
            _ => {}
        });
        let task = Task::new(&graph, &features, &unknown);
        let scales = Scales::of(&features, &unknown, ScaleOptions::PLAIN);
        let centres = Centres::of(&features, &unknown);
        let source = Source::new(&task, &unknown, &scales, &centres.means);
        let mut rows = vec![Vec::new(); ROWS];
        for range in source.panels().iter() {
            let found = source.components(range.clone()).expect("components");
            for (row, values) in rows.iter_mut().enumerate() {
                let parts = (0..WAYS).flat_map(|part| range.clone().map(move |f| (part, f)));
                values.extend(parts.map(|(part, feature)| found.value(part, row, feature)));
            }
        }
        rows
    }

    /// Training sees, of a known cell, only what the other rows say about it.
    #[test]
    fn a_known_cell_has_no_part_in_its_own_components() {
        let before = components(&table(None));
        for (row, column) in [(0, 0), (7, 4), (14, 8), (10, 5), (58, 0)] {
            let after = components(&table(Some((row, column))));
            assert_ne!(before, after, "others should be told");
            let known = |at: &usize| row % 6 != 4 || at % WIDTH != 3;
            let own = |rows: &[Vec<f64>]| -> Vec<f64> {
                (0..rows[row].len()).filter(known).map(|at| rows[row][at]).collect()
            };
            assert_eq!(own(&before), own(&after), "row {row}, column {column}");
        }
    }
}
