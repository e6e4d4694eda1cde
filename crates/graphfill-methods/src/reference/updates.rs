//! Three updates of a recorded program against a reference: Adam in double precision, with gradients
//! by central differences of the reference's loss.

use graphfill_engine::Session;

use super::{Dense, Matrices, numbers};

/// Half of the distance of a central difference.
const STEP: f64 = 1e-6;
/// What a loss may be off by, relative to it.
const LOSS_TOLERANCE: f64 = 2e-5;
/// What an updated parameter may be off by, in learning rates: in the first update, which is the sign
/// of the gradient and weight decay, and in later ones, which compare gradients of several updates.
const UPDATE_TOLERANCES: [f64; 3] = [1e-4, 0.01, 0.01];
/// Cells whose gradient is smaller, relative to the largest one of their parameter, are not compared:
/// Adam divides by the gradient's size, and its rounding would decide.
const MIN_GRADIENT: f64 = 1e-3;

/// How parameters are updated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Learning {
    pub(crate) rate: f64,
    /// w of the penalty w/2 · p² in the loss.
    pub(crate) coupled_decay: f64,
    /// w of rate · w · p, apart from the gradient.
    pub(crate) decoupled_decay: f64,
    /// The largest length of the gradient of all parameters together.
    pub(crate) clip: Option<f64>,
}

impl Learning {
    pub(crate) const fn rate(rate: f64) -> Self {
        Learning { rate, coupled_decay: 0.0, decoupled_decay: 0.0, clip: None }
    }
}

/// A program to compare.
pub(crate) struct Updates<'a> {
    pub(crate) program: &'a str,
    /// How many columns a parameter has.
    pub(crate) columns: &'a dyn Fn(&str) -> usize,
    /// Which parameters it updates; the others stay as they are.
    pub(crate) is_learned: &'a dyn Fn(&str) -> bool,
    pub(crate) learning: Learning,
}

impl Updates<'_> {
    /// Moves all parameters away from where they begin, so that none is zero.
    pub(crate) fn disturb(session: &mut Session) {
        let names: Vec<String> = session.parameters().map(str::to_owned).collect();
        for (at, name) in names.iter().enumerate() {
            let mut values = session.buffer(name).expect("a parameter");
            let moves = numbers(50 + at as u64, values.len());
            values.iter_mut().zip(moves).for_each(|(value, by)| *value += 0.3 * by);
            session.write(name, &values).expect("a parameter");
        }
    }

    fn parameters(&self, session: &Session) -> Matrices {
        let read = |name: &str| {
            let values = session.buffer(name).expect("a parameter");
            (name.to_owned(), Dense::of_singles((self.columns)(name), &values))
        };
        session.parameters().map(read).collect()
    }

    /// Runs the updates; `loss` is that of parameters in the update of a number, counted from 0.
    pub(crate) fn check(&self, session: &mut Session, loss: impl Fn(&Matrices, usize) -> f64) {
        let Learning { rate, coupled_decay, decoupled_decay, clip } = self.learning;
        let mut moments: Option<(Matrices, Matrices)> = None;
        let mut steady: Option<Matrices> = None;
        for (update, tolerance) in UPDATE_TOLERANCES.into_iter().enumerate() {
            let before = self.parameters(session);
            let expected = loss(&before, update);
            let mut gradients = self.gradients(&before, |parameters| loss(parameters, update));
            if let Some(limit) = clip {
                let squares = gradients.values().flat_map(Dense::values).map(|g| g * g);
                let length = squares.sum::<f64>().sqrt();
                let factor = (limit / length).min(1.0);
                gradients.values_mut().for_each(|gradient| *gradient = gradient.scaled(factor));
            }
            for (name, gradient) in &mut gradients {
                *gradient = gradient.plus(&before[name].scaled(coupled_decay));
            }
            let zeros = || -> Matrices {
                let zero =
                    |(name, gradient): (&String, &Dense)| (name.clone(), gradient.scaled(0.0));
                gradients.iter().map(zero).collect()
            };
            let (first, second) = moments.get_or_insert_with(|| (zeros(), zeros()));
            let steady = steady.get_or_insert_with(|| {
                let ones = |(name, g): (&String, &Dense)| (name.clone(), g.map(|_| 1.0));
                gradients.iter().map(ones).collect()
            });

            session.run(self.program).expect("an update");
            let found = f64::from(session.scalar(self.program, "loss").expect("a loss"));
            let off = (found - expected).abs() / expected.abs();
            assert!(off <= LOSS_TOLERANCE, "update {update}: the loss is {found}, not {expected}");

            let after = self.parameters(session);
            let correction = |decay: f64| 1.0 - decay.powi(update as i32 + 1);
            for (name, gradient) in &gradients {
                let largest = gradient.values().iter().fold(0.0, |most: f64, g| most.max(g.abs()));
                let small = |g: f64| g.abs() < MIN_GRADIENT * largest || largest == 0.0;
                let kept = steady[name].zip(gradient, |s, g| if small(g) { 0.0 } else { s });
                let m = first[name].zip(gradient, |m, g| 0.9 * m + 0.1 * g);
                let v = second[name].zip(gradient, |v, g| 0.999 * v + 0.001 * g * g);
                let mut compared = 0;
                for row in 0..gradient.rows {
                    for column in 0..gradient.columns {
                        if kept.at(row, column) == 0.0 {
                            continue;
                        }
                        compared += 1;
                        let mean = m.at(row, column) / correction(0.9);
                        let root = (v.at(row, column) / correction(0.999)).sqrt();
                        let old = before[name].at(row, column);
                        let moved = mean / (root + 1e-8) + decoupled_decay * old;
                        let found = (old - after[name].at(row, column)) / rate;
                        assert!(
                            (found - moved).abs() <= tolerance,
                            "update {update} of {name}, row {row}, column {column}: moved by \
                             {found} learning rates, not {moved}"
                        );
                    }
                }
                assert!(compared > 0, "update {update}: nothing of {name} was compared");
                first.insert(name.clone(), m);
                second.insert(name.clone(), v);
                steady.insert(name.clone(), kept);
            }
            for (name, old) in before.iter().filter(|(name, _)| !(self.is_learned)(name)) {
                assert_eq!(old.values(), after[name].values(), "{name} is not learned");
            }
        }
    }

    /// (loss(p + STEP) − loss(p − STEP)) / (2 STEP), of every number of every learned parameter.
    fn gradients(&self, at: &Matrices, loss: impl Fn(&Matrices) -> f64) -> Matrices {
        let mut moved = at.clone();
        let mut gradients = Matrices::new();
        for (name, values) in at.iter().filter(|(name, _)| (self.is_learned)(name)) {
            let mut gradient = values.scaled(0.0);
            for row in 0..values.rows {
                for column in 0..values.columns {
                    let mut loss_at = |value: f64| {
                        moved.get_mut(name).expect("a parameter").set(row, column, value);
                        loss(&moved)
                    };
                    let old = values.at(row, column);
                    let slope = (loss_at(old + STEP) - loss_at(old - STEP)) / (2.0 * STEP);
                    loss_at(old);
                    gradient.set(row, column, slope);
                }
            }
            gradients.insert(name.clone(), gradient);
        }
        gradients
    }
}
