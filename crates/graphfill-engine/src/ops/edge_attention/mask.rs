//! Dropout of attention weights: one bit for each (entry, head), drawn at the beginning of a kernel, or
//! on a CUDA card by a kernel before it.
//!
//! The backward pass walks the columns of the graph, where an entry's number among the rows must be
//! known to find its bit: [`Dropout`] keeps these numbers.

use std::fmt;
use std::sync::Arc;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::KERNELS;
use crate::SparseMatrix;
use crate::cuda;
use crate::program::Constant;
use crate::random::{KEEP_GROUP, Key, keep_factors, keep_scale, keep_threshold};

/// Words of 32 bits that a group of draws fills.
const WORDS: usize = KEEP_GROUP / 32;

/// Groups that one thread takes at a time.
const GROUPS_A_TASK: usize = 64;

const DRAW_MASK: cuda::Kernel = KERNELS.kernel("draw_mask");

#[derive(Clone)]
pub(super) struct Dropout {
    rate: f32,
    pub(super) stream: u32,
    /// For each entry of the transpose, which entry of the rows it is.
    pub(super) by_column: Arc<[u32]>,
}

/// What the weights of a step are multiplied with.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mask<'a> {
    /// Nothing is dropped.
    Whole,
    /// Weights whose bit is set are scaled, the others dropped.
    Drawn { words: &'a [u32], scale: f32 },
}

impl Dropout {
    pub(super) fn new(rate: f32, stream: u32, graph: &SparseMatrix) -> Self {
        Dropout { rate, stream, by_column: entries_by_column(graph) }
    }

    /// In the identity of an operation.
    pub(super) fn identity(&self) -> String {
        format!("rate={}, stream={}", self.rate, self.stream)
    }

    /// Scratch numbers for so many draws.
    pub(super) fn words(draws: usize) -> usize {
        draws.div_ceil(KEEP_GROUP) * WORDS
    }

    pub(super) fn constant(&self) -> Constant {
        let bytes = size_of_val(&self.by_column[..]) as u64;
        Constant { identity: self.by_column.as_ptr().addr(), bytes }
    }

    /// Draws the bits of a step.
    pub(super) fn draw<'a>(&self, key: Key, words: &'a mut [u32]) -> Mask<'a> {
        let threshold = keep_threshold(self.rate);
        words.par_chunks_mut(GROUPS_A_TASK * WORDS).enumerate().for_each(|(task, words)| {
            let first = (task * GROUPS_A_TASK) as u32;
            Arch::new().dispatch(Draw { key, first, threshold, words });
        });
        Mask::Drawn { words, scale: keep_scale(threshold) }
    }

    /// Draws so many bits of a step on a card. What kernels are told: the bits, the scale.
    pub(super) fn draw_on_card(
        &self,
        call: &mut cuda::Call<'_>,
        draws: usize,
    ) -> [cuda::Argument; 2] {
        let threshold = keep_threshold(self.rate);
        let groups = draws.div_ceil(KEEP_GROUP);
        let bits = call.scratch(Dropout::words(draws));
        let context = call.context();
        // Two groups a warp.
        let grid = cuda::Grid::warps(groups.div_ceil(2));
        let arguments =
            [context.into(), self.stream.into(), threshold.into(), bits.into(), groups.into()];
        call.launch(DRAW_MASK, grid, arguments);
        [bits.into(), keep_scale(threshold).into()]
    }

    /// [`Dropout::by_column`] in the memory of a card.
    pub(super) fn by_column_on_card(
        &self,
        call: &mut cuda::Call<'_>,
    ) -> Result<cuda::Address, String> {
        let identity = self.by_column.as_ptr().addr();
        call.constant(identity, "entries by column", || self.by_column.to_vec())
    }
}

impl fmt::Debug for Dropout {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.identity())
    }
}

impl Mask<'_> {
    /// Multiplies what neighbouring draws belong to.
    #[inline(always)]
    pub(super) fn multiply(self, values: &mut [f32], first: usize) {
        if let Mask::Drawn { words, scale } = self {
            for (at, value) in values.iter_mut().enumerate() {
                let draw = first + at;
                let kept = words[draw / 32] >> (draw % 32) & 1 == 1;
                *value *= if kept { scale } else { 0.0 };
            }
        }
    }
}

struct Draw<'a> {
    key: Key,
    first: u32,
    threshold: u32,
    words: &'a mut [u32],
}

impl WithSimd for Draw<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (group, words) in self.words.chunks_exact_mut(WORDS).enumerate() {
            let group = self.first + group as u32;
            let kept = keep_factors(simd, self.key, group, self.threshold, 1.0);
            for (word, kept) in words.iter_mut().zip(kept.as_chunks::<32>().0) {
                *word = 0;
                for (bit, &kept) in kept.iter().enumerate() {
                    *word |= u32::from(kept == 1.0) << bit;
                }
            }
        }
    }
}

/// Entries that repeat are matched in their order.
fn entries_by_column(graph: &SparseMatrix) -> Arc<[u32]> {
    let (rows, columns) = (graph.view(), graph.transposed());
    let mut positions: Vec<u32> = (0..graph.entries() as u32).collect();
    for column in 0..columns.rows() {
        let own = columns.entries(column);
        let (begin, row_of) = (own.start, columns.columns(column));
        positions[own].sort_by_key(|&position| row_of[position as usize - begin]);
    }
    let mut next: Vec<usize> =
        (0..columns.rows()).map(|column| columns.entries(column).start).collect();
    let mut entries = vec![0; graph.entries()];
    for row in 0..rows.rows() {
        for (entry, &column) in rows.entries(row).zip(rows.columns(row)) {
            let next = &mut next[column as usize];
            entries[positions[*next] as usize] = entry as u32;
            *next += 1;
        }
    }
    entries.into()
}
