//! The gradient of pair scores, with g that of out:
//!
//!   ∂a[i, :] = Σ over k with i_k = i of g_k · b[j_k, :]        and the other way round for ∂b
//!
//! A counting sort lists the pairs of each row; then every row sums its own, in the order of the
//! pairs: the same bits for any number of threads. On a CUDA card there is one list for each row of
//! a, then one for each row of b; see `pair_scores.cu`.

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use super::KERNELS;
use super::lists::Lists;
use super::pairs::{Groups, Pairs};
use crate::Shape;
use crate::cpu::Call;
use crate::cuda;
use crate::ops::row_sums::{add_scaled, grid_of_lists, lanes_of_row};
use crate::program::{Constant, Mismatch, Operation};
use crate::random::PAIR_GROUP;

/// Rows that one thread takes at a time: few enough to balance rows with many pairs.
const ROWS_A_TASK: usize = 32;

const ADD_PAIRS_BY_ONE: cuda::Kernel = KERNELS.kernel("add_pairs_by_one");
const ADD_PAIRS_BY_FOUR: cuda::Kernel = KERNELS.kernel("add_pairs_by_four");

/// Inputs: the gradient of the scores, left, right. Outputs: the gradients of left and right.
#[derive(Debug)]
pub(super) struct PairScoresGradient {
    pub(super) pairs: Pairs,
}

impl Operation for PairScoresGradient {
    fn name(&self) -> &'static str {
        "pair scores"
    }

    fn identity(&self) -> String {
        format!("pair_scores_gradient({})", self.pairs.identity())
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        Ok(vec![inputs[1], inputs[2]])
    }

    fn scratch(&self, inputs: &[Shape], wanted: &[bool]) -> usize {
        let side = |side: usize| {
            if wanted[side] { incidence_len(inputs[1 + side].rows, self.pairs.count()) } else { 0 }
        };
        side(0) + side(1)
    }

    fn arithmetic(&self, inputs: &[Shape], wanted: &[bool]) -> u64 {
        let sides = wanted.iter().filter(|&&wanted| wanted).count();
        2 * (self.pairs.count() * inputs[1].columns * sides) as u64
    }

    fn constants(&self) -> Vec<Constant> {
        self.pairs.constants()
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let pairs = self.pairs.groups(call);
        let gradient = call.input(0);
        let (left, right) = (call.input(1), call.input(2));
        let columns = call.input_shape(1).columns;
        let (by_left, by_right) = (call.wanted_output(0), call.wanted_output(1));
        let rows = if by_left.is_some() { call.input_shape(1).rows } else { 0 };
        let len = if by_left.is_some() { incidence_len(rows, gradient.len()) } else { 0 };
        let scratch: &mut [u32] = bytemuck::cast_slice_mut(call.scratch());
        let (left_scratch, right_scratch) = scratch.split_at_mut(len);
        let side = |own: usize, other: &[f32], out: Option<&mut [f32]>, scratch: &mut [u32]| {
            if let Some(out) = out {
                add_pairs(Side { pairs, own, gradient, other, columns }, out, scratch);
            }
        };
        rayon::join(
            || side(0, right, by_left, left_scratch),
            || side(1, left, by_right, right_scratch),
        );
    }

    fn cuda_scratch(&self, inputs: &[Shape], _wanted: &[bool]) -> usize {
        Lists::scratch_len(&self.pairs, [inputs[1].rows, inputs[2].rows])
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let (rows, columns) =
            ([1, 2].map(|side| call.input_shape(side).rows), call.input_shape(1).columns);
        let count = self.pairs.count();
        if count == 0 {
            for (side, rows) in rows.into_iter().enumerate() {
                if let Some(out) = call.wanted_output(side) {
                    call.zero(out, rows * columns);
                }
            }
            return Ok(());
        }
        let pairs = self.pairs.on_card(call, rows)?;
        let lists = Lists::new(call, &self.pairs, pairs, rows)?;
        let (kernel, at_a_time) =
            if columns % 4 == 0 { (ADD_PAIRS_BY_FOUR, 4) } else { (ADD_PAIRS_BY_ONE, 1) };
        let [fixed, context, stream, left_rows, right_rows] = pairs;
        let arguments = [
            fixed,
            context,
            stream,
            left_rows,
            right_rows,
            lists.offsets.into(),
            lists.pairs.into(),
            call.input(0).into(),
            call.input(1).into(),
            call.input(2).into(),
            call.wanted_output(0).into(),
            call.wanted_output(1).into(),
            ((columns / at_a_time) as u32).into(),
            lanes_of_row(columns).into(),
            (count as u32).into(),
        ];
        call.launch(kernel, grid_of_lists(rows.iter().sum()), arguments);
        Ok(())
    }
}

