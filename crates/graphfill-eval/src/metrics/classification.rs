//! Agreement of estimated levels with true ones.

use std::collections::BTreeMap;

/// The share of cells whose level is right.
pub fn accuracy(pairs: &[(u32, u32)]) -> f64 {
    let right = pairs.iter().filter(|(estimate, truth)| estimate == truth).count();
    right as f64 / pairs.len() as f64
}

/// The share that is right within each true level, averaged over the levels that occur.
pub fn balanced_accuracy(pairs: &[(u32, u32)]) -> f64 {
    let mut levels: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for &(estimate, truth) in pairs {
        let (right, all) = levels.entry(truth).or_default();
        *right += u64::from(estimate == truth);
        *all += 1;
    }
    let shares = levels.values().map(|&(right, all)| right as f64 / all as f64);
    shares.sum::<f64>() / levels.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_levels_count_as_much_when_balanced() {
        let pairs = [(0, 0), (0, 0), (0, 0), (0, 1)];
        assert_eq!(accuracy(&pairs), 0.75);
        assert_eq!(balanced_accuracy(&pairs), 0.5);
    }
}
