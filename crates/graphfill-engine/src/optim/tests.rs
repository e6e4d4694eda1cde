//! Whole programs that learn, against Adam written plainly in double precision.

use proptest::prelude::*;

use super::{Adam, Schedule, WeightDecay};
use crate::testing::some_numbers;
use crate::{Initial, Matrix, Plan, Program, Session, Shape};

/// Σ c · (x − target)², where the gradient by x is 2 · c · (x − target).
fn bowl<'p>(program: &'p Program, name: &str, shape: Shape) -> Matrix<'p> {
    let difference = program.parameter(name, shape, Initial::Normal(1.0))
        - program.input(&format!("{name}.target"), shape);
    difference.multiply(difference).multiply(program.input(&format!("{name}.c"), shape)).sum()
}

fn session(programs: Vec<Program>, shapes: &[(&str, Shape)]) -> Session {
    let programs = programs.into_iter().map(|program| program.finish().expect("a program"));
    let plan = Plan::new(programs.collect()).expect("a plan");
    let mut session = crate::testing::session(plan, 3);
    session.watch(1);
    for (seed, (name, shape)) in shapes.iter().enumerate() {
        let positive =
            some_numbers(shape.len(), seed + 5).iter().map(|c| c.abs()).collect::<Vec<_>>();
        session.write(&format!("{name}.c"), &positive).expect("c");
        let target = some_numbers(shape.len(), seed);
        session.write(&format!("{name}.target"), &target).expect("a target");
    }
    session
}