/// Scratch numbers of one side: where the pairs of each row begin, and of each pair its partner and
/// its number.
fn incidence_len(rows: usize, count: usize) -> usize {
    rows + 1 + 2 * count
}

#[derive(Debug, Clone, Copy)]
struct Side<'a> {
    pairs: Groups<'a>,
    /// Which of each pair is a row of the output; the other one is a row of `other`.
    own: usize,
    gradient: &'a [f32],
    other: &'a [f32],
    columns: usize,
}

fn add_pairs(side: Side<'_>, out: &mut [f32], scratch: &mut [u32]) {
    if side.columns == 0 {
        return;
    }
    let rows = out.len() / side.columns;
    let (offsets, partners) = scratch.split_at_mut(rows + 1);
    let (partners, _) = partners[..2 * side.gradient.len()].as_chunks_mut::<2>();
    Arch::new().dispatch(Sort { side, offsets, partners });
    let (offsets, partners) = (&*offsets, &*partners);
    out.par_chunks_mut(ROWS_A_TASK * side.columns).enumerate().for_each(|(task, out)| {
        let offsets = &offsets[task * ROWS_A_TASK..];
        Arch::new().dispatch(Rows { side, offsets, partners, out });
    });
}

/// Lists the pairs of each row in their order: those of row i are `offsets[i]..offsets[i + 1]`.
struct Sort<'a> {
    side: Side<'a>,
    offsets: &'a mut [u32],
    partners: &'a mut [[u32; 2]],
}

impl NullaryFnOnce for Sort<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Sort { side: Side { pairs, own, .. }, offsets, partners } = self;
        offsets.fill(0);
        for group in 0..pairs.groups() {
            let (group, len) = pairs.group(group);
            for pair in &group[..len] {
                offsets[pair[own] as usize] += 1;
            }
        }
        let mut end = 0;
        for offset in offsets.iter_mut() {
            end += *offset;
            *offset = end;
        }
        // Each offset, the end of its row so far, moves to its beginning as the row fills up from
        // behind.
        for group in (0..pairs.groups()).rev() {
            let (pairs, len) = pairs.group(group);
            for (at, pair) in pairs[..len].iter().enumerate().rev() {
                let to = &mut offsets[pair[own] as usize];
                *to -= 1;
                partners[*to as usize] = [pair[1 - own], (group * PAIR_GROUP + at) as u32];
            }
        }
    }
}

/// Some rows of the gradient; `offsets` begins with that of the first.
struct Rows<'a> {
    side: Side<'a>,
    offsets: &'a [u32],
    partners: &'a [[u32; 2]],
    out: &'a mut [f32],
}

impl NullaryFnOnce for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Side { gradient, other, columns, .. } = self.side;
        for (row, out) in self.out.chunks_exact_mut(columns).enumerate() {
            out.fill(0.0);
            let pairs = self.offsets[row] as usize..self.offsets[row + 1] as usize;
            for &[partner, pair] in &self.partners[pairs] {
                let partner = &other[partner as usize * columns..][..columns];
                add_scaled(out, gradient[pair as usize], partner);
            }
        }
    }
}
