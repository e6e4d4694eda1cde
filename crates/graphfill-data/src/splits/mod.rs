//! Train, validation and test: splits of nodes and of single cells.
//!
//! A [`Split`] assigns nodes to three parts: [`random()`] and [`stratified()`] draw them in a
//! [`SplitRatio`], [`from_mask_columns`] reads them from columns of the table. [`hide_cells`] and
//! [`split_cells`] choose single cells instead. Random choices depend on the seed alone.

mod cells;
pub(crate) mod masks;
mod random;
mod ratio;
mod stratified;

pub(crate) use cells::choose_cells;
pub use cells::{hide_cells, split_cells};
pub use masks::{from_mask_columns, without_mask_features};
pub use random::{random, shuffled};
pub use ratio::SplitRatio;
pub use stratified::stratified;

use crate::error::{DataError, Result};

/// The rows of three disjoint sets of nodes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Split {
    /// Nodes to train on.
    pub train: Vec<u32>,
    /// Nodes to validate on: they decide on parameters and early stopping.
    pub validation: Vec<u32>,
    /// Nodes to test on: they are only scored.
    pub test: Vec<u32>,
}

impl Split {
    /// The three parts with their names.
    pub fn parts(&self) -> [(&'static str, &[u32]); 3] {
        [("train", &self.train), ("validation", &self.validation), ("test", &self.test)]
    }

    /// Checks that all rows are in a table of `nodes` rows, that no row is in two parts, and that
    /// the train part is not empty.
    pub fn check(&self, nodes: usize) -> Result<()> {
        if self.train.is_empty() {
            return Err(DataError::request(
                "the split has no node to train on",
                "give the train part at least one node",
            ));
        }
        let mut part_of: Vec<Option<&'static str>> = vec![None; nodes];
        for (part, rows) in self.parts() {
            for &row in rows {
                let Some(own) = part_of.get_mut(row as usize) else {
                    return Err(DataError::request(
                        format!("the {part} part names row {row}, but the table has {nodes} rows"),
                        "rows are numbered from 0; was the split made for another table?",
                    ));
                };
                if let Some(other) = own.replace(part) {
                    return Err(DataError::request(
                        format!("row {row} is in the {other} part and in the {part} part"),
                        "name each node once",
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
        split.check(nodes).expect_err("an invalid split").to_string()
    }

    #[test]
    fn invalid_splits_are_refused() {
        let split = Split { train: vec![0, 3], validation: vec![1], test: vec![2] };
        assert!(split.check(4).is_ok());
        assert!(message(&split, 3).contains("row 3"), "{}", message(&split, 3));
        let twice = Split { test: vec![1], ..split.clone() };
        assert!(message(&twice, 4).contains("validation"), "{}", message(&twice, 4));
        let untrained = Split { train: Vec::new(), ..split };
        assert!(message(&untrained, 4).contains("train on"), "{}", message(&untrained, 4));
    }
}
