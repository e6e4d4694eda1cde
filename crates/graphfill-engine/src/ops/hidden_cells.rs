//! Cells that are hidden in a step:  out[i, c] = 1 if row i is hidden, or its cell cell_of(c) is
//!
//! rows × columns of 0 and 1, drawn anew in each step. A row is hidden as a whole with one
//! probability; in the other rows, each cell is hidden with another, and all columns that a cell
//! has (the levels of a category) go together. Each draw is a function of seed, stream, step and
//! the number of its row or cell, so threads draw their own parts.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::cpu::{Call, PORTION};
use crate::cuda;
use crate::fingerprint::Fingerprint;
use crate::program::{Constant, Mismatch, Operation, Program};
use crate::random::{KEEP_GROUP, Key, keep_factors, keep_threshold};
use crate::{Matrix, Shape};

const HIDDEN_CELLS: cuda::Kernel =
    cuda::Source::new("hidden_cells.cu", include_str!("hidden_cells.cu")).kernel("hidden_cells");

struct HiddenCells {
    rows: usize,
    /// The number of each column's cell, counted from 0.
    cell_of_column: Arc<[u32]>,
    /// Where the columns of each cell begin, and where those of the last one end.
    first_columns: Arc<[u32]>,
    share: f32,
    whole_rows: f32,
    cell_stream: u32,
    row_stream: u32,
}

impl Program {
    /// Which cells of a table are hidden in a step, as 1 and 0, drawn anew in each step. A whole row
    /// is hidden with probability `whole_rows`; otherwise each cell is, with probability `share`.
    /// `cell_of_column` says which cell each column belongs to, as numbers that never fall: columns
    /// with the same number, such as those of one category, are hidden together.
    #[track_caller]
    pub fn hidden_cells(
        &self,
        rows: usize,
        cell_of_column: &[u32],
        share: f32,
        whole_rows: f32,
    ) -> Matrix<'_> {
        for (name, probability) in [("share", share), ("whole rows", whole_rows)] {
            if !(0.0..=1.0).contains(&probability) {
                let problem = format!("the probability of {name} is {probability}, not in 0 to 1");
                self.fail("hidden cells", problem);
            }
        }
        if let Some(at) = cell_of_column.windows(2).position(|pair| pair[0] > pair[1]) {
            let [left, right] = [cell_of_column[at], cell_of_column[at + 1]];
            let column = at + 1;
            let problem = format!("column {column} is of cell {right}, the one before of {left}");
            self.fail("hidden cells", format!("{problem}: the numbers must not fall"));
        }
        let mut first_columns = Vec::new();
        let mut cells = Vec::new();
        for (column, cell) in cell_of_column.iter().enumerate() {
            if column == 0 || cell_of_column[column - 1] != *cell {
                first_columns.push(column as u32);
            }
            cells.push(first_columns.len() as u32 - 1);
        }
        first_columns.push(cells.len() as u32);
        let (cell_stream, row_stream) = (self.new_stream(), self.new_stream());
        let (cell_of_column, first_columns) = (cells.into(), first_columns.into());
        let operation = HiddenCells {
            rows,
            cell_of_column,
            first_columns,
            share,
            whole_rows,
            cell_stream,
            row_stream,
        };
        self.record(operation, &[])
    }
}

/// It has no inputs, so that nobody ever asks for its gradient.
impl Operation for HiddenCells {
    fn name(&self) -> &'static str {
        "hidden cells"
    }

    fn identity(&self) -> String {
        let HiddenCells { rows, share, whole_rows, cell_stream, row_stream, .. } = self;
        let columns = self.cell_of_column.len();
        let mut cells = Fingerprint::default();
        cells.add_all(self.cell_of_column.iter().map(|&cell| u64::from(cell)));
        let cells = cells.value();
        format!(
            "hidden_cells({rows} × {columns}, cells={cells:016x}, share={share}, \
             whole_rows={whole_rows}, streams={cell_stream} and {row_stream})"
        )
    }

    fn shapes(&self, _inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        Ok(vec![Shape::new(self.rows, self.cell_of_column.len())])
    }

    fn constants(&self) -> Vec<Constant> {
        let constant = |numbers: &Arc<[u32]>| Constant {
            identity: numbers.as_ptr().addr(),
            bytes: size_of_val(&numbers[..]) as u64,
        };
        vec![constant(&self.cell_of_column), constant(&self.first_columns)]
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let columns = self.cell_of_column.len();
        let (cell_key, row_key) = (call.key(self.cell_stream), call.key(self.row_stream));
        let rows_a_task = (PORTION / columns.max(1)).max(1);
        let tasks = call.output(0).par_chunks_mut((rows_a_task * columns).max(1)).enumerate();
        tasks.for_each(|(task, out)| {
            let first = task * rows_a_task;
            Arch::new().dispatch(Rows { operation: self, first, out, cell_key, row_key });
        });
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let (cells, columns) = (self.first_columns.len() - 1, self.cell_of_column.len());
        let count = self.rows * cells;
        let identity = self.first_columns.as_ptr().addr();
        let first_columns =
            call.constant(identity, "first columns", || self.first_columns.to_vec())?;
        let arguments = [
            call.context().into(),
            self.cell_stream.into(),
            self.row_stream.into(),
            keep_threshold(self.share).into(),
            keep_threshold(self.whole_rows).into(),
            first_columns.into(),
            (cells as u32).into(),
            (columns as u32).into(),
            call.output(0).into(),
            count.into(),
        ];
        call.launch(HIDDEN_CELLS, cuda::Grid::strided(count.div_ceil(8)), arguments);
        Ok(())
    }
}

