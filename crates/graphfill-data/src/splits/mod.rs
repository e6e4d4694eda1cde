//! Who is learnt from and who is asked about: splits of nodes and of single cells.
//!
//! A [`Split`] puts every node into one of three parts, in given [`Shares`]: [`random()`] over
//! all nodes, [`stratified()`] within each class. [`hide_cells`] and [`split_cells`] choose
//! single cells instead. All of them depend on their seed alone.

mod cells;
mod random;
mod shares;
mod stratified;

pub(crate) use cells::choose_cells;
pub use cells::{hide_cells, split_cells};
pub use random::{random, shuffled};
pub use shares::Shares;
pub use stratified::stratified;

use crate::error::{DataError, Result};

/// The rows of three disjoint sets of nodes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Split {
    /// Nodes whose cells are learnt from.
    pub train: Vec<u32>,
    /// Nodes that decide when to stop and which settings to take.
    pub validation: Vec<u32>,
    /// Nodes that are only scored.
    pub test: Vec<u32>,
}

impl Split {
    /// The three parts with their names.
    pub fn parts(&self) -> [(&'static str, &[u32]); 3] {
        [("train", &self.train), ("validation", &self.validation), ("test", &self.test)]
    }

    /// Checks that the parts fit a table of `nodes` rows, share no node, and leave something to
    /// learn from.
    pub fn check(&self, nodes: usize) -> Result<()> {
        if self.train.is_empty() {
            return Err(DataError::request(
                "the split has no training node: give the train part at least one".to_owned(),
                "",
            ));
        }
        let mut part_of: Vec<Option<&'static str>> = vec![None; nodes];
        for (part, rows) in self.parts() {
            for &row in rows {
                let Some(place) = part_of.get_mut(row as usize) else {
                    return Err(DataError::request(
                        format!(
                            "the {part} part names row {row}, but the rows are 0 to {}: \
                         was the split made for another table?",
                            nodes as i64 - 1
                        ),
                        "",
                    ));
                };
                if let Some(earlier) = place.replace(part) {
                    return Err(DataError::request(
                        format!(
                            "row {row} stands in the {earlier} part and again in the {part} part: \
                         a node can be in one part only, and once"
                        ),
                        "",
                    ));
                }
            }
        }
        Ok(())
    }

    fn sorted(mut self) -> Split {
        self.train.sort_unstable();
        self.validation.sort_unstable();
        self.test.sort_unstable();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(split: &Split, nodes: usize) -> String {
        split.check(nodes).expect_err("a senseless split").to_string()
    }

    #[test]
    fn senseless_splits_are_named() {
        let split = Split { train: vec![0, 3], validation: vec![1], test: vec![2] };
        assert!(split.check(4).is_ok());
        assert!(message(&split, 3).contains("row 3"), "{}", message(&split, 3));
        let twice = Split { test: vec![1], ..split.clone() };
        assert!(message(&twice, 4).contains("validation"), "{}", message(&twice, 4));
        let untaught = Split { train: Vec::new(), ..split };
        assert!(message(&untaught, 4).contains("training"), "{}", message(&untaught, 4));
    }
}
