//! Words as draws: uniform numbers, normal numbers, and whether a cell survives dropout.
//!
//! All draws of a key are one long sequence. Sixteen counters make a group of 64 words; element i of
//! a sequence of uniform numbers is word i mod 64 of group i / 64, and so on.

use pulp::{Arch, Simd, WithSimd};

use super::Key;
use super::philox::{LANES, words};
use crate::cpu::{ln, sine_and_cosine_of_turns};

/// Uniform draws in a group.
const WORD_GROUP: usize = 4 * LANES;

/// Dropout draws in a group: 16 bits each are plenty for a rate.
pub(crate) const KEEP_GROUP: usize = 8 * LANES;

/// Pairs of whole numbers in a group.
pub(crate) const PAIR_GROUP: usize = 2 * LANES;

/// Uniform numbers in [0, 1), from the beginning of the sequence.
pub fn uniforms(key: Key, out: &mut [f32]) {
    Arch::new().dispatch(Uniforms { key, out });
}

/// Normal numbers with mean 0 and variance 1, from element `first` of the sequence, which must be a
/// multiple of 64.
pub fn normals(key: Key, first: usize, out: &mut [f32]) {
    assert_eq!(first % WORD_GROUP, 0, "normal draws begin with a group");
    Arch::new().dispatch(Normals { key, group: (first / WORD_GROUP) as u32, out });
}

struct Uniforms<'a> {
    key: Key,
    out: &'a mut [f32],
}

impl WithSimd for Uniforms<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (group, out) in self.out.chunks_mut(WORD_GROUP).enumerate() {
            let words = words(simd, self.key, group as u32);
            for (value, &word) in out.iter_mut().zip(words.as_flattened()) {
                *value = uniform(word);
            }
        }
    }
}

struct Normals<'a> {
    key: Key,
    group: u32,
    out: &'a mut [f32],
}

impl WithSimd for Normals<'_> {
    type Output = ();

    /// Box and Muller: a pair of uniforms gives √(−2 ln u)·cos 2πv and √(−2 ln u)·sin 2πv.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (at, out) in self.out.chunks_mut(WORD_GROUP).enumerate() {
            let words = words(simd, self.key, self.group.wrapping_add(at as u32));
            let mut normals = [0.0f32; WORD_GROUP];
            let (left, right) = normals.split_at_mut(WORD_GROUP / 2);
            let (first, second) = words.as_flattened().split_at(WORD_GROUP / 2);
            for at in 0..WORD_GROUP / 2 {
                // 1 − u is never 0, so that its logarithm is finite.
                let radius = (-2.0 * ln(1.0 - uniform(first[at]))).sqrt();
                let (sine, cosine) = sine_and_cosine_of_turns(uniform(second[at]));
                left[at] = radius * cosine;
                right[at] = radius * sine;
            }
            out.copy_from_slice(&normals[..out.len()]);
        }
    }
}

/// The draws below which a cell is dropped, of 2¹⁶.
pub(crate) fn keep_threshold(rate: f32) -> u32 {
    (rate * 65536.0).round() as u32
}

/// What survives is multiplied by this, so that the mean stays: one over the share that is kept, as
/// draws of 16 bits have it.
pub(crate) fn keep_scale(threshold: u32) -> f32 {
    65536.0 / (65536 - threshold.min(65535)) as f32
}

/// For the [`KEEP_GROUP`] elements of a group, what each is multiplied by: `scale` if it survives
/// dropout at this threshold, 0 if not.
#[inline(always)]
pub(crate) fn keep_factors<S: Simd>(
    simd: S,
    key: Key,
    group: u32,
    threshold: u32,
    scale: f32,
) -> [f32; KEEP_GROUP] {
    let words = words(simd, key, group);
    let mut factors = [0.0; KEEP_GROUP];
    for (word, factors) in words.iter().zip(factors.as_chunks_mut::<{ 2 * LANES }>().0) {
        let (low, high) = factors.split_at_mut(LANES);
        for lane in 0..LANES {
            low[lane] = if (word[lane] & 0xffff) >= threshold { scale } else { 0.0 };
            high[lane] = if (word[lane] >> 16) >= threshold { scale } else { 0.0 };
        }
    }
    factors
}

/// The pairs of a group of whole numbers, the first below `bounds[0]`, the second below `bounds[1]`.
///
/// The upper half of word · bound: a number is likelier than another by at most bound / 2³².
pub(crate) fn pairs_below(key: Key, group: u32, bounds: [u32; 2]) -> [[u32; 2]; PAIR_GROUP] {
    Arch::new().dispatch(PairsBelow { key, group, bounds })
}

