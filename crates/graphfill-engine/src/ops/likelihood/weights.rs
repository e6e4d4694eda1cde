//! What the losses of single cells are multiplied by: nothing, or a number a cell.
//!
//! Two types, so that the kernels without weights are compiled as if there were none.

/// Cells whose weights are taken at a time.
pub(super) const LANES: usize = 16;

/// The weights of some neighbouring cells. Mark its methods `#[inline(always)]`.
pub(super) trait Weights: Copy + Sync {
    /// Those of `len` cells from `begin` on.
    fn part(self, begin: usize, len: usize) -> Self;

    /// That of one cell.
    fn at(self, cell: usize) -> f32;

    /// Those of the whole chunk of that index.
    fn lanes(self, chunk: usize) -> [f32; LANES];
}

/// Every cell counts once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unweighted;

impl Weights for Unweighted {
    #[inline(always)]
    fn part(self, _begin: usize, _len: usize) -> Self {
        self
    }

    #[inline(always)]
    fn at(self, _cell: usize) -> f32 {
        1.0
    }

    #[inline(always)]
    fn lanes(self, _chunk: usize) -> [f32; LANES] {
        [1.0; LANES]
    }
}

impl Weights for &[f32] {
    #[inline(always)]
    fn part(self, begin: usize, len: usize) -> Self {
        &self[begin..begin + len]
    }

    #[inline(always)]
    fn at(self, cell: usize) -> f32 {
        self[cell]
    }

    #[inline(always)]
    fn lanes(self, chunk: usize) -> [f32; LANES] {
        self.as_chunks::<LANES>().0[chunk]
    }
}
