//! A dense product in single precision, whatever precision a device was told to multiply with:
//! out = A · B                                                    rows × depth · depth × columns
//!
//! Rankings are made of small differences: they should not depend on how a model is trained.

use crate::cpu::{Call, Dense, Existing, product, product_scratch};
use crate::cuda;
use crate::ops::Factor;
use crate::program::{Mismatch, Operation};
use crate::{Matrix, Shape};

#[derive(Debug)]
struct ExactProduct;

impl<'p> Matrix<'p> {
    /// The product with another matrix in single precision. It has no gradient.
    #[must_use]
    #[track_caller]
    pub fn exact_product(self, right: Matrix<'p>) -> Matrix<'p> {
        self.program().record(ExactProduct, &[self, right])
    }
}

impl Operation for ExactProduct {
    fn name(&self) -> &'static str {
        "exact product"
    }

    fn identity(&self) -> String {
        "exact_product".to_owned()
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        let (left, right) = (inputs[0], inputs[1]);
        let rule = "the columns of the left factor are the rows of the right one";
        Mismatch::unless(left.columns == right.rows, left, right, rule)?;
        Ok(vec![Shape::new(left.rows, right.columns)])
    }

    fn scratch(&self, inputs: &[Shape], _wanted: &[bool]) -> usize {
        product_scratch(inputs[1].rows, inputs[1].columns)
    }

    fn arithmetic(&self, inputs: &[Shape], _wanted: &[bool]) -> u64 {
        2 * (inputs[0].len() * inputs[1].columns) as u64
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let matrix = |at: usize| {
            let Shape { rows, columns } = call.input_shape(at);
            Dense::new(call.input(at), rows, columns)
        };
        let (left, right) = (matrix(0), matrix(1));
        product(left, right, call.output(0), Existing::Replace, call.scratch());
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let Shape { rows, columns } = call.output_shape(0);
        call.product_with(cuda::Product {
            left: (call.input_matrix(0), Factor::Plain),
            right: (call.input_matrix(1), Factor::Plain),
            out: cuda::Dense::new(call.output(0), rows, columns),
            existing: cuda::Existing::Replace,
            exactness: cuda::Exactness::Single,
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Reference, session, shapes, some_numbers};
    use crate::{Initial, Plan, Program, Shape};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_product(left in shapes(), columns in 0usize..20) {
            let right = Shape::new(left.columns, columns);
            let program = Program::new("product");
            let factor = |name, shape| program.parameter(name, shape, Initial::ZEROS);
            program.output("out", factor("left", left).exact_product(factor("right", right)));
            let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
            let mut session = session(plan, 0);
            let exact = |name: &str, shape: Shape, seed| {
                let values = some_numbers(shape.len(), seed);
                let exact = values.iter().map(|&value| f64::from(value)).collect();
                (name.to_owned(), values, Reference { shape, values: exact })
            };
            let factors = [exact("left", left, 1), exact("right", right, 2)];
            for (name, values, _) in &factors {
                session.write(name, values).expect("a factor");
            }
            session.scribble();
            session.run("product").expect("a run");
            let expected = factors[0].2.product(&factors[1].2);
            let found = session.read("product", "out").expect("an output");
            prop_assert_eq!(found.len(), expected.values.len());
            for (found, expected) in found.iter().zip(&expected.values) {
                prop_assert!((f64::from(*found) - expected).abs() < 2e-5, "{found}: {expected}");
            }
        }
    }

    #[test]
    fn factors_that_do_not_fit_are_refused() {
        let program = Program::new("wrong");
        let left = program.parameter("left", [3, 4], Initial::ZEROS);
        let _ = left.exact_product(program.parameter("right", [5, 2], Initial::ZEROS));
        let message = program.finish().expect_err("a mistake").to_string();
        assert!(message.contains("3 × 4 does not fit 5 × 2"), "{message}");
    }
}
