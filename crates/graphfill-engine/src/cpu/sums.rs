//! Sums over many numbers: one partial sum a portion, in double precision, added up in order.

use rayon::prelude::*;

use super::elementwise::PORTION;

/// The partial sums that a matrix of so many numbers has.
pub(crate) const fn portions(len: usize) -> usize {
    len.div_ceil(PORTION)
}

/// Σ over portions of `part(begin, end)`. `partial` has room for one sum a portion.
pub(crate) fn sum_of_portions(
    len: usize,
    partial: &mut [f64],
    part: impl Fn(usize, usize) -> f64 + Sync,
) -> f64 {
    let partial = &mut partial[..portions(len)];
    let work = |(portion, sum): (usize, &mut f64)| {
        *sum = part(portion * PORTION, len.min((portion + 1) * PORTION));
    };
    partial.par_iter_mut().enumerate().for_each(work);
    // A sum of nothing is −0, by which a division would change its sign.
    0.0 + partial.iter().sum::<f64>()
}