struct PairsBelow {
    key: Key,
    group: u32,
    bounds: [u32; 2],
}

impl WithSimd for PairsBelow {
    type Output = [[u32; 2]; PAIR_GROUP];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let words = words(simd, self.key, self.group);
        let mut pairs = [[0; 2]; PAIR_GROUP];
        for (at, pair) in pairs.iter_mut().enumerate() {
            let (half, lane) = (at / LANES, at % LANES);
            let [first, second] = [words[2 * half][lane], words[2 * half + 1][lane]];
            *pair = [below(first, self.bounds[0]), below(second, self.bounds[1])];
        }
        pairs
    }
}

#[inline(always)]
fn below(word: u32, bound: u32) -> u32 {
    ((u64::from(word) * u64::from(bound)) >> 32) as u32
}

/// The upper 24 bits, which a float holds exactly.
#[inline(always)]
fn uniform(word: u32) -> f32 {
    (word >> 8) as f32 * (1.0 / 16_777_216.0)
}

/// Which of a group's elements survive: 1 or 0.
#[cfg(test)]
pub(crate) fn kept_in_group(key: Key, group: u32, threshold: u32) -> [f32; KEEP_GROUP] {
    struct Kept(Key, u32, u32);
    impl WithSimd for Kept {
        type Output = [f32; KEEP_GROUP];

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
            keep_factors(simd, self.0, self.1, self.2, 1.0)
        }
    }
    Arch::new().dispatch(Kept(key, group, threshold))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = Key::new(7, 3, 11);

    fn moments(values: &[f32]) -> (f64, f64) {
        let count = values.len() as f64;
        let mean = values.iter().map(|&value| f64::from(value)).sum::<f64>() / count;
        let square = |&value: &f32| (f64::from(value) - mean).powi(2);
        (mean, values.iter().map(square).sum::<f64>() / count)
    }

    #[test]
    fn uniform_numbers_have_the_moments_of_the_interval() {
        let mut values = vec![0.0; 100_000];
        uniforms(KEY, &mut values);
        let (mean, variance) = moments(&values);
        assert!((mean - 0.5).abs() < 4.0 * (1.0f64 / 12.0 / 1e5).sqrt(), "{mean}");
        assert!((variance - 1.0 / 12.0).abs() < 1e-3, "{variance}");
        assert!(values.iter().all(|value| (0.0..1.0).contains(value)));
    }

    #[test]
    fn normal_numbers_have_the_moments_of_the_bell() {
        let mut values = vec![0.0; 100_000];
        normals(KEY, 0, &mut values);
        let (mean, variance) = moments(&values);
        assert!(mean.abs() < 4.0 / 1e5f64.sqrt(), "{mean}");
        assert!((variance - 1.0).abs() < 0.02, "{variance}");
        let beyond = values.iter().filter(|value| value.abs() > 1.96).count() as f64 / 1e5;
        assert!((beyond - 0.05).abs() < 0.004, "{beyond}");
    }

    #[test]
    fn a_part_of_the_sequence_is_the_same_from_anywhere() {
        let (mut whole, mut part) = (vec![0.0; 300], vec![0.0; 100]);
        normals(KEY, 0, &mut whole);
        normals(KEY, 128, &mut part);
        assert_eq!(whole[128..228], part);
    }

    #[test]
    fn every_part_of_the_key_matters() {
        let draw = |key| {
            let mut values = vec![0.0; 64];
            uniforms(key, &mut values);
            values
        };
        let all = [KEY, Key::new(8, 3, 11), Key::new(7, 4, 11), Key::new(7, 3, 12)].map(draw);
        for (at, one) in all.iter().enumerate() {
            assert!(all[at + 1..].iter().all(|other| one != other));
        }
    }

    #[test]
    fn the_share_that_dropout_keeps_is_the_asked_one() {
        let threshold = keep_threshold(0.3);
        let kept: usize = (0..1000)
            .map(|group| kept_in_group(KEY, group, threshold))
            .map(|factors| factors.iter().filter(|&&factor| factor == 1.0).count())
            .sum();
        let share = kept as f64 / (1000.0 * KEEP_GROUP as f64);
        assert!((share - 0.7).abs() < 4.0 * (0.21f64 / 128e3).sqrt(), "{share}");
    }
}
