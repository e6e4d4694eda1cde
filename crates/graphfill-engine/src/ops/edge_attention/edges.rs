//! What is known of an edge: its score in each head, and the weight that follows from it.
//!
//! Heads are worked through in blocks of 8, 4 or 1, a block of scores being one vector.

use super::mask::Mask;

/// The slope of scores below zero.
pub(super) const LEAK: f32 = 0.2;

/// What the passes over edges read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edges<'a> {
    pub(super) features: &'a [f32],
    pub(super) source: &'a [f32],
    pub(super) target: &'a [f32],
    pub(super) mask: Mask<'a>,
    pub(super) heads: usize,
    /// Columns of a head.
    pub(super) width: usize,
}

/// Work on a block of heads.
pub(super) trait ForHeads {
    /// Heads `begin..begin + HEADS`. Mark it `#[inline(always)]`.
    fn block<const HEADS: usize>(&mut self, begin: usize);
}

/// Works through all heads.
#[inline(always)]
pub(super) fn for_heads(heads: usize, work: &mut impl ForHeads) {
    let mut begin = 0;
    while begin + 8 <= heads {
        work.block::<8>(begin);
        begin += 8;
    }
    while begin + 4 <= heads {
        work.block::<4>(begin);
        begin += 4;
    }
    while begin < heads {
        work.block::<1>(begin);
        begin += 1;
    }
}

impl Edges<'_> {
    /// source_j + target_i, from which the score follows.
    #[inline(always)]
    pub(super) fn raw<const HEADS: usize>(
        &self,
        to: usize,
        from: usize,
        begin: usize,
    ) -> [f32; HEADS] {
        let mut raw: [f32; HEADS] = self.of_heads(self.source, from, begin);
        let target: [f32; HEADS] = self.of_heads(self.target, to, begin);
        for head in 0..HEADS {
            raw[head] += target[head];
        }
        raw
    }

    /// Some heads of a matrix that has one column a head.
    #[inline(always)]
    pub(super) fn of_heads<const HEADS: usize>(
        &self,
        matrix: &[f32],
        row: usize,
        begin: usize,
    ) -> [f32; HEADS] {
        let mut values = [0.0; HEADS];
        values.copy_from_slice(&matrix[row * self.heads + begin..][..HEADS]);
        values
    }

    /// The columns of one head in a matrix as wide as the features.
    #[inline(always)]
    pub(super) fn slice<'m>(&self, matrix: &'m [f32], row: usize, head: usize) -> &'m [f32] {
        &matrix[(row * self.heads + head) * self.width..][..self.width]
    }

    /// What dropout multiplies the weights of an entry with.
    #[inline(always)]
    pub(super) fn factors<const HEADS: usize>(&self, entry: usize, begin: usize) -> [f32; HEADS] {
        self.mask.factors(entry * self.heads + begin)
    }
}

#[inline(always)]
pub(super) fn leaky(raw: f32) -> f32 {
    raw.max(LEAK * raw)
}

#[inline(always)]
pub(super) fn slope(raw: f32) -> f32 {
    if raw > 0.0 { 1.0 } else { LEAK }
}
