//! The pairs of each row as lists in the memory of a CUDA card: one for each row of a, then one for
//! each row of b, with the numbers of its pairs in their order.
//!
//! Lists of pairs that are always the same are uploaded once. Those of drawn pairs are made in each
//! step: a counting sort, whose lists are then put in order.

use super::KERNELS;
use super::pairs::Pairs;
use crate::cuda::{Address, Argument, Call, Define, Grid, Kernel, LIST_THREADS};
use crate::ops::row_sums::grid_of_lists;

const COUNT_PAIRS: Kernel = KERNELS.kernel("count_pairs");
const SUM_TILES: Kernel = KERNELS.kernel("sum_tiles");
const BEGIN_LISTS: Kernel = KERNELS.kernel("begin_lists");
const PLACE_PAIRS: Kernel = KERNELS.kernel("place_pairs");
const SORT_LISTS: Kernel = KERNELS.kernel("sort_lists");

/// Counts that a block of so many threads of `sum_tiles` and `begin_lists` takes.
const TILE: usize = TILE_THREADS as usize * COUNTS_PER_THREAD;
const TILE_THREADS: u32 = LIST_THREADS;
const COUNTS_PER_THREAD: usize = 8;

/// The constants of these kernels.
pub(super) const DEFINES: &[Define] =
    &[Define::count("COUNTS_PER_THREAD", COUNTS_PER_THREAD), Define::count("TILE", TILE)];

/// Those of list i are `pairs[offsets[i]..offsets[i + 1]]`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lists {
    pub(super) offsets: Address,
    pub(super) pairs: Address,
}

impl Lists {
    /// The lists of `pairs`, of which kernels are told by `on_card`, these being the rows of both
    /// matrices.
    pub(super) fn new(
        call: &mut Call<'_>,
        pairs: &Pairs,
        on_card: [Argument; 5],
        rows: [usize; 2],
    ) -> Result<Self, String> {
        match pairs {
            Pairs::Fixed { pairs, .. } => Lists::upload(call, pairs, rows),
            Pairs::Sampled { count, .. } => Ok(Lists::make(call, on_card, rows, *count)),
        }
    }

    /// Temporary numbers that are needed.
    pub(super) fn scratch_len(pairs: &Pairs, rows: [usize; 2]) -> usize {
        match pairs {
            Pairs::Fixed { .. } => 0,
            Pairs::Sampled { count, .. } => {
                let lists = rows[0] + rows[1];
                Call::scratch_len([lists, lists.div_ceil(TILE), lists + 1, 2 * count])
            }
        }
    }

    fn upload(call: &mut Call<'_>, pairs: &[[u32; 2]], rows: [usize; 2]) -> Result<Self, String> {
        let identity = pairs.as_ptr().addr();
        let part = |what: &str| format!("{what} of {} and {} rows", rows[0], rows[1]);
        let offsets = call.constant(identity, &part("offsets"), || sorted(pairs, rows).0)?;
        let pairs = call.constant(identity, &part("lists"), || sorted(pairs, rows).1)?;
        Ok(Lists { offsets, pairs })
    }

    fn make(
        call: &mut Call<'_>,
        [fixed, context, stream, left_rows, right_rows]: [Argument; 5],
        rows: [usize; 2],
        count: usize,
    ) -> Self {
        let lists = rows[0] + rows[1];
        let tiles = lists.div_ceil(TILE);
        let (counts, sums) = (call.scratch(lists), call.scratch(tiles));
        let (offsets, listed) = (call.scratch(lists + 1), call.scratch(2 * count));
        call.zero(counts, lists);
        let arguments =
            [fixed, context, stream, left_rows, right_rows, counts.into(), count.into()];
        call.launch(COUNT_PAIRS, Grid::strided(count), arguments);
        let grid = Grid::blocks(tiles, TILE_THREADS);
        call.launch(SUM_TILES, grid, [counts.into(), lists.into(), sums.into()]);
        call.launch(BEGIN_LISTS, grid, [counts.into(), lists.into(), sums.into(), offsets.into()]);
        let arguments = [
            fixed,
            context,
            stream,
            left_rows,
            right_rows,
            counts.into(),
            offsets.into(),
            listed.into(),
            count.into(),
        ];
        call.launch(PLACE_PAIRS, Grid::strided(count), arguments);
        call.launch(
            SORT_LISTS,
            grid_of_lists(lists),
            [offsets.into(), lists.into(), listed.into()],
        );
        Lists { offsets, pairs: listed }
    }
}

/// Where each list begins, and the numbers of the pairs in all lists: a counting sort.
fn sorted(pairs: &[[u32; 2]], rows: [usize; 2]) -> (Vec<u32>, Vec<u32>) {
    let lists = |[left, right]: [u32; 2]| [left as usize, rows[0] + right as usize];
    let mut offsets = vec![0; rows[0] + rows[1] + 1];
    for list in pairs.iter().copied().flat_map(lists) {
        offsets[list + 1] += 1;
    }
    for list in 1..offsets.len() {
        offsets[list] += offsets[list - 1];
    }
    let mut next = offsets.clone();
    let mut listed = vec![0; 2 * pairs.len()];
    for (number, &pair) in pairs.iter().enumerate() {
        for list in lists(pair) {
            listed[next[list] as usize] = number as u32;
            next[list] += 1;
        }
    }
    (offsets, listed)
}

#[cfg(test)]
mod tests {
    use super::sorted;

    #[test]
    fn lists_have_the_pairs_of_each_row_in_order() {
        let (offsets, listed) = sorted(&[[1, 0], [0, 0], [1, 1], [1, 0]], [3, 2]);
        assert_eq!(offsets, [0, 1, 4, 4, 7, 8]);
        assert_eq!(listed, [1, 0, 2, 3, 0, 1, 3, 2]);
    }
}
