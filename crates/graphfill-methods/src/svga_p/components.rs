//! What propagation says about every cell, in several ways, as if the cell were unknown.
//!
//!   arb       propagation with the usual number of rounds, with few and with many
//!   one hop   (Σ over known neighbours x + mean) / (their number + 1)
//!   two hops  (A A X + mean) / (A A 1 + 1), over walks of two steps to known cells
//!   along out-arcs, along in-arcs
//!             the same one and two hops with A_0 and A_1 ([`crate::propagation::IN_SHARE`]), on directed graphs
//!   fields    regressions on Gaussian Markov random fields ([`crate::gmrf`]), of the numbers of tables
//!             of at most 128 features
//!   spectral  regression on positions in the graph ([`super::spectral`]), of the numbers of tables of at
//!             most 128 features whose rows are known or unknown as a whole
//!
//! each nodes × features, as scores for numbers and as shares for everything that is 0 or 1.
//!
//! Unknown cells get what propagation says. A known cell gets what it says with the cell's row hidden,
//! in one of some folds of the rows: so training sees guesses of the kind that missing rows will have,
//! and never the answer.

use std::ops::Range;

use graphfill_data::{CellMask, splits};
use graphfill_engine::cpu::panel_width;
use rayon::prelude::*;

use super::spectral::{Embedding, SpectralRegression};
use crate::arb::Arb;
use crate::error::Result;
use crate::features::{GroupKind, MIN_KNOWN, Panel, Panels};
use crate::gmrf::{Field, solve};
use crate::learning::Likelihoods;
use crate::method::Task;
use crate::parameters::Parameters;
use crate::propagation::{IN_SHARE, Operators, Propagation, Purpose, ROUNDS};

/// Folds of the rows, and those of a table of many rows, where they cost the most.
const FOLDS: u8 = 10;
const MANY_ROWS: usize = 200_000;
const FOLDS_OF_MANY_ROWS: u8 = 5;
/// How often the edges are passed to find all components, selection and refit together.
pub(super) const PASSES_OF_EDGES: f64 = 2.0 * (FOLDS as f64 + 1.0) * (MANY_ROUNDS as f64 + 4.0);
/// The columns of the widest panel.
const MAX_COLUMNS: usize = 64;
/// The rounds of the short and of the long propagation.
const FEW_ROUNDS: usize = 3;
const MANY_ROUNDS: usize = 30;
/// The random fields: smoothness, reach and noise.
pub(super) const FIELDS: [Field; 2] = [
    Field { smoothness: 1, kappa: 0.03, noise: 0.1 },
    Field { smoothness: 2, kappa: 0.1, noise: 0.3 },
];
/// The residual of their solution; smaller ones change no error by more than 0.2%.
const FIELD_TOLERANCE: f64 = 3e-5;
/// Tables of more features do without the fields, whose solution takes many passes over the edges, and
/// without positions in the graph.
pub(super) const MAX_FIELD_FEATURES: usize = 128;
/// How many components there are of shares and, at the most, of values, and which two are which; on directed
/// graphs so many more of both.
pub(super) const WAYS: usize = 5;
pub(super) const VALUE_WAYS: usize = WAYS + FIELDS.len() + 1;
pub(super) const DIRECTED_WAYS: usize = 4;
pub(super) const USUAL: usize = 0;
pub(super) const ONE_HOP: usize = 3;
const TWO_HOPS: usize = 4;

/// The components of some features: nodes × width each.
pub(super) struct PanelComponents {
    pub(super) features: Range<usize>,
    pub(super) width: usize,
    pub(super) parts: Vec<Vec<f32>>,
    /// The number of components of shares, which come first; the others are of values alone.
    pub(super) shared: usize,
}

impl PanelComponents {
    /// One component of a row.
    pub(super) fn row(&self, part: usize, row: usize) -> &[f32] {
        &self.parts[part][row * self.width..row * self.width + self.features.len()]
    }

    /// One component of one cell.
    #[cfg(test)]
    pub(super) fn value(&self, part: usize, row: usize, feature: usize) -> f64 {
        f64::from(self.parts[part][row * self.width + feature - self.features.start])
    }
}

/// A table as propagation sees it.
pub(super) struct Source<'a> {
    task: &'a Task<'a>,
    unknown: &'a CellMask,
    likelihoods: &'a Likelihoods,
    operators: Operators<'a>,
    offsets: Vec<f64>,
    /// The fold of each row; none where nothing of it is known.
    folds: Vec<Option<u8>>,
    fold_count: u8,
    /// Where rows are known or unknown as a whole, in a graph that is small enough.
    embedding: Option<&'a Embedding>,
    /// Whether there are components along out-arcs and along in-arcs.
    has_directions: bool,
}

