//! A dense product of plain slices:  out = left · right      rows × inner · inner × columns
//!
//! For what is computed once beside a program, such as predictions from parameters that were read
//! out of a session: the same kernel, and the same bits, as [`Matrix::product`](crate::Matrix::product).

use super::product::{Dense, Existing, product, product_scratch};

/// Writes the product of two matrices, which lie row after row, to `out`. It runs on rayon's
/// threads, however many of them give the same bits; what it needs beside `out`, at most about
/// 4 MiB unless `right` is very wide, is allocated here.
///
/// ```
/// let mut out = [0.0; 4];
/// graphfill_engine::cpu::multiply(&[1.0, 2.0, 3.0, 4.0], 2, 2, &[1.0, 0.0, 1.0, 1.0], 2, &mut out);
/// assert_eq!(out, [3.0, 2.0, 7.0, 4.0]);
/// ```
///
/// # Panics
/// If a slice is not as long as its shape says: `rows × inner`, `inner × columns`, `rows × columns`.
pub fn multiply(
    left: &[f32],
    rows: usize,
    inner: usize,
    right: &[f32],
    columns: usize,
    out: &mut [f32],
) {
    let mut scratch = vec![0.0; product_scratch(inner, columns)];
    let (left, right) = (Dense::new(left, rows, inner), Dense::new(right, inner, columns));
    product(left, right, out, Existing::Replace, &mut scratch);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Reference, some_numbers};
    use crate::{Initial, Plan, Program, Session, Shape};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_the_plain_sum_and_with_a_program(
            rows in 0usize..30,
            inner in prop_oneof![0usize..20, 250usize..260],
            columns in prop_oneof![0usize..20, 60usize..70],
        ) {
            let (left, right) = (some_numbers(rows * inner, 1), some_numbers(inner * columns, 2));
            let mut out = vec![f32::NAN; rows * columns];
            multiply(&left, rows, inner, &right, columns, &mut out);
            let exact = |values: &[f32], rows, columns| Reference {
                shape: Shape::new(rows, columns),
                values: values.iter().map(|&value| f64::from(value)).collect(),
            };
            let expected = exact(&left, rows, inner).product(&exact(&right, inner, columns));
            for (found, expected) in out.iter().zip(&expected.values) {
                prop_assert!((f64::from(*found) - expected).abs() < 1e-5 * (1 + inner) as f64);
            }
            let program = Program::new("product");
            let parameter = |name, rows, columns| {
                program.parameter(name, [rows, columns], Initial::ZEROS)
            };
            let product = parameter("left", rows, inner).product(parameter("right", inner, columns));
            program.output("product", product);
            let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
            let mut session = Session::new(plan, 0).expect("a session on the processor");
            session.write("left", &left).expect("the left factor");
            session.write("right", &right).expect("the right factor");
            session.run("product").expect("a run");
            prop_assert_eq!(out, session.read("product", "product").expect("a product"));
        }
    }

    #[test]
    #[should_panic(expected = "a matrix of 2 × 3")]
    fn a_slice_of_another_length_is_refused() {
        multiply(&[0.0; 5], 2, 3, &[0.0; 3], 1, &mut [0.0; 2]);
    }
}
