//! Some rows of a matrix:  out[i, :] = x[rows[i], :]
//!
//! The product with a sparse matrix that has one entry a row; its transpose adds gradients up where
//! a row was taken twice.

use std::sync::Arc;

use crate::{Matrix, SparseMatrix};

impl<'p> Matrix<'p> {
    /// The rows of these numbers, in their order.
    #[must_use]
    #[track_caller]
    pub fn gather_rows(self, rows: &[u32]) -> Matrix<'p> {
        if let Some(outside) = rows.iter().find(|&&row| row as usize >= self.rows()) {
            let problem = format!("row {outside} was asked for; there are {}", self.rows());
            self.program().fail("gather rows", problem);
            return self;
        }
        let selection = Arc::new(SparseMatrix::selection(rows, self.rows()));
        self.program().sparse_product(&selection, self)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Reference, check, shapes};
    use crate::{Initial, Program, Shape};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_may_be_taken_twice(
            shape in shapes(), picks in prop::collection::vec(0usize..100, 0..9),
        ) {
            prop_assume!(shape.rows > 0);
            let rows: Vec<u32> = picks.iter().map(|pick| (pick % shape.rows) as u32).collect();
            check(&[shape], |_, x| x[0].gather_rows(&rows), |x| {
                Reference::new(Shape::new(rows.len(), shape.columns), |row, column| {
                    x[0].at(rows[row] as usize, column)
                })
            });
        }
    }

    #[test]
    fn a_row_outside_is_refused() {
        let program = Program::new("gather");
        let _ = program.parameter("x", [3, 2], Initial::ZEROS).gather_rows(&[1, 3]);
        let message = program.finish().expect_err("a mistake").to_string();
        assert!(message.contains("row 3 was asked for; there are 3"), "{message}");
    }
}