impl<'a> Source<'a> {
    pub(super) fn new(
        task: &'a Task<'a>,
        unknown: &'a CellMask,
        likelihoods: &'a Likelihoods,
        means: &[f64],
        embedding: Option<&'a Embedding>,
    ) -> Self {
        let features = task.features;
        let mut offsets = means.to_vec();
        for group in features.groups() {
            if !is_value(&group.kind) {
                offsets[group.features.clone()].fill(0.0);
            }
        }
        let fold_count = if features.rows() > MANY_ROWS { FOLDS_OF_MANY_ROWS } else { FOLDS };
        Source {
            task,
            unknown,
            likelihoods,
            operators: Operators::of(task),
            offsets,
            folds: folds(features.rows(), unknown, fold_count, task.context.seed),
            fold_count,
            embedding,
            has_directions: task.graph.is_directed(),
        }
    }

    /// With or without components along out-arcs and along in-arcs, as a saved model has them. Without
    /// directions in the graph, both are those along all edges.
    pub(super) fn with_directions(self, has_directions: bool) -> Self {
        Source { has_directions, ..self }
    }

    /// The panels that a table is cut into.
    pub(super) fn panels(&self) -> Panels {
        let Task { features, context, .. } = self.task;
        Panels::on(&context.device, features, &vec![true; features.groups().len()])
    }

    /// All components of a panel's features.
    pub(super) fn components(&self, range: Range<usize>) -> Result<PanelComponents> {
        let panel = self.panel(range.clone());
        let has_values = self.has_values(&panel);
        let fields = if self.has_fields(&panel) { FIELDS.len() } else { 0 };
        let spectral = has_values && self.embedding.is_some();
        let shared = if self.has_directions { WAYS + DIRECTED_WAYS } else { WAYS };
        let ways = shared + fields + usize::from(spectral);
        let parts = vec![vec![0.0f32; panel.values.len()]; ways];
        let mut found = PanelComponents { features: range, width: panel.width, parts, shared };
        // The first run hides nothing, the others a fold each.
        let runs: Vec<Option<u8>> =
            [None].into_iter().chain((0..self.fold_count).map(Some)).collect();
        let side_by_side = (MAX_COLUMNS / panel.features.len().max(1)).max(1);
        for runs in runs.chunks(side_by_side) {
            self.task.context.progress.check()?;
            self.propagate(&panel, runs, &mut found)?;
        }
        if let Some(embedding) = self.embedding.filter(|_| has_values) {
            let (folds, width) = (&self.folds, panel.width);
            let own =
                SpectralRegression::fit(embedding, folds, self.fold_count, &panel.values, width);
            if let Some(own) = own {
                found.parts[ways - 1] = own.estimates(&panel.values, width);
            }
        }
        Ok(found)
    }

    fn has_values(&self, panel: &Panel) -> bool {
        let mut groups = self.task.features.groups_in(panel.features.clone());
        groups.any(|(_, group, _)| is_value(&group.kind))
    }

    /// Whether the numbers of a panel get fields.
    fn has_fields(&self, panel: &Panel) -> bool {
        self.task.features.width() <= MAX_FIELD_FEATURES && self.has_values(panel)
    }

    /// The panel of what is known, as scores or shares.
    fn panel(&self, range: Range<usize>) -> Panel {
        let features = self.task.features;
        let mut panel = Panel::load(features, range.clone(), self.unknown, &self.offsets);
        let groups: Vec<(usize, usize, usize)> = features
            .groups_in(range.clone())
            .flat_map(|(group, about, inside)| {
                inside.map(move |feature| (group, feature - about.features.start, feature))
            })
            .collect();
        let rows = panel.values.par_chunks_mut(panel.width).zip(&panel.known);
        rows.for_each(|(values, known)| {
            for &(group, column, feature) in &groups {
                let at = feature - range.start;
                if known >> at & 1 == 1 {
                    let value = f64::from(values[at]) + self.offsets[feature];
                    values[at] = self.likelihoods.logit(group, column, value);
                }
            }
        });
        panel
    }