/// One parameter as doubles, all of the bowl that it lies in, and its moments.
struct Plain {
    x: Vec<f64>,
    c: Vec<f64>,
    target: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Plain {
    fn of(session: &Session, name: &str) -> Self {
        let doubles = |name: String| -> Vec<f64> {
            session.buffer(&name).expect("a buffer").into_iter().map(f64::from).collect()
        };
        let x = doubles(name.to_owned());
        let zeros = vec![0.0; x.len()];
        let (c, target) = (doubles(format!("{name}.c")), doubles(format!("{name}.target")));
        Plain { x, c, target, first: zeros.clone(), second: zeros }
    }

    fn gradient(&self) -> Vec<f64> {
        (0..self.x.len()).map(|at| 2.0 * self.c[at] * (self.x[at] - self.target[at])).collect()
    }

    fn step(&mut self, adam: &Adam, step: u64, gradient: &[f64], scale: f64) {
        let (beta1, beta2) = (f64::from(adam.first_decay), f64::from(adam.second_decay));
        let rate = f64::from(adam.schedule.rate(step));
        let count = (step + 1) as i32;
        for (at, x) in self.x.iter_mut().enumerate() {
            let mut gradient = gradient[at] * scale;
            match adam.weight_decay {
                WeightDecay::None => {}
                WeightDecay::Coupled(weight) => gradient += f64::from(weight) * *x,
                WeightDecay::Decoupled(weight) => *x -= rate * f64::from(weight) * *x,
            }
            let (first, second) = (&mut self.first[at], &mut self.second[at]);
            *first = beta1 * *first + (1.0 - beta1) * gradient;
            *second = beta2 * *second + (1.0 - beta2) * gradient * gradient;
            let mean = *first / (1.0 - beta1.powi(count));
            let square = *second / (1.0 - beta2.powi(count));
            *x -= rate * mean / (square.sqrt() + f64::from(adam.epsilon));
        }
    }

    fn compare(&self, session: &Session, name: &str) {
        let found = session.buffer(name).expect("a parameter");
        for (at, (&found, &expected)) in found.iter().zip(&self.x).enumerate() {
            let error = (f64::from(found) - expected).abs();
            assert!(error < 2e-5, "{name}, number {at}: {found} instead of {expected}");
        }
    }
}

/// Twenty steps on two parameters.
fn check(adam: &Adam, clip: Option<f32>, shape: Shape) {
    let shapes = [("a", shape), ("b", Shape::new(3, 5))];
    let program = Program::new("train");
    let loss = bowl(&program, "a", shape) + bowl(&program, "b", shapes[1].1);
    program.minimise(loss, adam, clip, &["a", "b"]);
    let mut session = session(vec![program], &shapes);
    let mut plain = [Plain::of(&session, "a"), Plain::of(&session, "b")];
    for step in 0..20 {
        session.run("train").expect("finite numbers");
        let gradients = plain.each_ref().map(Plain::gradient);
        let norm = gradients.iter().flatten().map(|value| value * value).sum::<f64>().sqrt();
        let scale = clip.map_or(1.0, |limit| (f64::from(limit) / norm).min(1.0));
        for (plain, gradient) in plain.iter_mut().zip(&gradients) {
            plain.step(adam, step, gradient, scale);
        }
    }
    plain[0].compare(&session, "a");
    plain[1].compare(&session, "b");
}

#[test]
fn follows_plain_adam_with_every_setting() {
    let cosine = Schedule::Cosine { from: 0.1, to: 0.001, steps: 15 };
    let decays = [WeightDecay::None, WeightDecay::Coupled(0.1), WeightDecay::Decoupled(0.1)];
    for schedule in [Schedule::Constant(0.05), cosine] {
        for decay in decays {
            for clip in [None, Some(0.5), Some(1000.0)] {
                let adam = Adam::new(schedule).with_weight_decay(decay);
                check(&adam, clip, Shape::new(7, 11));
                check(&Adam { first_decay: 0.5, epsilon: 1e-3, ..adam }, clip, Shape::new(7, 11));
            }
        }
    }
}

#[test]
fn goes_over_many_portions() {
    check(&Adam::new(Schedule::Constant(0.05)), Some(1.0), Shape::new(130, 129));
}

proptest! {
    #[test]
    fn takes_odd_shapes(shape in crate::testing::shapes(), clip in prop::option::of(0.1f32..10.0)) {
        check(&Adam::new(Schedule::Constant(0.02)), clip, shape);
    }
}

#[test]
fn finds_the_bottom_of_a_bowl() {
    let shape = Shape::new(4, 6);
    let program = Program::new("train");
    let loss = bowl(&program, "x", shape);
    program.output("loss", loss);
    let schedule = Schedule::Cosine { from: 0.1, to: 0.0, steps: 600 };
    program.minimise(loss, &Adam::new(schedule), None, &["x"]);
    let mut session = session(vec![program], &[("x", shape)]);
    session.run("train").expect("a step");
    let first = session.scalar("train", "loss").expect("a loss");
    for _ in 0..600 {
        session.run("train").expect("a step");
    }
    let last = session.scalar("train", "loss").expect("a loss");
    assert!(last < 1e-6 * first, "from {first} to {last}");
}

/// Two programs that share a parameter and pull it in turn: each has its own moments and counts.
#[test]
fn programs_that_alternate_keep_their_own_counts() {
    let (shape, other) = (Shape::new(3, 4), Shape::new(2, 2));
    let [constant, cosine] = [
        Adam::new(Schedule::Constant(0.05)),
        Adam::new(Schedule::Cosine { from: 0.1, to: 0.0, steps: 10 }),
    ];
    let first = Program::new("first");
    first.minimise(bowl(&first, "shared", shape), &constant, None, &["shared"]);
    let second = Program::new("second");
    let loss = bowl(&second, "shared", shape) + bowl(&second, "own", other);
    second.minimise(loss, &cosine, None, &["shared", "own"]);
    let mut session = session(vec![first, second], &[("shared", shape), ("own", other)]);
    let mut shared = [Plain::of(&session, "shared"), Plain::of(&session, "shared")];
    let mut own = Plain::of(&session, "own");
    for round in 0..8 {
        // Two steps of the first for one of the second.
        for step in [2 * round, 2 * round + 1] {
            session.run("first").expect("a step");
            let gradient = shared[0].gradient();
            shared[0].step(&constant, step, &gradient, 1.0);
        }
        session.run("second").expect("a step");
        shared[1].x = shared[0].x.clone();
        for plain in [&mut shared[1], &mut own] {
            let gradient = plain.gradient();
            plain.step(&cosine, round, &gradient, 1.0);
        }
        shared[0].x = shared[1].x.clone();
    }
    shared[0].compare(&session, "shared");
    own.compare(&session, "own");
    assert_eq!((session.steps("first").ok(), session.steps("second").ok()), (Some(16), Some(8)));
    let moment = |program: &str| session.buffer(&format!("{program}/shared/first_moment"));
    assert_ne!(moment("first").expect("a moment"), moment("second").expect("a moment"));
}

#[test]
fn moments_settle_at_zero() {
    let program = Program::new("train");
    let loss = program.parameter("x", [1, 1], Initial::ZEROS).multiply(program.input("c", [1, 1]));
    program.minimise(loss.sum(), &Adam::default(), None, &["x"]);
    let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
    let mut session = crate::testing::session(plan, 0);
    session.write("c", &[1.0]).expect("c");
    session.run("train").expect("a step");
    session.write("c", &[0.0]).expect("c");
    for _ in 0..1000 {
        session.run("train").expect("a step");
    }
    assert_eq!(session.buffer("train/x/first_moment").expect("a moment"), [0.0]);
}

fn mistake(record: impl Fn(&Program)) -> String {
    let program = Program::new("train");
    record(&program);
    program.finish().expect_err("a mistake").to_string()
}

#[test]
fn mistakes_are_named_with_the_line_that_made_them() {
    let adam = Adam::default();
    let twice = mistake(|program| {
        program.minimise(bowl(program, "x", Shape::SCALAR), &adam, None, &["x", "x"]);
    });
    assert!(twice.contains("`x` is updated twice") && twice.contains(file!()), "{twice}");
    let missing = mistake(|program| {
        program.minimise(bowl(program, "x", Shape::SCALAR), &adam, Some(1.0), &["y"]);
    });
    assert!(missing.contains("no parameter `y`") && missing.contains(file!()), "{missing}");
    let input = mistake(|program| {
        program.minimise(bowl(program, "x", Shape::SCALAR), &adam, None, &["x.target"]);
    });
    assert!(input.contains("`x.target` is an input"), "{input}");
    let settings = [
        (Adam { first_decay: 1.0, ..adam }, "a decay of the moments is 1"),
        (Adam { epsilon: 0.0, ..adam }, "epsilon is 0"),
        (adam.with_weight_decay(WeightDecay::Coupled(-1.0)), "the weight decay is -1"),
        (Adam::new(Schedule::Constant(f32::NAN)), "the learning rate is NaN"),
    ];
    for (adam, expected) in settings {
        let found = mistake(|program| {
            program.minimise(bowl(program, "x", Shape::SCALAR), &adam, None, &["x"]);
        });
        assert!(found.contains(expected), "{found}");
    }
}
