//! The best-ranked columns of one row, kept while scores arrive in any order.

use graphfill_engine::shuffled_column as shuffled;

/// At most `depth` columns, best first. Equal scores are ordered by a fixed shuffle of the
/// columns: arbitrary, as ties are, but the same in every run.
#[derive(Debug, Clone, PartialEq)]
pub struct TopRanked {
    depth: usize,
    best: Vec<(f32, u32)>,
}

impl TopRanked {
    /// Nothing ranked yet.
    pub fn new(depth: usize) -> Self {
        TopRanked { depth, best: Vec::new() }
    }

    /// Takes a column into the ranking if it is among the best so far.
    #[inline]
    pub fn offer(&mut self, score: f32, column: u32) {
        // Most columns are worse than all that are kept.
        if self.best.len() == self.depth && self.best.last().is_none_or(|last| score < last.0) {
            return;
        }
        self.insert(score, column);
    }

    fn insert(&mut self, score: f32, column: u32) {
        let ahead = |other: &(f32, u32)| match other.0.total_cmp(&score) {
            std::cmp::Ordering::Equal => shuffled(other.1) < shuffled(column),
            order => order.is_gt(),
        };
        if self.best.len() == self.depth {
            match self.best.last() {
                Some(last) if !ahead(last) => {
                    self.best.pop();
                }
                _ => return,
            }
        }
        let place = self.best.partition_point(ahead);
        self.best.insert(place, (score, column));
    }

    /// The columns, best first.
    pub fn columns(&self) -> impl Iterator<Item = u32> + '_ {
        self.best.iter().map(|&(_, column)| column)
    }

    /// The scores and columns, best first.
    pub fn entries(&self) -> &[(f32, u32)] {
        &self.best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_sorting(
            scores in prop::collection::vec(0u8..6, 0..40),
            depth in 1usize..12,
            turn in 0usize..40,
        ) {
            let mut all: Vec<(f32, u32)> = scores
                .iter()
                .enumerate()
                .map(|(column, &score)| (f32::from(score), column as u32))
                .collect();
            let mut top = TopRanked::new(depth);
            let turn = turn.min(all.len());
            for &(score, column) in all[turn..].iter().chain(&all[..turn]) {
                top.offer(score, column);
            }
            all.sort_by(|a, b| b.0.total_cmp(&a.0).then(shuffled(a.1).cmp(&shuffled(b.1))));
            all.truncate(depth);
            prop_assert_eq!(top.entries(), &all[..]);
        }
    }
}