impl fmt::Debug for HiddenCells {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.identity())
    }
}

/// Some rows, on one thread.
struct Rows<'a> {
    operation: &'a HiddenCells,
    first: usize,
    out: &'a mut [f32],
    cell_key: Key,
    row_key: Key,
}

impl WithSimd for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Rows { operation, first, out, cell_key, row_key } = self;
        let HiddenCells { cell_of_column, first_columns, share, whole_rows, .. } = operation;
        let (columns, cells) = (cell_of_column.len(), first_columns.len() - 1);
        let mut row_draws = Draws::new(row_key, keep_threshold(*whole_rows));
        let mut cell_draws = Draws::new(cell_key, keep_threshold(*share));
        for (at, out) in out.chunks_exact_mut(columns).enumerate() {
            let row = first + at;
            if row_draws.kept(simd, row..row + 1)[0] == 0.0 {
                out.fill(1.0);
                continue;
            }
            let (mut cell, end) = (row * cells, (row + 1) * cells);
            while cell < end {
                let kept = cell_draws.kept(simd, cell..end);
                let begin = cell - row * cells;
                let from = first_columns[begin] as usize;
                let to = first_columns[begin + kept.len()] as usize;
                let (out, cells) = (&mut out[from..to], &cell_of_column[from..to]);
                if kept.len() == out.len() {
                    // A column each.
                    for (out, kept) in out.iter_mut().zip(kept) {
                        *out = 1.0 - kept;
                    }
                } else {
                    for (out, &cell) in out.iter_mut().zip(cells) {
                        *out = 1.0 - kept[cell as usize - begin];
                    }
                }
                cell += kept.len();
            }
        }
    }
}

/// Draws at rising places of a sequence, a group at a time.
struct Draws {
    key: Key,
    threshold: u32,
    group: Option<usize>,
    kept: [f32; KEEP_GROUP],
}

impl Draws {
    #[inline(always)]
    fn new(key: Key, threshold: u32) -> Self {
        Draws { key, threshold, group: None, kept: [0.0; KEEP_GROUP] }
    }

