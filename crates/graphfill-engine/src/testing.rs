//! How operations are tested: against a plain reference in double precision, and their gradients
//! against central differences of it. Every program runs three times from the same state, which must
//! give the same bits.

use std::sync::Arc;

use proptest::prelude::*;

use crate::{Initial, Matrix, Plan, Program, Session, Shape, SparseMatrix};

#[path = "../tests/device/mod.rs"]
mod device;

pub(crate) use device::{coarseness, device};

/// A session on the device of the tests. What its programs would launch on a GPU is checked without one.
pub(crate) fn session(plan: Plan, seed: u64) -> Session {
    crate::cuda::launches::check(&plan);
    device::session(plan, seed)
}

/// A matrix of doubles.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reference {
    pub(crate) shape: Shape,
    pub(crate) values: Vec<f64>,
}

impl Reference {
    pub(crate) fn new(shape: Shape, value: impl Fn(usize, usize) -> f64) -> Self {
        let cells = (0..shape.rows).flat_map(|row| (0..shape.columns).map(move |c| (row, c)));
        Reference { shape, values: cells.map(|(row, column)| value(row, column)).collect() }
    }

    pub(crate) fn scalar(value: f64) -> Self {
        Reference { shape: Shape::SCALAR, values: vec![value] }
    }

    pub(crate) fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.shape.columns + column]
    }

    pub(crate) fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.shape.columns..][..self.shape.columns]
    }

    pub(crate) fn map(&self, function: impl Fn(f64) -> f64) -> Self {
        let values = self.values.iter().map(|&value| function(value)).collect();
        Reference { shape: self.shape, values }
    }

    pub(crate) fn zip(&self, other: &Self, function: impl Fn(f64, f64) -> f64) -> Self {
        assert_eq!(self.shape, other.shape);
        let pairs = self.values.iter().zip(&other.values);
        let values = pairs.map(|(&first, &second)| function(first, second)).collect();
        Reference { shape: self.shape, values }
    }

    pub(crate) fn transposed(&self) -> Self {
        Reference::new(self.shape.transposed(), |row, column| self.at(column, row))
    }

    pub(crate) fn product(&self, other: &Self) -> Self {
        assert_eq!(self.shape.columns, other.shape.rows);
        Reference::new(Shape::new(self.shape.rows, other.shape.columns), |row, column| {
            (0..other.shape.rows).map(|k| self.at(row, k) * other.at(k, column)).sum()
        })
    }
}

/// Odd shapes: empty, a single row, a single column, beyond a vector.
pub(crate) fn shapes() -> impl Strategy<Value = Shape> {
    (0usize..6, prop_oneof![0usize..6, 15usize..19]).prop_map(|(r, c)| Shape::new(r, c))
}

/// Numbers between −1.5 and 1.5 that look like nothing in particular, none within 0.02 of 0, where
/// some functions have a kink.
pub(crate) fn some_numbers(len: usize, seed: usize) -> Vec<f32> {
    let number = |at: usize| {
        let wave = ((at * 37 + seed * 101 + 13) as f32 * 0.618).sin() * 1.5;
        if wave.abs() < 0.02 { wave + 0.1 } else { wave }
    };
    (0..len).map(number).collect()
}

