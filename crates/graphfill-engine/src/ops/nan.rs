//! Tests that NaN is passed on: a model that diverges must be seen as one on every device.

use std::sync::Arc;

use crate::testing::{session, some_numbers};
use crate::{
    Adam, Initial, Label, Likelihood, Matrix, Plan, Program, Schedule, SparseMatrix, Targets,
};

const ROWS: usize = 6;
const COLUMNS: usize = 5;
/// Row 2, column 3.
const AT: usize = 2 * COLUMNS + 3;

/// What an operation makes of a matrix with one NaN, at row 2 and column 3.
fn result(operation: impl for<'p> Fn(&'p Program, Matrix<'p>) -> Matrix<'p>) -> Vec<f32> {
    let program = Program::new("test");
    let x = program.parameter("x", [ROWS, COLUMNS], Initial::ZEROS);
    program.output("result", operation(&program, x));
    let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
    let mut session = session(plan, 1);
    let mut values = some_numbers(ROWS * COLUMNS, 3);
    values[AT] = f32::NAN;
    session.write("x", &values).expect("x");
    session.run("test").expect("a run that nobody watches");
    session.read("test", "result").expect("the result")
}

/// A function of single numbers.
fn function<'p>(name: &str, x: Matrix<'p>) -> Matrix<'p> {
    match name {
        "relu" => x.relu(),
        "leaky relu" => x.leaky_relu(0.2),
        "elu" => x.elu(),
        "exp" => x.exp(),
        "sigmoid" => x.sigmoid(),
        "tanh" => x.tanh(),
        "scale" => x.scale(2.0),
        "square" => x.multiply(x),
        // A GPU may compute both in one kernel.
        "relu of a sum" => (x + x).relu(),
        other => panic!("{other}"),
    }
}

#[test]
fn functions_of_single_numbers_keep_it_where_it_is() {
    let activations = ["relu", "leaky relu", "elu", "exp", "sigmoid", "tanh"];
    for name in activations.into_iter().chain(["scale", "square", "relu of a sum"]) {
        let found = result(|_, x| function(name, x));
        assert!(found[AT].is_nan(), "{name} gives {}", found[AT]);
        assert_eq!(found.iter().filter(|value| value.is_nan()).count(), 1, "{name}");
    }
}

#[test]
fn products_and_sums_pass_it_on() {
    let graph = Arc::new(SparseMatrix::selection(&[0, 2, 2], ROWS));
    let is_nan = |values: Vec<f32>| values.iter().map(|value| value.is_nan()).collect::<Vec<_>>();
    let rows = is_nan(result(|program, x| {
        x.product(program.parameter("w", [COLUMNS, 2], Initial::Glorot)).relu()
    }));
    assert_eq!(rows, (0..2 * ROWS).map(|at| at / 2 == 2).collect::<Vec<_>>());
    let gathered = is_nan(result(|program, x| program.sparse_product(&graph, x).relu()));
    let expected = |at: usize| at / COLUMNS > 0 && at % COLUMNS == 3;
    assert_eq!(gathered, (0..3 * COLUMNS).map(expected).collect::<Vec<_>>());
    let unit = is_nan(result(|_, x| x.normalise_rows()));
    assert_eq!(unit, (0..ROWS * COLUMNS).map(|at| at / COLUMNS == 2).collect::<Vec<_>>());
    assert!(result(|_, x| x.sum())[0].is_nan());
    assert!(result(|_, x| x.relu().mean())[0].is_nan());
}

#[test]
fn every_loss_becomes_none() {
    let ones = || Targets::dense([ROWS, COLUMNS], vec![1.0; ROWS * COLUMNS]);
    let zeros = || Targets::dense([ROWS, COLUMNS], vec![0.0; ROWS * COLUMNS]);
    let none = || Likelihood::new(ROWS);
    let losses = [
        ("Bernoulli of ones", none().bernoulli(ones(), 1.0)),
        ("Bernoulli of zeros", none().bernoulli(zeros(), 1.0)),
        ("balanced Bernoulli", none().balanced_bernoulli(zeros(), 1.0)),
        ("squared error", none().squared_error(ones(), 1.0)),
        ("multinomial", none().multinomial(ones(), 1.0)),
        ("categorical", none().categorical(COLUMNS, vec![1; ROWS], 1.0)),
    ];
    for (name, likelihood) in losses {
        let likelihood = Arc::new(likelihood.expect(name));
        let loss = result(|_, x| x.loss(&likelihood));
        assert!(loss[0].is_nan(), "{name}: {}", loss[0]);
    }
    for label in [Label::One, Label::Zero] {
        let loss = result(|_, x| x.slice_columns(3..4).binary_loss(label));
        assert!(loss[0].is_nan(), "{label:?}: {}", loss[0]);
    }
}

/// A gradient that is NaN is not clipped to something finite in the other parameters.
#[test]
fn a_clipped_step_passes_it_to_every_parameter() {
    let program = Program::new("train");
    let (a, b) = (
        program.parameter("a", [1, 2], Initial::Constant(1.0)),
        program.parameter("b", [1, 2], Initial::Constant(1.0)),
    );
    let loss = a.multiply(program.input("x", [1, 2])).sum() + b.multiply(b).sum();
    let adam = Adam::new(Schedule::Constant(0.1));
    program.minimise(loss, &adam, Some(1.0), &["a", "b"]);
    let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
    let mut session = session(plan, 0);
    session.write("x", &[f32::NAN, 1.0]).expect("x");
    session.run("train").expect("a run that nobody watches");
    for name in ["a", "b"] {
        let values = session.buffer(name).expect("a parameter");
        assert!(values.iter().all(|value| value.is_nan()), "{name}: {values:?}");
    }
}