    /// 0 for what is hidden and 1 for what is not: of these places, as many as are in the group of
    /// the first.
    #[inline(always)]
    fn kept<S: Simd>(&mut self, simd: S, places: Range<usize>) -> &[f32] {
        let group = places.start / KEEP_GROUP;
        if self.group != Some(group) {
            self.kept = keep_factors(simd, self.key, group as u32, self.threshold, 1.0);
            self.group = Some(group);
        }
        let begin = places.start % KEEP_GROUP;
        &self.kept[begin..KEEP_GROUP.min(begin + places.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;
    use crate::random::kept_in_group;
    use crate::testing::{Reference, check};
    use proptest::prelude::*;

    /// Numbers that never fall, from the widths of cells and the gaps between their numbers.
    fn cells_of(cells: &[(usize, u32)]) -> Vec<u32> {
        let mut number = 0;
        let mut columns = Vec::new();
        for &(width, gap) in cells {
            number += gap;
            columns.extend(std::iter::repeat_n(number, width));
        }
        columns
    }

    /// What the first random operation of the test draws in step 0, cell by cell.
    fn plainly(rows: usize, widths: &[usize], share: f32, whole_rows: f32) -> Reference {
        let program = Program::new("test");
        let keys =
            [program.new_stream(), program.new_stream()].map(|stream| Key::new(5, stream, 0));
        let hidden = |key: Key, place: usize, probability: f32| {
            let group =
                kept_in_group(key, (place / KEEP_GROUP) as u32, keep_threshold(probability));
            group[place % KEEP_GROUP] == 0.0
        };
        let mut values = Vec::new();
        for row in 0..rows {
            let whole = hidden(keys[1], row, whole_rows);
            for (cell, &width) in widths.iter().enumerate() {
                let hidden = whole || hidden(keys[0], row * widths.len() + cell, share);
                values.extend(std::iter::repeat_n(f64::from(u8::from(hidden)), width));
            }
        }
        Reference { shape: Shape::new(rows, widths.iter().sum()), values }
    }

    fn draws(program: Program, threads: usize) -> [Vec<f32>; 2] {
        let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
        let mut session = crate::testing::session(plan, 3);
        session.scribble();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            [(); 2].map(|()| {
                session.run("hide").expect("a run");
                session.read("hide", "hidden").expect("an output")
            })
        })
    }

    fn hiding(rows: usize, cells: &[u32], share: f32, whole_rows: f32) -> Program {
        let program = Program::new("hide");
        program.output("hidden", program.hidden_cells(rows, cells, share, whole_rows));
        program
    }

    proptest! {
        #[test]
        fn cells_are_hidden_as_the_draws_say(
            rows in prop_oneof![0usize..6, 60usize..70],
            cells in prop_oneof![
                prop::collection::vec((1usize..4, 1u32..3), 0..5),
                prop::collection::vec((1usize..4, 1u32..3), 120..140),
                prop::collection::vec((Just(1usize), 1u32..3), 120..140),
            ],
            share in prop_oneof![Just(0.0f32), 0.0f32..1.0, Just(1.0)],
            whole_rows in prop_oneof![Just(0.0f32), 0.0f32..1.0, Just(1.0)],
        ) {
            let columns = cells_of(&cells);
            let widths: Vec<usize> = cells.iter().map(|cell| cell.0).collect();
            let expected = plainly(rows, &widths, share, whole_rows);
            let plan = {
                let program = Program::new("test");
                program.output("hidden", program.hidden_cells(rows, &columns, share, whole_rows));
                Plan::new(vec![program.finish().expect("a program")]).expect("a plan")
            };
            let mut session = crate::testing::session(plan, 5);
            session.scribble();
            session.run("test").expect("a run");
            let found = session.read("test", "hidden").expect("an output");
            let found: Vec<f64> = found.into_iter().map(f64::from).collect();
            prop_assert_eq!(found, expected.values);
        }

        #[test]
        fn gradients_pass_beside_it(rows in 0usize..5, widths in prop::collection::vec(1usize..4, 0..4)) {
            let cells: Vec<_> = widths.iter().map(|&width| (width, 1)).collect();
            let (columns, hidden) = (cells_of(&cells), plainly(rows, &widths, 0.4, 0.2));
            check(
                &[hidden.shape],
                |program, x| x[0].multiply(program.hidden_cells(rows, &columns, 0.4, 0.2)),
                |x| x[0].zip(&hidden, |x, hidden| x * hidden),
            );
        }
    }

    #[test]
    fn shares_are_those_asked_for_anew_in_each_step() {
        let (rows, cells) = (4000, [0, 1, 1, 1, 2]);
        let [first, second] = draws(hiding(rows, &cells, 0.3, 0.1), 1);
        assert_ne!(first, second, "anew in each step");
        assert_eq!([first.clone(), second], draws(hiding(rows, &cells, 0.3, 0.1), 3));
        let whole = first.chunks_exact(5).filter(|row| **row == [1.0; 5]).count() as f64;
        let expected = rows as f64 * (0.1 + 0.9 * 0.027);
        assert!((whole - expected).abs() < 4.0 * expected.sqrt(), "{whole} {expected}");
        for cell in [0, 1, 4] {
            let hidden: f32 = first.chunks_exact(5).map(|row| row[cell]).sum();
            let share = f64::from(hidden) / rows as f64;
            let deviation = (0.37 * 0.63 / rows as f64).sqrt();
            assert!((share - 0.37).abs() < 4.0 * deviation, "{cell}: {share}");
        }
        for row in first.chunks_exact(5) {
            assert!(row[1] == row[2] && row[2] == row[3], "one cell: {row:?}");
            assert!(row.iter().all(|&hidden| hidden == 0.0 || hidden == 1.0));
        }
    }

    #[test]
    fn never_and_always_are_just_that() {
        for (share, whole_rows, expected) in [(0.0, 0.0, 0.0), (1.0, 0.0, 1.0), (0.0, 1.0, 1.0)] {
            let [first, _] = draws(hiding(900, &[4, 4, 5], share, whole_rows), 2);
            assert!(first.iter().all(|&hidden| hidden == expected), "{share} {whole_rows}");
        }
    }

    #[test]
    fn what_is_no_probability_or_no_table_is_refused() {
        let told = |cells: &[u32], share: f32, whole_rows: f32, expected: &str| {
            let error = hiding(2, cells, share, whole_rows).finish().expect_err("a mistake");
            let message = error.to_string();
            assert!(message.contains(expected) && message.contains("hidden_cells.rs"), "{message}");
        };
        told(&[0, 1], 1.5, 0.0, "the probability of share is 1.5, not in 0 to 1");
        told(&[0, 1], 0.5, -0.1, "the probability of whole rows is -0.1, not in 0 to 1");
        told(&[0, 1], f32::NAN, 0.0, "the probability of share is NaN");
        told(&[0, 2, 1], 0.5, 0.0, "column 2 is of cell 1, the one before of 2");
    }
}