/// Records `operation` on parameters of these shapes and compares its result with `reference`, and
/// the gradient of a weighted sum of the result with central differences of the reference.
pub(crate) fn check(
    shapes: &[Shape],
    operation: impl for<'p> Fn(&'p Program, &[Matrix<'p>]) -> Matrix<'p>,
    reference: impl Fn(&[Reference]) -> Reference,
) {
    let values: Vec<Vec<f32>> =
        shapes.iter().enumerate().map(|(seed, shape)| some_numbers(shape.len(), seed)).collect();
    check_at(shapes, &values, operation, reference);
}

/// The same at given values.
pub(crate) fn check_at(
    shapes: &[Shape],
    values: &[Vec<f32>],
    operation: impl for<'p> Fn(&'p Program, &[Matrix<'p>]) -> Matrix<'p>,
    reference: impl Fn(&[Reference]) -> Reference,
) {
    let exact: Vec<Reference> = shapes
        .iter()
        .zip(values)
        .map(|(&shape, values)| Reference {
            shape,
            values: values.iter().map(|&value| f64::from(value)).collect(),
        })
        .collect();
    let expected = reference(&exact);
    let weights = some_numbers(expected.values.len(), 77);
    let (result, gradients) = run(shapes, values, &weights, operation, expected.shape);
    compare("result", &result, &expected.values);
    let weighted = |inputs: &[Reference]| -> f64 {
        let pairs = reference(inputs).values.into_iter().zip(&weights);
        pairs.map(|(value, &weight)| value * f64::from(weight)).sum()
    };
    for (input, gradient) in gradients.iter().enumerate() {
        let difference = central_differences(&exact, input, &weighted);
        compare(&format!("gradient of input {input}"), gradient, &difference);
    }
}

fn run(
    shapes: &[Shape],
    values: &[Vec<f32>],
    weights: &[f32],
    operation: impl for<'p> Fn(&'p Program, &[Matrix<'p>]) -> Matrix<'p>,
    expected: Shape,
) -> (Vec<f32>, Vec<Vec<f32>>) {
    let names: Vec<String> = (0..shapes.len()).map(|at| format!("x{at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let program = Program::new("test");
    let inputs: Vec<Matrix<'_>> = names
        .iter()
        .zip(shapes)
        .map(|(name, &shape)| program.parameter(name, shape, Initial::ZEROS))
        .collect();
    let result = operation(&program, &inputs);
    assert_eq!(result.shape(), expected);
    program.output("result", result);
    let loss = result.multiply(program.input("weights", expected)).sum();
    for (name, gradient) in names.iter().zip(program.differentiate(loss, &names)) {
        program.output(name, gradient);
    }
    let recorded = program.finish().expect("a program without mistakes");
    let plan = Plan::new(vec![recorded]).expect("a plan");
    let mut session = session(plan, 5);
    let mut step = || {
        // The same state and the same step, so that what is random is the same, too.
        session.restart(5).expect("a session from its beginning");
        for (name, values) in names.iter().zip(values) {
            session.write(name, values).expect("a parameter");
        }
        session.write("weights", weights).expect("an input");
        session.scribble();
        session.run("test").expect("finite numbers");
        let read = |name: &str| session.read("test", name).expect("an output");
        (read("result"), names.iter().map(|name| read(name)).collect::<Vec<_>>())
    };
    // On CUDA, the first run launches kernels one by one, the second is captured, the third replayed.
    let first = step();
    for run in ["second", "third"] {
        let other = step();
        assert_eq!(bits(&first.0), bits(&other.0), "the result of the {run} run");
        for (one, other) in first.1.iter().zip(&other.1) {
            assert_eq!(bits(one), bits(other), "a gradient of the {run} run");
        }
    }
    first
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn central_differences(
    exact: &[Reference],
    input: usize,
    function: &impl Fn(&[Reference]) -> f64,
) -> Vec<f64> {
    const STEP: f64 = 1e-5;
    let mut moved = exact.to_vec();
    (0..exact[input].values.len())
        .map(|at| {
            let value = exact[input].values[at];
            let mut shifted = |by: f64| {
                moved[input].values[at] = value + by;
                function(&moved)
            };
            let difference = (shifted(STEP) - shifted(-STEP)) / (2.0 * STEP);
            moved[input].values[at] = value;
            difference
        })
        .collect()
}

fn compare(what: &str, found: &[f32], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    // Relative to the largest of them, unless that is so small that only rounding is left.
    let scale = expected.iter().fold(0.3, |most: f64, value| most.max(value.abs()));
    let tolerance = 2e-5 * coarseness();
    for (at, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        let error = (f64::from(found) - expected).abs() / scale;
        assert!(error < tolerance, "{what}, number {at}: {found} instead of {expected}");
    }
}

/// Sparse matrices with empty rows, repeated entries, with and without values, and what they are.
pub(crate) fn sparse_matrices() -> impl Strategy<Value = (Arc<SparseMatrix>, Reference)> {
    let entries = |(rows, width): (usize, usize)| {
        let row = prop::collection::vec((0..width.max(1) as u32, -2.0f32..2.0), 0..5);
        let none = prop::collection::vec((0..1u32, 0.0f32..1.0), 0);
        let row = if width == 0 { none.boxed() } else { row.boxed() };
        (prop::collection::vec(row, rows), Just(width), any::<bool>())
    };
    (0usize..6, 0usize..6).prop_flat_map(entries).prop_map(|(rows, width, with_values)| {
        let value = |value: f32| if with_values { value } else { 1.0 };
        let mut exact = Reference::new(Shape::new(rows.len(), width), |_, _| 0.0);
        for (row, entries) in rows.iter().enumerate() {
            for &(column, number) in entries {
                exact.values[row * width + column as usize] += f64::from(value(number));
            }
        }
        let mut offsets = vec![0];
        rows.iter().for_each(|row| offsets.push(offsets[offsets.len() - 1] + row.len()));
        let columns = rows.iter().flatten().map(|entry| entry.0).collect();
        let values = with_values.then(|| rows.iter().flatten().map(|entry| entry.1).collect());
        (Arc::new(SparseMatrix::new(offsets, columns, values, width)), exact)
    })
}

/// Compares a scalar alone, where central differences would take too long.
pub(crate) fn check_value(
    shapes: &[Shape],
    values: &[Vec<f32>],
    operation: impl for<'p> Fn(&'p Program, &[Matrix<'p>]) -> Matrix<'p>,
    expected: f64,
) {
    let (result, _) = run(shapes, values, &[1.0], operation, Shape::SCALAR);
    compare("result", &result, &[expected]);
}
