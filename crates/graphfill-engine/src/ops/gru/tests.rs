use proptest::prelude::*;

use super::Direction;
use crate::testing::{Reference, check, check_at, check_value, some_numbers};
use crate::{Initial, Plan, Program, Shape};

/// The definition, one number after the other.
fn states(x: &[Reference], length: usize, direction: Direction) -> Reference {
    let [gates, weight, bias] = x else { panic!("three inputs") };
    let (hidden, batch) = (weight.shape.rows, gates.shape.rows / length);
    let mut all = Reference::new(Shape::new(gates.shape.rows, hidden), |_, _| 0.0);
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let mut state = vec![0.0; batch * hidden];
    let mut times: Vec<usize> = (0..length).collect();
    if direction == Direction::Backward {
        times.reverse();
    }
    for time in times {
        let before = state.clone();
        for (row, unit) in (0..batch).flat_map(|row| (0..hidden).map(move |unit| (row, unit))) {
            let own = &before[row * hidden..][..hidden];
            let recurrent = |gate: usize| {
                let column = gate * hidden + unit;
                let product = own.iter().enumerate().map(|(k, h)| h * weight.at(k, column));
                product.sum::<f64>() + bias.at(0, column)
            };
            let input = |gate: usize| gates.at(time * batch + row, gate * hidden + unit);
            let reset = sigmoid(input(0) + recurrent(0));
            let update = sigmoid(input(1) + recurrent(1));
            let new = (input(2) + reset * recurrent(2)).tanh();
            let next = (1.0 - update) * new + update * own[unit];
            state[row * hidden + unit] = next;
            all.values[(time * batch + row) * hidden + unit] = next;
        }
    }
    all
}

fn shapes(length: usize, batch: usize, hidden: usize) -> [Shape; 3] {
    [[length * batch, 3 * hidden], [hidden, 3 * hidden], [1, 3 * hidden]].map(Shape::from)
}

fn both_directions(length: usize, batch: usize, hidden: usize) {
    let shapes = shapes(length, batch, hidden);
    // Weights as small as they are in practice; otherwise units saturate and differences vanish.
    let values: Vec<Vec<f32>> = (shapes.iter().enumerate())
        .map(|(seed, shape)| {
            let scale = 1.0 / (hidden.max(1) as f32).sqrt();
            some_numbers(shape.len(), seed).into_iter().map(|value| value * scale).collect()
        })
        .collect();
    for direction in [Direction::Forward, Direction::Backward] {
        check_at(
            &shapes,
            &values,
            |_, x| x[0].gru(x[1], x[2], length, direction),
            |x| states(x, length, direction),
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn runs_along_sequences(length in 1usize..5, batch in 0usize..4, hidden in 0usize..5) {
        both_directions(length, batch, hidden);
    }
}

#[test]
fn more_rows_than_a_task_and_more_columns_than_a_panel() {
    both_directions(2, 26, 1);
    both_directions(2, 3, 12);
}

/// Beyond what a plain product packs at a time.
#[test]
fn many_units() {
    let shapes = shapes(2, 2, 600);
    let values: Vec<Vec<f32>> = (shapes.iter().enumerate())
        .map(|(seed, shape)| {
            some_numbers(shape.len(), seed).into_iter().map(|value| 0.03 * value).collect()
        })
        .collect();
    let exact = |(shape, values): (&Shape, &Vec<f32>)| Reference {
        shape: *shape,
        values: values.iter().map(|&value| f64::from(value)).collect(),
    };
    let exact: Vec<Reference> = shapes.iter().zip(&values).map(exact).collect();
    let expected = states(&exact, 2, Direction::Forward).values.iter().map(|h| h * h).sum();
    check_value(
        &shapes,
        &values,
        |_, x| {
            let states = x[0].gru(x[1], x[2], 2, Direction::Forward);
            states.multiply(states).sum()
        },
        expected,
    );
}

#[test]
fn only_the_gates_or_only_the_weights_may_be_learnt() {
    let shapes = shapes(3, 2, 2);
    let [gates, weight, bias] =
        shapes.map(|shape| Reference::new(shape, |_, _| f64::from(0.25f32)));
    check(
        &shapes[..1],
        |program, x| {
            let (weight, bias) =
                (program.constant(shapes[1], 0.25), program.constant(shapes[2], 0.25));
            x[0].gru(weight, bias, 3, Direction::Forward)
        },
        |x| states(&[x[0].clone(), weight.clone(), bias.clone()], 3, Direction::Forward),
    );
    check(
        &shapes[1..],
        |program, x| program.constant(shapes[0], 0.25).gru(x[0], x[1], 3, Direction::Backward),
        |x| states(&[gates.clone(), x[0].clone(), x[1].clone()], 3, Direction::Backward),
    );
}

#[test]
fn a_layer_is_its_parts() {
    let program = Program::new("layer");
    let sequence = program.input("sequence", [6, 4]);
    let layer = sequence.gru_layer("reader", 5, 3, Direction::Forward);
    let weight = program.parameter("reader.recurrent.weight", [5, 15], Initial::Glorot);
    let bias = program.parameter("reader.recurrent.bias", [1, 15], Initial::ZEROS);
    let parts = sequence.linear("reader.input", 15).gru(weight, bias, 3, Direction::Forward);
    program.output("layer", layer);
    program.output("parts", parts);
    let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
    let mut session = crate::testing::session(plan, 1);
    session.write("sequence", &some_numbers(24, 0)).expect("a sequence");
    session.run("layer").expect("a run");
    let read = |name| session.read("layer", name).expect("an output");
    assert_eq!(read("layer"), read("parts"));
    assert!(read("layer").iter().any(|&state| state != 0.0));
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let run = |threads: usize| {
        let program = Program::new("test");
        let sequence = program.input("sequence", [5 * 70, 3]);
        let layer = sequence.gru_layer("reader", 20, 5, Direction::Backward);
        let names = ["reader.input.weight", "reader.recurrent.weight", "reader.recurrent.bias"];
        let gradients = program.differentiate(layer.multiply(layer).sum(), &names);
        names.iter().zip(gradients).for_each(|(name, gradient)| program.output(name, gradient));
        program.output("states", layer);
        let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
        let mut session = crate::testing::session(plan, 1);
        session.write("sequence", &some_numbers(5 * 70 * 3, 0)).expect("a sequence");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("a pool").install(|| session.run("test").expect("a run"));
        let read = |name: &str| session.read("test", name).expect("an output");
        (read("states"), names.map(read))
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn mistakes_are_refused() {
    let message = |rows: usize, hidden: usize, bias: usize| {
        let program = Program::new("gru");
        let gates = program.constant([rows, 6], 1.0);
        let weight = program.constant([hidden, 6], 1.0);
        let _ = gates.gru(weight, program.constant([1, bias], 1.0), 3, Direction::Forward);
        program.finish().expect_err("a mistake").to_string()
    };
    let found = message(7, 2, 6);
    assert!(found.contains("7 rows are not a whole number of sequences of 3"), "{found}");
    let found = message(6, 3, 6);
    assert!(found.contains("6 × 6 does not fit 3 × 6"), "{found}");
    let found = message(6, 2, 5);
    assert!(found.contains("2 × 6 does not fit 1 × 5"), "{found}");
}
