//! Loops over every number of a matrix, for functions of one or two numbers.
//!
//! The function is a type with an always-inlined method rather than a closure: only so is it compiled
//! for the vectors that are found when the program runs.

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

/// Numbers that one thread takes at a time; a multiple of the groups of random draws.
pub(crate) const PORTION: usize = 8192;

/// A function of one number. Mark it `#[inline(always)]`.
pub(crate) trait Convert: Sync {
    fn convert(&self, x: f32) -> f32;
}

/// A function of two numbers. Mark it `#[inline(always)]`.
pub(crate) trait Combine: Sync {
    fn combine(&self, a: f32, b: f32) -> f32;
}

/// out = f(input); without an input, out = f(out).
pub(crate) fn convert(input: Option<&[f32]>, out: &mut [f32], function: &impl Convert) {
    for_each_portion(out, |begin, out| {
        let input = input.map(|input| &input[begin..begin + out.len()]);
        Arch::new().dispatch(ConvertPortion { input, out, function });
    });
}

/// out = f(first, second); an input that is missing is what `out` holds.
pub(crate) fn combine(
    first: Option<&[f32]>,
    second: Option<&[f32]>,
    out: &mut [f32],
    function: &impl Combine,
) {
    for_each_portion(out, |begin, out| {
        let part = |input: &'_ [f32]| begin..begin + out.len().min(input.len());
        let first = first.map(|input| &input[part(input)]);
        let second = second.map(|input| &input[part(input)]);
        Arch::new().dispatch(CombinePortion { first, second, out, function });
    });
}

/// Hands out `(where it begins, portion)`, on all threads.
pub(crate) fn for_each_portion(out: &mut [f32], work: impl Fn(usize, &mut [f32]) + Sync) {
    if out.len() <= PORTION {
        work(0, out);
    } else {
        let portions = out.par_chunks_mut(PORTION).enumerate();
        portions.for_each(|(portion, out)| work(portion * PORTION, out));
    }
}

struct ConvertPortion<'a, F> {
    input: Option<&'a [f32]>,
    out: &'a mut [f32],
    function: &'a F,
}

impl<F: Convert> NullaryFnOnce for ConvertPortion<'_, F> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        match self.input {
            Some(input) => {
                for (out, &x) in self.out.iter_mut().zip(input) {
                    *out = self.function.convert(x);
                }
            }
            None => {
                for out in self.out {
                    *out = self.function.convert(*out);
                }
            }
        }
    }
}

struct CombinePortion<'a, F> {
    first: Option<&'a [f32]>,
    second: Option<&'a [f32]>,
    out: &'a mut [f32],
    function: &'a F,
}

impl<F: Combine> NullaryFnOnce for CombinePortion<'_, F> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        match (self.first, self.second) {
            (Some(first), Some(second)) => {
                for ((out, &a), &b) in self.out.iter_mut().zip(first).zip(second) {
                    *out = self.function.combine(a, b);
                }
            }
            (None, Some(second)) => {
                for (out, &b) in self.out.iter_mut().zip(second) {
                    *out = self.function.combine(*out, b);
                }
            }
            (Some(first), None) => {
                for (out, &a) in self.out.iter_mut().zip(first) {
                    *out = self.function.combine(a, *out);
                }
            }
            (None, None) => {
                for out in self.out {
                    *out = self.function.combine(*out, *out);
                }
            }
        }
    }
}
