use std::sync::Arc;

use proptest::prelude::*;

use super::PropagationRound;
use crate::cpu::PANEL_WIDTHS;
use crate::testing::{session, some_numbers};
use crate::{Plan, Program, Shape, SparseRows};

/// What a round reads.
#[derive(Debug, Clone)]
struct Case {
    matrix: Arc<SparseRows>,
    width: usize,
    from: Vec<f32>,
    given: Option<Vec<f32>>,
    shares: Option<[f32; 2]>,
    divisors: Option<Vec<f32>>,
}

impl Case {
    /// Rows of `(column, value)`, and numbers that look like nothing in particular.
    fn new(rows: &[Vec<(u32, f32)>], with_values: bool, width: usize) -> Self {
        let mut offsets = vec![0];
        rows.iter().for_each(|row| offsets.push(offsets[offsets.len() - 1] + row.len()));
        let columns = rows.iter().flatten().map(|entry| entry.0).collect();
        let values = with_values.then(|| rows.iter().flatten().map(|entry| entry.1).collect());
        Case {
            matrix: Arc::new(SparseRows::new(offsets, columns, values, rows.len())),
            width,
            from: some_numbers(rows.len() * width, 1),
            given: None,
            shares: None,
            divisors: None,
        }
    }

    fn rows(&self) -> usize {
        self.matrix.shape().rows
    }

    /// Gives the cells that `is_given` picks.
    fn giving(mut self, is_given: impl Fn(usize, usize) -> bool) -> Self {
        let mut given = some_numbers(self.rows() * self.width, 2);
        for (at, value) in given.iter_mut().enumerate() {
            if !is_given(at / self.width, at % self.width) {
                *value = f32::NAN;
            }
        }
        self.given = Some(given);
        self
    }

    /// Divides by numbers of which some are 0.
    fn divided(mut self) -> Self {
        let divisors = some_numbers(self.rows() * self.width, 3);
        let divisor = |number: f32| if number < -1.0 { 0.0 } else { number + 1.5 };
        self.divisors = Some(divisors.into_iter().map(divisor).collect());
        self
    }

    fn expected(&self) -> Vec<f64> {
        let (rows, width, view) = (self.rows(), self.width, self.matrix.view());
        let from = |row: usize, column: usize| f64::from(self.from[row * width + column]);
        let [alpha, beta] = self.shares.unwrap_or([1.0, 0.0]).map(f64::from);
        let cell = |at: usize| {
            let (row, column) = (at / width, at % width);
            let mut guess = 0.0;
            for (entry, &other) in view.columns(row).iter().enumerate() {
                let value = view.values(row).map_or(1.0, |values| f64::from(values[entry]));
                guess += value * from(other as usize, column);
            }
            if let Some(divisors) = &self.divisors {
                guess = if divisors[at] > 0.0 { guess / f64::from(divisors[at]) } else { 0.0 };
            }
            let mean = (0..rows).map(|row| from(row, column)).sum::<f64>() / rows as f64;
            let guess = alpha * guess + (1.0 - alpha) * mean;
            match self.given.as_ref().map(|given| f64::from(given[at])) {
                Some(given) if !given.is_nan() => beta * guess + (1.0 - beta) * given,
                _ => guess,
            }
        };
        (0..rows * width).map(cell).collect()
    }

    /// What the device gives, in whatever buffer was there before.
    fn found(&self) -> Vec<f32> {
        let panel = Shape::new(self.rows(), self.width);
        let program = Program::new("round");
        let from = program.input("from", panel);
        let given = self.given.as_ref().map(|_| program.input("given", panel));
        let shares = self.shares.map(|_| program.input("shares", [1, 2]));
        let divisors = self.divisors.as_ref().map(|_| program.input("divisors", panel));
        let round = PropagationRound { matrix: &self.matrix, from, given, shares, divisors };
        program.propagate(program.state("out", panel), &round);
        let recorded = program.finish().expect("a program without mistakes");
        let mut session = session(Plan::new(vec![recorded]).expect("a plan"), 0);
        session.write("from", &self.from).expect("an input");
        session.write("out", &vec![f32::NAN; panel.len()]).expect("a state");
        let shares = self.shares.map(|shares| shares.to_vec());
        let inputs = [("given", &self.given), ("shares", &shares), ("divisors", &self.divisors)];
        for (name, values) in inputs {
            if let Some(values) = values {
                session.write(name, values).expect("an input");
            }
        }
        session.scribble();
        // Twice, so that a card replays what it has captured.
        for _ in 0..2 {
            session.run("round").expect("a run");
        }
        session.buffer("out").expect("the state")
    }

    fn check(&self) {
        let (found, expected) = (self.found(), self.expected());
        assert_eq!(found.len(), expected.len());
        let scale = expected.iter().fold(0.3, |most: f64, value| most.max(value.abs()));
        for (at, (&found, &expected)) in found.iter().zip(&expected).enumerate() {
            let error = (f64::from(found) - expected).abs() / scale;
            assert!(error < 2e-5, "cell {at}: {found} instead of {expected}, {self:?}");
        }
    }
}

