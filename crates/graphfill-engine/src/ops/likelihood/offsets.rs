//! What a decoder's scores start from:  scores += s ⊙ O, and back  ∂s = Σ G ⊙ O,  ∂O = s ⊙ G
//!
//! O is rows × columns; s is one number, 1 × 1, or one for each column, 1 × columns.

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

/// The most offsets that a decoder may have.
pub(super) const MOST_OFFSETS: usize = 4;

/// Numbers that are summed side by side.
const LANES: usize = 8;

/// Rows that one thread takes at a time.
const ROWS_A_TASK: usize = 64;

/// An offset as the kernels see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Offset<'a> {
    /// O.
    pub(super) values: &'a [f32],
    /// s.
    pub(super) scale: &'a [f32],
    pub(super) columns: usize,
    /// Whether anybody asks for the derivative by s.
    pub(super) by_scale: bool,
}

/// s as the innermost loops see it.
#[derive(Debug, Clone, Copy)]
enum Scale<'a> {
    One(f32),
    Each(&'a [f32]),
}

impl<'a> Offset<'a> {
    /// Whether s has one number for each column: there is more to its derivative than a sum.
    pub(super) fn by_column(self) -> bool {
        self.scale.len() != 1
    }

    fn scale(self) -> Scale<'a> {
        if self.by_column() { Scale::Each(self.scale) } else { Scale::One(self.scale[0]) }
    }

    /// The part of O beside so many scores from row `first` on.
    pub(super) fn rows(self, first: usize, len: usize) -> &'a [f32] {
        &self.values[first * self.columns..][..len]
    }

    /// scores += s ⊙ O, from row `first` on.
    pub(super) fn add_to(self, scores: &mut [f32], first: usize) {
        if !scores.is_empty() {
            let from = self.rows(first, scores.len());
            let (columns, scale) = (self.columns, self.scale());
            Arch::new().dispatch(Scaled::<true> { to: scores, from, scale, columns });
        }
    }

    /// ∂s = Σ G ⊙ O of the rows from `first` on, where s is one number that somebody asks for.
    pub(super) fn by_one_scale(self, derivative: &[f32], first: usize) -> f64 {
        if !self.by_scale || self.by_column() {
            return 0.0;
        }
        let offset = self.rows(first, derivative.len());
        Arch::new().dispatch(Products { first: derivative, second: offset })
    }

    /// ∂O = s ⊙ G, on all threads.
    pub(super) fn by_offset(self, derivative: &[f32], to: &mut [f32]) {
        let (columns, scale) = (self.columns, self.scale());
        let portion = (ROWS_A_TASK * columns).max(1);
        to.par_chunks_mut(portion).zip(derivative.par_chunks(portion)).for_each(|(to, from)| {
            Arch::new().dispatch(Scaled::<false> { to, from, scale, columns });
        });
    }
}

/// Rows of `to` become, or grow by, s ⊙ those of `from`. Neither is empty.
struct Scaled<'a, const ADD: bool> {
    to: &'a mut [f32],
    from: &'a [f32],
    scale: Scale<'a>,
    columns: usize,
}

impl<const ADD: bool> NullaryFnOnce for Scaled<'_, ADD> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        match self.scale {
            Scale::One(scale) => {
                for (to, &from) in self.to.iter_mut().zip(self.from) {
                    *to = if ADD { *to + scale * from } else { scale * from };
                }
            }
            Scale::Each(scales) => {
                let rows = self.to.chunks_exact_mut(self.columns);
                for (to, from) in rows.zip(self.from.chunks_exact(self.columns)) {
                    for ((to, &from), &scale) in to.iter_mut().zip(from).zip(scales) {
                        *to = if ADD { *to + scale * from } else { scale * from };
                    }
                }
            }
        }
    }
}

/// Σ first · second, in double precision.
struct Products<'a> {
    first: &'a [f32],
    second: &'a [f32],
}

impl NullaryFnOnce for Products<'_> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        let mut sums = [0.0f64; LANES];
        let (first, first_rest) = self.first.as_chunks::<LANES>();
        let (second, second_rest) = self.second.as_chunks::<LANES>();
        for (first, second) in first.iter().zip(second) {
            for lane in 0..LANES {
                sums[lane] += f64::from(first[lane]) * f64::from(second[lane]);
            }
        }
        for ((&first, &second), sum) in first_rest.iter().zip(second_rest).zip(&mut sums) {
            *sum += f64::from(first) * f64::from(second);
        }
        let mut total = 0.0;
        for sum in sums {
            total += sum;
        }
        total
    }
}