    /// Several runs as one: the panel once for each of them, side by side, with the fold's rows hidden.
    /// One pass over the edges then serves all of them.
    fn propagate(
        &self,
        panel: &Panel,
        runs: &[Option<u8>],
        to: &mut PanelComponents,
    ) -> Result<()> {
        let columns = panel.features.len();
        let wide = self.side_by_side(panel, runs);
        let ranking = self.task.features.groups_in(panel.features.clone());
        let ranking = ranking.into_iter().any(|(_, group, _)| group.is_ranking());
        let purpose = if ranking { Purpose::Ranking } else { Purpose::Values };
        let parameters = Propagation::default(&Arb::new(), purpose, &Parameters::default());
        let usual = parameters.get(ROUNDS).map_or(10, |rounds| rounds as usize);
        let wanted = [usual, FEW_ROUNDS, MANY_ROUNDS];
        let mut rounds = wanted;
        rounds.sort_unstable();
        // A known cell takes the run that has not seen it, an unknown one the run that hides nothing.
        let mut take = |part: usize, values: &[f32]| {
            let rows = to.parts[part].par_chunks_mut(panel.width).enumerate();
            rows.for_each(|(row, to)| {
                let from = &values[row * wide.width..(row + 1) * wide.width];
                let place = |fold| runs.iter().position(|&run| run == fold).map(|at| at * columns);
                let (hiding, seeing) = (place(self.folds[row]), place(None));
                for (column, to) in to[..columns].iter_mut().enumerate() {
                    let is_known = panel.known[row] >> column & 1 == 1;
                    if let Some(run) = if is_known { hiding } else { seeing } {
                        *to = from[run + column];
                    }
                }
            });
        };
        let loaded = self.operators.load(&wide);
        Arb::new().run(&loaded, &parameters, &rounds, &mut |round, values| {
            for (part, wanted) in wanted.into_iter().enumerate() {
                if round == wanted {
                    take(part, values);
                }
            }
        })?;
        let mut means = wide.known_means();
        for (at, mean) in means.iter_mut().take(columns * runs.len()).enumerate() {
            if let Some(trained) = self.trained_mean(panel.features.start + at % columns) {
                *mean = trained;
            }
        }
        // Both directions alike, then A_0 and A_1, whose arcs have twice their weights.
        let mut ways = vec![(Parameters::default(), ONE_HOP, TWO_HOPS)];
        if self.has_directions {
            let along = |share: f64| Parameters::default().with(IN_SHARE, share);
            ways.extend([(along(0.0), WAYS, WAYS + 1), (along(1.0), WAYS + 2, WAYS + 3)]);
        }
        for (parameters, one_hop, two_hops) in ways {
            let along = self.operators.along(&parameters);
            let product = |of: &[f32]| -> Result<Vec<f32>> {
                let mut product = along.adjacency_product(of, wide.width)?;
                if along.is_one_way() {
                    product.par_iter_mut().for_each(|value| *value *= 0.5);
                }
                Ok(product)
            };
            let (counts, mut sums) = (product(&wide.known_as_numbers())?, product(&wide.values)?);
            let mut second = product(&sums)?;
            shrink(&mut sums, &counts, &means);
            take(one_hop, &sums);
            drop(sums);
            shrink(&mut second, &product(&counts)?, &means);
            take(two_hops, &second);
        }
        if self.has_fields(panel) {
            let first = if self.has_directions { WAYS + DIRECTED_WAYS } else { WAYS };
            for (at, field) in FIELDS.into_iter().enumerate() {
                take(first + at, &solve(&self.operators, &wide, field, FIELD_TOLERANCE));
            }
        }
        Ok(())
    }

    /// The mean of a feature as a component has it, from the table that a model was trained on, where
    /// this later table knows too few cells.
    fn trained_mean(&self, feature: usize) -> Option<f32> {
        let mean = self.task.features.trained_mean(feature)?;
        let (group, about, _) = self.task.features.groups_in(feature..feature + 1).next()?;
        let known = (0..self.task.features.rows())
            .filter(|&row| !self.unknown.contains(row, about.cell_of(feature)))
            .take(MIN_KNOWN as usize);
        let column = feature - about.features.start;
        (known.count() < MIN_KNOWN as usize).then(|| self.likelihoods.logit(group, column, mean))
    }

    /// The panel once for each run, with the rows of its fold hidden.
    fn side_by_side(&self, panel: &Panel, runs: &[Option<u8>]) -> Panel {
        let columns = panel.features.len();
        let all = columns * runs.len();
        let width = panel_width(all);
        let mut values = vec![0.0f32; panel.known.len() * width];
        let mut known = vec![0u64; panel.known.len()];
        let rows = values.par_chunks_mut(width).zip(&mut known).enumerate();
        rows.for_each(|(row, (values, known))| {
            let own = &panel.values[row * panel.width..row * panel.width + columns];
            for (at, run) in runs.iter().enumerate() {
                if run.is_none() || self.folds[row] != *run {
                    values[at * columns..(at + 1) * columns].copy_from_slice(own);
                    *known |= panel.known[row] << (at * columns);
                }
            }
        });
        let offsets = panel.offsets.repeat(runs.len());
        Panel { features: 0..all, width, values, known, offsets }
    }
}

