//! Philox 4×32 with ten rounds: a block cipher on counters (Salmon and others, "Parallel random
//! numbers: as easy as 1, 2, 3", 2011). Sixteen neighbouring counters make a group.

use pulp::Simd;

use super::Key;

/// Counters of a group.
pub(super) const LANES: usize = 16;

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const KEY_STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: usize = 10;

/// The four words of the counters `LANES · group ..`, word by word.
#[inline(always)]
pub(super) fn words<S: Simd>(simd: S, key: Key, group: u32) -> [[u32; LANES]; 4] {
    let mut first = [0; LANES];
    for (lane, word) in first.iter_mut().enumerate() {
        *word = group.wrapping_mul(LANES as u32).wrapping_add(lane as u32);
    }
    let [low, high] = [key.step as u32, (key.step >> 32) as u32];
    let counters = [first, [key.stream; LANES], [low; LANES], [high; LANES]];
    encrypt(simd, counters, [key.seed as u32, (key.seed >> 32) as u32])
}

/// As many lanes at a time as the machine's vectors have.
#[inline(always)]
fn encrypt<S: Simd>(simd: S, mut words: [[u32; LANES]; 4], key: [u32; 2]) -> [[u32; LANES]; 4] {
    let [first, second, third, fourth] = &mut words;
    let lanes = S::as_mut_simd_u32s(first).0.iter_mut().zip(S::as_mut_simd_u32s(second).0);
    let lanes = lanes.zip(S::as_mut_simd_u32s(third).0).zip(S::as_mut_simd_u32s(fourth).0);
    for (((first, second), third), fourth) in lanes {
        let (mut word, mut key) = ([*first, *second, *third, *fourth], key);
        for _ in 0..ROUNDS {
            let multiplier = MULTIPLIERS.map(|multiplier| simd.splat_u32s(multiplier));
            let (low, high) = simd.widening_mul_u32s(word[0], multiplier[0]);
            let (other_low, other_high) = simd.widening_mul_u32s(word[2], multiplier[1]);
            let mixed =
                |high, word, key| simd.xor_u32s(simd.xor_u32s(high, word), simd.splat_u32s(key));
            word =
                [mixed(other_high, word[1], key[0]), other_low, mixed(high, word[3], key[1]), low];
            key = [key[0].wrapping_add(KEY_STEPS[0]), key[1].wrapping_add(KEY_STEPS[1])];
        }
        [*first, *second, *third, *fourth] = word;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Encrypt([[u32; LANES]; 4], [u32; 2]);

    impl pulp::WithSimd for Encrypt {
        type Output = [[u32; LANES]; 4];

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
            encrypt(simd, self.0, self.1)
        }
    }

    /// The known answers that the authors of Philox publish for ten rounds.
    #[test]
    fn encrypts_the_known_answers() {
        let check = |counter: [u32; 4], key: [u32; 2], expected: [u32; 4]| {
            let found = pulp::Arch::new().dispatch(Encrypt(counter.map(|word| [word; LANES]), key));
            assert_eq!(found.map(|word| word[LANES - 1]), expected);
        };
        check([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        check([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        check(
            [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
            [0xa409_3822, 0x299f_31d0],
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
        );
    }
}
