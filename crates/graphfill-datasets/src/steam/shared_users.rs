//! Which products share users: the product B·Bᵀ of the products × users matrix B, row by row.
//!
//! Row `p` counts, over the users who have `p`, the other products that they have. Each thread
//! keeps one row of counts, so the many pairs below the threshold take no memory.

use graphfill_data::{EdgeList, Progress, Result};
use rayon::prelude::*;

/// The products counted between two progress updates.
const BATCH: usize = 256;

/// One arc per pair of the `products` products that at least `threshold` users both have.
/// `pairs` is `user << 32 | product`; repeated pairs count once.
pub(super) fn join(
    mut pairs: Vec<u64>,
    products: usize,
    threshold: u32,
    progress: &dyn Progress,
) -> Result<EdgeList> {
    progress.begin("counting the users that products share", Some(products as u64));
    pairs.par_sort_unstable();
    pairs.dedup();
    let owned = Lists::by_key(pairs.iter().map(|&pair| (pair >> 32, pair as u32)));
    // Sorted by user, so a product's users come out ascending too.
    pairs.iter_mut().for_each(|pair| *pair = pair.rotate_left(32));
    pairs.par_sort_unstable();
    let users = Lists::by_key(pairs.iter().map(|&pair| (pair >> 32, pair as u32)));
    drop(pairs);

    let mut arcs = EdgeList::unweighted();
    for start in (0..products).step_by(BATCH) {
        let batch = start..products.min(start + BATCH);
        let rows: Vec<(usize, Vec<u32>)> = batch
            .into_par_iter()
            .map_init(
                || vec![0u32; products],
                |counts, product| (product, row(product, &users, &owned, threshold, counts)),
            )
            .collect();
        progress.advance(rows.len() as u64);
        progress.check()?;
        for (product, others) in rows {
            others.iter().for_each(|&other| arcs.push(product as u32, other, 1.0));
        }
    }
    progress.end();
    Ok(arcs)
}

/// The products numbered above `product` that share enough users with it. `counts` is all zeros
/// before and after.
fn row(
    product: usize,
    users: &Lists,
    owned: &Lists,
    threshold: u32,
    counts: &mut [u32],
) -> Vec<u32> {
    let mut touched = Vec::new();
    for &user in users.get(product) {
        let products = owned.get(user as usize);
        let behind = products.partition_point(|&other| other as usize <= product);
        for &other in &products[behind..] {
            let count = &mut counts[other as usize];
            if *count == 0 {
                touched.push(other);
            }
            *count += 1;
        }
    }
    touched.retain(|&other| std::mem::take(&mut counts[other as usize]) >= threshold);
    touched
}

/// Lists of numbers by key, as compressed rows.
struct Lists {
    offsets: Vec<usize>,
    values: Vec<u32>,
}

impl Lists {
    /// From pairs `(key, value)` sorted by key; every key from 0 to the last has a pair.
    fn by_key(pairs: impl Iterator<Item = (u64, u32)>) -> Self {
        let mut lists = Lists { offsets: Vec::new(), values: Vec::new() };
        let mut last = None;
        for (key, value) in pairs {
            if last != Some(key) {
                lists.offsets.push(lists.values.len());
                last = Some(key);
            }
            lists.values.push(value);
        }
        lists.offsets.push(lists.values.len());
        lists
    }

    fn get(&self, key: usize) -> &[u32] {
        &self.values[self.offsets[key]..self.offsets[key + 1]]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use graphfill_data::{Direction, NoProgress};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agrees_with_counting_every_pair_of_products(
            owned in prop::collection::vec(prop::collection::btree_set(0u32..8, 1..6), 1..30),
            threshold in 1u32..5,
        ) {
            let distinct: BTreeSet<u32> = owned.iter().flatten().copied().collect();
            let number = |product: &u32| distinct.range(..product).count() as u64;
            let pairs: Vec<u64> = owned
                .iter()
                .zip(0u64..)
                .flat_map(|(products, user)| products.iter().map(move |p| (user, *p)))
                .map(|(user, product)| user << 32 | number(&product))
                .collect();
            let doubled = pairs.iter().chain(&pairs).copied().collect();
            let arcs = join(doubled, distinct.len(), threshold, &NoProgress).expect("not cancelled");
            let graph = arcs.into_graph(distinct.len(), Direction::Undirected).expect("valid arcs");
            for (a, first) in distinct.iter().enumerate() {
                for (b, second) in distinct.iter().enumerate().skip(a + 1) {
                    let both = owned.iter().filter(|o| o.contains(first) && o.contains(second));
                    let joined = both.count() as u32 >= threshold;
                    prop_assert_eq!(graph.targets_of(a).contains(&(b as u32)), joined);
                }
            }
        }
    }
}
