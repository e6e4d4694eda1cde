//! Tests of what fingerprints are made of: written texts, which only change with what is computed.

use std::sync::Arc;

use super::{Initial, Program, Recorded};
use crate::{Adam, Likelihood, Plan, Schedule, SparseMatrix, Targets, WeightDecay};

const ROWS: usize = 4;

fn graph(value: f32) -> Arc<SparseMatrix> {
    let values = Some(vec![value, 0.5, 0.5, value]);
    Arc::new(SparseMatrix::new(vec![0, 1, 2, 3, 4], vec![0, 1, 2, 3], values, ROWS))
}

/// What a program depends on.
#[derive(Clone)]
struct Settings {
    name: &'static str,
    edge: f32,
    rate: f32,
    leak: f32,
    target: f32,
    weight: f32,
    initial: Initial,
    adam: Adam,
    clip: f32,
    slice: usize,
}

fn settings() -> Settings {
    Settings {
        name: "train",
        edge: 0.25,
        rate: 0.5,
        leak: 0.2,
        target: 1.0,
        weight: 1.0,
        initial: Initial::Glorot,
        adam: Adam::new(Schedule::Cosine { from: 0.1, to: 0.01, steps: 30 }),
        clip: 1.0,
        slice: 0,
    }
}

fn record(settings: &Settings) -> Recorded {
    let Settings { name, edge, rate, leak, target, weight, initial, adam, clip, slice } = settings;
    let program = Program::new(name);
    let x = program.input("x", [ROWS, 3]);
    let w = program.parameter("w", [3, 2], *initial);
    let hidden = program.sparse_product(&graph(*edge), x.product(w)).leaky_relu(*leak);
    let score = hidden.dropout(*rate).slice_columns(*slice..*slice + 1);
    let targets = Targets::dense([ROWS, 1], vec![*target, 0.0, f32::NAN, 1.0]);
    let loss =
        score.loss(&Arc::new(Likelihood::new(ROWS).bernoulli(targets, *weight).expect("fits")));
    program.output("loss", loss);
    program.minimise(loss, adam, Some(*clip), &["w"]);
    program.finish().expect("a program")
}

fn fingerprint(settings: &Settings) -> u64 {
    Plan::new(vec![record(settings)]).expect("a plan").fingerprint()
}

/// Checkpoints of earlier versions have this fingerprint: change it only together with their version.
#[test]
fn the_text_of_a_program_stays_the_same() {
    let expected = "\
train:
  %0 = x: 4 × 3, input
  %1 = w: 3 × 2, parameter, glorot
  %19 = train/w/first_moment: 3 × 2, state
  %20 = train/w/second_moment: 3 × 2, state
  %2 = dense_product(plain, plain) (%0, %1)
  %3 = sparse_product(sparse(4 × 4, 4 entries, 5bca70319b1a06eb), plain) (%2)
  %4 = activate(leaky relu, leak=0.2) (%3)
  %5 = dropout(rate=0.5, stream=3984523265) (%4)
  %6 = slice_columns(0..1) (%5)
  %7, %8 = loss(4 × 1: columns 0 and 1 on, scale=0.33333334, bernoulli(dense(4 × 1, 1101fc5f0f21bb4b), on=1, off=1)) (%6)
  %9 = fill(4 × 0, value=0) ()
  %10 = fill(4 × 1, value=0) ()
  %11 = concatenate (%9, %8, %10)
  %12 = dropout(rate=0.5, stream=3984523265) (%11)
  %13 = activate_gradient(leaky relu, leak=0.2) (%12, %4)
  %14 = sparse_product(sparse(4 × 4, 4 entries, 5bca70319b1a06eb), transposed) (%13)
  %15 = dense_product(transposed, plain) (%0, %14)
  %16 = squared_norm (%15)
  %17 = linear_combination(1) (%16)
  %18 = clip_scale(limit=1) (%17)
  %21, %22, %23 = adam(rate=cosine 0.1 to 0.01 in 30, decays=0.9 and 0.999, epsilon=0.00000001, weight_decay=none) (%1, %19, %20, %15, %18)
  loss = %7
";
    assert_eq!(record(&settings()).describe(), expected);
    assert_eq!(fingerprint(&settings()), 0x875a_b50e_c1dd_4460);
}

#[test]
fn whatever_changes_the_result_changes_the_fingerprint() {
    let own = settings();
    let adam = |change: fn(&mut Adam)| {
        let mut adam = own.adam;
        change(&mut adam);
        Settings { adam, ..own.clone() }
    };
    let others = [
        Settings { name: "other", ..own.clone() },
        Settings { edge: 0.75, ..own.clone() },
        Settings { rate: 0.25, ..own.clone() },
        Settings { leak: 0.3, ..own.clone() },
        Settings { target: 0.0, ..own.clone() },
        Settings { weight: 2.0, ..own.clone() },
        Settings { initial: Initial::Normal(0.5), ..own.clone() },
        Settings { initial: Initial::Uniform(0.5), ..own.clone() },
        Settings { initial: Initial::Constant(0.5), ..own.clone() },
        Settings { clip: 2.0, ..own.clone() },
        Settings { slice: 1, ..own.clone() },
        adam(|adam| adam.schedule = Schedule::Constant(0.1)),
        adam(|adam| adam.schedule = Schedule::Cosine { from: 0.1, to: 0.01, steps: 31 }),
        adam(|adam| adam.first_decay = 0.8),
        adam(|adam| adam.second_decay = 0.99),
        adam(|adam| adam.epsilon = 1e-7),
        adam(|adam| adam.weight_decay = WeightDecay::Coupled(0.1)),
        adam(|adam| adam.weight_decay = WeightDecay::Decoupled(0.1)),
    ];
    let mut all: Vec<u64> = others.iter().chain([&own]).map(fingerprint).collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
    assert_eq!(fingerprint(&own), fingerprint(&settings()));
}

/// A text stands for data by its fingerprint, however much of it there is.
#[test]
fn texts_do_not_grow_with_the_data() {
    let text = |rows: usize| {
        let program = Program::new("train");
        let ones = || Targets::dense([rows, 2], vec![1.0; 2 * rows]);
        let likelihood = Likelihood::new(rows)
            .multinomial(ones(), 1.0)
            .and_then(|all| all.categorical(2, vec![1; rows], 1.0))
            .and_then(|all| all.squared_error(ones(), 1.0));
        let likelihood = Arc::new(likelihood.expect("targets that fit"));
        let pairs: Arc<[[u32; 2]]> = vec![[0, 0]; rows].into();
        let x = program.input("x", [rows, 6]);
        program.output("loss", x.loss(&likelihood));
        program.output("rows", x.gather_rows(&vec![0; rows]).sum());
        program.output("pairs", x.pair_scores(x, &pairs).sum());
        program.output("hidden", program.hidden_cells(2, &vec![0; rows], 0.5, 0.0).sum());
        program.finish().expect("a program").describe()
    };
    assert!(text(5000).len() < text(5).len() + 200, "{}", text(5));
}
