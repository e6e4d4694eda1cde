//! Draws from the distributions that the generator needs, in portable arithmetic.

use rand::{Rng, RngExt};

use crate::portable;

/// From here on a Poisson number is drawn as a rounded normal one.
const MANY: f64 = 30.0;

/// About normal, mean 0 and variance 1: the sum of eight uniform numbers. Ends near ±4.9, which
/// spares the columns wild outliers, and costs two words.
pub(super) fn normal(random: &mut impl Rng) -> f64 {
    const PIECES: f64 = 8.0;
    const RANGE: f64 = 65_536.0;
    let mut sum = 0u64;
    for _ in 0..2 {
        let word = random.next_u64();
        sum += (word & 0xffff) + (word >> 16 & 0xffff) + (word >> 32 & 0xffff) + (word >> 48);
    }
    let variance = PIECES * (RANGE * RANGE - 1.0) / 12.0;
    (sum as f64 - PIECES * (RANGE - 1.0) / 2.0) / variance.sqrt()
}

/// A Poisson number: how many uniform factors keep the product above e^(−mean).
pub(super) fn poisson(mean: f64, random: &mut impl Rng) -> u32 {
    if mean > MANY {
        return (mean + mean.sqrt() * normal(random)).round().max(0.0) as u32;
    }
    let floor = portable::exp(-mean);
    let mut product = random.random::<f64>();
    let mut count = 0;
    while product > floor {
        product *= random.random::<f64>();
        count += 1;
    }
    count
}

/// True with probability 1 / (1 + e^(−score)).
pub(super) fn happens(score: f64, random: &mut impl Rng) -> bool {
    random.random::<f64>() * (1.0 + portable::exp(-score)) < 1.0
}

/// Turns scores into the running sums of e^score, from which [`choose`] draws.
pub(super) fn accumulate_exponentials(scores: &mut [f64]) {
    let mut sum = 0.0;
    for score in scores {
        sum += portable::exp(*score);
        *score = sum;
    }
}

/// A position, drawn by the running sums of the weights.
pub(super) fn choose(running_sums: &[f64], random: &mut impl Rng) -> usize {
    let Some(&total) = running_sums.last() else { return 0 };
    let aim = random.random::<f64>() * total;
    running_sums.partition_point(|&sum| sum <= aim).min(running_sums.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn moments(mut draw: impl FnMut() -> f64) -> (f64, f64) {
        let draws: Vec<f64> = (0..50_000).map(|_| draw()).collect();
        let mean = draws.iter().sum::<f64>() / 50_000.0;
        let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 50_000.0;
        (mean, variance)
    }

    #[test]
    fn draws_have_their_moments() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let (mean, variance) = moments(|| normal(&mut random));
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
        for expected in [0.0, 0.5, 4.0, 80.0] {
            let (mean, variance) = moments(|| f64::from(poisson(expected, &mut random)));
            assert!((mean - expected).abs() <= 0.02 * expected, "{mean} {expected}");
            assert!((variance - expected).abs() <= 0.05 * expected, "{variance} {expected}");
        }
        let (share, _) = moments(|| f64::from(u8::from(happens(1.0, &mut random))));
        assert!((share - 0.731).abs() < 0.01, "{share}");
    }

    #[test]
    fn choices_follow_the_weights() {
        let mut random = ChaCha8Rng::seed_from_u64(2);
        let mut sums = [0.0, f64::NEG_INFINITY, portable::ln(3.0)];
        accumulate_exponentials(&mut sums);
        let mut hits = [0u32; 3];
        for _ in 0..40_000 {
            hits[choose(&sums, &mut random)] += 1;
        }
        assert_eq!(hits[1], 0);
        assert!((f64::from(hits[2]) / 40_000.0 - 0.75).abs() < 0.01, "{hits:?}");
    }
}
