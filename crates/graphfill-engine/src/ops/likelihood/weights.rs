//! What the losses of single cells are multiplied by: nothing, or a number a cell.
//!
//! Two types, so that the kernels without weights are compiled as if there were none.

/// Cells that are judged side by side.
pub(super) const LANES: usize = 16;

/// The weights of some neighbouring cells. Mark its methods `#[inline(always)]`.
pub(super) trait Weights: Copy + Sync {
    /// Those of [`LANES`] cells.
    type Lanes: Copy;

    /// Those of `len` cells from `begin` on.
    fn part(self, begin: usize, len: usize) -> Self;

    /// That of one cell.
    fn at(self, cell: usize) -> f32;

    /// Those of the cells from `LANES · chunk` on.
    fn lanes(self, chunk: usize) -> Self::Lanes;

    /// One of them. (An array of ones would be written down and read again.)
    fn lane(lanes: Self::Lanes, lane: usize) -> f32;
}

/// Every cell counts once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unweighted;

impl Weights for Unweighted {
    type Lanes = ();

    #[inline(always)]
    fn part(self, _begin: usize, _len: usize) -> Self {
        self
    }

    #[inline(always)]
    fn at(self, _cell: usize) -> f32 {
        1.0
    }

    #[inline(always)]
    fn lanes(self, _chunk: usize) {}

    #[inline(always)]
    fn lane(_lanes: (), _lane: usize) -> f32 {
        1.0
    }
}

impl<'a> Weights for &'a [f32] {
    type Lanes = &'a [f32; LANES];

    #[inline(always)]
    fn part(self, begin: usize, len: usize) -> Self {
        &self[begin..begin + len]
    }

    #[inline(always)]
    fn at(self, cell: usize) -> f32 {
        self[cell]
    }

    #[inline(always)]
    fn lanes(self, chunk: usize) -> &'a [f32; LANES] {
        &self.as_chunks::<LANES>().0[chunk]
    }

    #[inline(always)]
    fn lane(lanes: &'a [f32; LANES], lane: usize) -> f32 {
        lanes[lane]
    }
}