proptest! {
    /// Isolated nodes, nothing given, everything given, with and without every part.
    #[test]
    fn a_round_is_what_its_equation_says(
        rows in (0usize..7).prop_flat_map(|nodes| {
            let row = prop::collection::vec((0..nodes.max(1) as u32, -1.0f32..1.0), 0..12);
            prop::collection::vec(row, nodes)
        }),
        with_values: bool,
        which in 0usize..4,
        shares in prop::option::of(prop_oneof![
            Just([1.0f32, 0.0f32]), Just([0.25, 0.0]), Just([1.0, 0.75]), Just([0.5, 0.25]),
        ]),
        divided: bool,
        giving in 0usize..4,
    ) {
        let mut case = Case::new(&rows, with_values, PANEL_WIDTHS[which]);
        case.shares = shares;
        case = if divided { case.divided() } else { case };
        case = match giving {
            0 => case,
            1 => case.giving(|_, _| true),
            2 => case.giving(|row, _| row % 2 == 1),
            _ => case.giving(|row, column| (row + column) % 3 == 0),
        };
        case.check();
    }
}

#[test]
fn long_rows_are_summed_in_pieces() {
    let row = |entries: usize| {
        let entry = |at: usize| ((at * 7 % 5) as u32, (at as f32 * 0.37).sin() / 20.0);
        (0..entries).map(entry).collect::<Vec<_>>()
    };
    let rows = [row(2), row(512), row(513), row(0), row(5000)];
    for given_row in 0..5 {
        let case =
            Case::new(&rows, true, 64).giving(|row, column| row == given_row || column % 5 == 0);
        case.check();
        Case { shares: Some([0.9, 0.5]), ..case.clone() }.check();
        case.divided().check();
    }
    // Without values, thousands of numbers add up: quarters do so exactly.
    let mut case = Case::new(&rows, false, 8);
    case.from.iter_mut().for_each(|value| *value = (*value * 4.0).round() / 4.0);
    case.check();
}

#[test]
fn many_rows_have_one_mean() {
    let rows: Vec<_> = (0..1000u32).map(|row| vec![(row * 7 % 1000, 0.5)]).collect();
    for width in PANEL_WIDTHS {
        let mut case = Case::new(&rows, true, width).giving(|row, _| row % 3 == 0);
        case.from.iter_mut().for_each(|value| *value += 0.7);
        case.shares = Some([0.1, 0.3]);
        case.check();
    }
}

fn sent(values: &[f32], factors: Option<&[f32]>) -> Vec<f32> {
    let shape = Shape::new(values.len(), 1);
    let program = Program::new("send");
    let factor = factors.map(|_| program.input("factors", shape));
    program.send(program.state("out", shape), program.input("values", shape), factor);
    let recorded = program.finish().expect("a program without mistakes");
    let mut session = session(Plan::new(vec![recorded]).expect("a plan"), 0);
    session.write("values", values).expect("an input");
    if let Some(factors) = factors {
        session.write("factors", factors).expect("an input");
    }
    session.run("send").expect("a run");
    session.buffer("out").expect("the state")
}

#[test]
fn what_is_missing_sends_nothing() {
    for len in [0, 1, 7, 40_000] {
        let mut values = some_numbers(len, 4);
        values.iter_mut().step_by(3).for_each(|value| *value = f32::NAN);
        let factors = some_numbers(len, 5);
        let or_nothing = |value: &f32| if value.is_nan() { 0.0 } else { *value };
        let plain: Vec<f32> = values.iter().map(or_nothing).collect();
        assert_eq!(sent(&values, None), plain);
        let scaled: Vec<f32> = plain.iter().zip(&factors).map(|(x, y)| x * y).collect();
        assert_eq!(sent(&values, Some(&factors)), scaled);
    }
}

fn mistake(record: impl for<'p> FnOnce(&'p Program)) -> String {
    let program = Program::new("test");
    record(&program);
    program.finish().expect_err("a mistake").to_string()
}

#[test]
fn mistakes_are_told() {
    let matrix = Arc::new(SparseRows::new(vec![0, 1, 1], vec![1], None, 2));
    let round = |nodes: usize, width: usize, shares: usize| {
        mistake(|program| {
            let from = program.input("from", [nodes, width]);
            let shares = Some(program.input("shares", [1, shares]));
            let (given, divisors) = (None, None);
            let round = PropagationRound { matrix: &matrix, from, given, shares, divisors };
            program.propagate(program.state("out", [nodes, width]), &round);
        })
    };
    assert!(round(3, 8, 2).contains("a row and a column for every row"), "{}", round(3, 8, 2));
    assert!(round(2, 9, 2).contains("8, 16, 32 or 64 columns"), "{}", round(2, 9, 2));
    assert!(round(2, 8, 3).contains("two numbers"), "{}", round(2, 8, 3));
    let message = mistake(|program| {
        let out = program.state("out", [2, 8]);
        program.send(out, out, None);
    });
    assert!(message.contains("write over what it reads"), "{message}");
}
