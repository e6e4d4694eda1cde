//! Outputs in portions, whether or not anybody wants them.
//!
//! A kernel that computes several outputs in one pass zips their portions; an output that nobody
//! wants takes part as a sequence of nothings.

use rayon::iter::Either;
use rayon::prelude::*;

/// The portions of an output: `count` of them, of `portion` numbers each (the last may be shorter).
///
/// # Panics
/// If a wanted output has another number of portions.
pub(super) fn wanted_portions(
    output: Option<&mut [f32]>,
    portion: usize,
    count: usize,
) -> impl IndexedParallelIterator<Item = Option<&mut [f32]>> {
    match output {
        Some(output) => {
            assert_eq!(output.len().div_ceil(portion), count, "the portions of an output");
            Either::Left(output.par_chunks_mut(portion).map(Some))
        }
        None => Either::Right((0..count).into_par_iter().map(|_| None)),
    }
}
