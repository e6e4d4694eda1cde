//! Temporary memory, cut into the parts that a kernel works with.

/// Parts begin at cache lines.
const LINE: usize = 16;

/// The numbers that parts of these lengths take together.
pub(crate) fn cut_len<const PARTS: usize>(lens: [usize; PARTS]) -> usize {
    lens.iter().map(|len| len.next_multiple_of(LINE)).sum()
}

/// Cuts temporary memory into parts of these lengths.
pub(crate) fn cut<const PARTS: usize>(
    scratch: &mut [f32],
    lens: [usize; PARTS],
) -> [&mut [f32]; PARTS] {
    let mut rest = scratch;
    lens.map(|len| {
        let (part, tail) = std::mem::take(&mut rest).split_at_mut(len.next_multiple_of(LINE));
        rest = tail;
        &mut part[..len]
    })
}

/// Scratch numbers that hold so many doubles.
pub(crate) const fn doubles(count: usize) -> usize {
    2 * count
}

/// Scratch as doubles; it begins at a cache line.
pub(crate) fn as_doubles(scratch: &mut [f32]) -> &mut [f64] {
    let even = scratch.len() / 2 * 2;
    if even == 0 {
        return &mut [];
    }
    bytemuck::cast_slice_mut(&mut scratch[..even])
}
