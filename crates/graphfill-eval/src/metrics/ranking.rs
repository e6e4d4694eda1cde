//! Rankings of the columns of a binary row. `ranked` lists columns from the best score down,
//! `ones` are the columns that are one (ascending).

/// The share of the ones among the first k:   |{ranked₁ … ranked_k} ∩ ones| / |ones|
pub fn recall(ranked: &[u32], ones: &[u32], k: usize) -> f64 {
    let hits = ranked.iter().take(k).filter(|column| ones.binary_search(column).is_ok()).count();
    hits as f64 / ones.len() as f64
}

/// Discounted gain of the first k over that of a perfect ranking of **all** ones, not cut at k:
///
///   Σ_{j ≤ k} [ranked_j ∈ ones] / log₂(j + 1)   ÷   Σ_{j ≤ |ones|} 1 / log₂(j + 1)
pub fn ndcg(ranked: &[u32], ones: &[u32], k: usize) -> f64 {
    let discount = |position: usize| 1.0 / ((position + 2) as f64).log2();
    let hits = ranked.iter().take(k).enumerate();
    let hits = hits.filter(|(_, column)| ones.binary_search(column).is_ok());
    let gain: f64 = hits.map(|(position, _)| discount(position)).sum();
    let ideal: f64 = (0..ones.len()).map(discount).sum();
    gain / ideal
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The paper's example: x = (0, 0, 1, 1, 1), x̂ = (.1, .7, .2, .8, .9), columns from 0.
    const RANKED: [u32; 5] = [4, 3, 1, 2, 0];
    const ONES: [u32; 3] = [2, 3, 4];

    #[test]
    fn recall_of_the_papers_example() {
        assert_eq!(recall(&RANKED, &ONES, 3), 2.0 / 3.0);
        assert_eq!(recall(&RANKED, &ONES, 5), 1.0);
    }

    #[test]
    fn ndcg_is_measured_against_all_ones() {
        let log = f64::log2;
        let ideal = 1.0 / log(2.0) + 1.0 / log(3.0) + 1.0 / log(4.0);
        let two = 1.0 / log(2.0) + 1.0 / log(3.0);
        assert!((ndcg(&RANKED, &ONES, 3) - two / ideal).abs() < 1e-15);
        // A library that cuts the ideal at k would say 1 here.
        assert!((ndcg(&RANKED, &ONES, 2) - two / ideal).abs() < 1e-15);
        assert!((ndcg(&RANKED, &ONES, 4) - (two + 1.0 / log(5.0)) / ideal).abs() < 1e-15);
        assert!((ndcg(&ONES, &ONES, 3) - 1.0).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn agree_with_slow_definitions(
            scores in prop::collection::vec(-1.0f64..1.0, 1..30),
            truth in prop::collection::vec(any::<bool>(), 30),
            k in 1usize..35,
        ) {
            let width = scores.len();
            let mut ranked: Vec<u32> = (0..width as u32).collect();
            ranked.sort_by(|&a, &b| scores[b as usize].total_cmp(&scores[a as usize]));
            let ones: Vec<u32> = (0..width as u32).filter(|&c| truth[c as usize]).collect();
            prop_assume!(!ones.is_empty());
            // The position of each one is the number of columns with a higher score.
            let (mut hits, mut gain, mut ideal) = (0.0, 0.0, 0.0);
            for (order, &one) in ones.iter().enumerate() {
                let ahead = ranked.iter().position(|&c| c == one).unwrap();
                if ahead < k {
                    hits += 1.0;
                    gain += 1.0 / (ahead as f64 + 2.0).log2();
                }
                ideal += 1.0 / (order as f64 + 2.0).log2();
            }
            prop_assert!((recall(&ranked, &ones, k) - hits / ones.len() as f64).abs() < 1e-12);
            prop_assert!((ndcg(&ranked, &ones, k) - gain / ideal).abs() < 1e-12);
        }
    }
}