/// Whether a group holds numbers rather than shares.
pub(super) fn is_value(kind: &GroupKind) -> bool {
    matches!(kind, GroupKind::Number | GroupKind::Count | GroupKind::NumericBlock)
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

/// Rows dealt out to folds at random.
fn folds(rows: usize, unknown: &CellMask, count: u8, seed: u64) -> Vec<Option<u8>> {
    let seen: Vec<u32> = (0..rows as u32).filter(|&row| !unknown.is_whole(row as usize)).collect();
    let mut folds = vec![None; rows];
    for (at, row) in splits::shuffled(&seen, seed).into_iter().enumerate() {
        folds[row as usize] = Some((at % usize::from(count)) as u8);
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
    use crate::features::{ColumnMeans, Features};
    use crate::learning::LikelihoodOptions;

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

    fn ring_of_chords(direction: Direction) -> UndirectedGraph {
        let mut edges = EdgeList::unweighted();
        for node in 0..ROWS as u32 {
            for step in [1, 2, 7] {
                edges.push(node, (node + step) % ROWS as u32, 1.0);
            }
        }
        edges.into_graph(ROWS, direction).expect("valid arcs").undirected()
    }

    /// All components of shares, row by row, panel by panel, one after the other.
    fn components(table: &NodeTable, direction: Direction) -> Vec<Vec<f64>> {
        let (features, graph) = (Features::of(table), ring_of_chords(direction));
        // Some rows unknown, some with a hole.
        let unknown = CellMask::build(ROWS, WIDTH, |row, cells| match row % 6 {
            5 => cells.extend(0..WIDTH as u32),
            4 => cells.push(3),
            _ => {}
        });
        let context = crate::Context::default();
        let task = Task::new(&graph, &features, &unknown, &context);
        let likelihoods = Likelihoods::fit(&features, &unknown, LikelihoodOptions::PLAIN);
        let centres = ColumnMeans::of(&features, &unknown);
        let source = Source::new(&task, &unknown, &likelihoods, &centres.means, None);
        let mut rows = vec![Vec::new(); ROWS];
        for range in source.panels().iter() {
            let found = source.components(range.clone()).expect("components");
            for (row, values) in rows.iter_mut().enumerate() {
                let all = 0..found.shared;
                let parts = all.flat_map(|part| range.clone().map(move |f| (part, f)));
                values.extend(parts.map(|(part, feature)| found.value(part, row, feature)));
            }
        }
        rows
    }

    /// Training sees, of a known cell, only what the other rows say about it.
    #[test]
    fn a_known_cell_has_no_part_in_its_own_components() {
        for direction in [Direction::Undirected, Direction::Directed] {
            check_own_cells(direction);
        }
    }

    fn check_own_cells(direction: Direction) {
        let before = components(&table(None), direction);
        for (row, column) in [(0, 0), (7, 4), (14, 8), (10, 5), (58, 0)] {
            let after = components(&table(Some((row, column))), direction);
            assert_ne!(before, after, "others should be told");
            let known = |at: &usize| row % 6 != 4 || at % WIDTH != 3;
            let own = |rows: &[Vec<f64>]| -> Vec<f64> {
                (0..rows[row].len()).filter(known).map(|at| rows[row][at]).collect()
            };
            assert_eq!(own(&before), own(&after), "row {row}, column {column}");
        }
    }

    /// On a directed graph there are means along out-arcs and along in-arcs behind the same others.
    #[test]
    fn arcs_add_means_along_them() {
        let undirected = components(&table(None), Direction::Undirected);
        let directed = components(&table(None), Direction::Directed);
        assert_eq!(undirected[0].len(), WAYS * WIDTH, "one panel");
        assert_eq!(directed[0].len(), (WAYS + DIRECTED_WAYS) * WIDTH);
        let table = table(None);
        let features = Features::of(&table);
        let is_known = |row: usize, feature: usize| row % 6 != 5 && (row % 6, feature) != (4, 3);
        let mut compared = 0;
        for (row, (one, other)) in undirected.iter().zip(&directed).enumerate() {
            assert_eq!(one[..], other[..WAYS * WIDTH], "row {row}");
            // Unknown rows are told what all known cells say.
            if row % 6 != 5 {
                continue;
            }
            for (part, step_back) in [(WAYS, false), (WAYS + 2, true)] {
                let others = [1, 2, 7].map(|step| match step_back {
                    false => (row + step) % ROWS,
                    true => (row + ROWS - step) % ROWS,
                });
                for feature in 0..WIDTH {
                    let known = || others.into_iter().filter(|&other| is_known(other, feature));
                    let sum: f64 = known().map(|other| features.value(0, other, feature)).sum();
                    // (sum + mean) / (count + 1), the mean a share.
                    let count = known().count() as f64;
                    let mean = (count + 1.0) * other[part * WIDTH + feature] - sum;
                    assert!((1e-3..=0.999).contains(&mean), "row {row}, part {part}: {mean}");
                    compared += 1;
                }
            }
        }
        assert_eq!(compared, ROWS / 6 * 2 * WIDTH);
    }
}
