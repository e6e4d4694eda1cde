//! Every loss against a plain reference, alone and fused with a decoder.

mod wide;

use std::sync::Arc;

use proptest::prelude::*;

use super::{Decoder, Likelihood, MISSING_CATEGORY, Targets};
use crate::random::{Key, normals};
use crate::testing::{Reference, check, some_numbers};
use crate::{Initial, Plan, Program, Shape, SparseRows};

/// One block, told cell by cell.
#[derive(Debug, Clone)]
struct Plain {
    kind: PlainKind,
    weight: f32,
    /// rows × width; none where a cell was not observed.
    cells: Vec<Vec<Option<f32>>>,
    width: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum PlainKind {
    Bernoulli,
    BalancedBernoulli,
    SquaredError,
    Multinomial,
    Categorical,
}

impl Plain {
    fn add_to(&self, likelihood: Likelihood, sparse: bool) -> Likelihood {
        let shape = Shape::new(self.cells.len(), self.width);
        let dense: Vec<f32> =
            self.cells.iter().flatten().map(|cell| cell.unwrap_or(f32::NAN)).collect();
        let complete = self.cells.iter().flatten().all(Option::is_some);
        let targets = if sparse && complete {
            Targets::Sparse(compressed(&dense, shape))
        } else {
            Targets::dense(shape, dense)
        };
        match self.kind {
            PlainKind::Bernoulli => likelihood.bernoulli(targets, self.weight),
            PlainKind::BalancedBernoulli => likelihood.balanced_bernoulli(targets, self.weight),
            PlainKind::SquaredError => likelihood.squared_error(targets, self.weight),
            PlainKind::Multinomial => likelihood.multinomial(targets, self.weight),
            PlainKind::Categorical => {
                let category = |cells: &Vec<Option<f32>>| {
                    cells.first().copied().flatten().map_or(MISSING_CATEGORY, |x| x as u32)
                };
                let categories = self.cells.iter().map(category).collect();
                likelihood.categorical(self.width, categories, self.weight)
            }
        }
        .expect("targets that fit")
    }

    /// `weights` has one for every score.
    fn loss(&self, scores: &Reference, weights: &Reference, first: usize) -> f64 {
        let row = |at: usize| &scores.row(at)[first..first + self.width];
        let weight = |at: usize| &weights.row(at)[first..first + self.width];
        let cells = || self.cells.iter().enumerate();
        let observed = || {
            cells().flat_map(move |(at, cells)| {
                let pairs = cells.iter().zip(row(at)).zip(weight(at));
                pairs.filter_map(|((cell, &s), &w)| cell.map(|x| (f64::from(x), s, w)))
            })
        };
        let mean = |sum: f64, count: usize| sum / count.max(1) as f64;
        let log_softmax =
            |at: usize, k: usize| row(at)[k] - row(at).iter().map(|s| s.exp()).sum::<f64>().ln();
        f64::from(self.weight)
            * match self.kind {
                PlainKind::Bernoulli | PlainKind::BalancedBernoulli => {
                    let share = mean(observed().map(|(x, ..)| x).sum(), observed().count());
                    let (on, off) = match self.kind {
                        PlainKind::BalancedBernoulli => (0.5 / share, 0.5 / (1.0 - share)),
                        _ => (1.0, 1.0),
                    };
                    let cell = |(x, s, w): (f64, f64, f64)| {
                        let one = if x > 0.0 { on * x * (-s).exp().ln_1p() } else { 0.0 };
                        let zero = if x < 1.0 { off * (1.0 - x) * s.exp().ln_1p() } else { 0.0 };
                        w * (one + zero)
                    };
                    mean(observed().map(cell).sum(), observed().count())
                }
                PlainKind::SquaredError => {
                    let cell = |(x, s, w): (f64, f64, f64)| w * (s - x).powi(2);
                    mean(observed().map(cell).sum(), observed().count())
                }
                PlainKind::Multinomial => {
                    let total =
                        |cells: &[Option<f32>]| cells.iter().flatten().map(|&x| f64::from(x)).sum();
                    let with_any = || cells().filter(|(_, cells)| total(cells) > 0.0);
                    let loss = |(at, cells): (usize, &Vec<Option<f32>>)| -> f64 {
                        let each = cells.iter().enumerate().filter_map(|(k, x)| Some((k, (*x)?)));
                        let total: f64 = total(cells);
                        let row = each.map(|(k, x)| -f64::from(x) / total * log_softmax(at, k));
                        weight(at)[0] * row.sum::<f64>()
                    };
                    mean(with_any().map(loss).sum(), with_any().count())
                }
                PlainKind::Categorical => {
                    let known =
                        || cells().filter_map(|(at, x)| Some((at, (*x.first()?)? as usize)));
                    let loss = |(at, k)| -weight(at)[0] * log_softmax(at, k);
                    mean(known().map(loss).sum(), known().count())
                }
            }
    }
}

fn compressed(dense: &[f32], shape: Shape) -> SparseRows {
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..shape.rows {
        for column in 0..shape.columns {
            let value = dense[row * shape.columns + column];
            if value != 0.0 {
                columns.push(column as u32);
                values.push(value);
            }
        }
        offsets.push(columns.len());
    }
    SparseRows::new(offsets, columns, Some(values), shape.columns)
}

fn blocks(rows: usize) -> impl Strategy<Value = Plain> {
    let kinds = prop_oneof![
        Just(PlainKind::Bernoulli),
        Just(PlainKind::BalancedBernoulli),
        Just(PlainKind::SquaredError),
        Just(PlainKind::Multinomial),
        Just(PlainKind::Categorical),
    ];
    (kinds, 0.2f32..2.0, prop_oneof![1usize..5, 16usize..20], any::<bool>()).prop_flat_map(
        move |(kind, weight, width, holes)| {
            let value = match kind {
                PlainKind::SquaredError => (-2.0f32..2.0).boxed(),
                PlainKind::Bernoulli => prop_oneof![Just(0.0f32), Just(1.0), 0.0f32..1.0].boxed(),
                PlainKind::Categorical => (0..width).prop_map(|k| k as f32).boxed(),
                _ => prop_oneof![Just(0.0f32), Just(1.0)].boxed(),
            };
            let cell =
                if holes { prop::option::of(value).boxed() } else { value.prop_map(Some).boxed() };
            let cells = prop::collection::vec(prop::collection::vec(cell, width), rows);
            cells.prop_map(move |cells| Plain { kind, weight, cells, width })
        },
    )
}

fn tables() -> impl Strategy<Value = (usize, Vec<Plain>, bool)> {
    (0usize..6).prop_flat_map(|rows| {
        (Just(rows), prop::collection::vec(blocks(rows), 0..4), any::<bool>())
    })
}

fn likelihood_of(rows: usize, blocks: &[Plain], sparse: bool) -> Arc<Likelihood> {
    let add = |likelihood, block: &Plain| block.add_to(likelihood, sparse);
    Arc::new(blocks.iter().fold(Likelihood::new(rows), add))
}

fn loss_of(blocks: &[Plain], scores: &Reference) -> Reference {
    weighted_loss_of(blocks, scores, &scores.map(|_| 1.0))
}

fn weighted_loss_of(blocks: &[Plain], scores: &Reference, weights: &Reference) -> Reference {
    let mut first = 0;
    let block_loss = |block: &Plain| {
        first += block.width;
        block.loss(scores, weights, first - block.width)
    };
    Reference::scalar(blocks.iter().map(block_loss).sum())
}

proptest! {
    #[test]
    fn scores_are_judged((rows, blocks, sparse) in tables()) {
        let likelihood = likelihood_of(rows, &blocks, sparse);
        check(&[likelihood.shape()], |_, x| x[0].loss(&likelihood), |x| loss_of(&blocks, &x[0]));
    }

    /// The weights are what noise leaves of itself: some are zero, the others are not.
    #[test]
    fn scores_are_judged_by_weight((rows, blocks, sparse) in tables()) {
        let likelihood = likelihood_of(rows, &blocks, sparse);
        let shape = likelihood.shape();
        let mut noise = vec![0.0; shape.len()];
        normals(Key::new(5, Program::new("test").new_stream(), 0), 0, &mut noise);
        let weights = noise.iter().map(|&noise| f64::from(noise.max(0.0))).collect();
        let weights = Reference { shape, values: weights };
        check(
            &[shape],
            |program, x| x[0].weighted_loss(&likelihood, program.normal_noise(shape).relu()),
            |x| weighted_loss_of(&blocks, &x[0], &weights),
        );
    }

    #[test]
    fn decoded_rows_are_judged(
        (rows, blocks, sparse) in tables(),
        width in 0usize..4,
        by_column in prop::collection::vec(any::<bool>(), 0..=4),
        with_bias: bool,
    ) {
        let likelihood = likelihood_of(rows, &blocks, sparse);
        let columns = likelihood.shape().columns;
        let (bias, scores) = (Shape::new(1, columns), Shape::new(rows, columns));
        let mut shapes = vec![Shape::new(rows, width), Shape::new(width, columns), bias];
        for &by_column in &by_column {
            shapes.extend([scores, if by_column { bias } else { Shape::SCALAR }]);
        }
        if !with_bias {
            shapes.remove(2);
        }
        let others = if with_bias { 3 } else { 2 };
        check(
            &shapes,
            |_, x| {
                let bias = with_bias.then(|| x[2]);
                let offsets = x[others..].chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
                x[0].decoder_loss(Decoder { weight: x[1], bias, offsets }, &likelihood)
            },
            |x| {
                let product = x[0].product(&x[1]);
                let scores = Reference::new(scores, |row, column| {
                    let bias = if with_bias { x[2].at(0, column) } else { 0.0 };
                    let offsets = x[others..].chunks_exact(2).map(|pair| {
                        let scale = &pair[1].values;
                        scale[if scale.len() == 1 { 0 } else { column }] * pair[0].at(row, column)
                    });
                    product.at(row, column) + bias + offsets.sum::<f64>()
                });
                loss_of(&blocks, &scores)
            },
        );
    }
}

/// More rows than one block of the fused operation has, and a number of them that no task divides.
#[test]
fn many_blocks_of_rows_make_one_loss() {
    let (rows, width, columns) = (1501, 5, 1100);
    let ones = |row: usize, column: usize| (row * 7 + column * 13) % 29 == 0;
    let cells = (0..rows * columns).map(|at| f32::from(u8::from(ones(at / columns, at % columns))));
    let targets = compressed(&cells.collect::<Vec<_>>(), Shape::new(rows, columns));
    let likelihood = Likelihood::new(rows).balanced_bernoulli(Targets::Sparse(targets), 1.0);
    let likelihood = Arc::new(likelihood.expect("targets that fit"));
    let run = |fused: bool, threads: usize| {
        let program = Program::new("test");
        let latent = program.parameter("latent", [rows, width], Initial::Normal(1.0));
        let weight = program.parameter("weight", [width, columns], Initial::Normal(1.0));
        let bias = program.parameter("bias", [1, columns], Initial::Normal(1.0));
        let one = program.parameter("one", [1, 1], Initial::Constant(0.5));
        let each = program.parameter("each", [1, columns], Initial::Normal(1.0));
        let first = program.parameter("first", [rows, columns], Initial::Normal(1.0));
        let second = program.parameter("second", [rows, columns], Initial::Normal(1.0));
        let loss = if fused {
            let offsets = vec![(first, one), (second, each)];
            latent.decoder_loss(Decoder { weight, bias: Some(bias), offsets }, &likelihood)
        } else {
            let scores = latent.product(weight).add_bias(bias);
            (scores + first.scale_by(one) + second.scale_columns(each)).loss(&likelihood)
        };
        program.output("loss", loss);
        let names = ["latent", "weight", "bias", "one", "each"];
        for (name, gradient) in names.iter().zip(program.differentiate(loss, &names)) {
            program.output(name, gradient);
        }
        let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
        let peak = plan.peak_bytes();
        let mut session = crate::testing::session(plan, 1);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| session.run("test").expect("a run"));
        let read = |name: &&str| session.read("test", name).expect("an output");
        (["loss"].iter().chain(&names).map(read).collect::<Vec<_>>(), peak)
    };
    let ((fused, small), (plain, large)) = (run(true, 2), run(false, 2));
    for (fused, plain) in fused.iter().zip(&plain) {
        let scale = plain.iter().fold(0.0f32, |most, value| most.max(value.abs()));
        for (fused, plain) in fused.iter().zip(plain) {
            assert!((fused - plain).abs() <= 1e-5 * scale, "{fused} {plain} {scale}");
        }
    }
    assert!(small < large, "{small} {large}");
    assert_eq!(fused, run(true, 1).0, "the same bits on one thread");
}

#[test]
fn scores_far_out_stay_finite() {
    let targets = || Targets::dense([1, 4], vec![0.0, 1.0, 0.0, 1.0]);
    let binary = Likelihood::new(1).bernoulli(targets(), 1.0);
    let balanced = Likelihood::new(1).balanced_bernoulli(targets(), 1.0);
    let words = Likelihood::new(1).multinomial(targets(), 1.0);
    for likelihood in [binary, balanced, words] {
        let likelihood = Arc::new(likelihood.expect("targets that fit"));
        let program = Program::new("test");
        let scores = program.parameter("scores", [1, 4], Initial::ZEROS);
        let loss = scores.loss(&likelihood);
        program.output("loss", loss);
        program.output("gradient", program.differentiate(loss, &["scores"])[0]);
        let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
        let mut session = crate::testing::session(plan, 0);
        session.write("scores", &[900.0, -900.0, -900.0, 900.0]).expect("a buffer");
        session.watch(1);
        session.run("test").expect("finite numbers");
        let loss = session.scalar("test", "loss").expect("an output");
        assert!((440.0..910.0).contains(&loss), "{loss}");
    }
}

/// One block of each kind, the scores of one column, and weights of the caller's.
#[test]
fn what_weighs_nothing_counts_nothing() {
    let targets = || Targets::dense([2, 2], vec![0.0, 1.0, 1.0, 0.0]);
    let likelihood = Likelihood::new(2)
        .balanced_bernoulli(targets(), 1.0)
        .and_then(|blocks| blocks.squared_error(targets(), 1.0))
        .and_then(|blocks| blocks.multinomial(targets(), 1.0))
        .and_then(|blocks| blocks.categorical(2, vec![0, 1], 1.0))
        .expect("targets that fit");
    let (likelihood, shape) = (Arc::new(likelihood), Shape::new(2, 8));
    let program = Program::new("test");
    let scores = program.parameter("scores", shape, Initial::Normal(1.0));
    let loss = scores.weighted_loss(&likelihood, program.input("weights", shape));
    program.output("loss", loss);
    program.output("gradient", program.differentiate(loss, &["scores"])[0]);
    program.output("plain", scores.loss(&likelihood));
    let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
    let mut session = crate::testing::session(plan, 0);
    let mut run = |weights: Vec<f32>| {
        session.write("weights", &weights).expect("weights");
        session.scribble();
        session.run("test").expect("a run");
        let read = |name: &str| session.read("test", name).expect("an output");
        (read("loss")[0], read("plain")[0], read("gradient"))
    };
    let (one, plain, gradient) = run(vec![1.0; 16]);
    assert_eq!(one, plain);
    assert!(gradient.iter().all(|&slope| slope != 0.0));
    let (half, _, half_gradient) = run(vec![0.5; 16]);
    assert_eq!(half, 0.5 * plain);
    assert!(
        gradient.iter().zip(half_gradient).all(|(&whole, half)| (whole - 2.0 * half).abs() < 1e-6)
    );
    // The blocks of whole rows look at their first columns alone.
    let first_row = [1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0];
    let (first, _, upper) = run([first_row, [0.0; 8]].concat());
    let (second, _, lower) = run([[0.0; 8], first_row].concat());
    assert!((first + second - plain).abs() < 1e-6 * plain);
    assert_eq!(upper[..8], gradient[..8]);
    assert_eq!(lower[8..], gradient[8..]);
    assert_eq!((&upper[8..], &lower[..8]), (&[0.0; 8][..], &[0.0; 8][..]));
    // Not even where the score is none.
    session.write("scores", &[f32::INFINITY; 16]).expect("scores");
    session.write("weights", &[0.0; 16]).expect("weights");
    session.run("test").expect("a run");
    assert_eq!(session.scalar("test", "loss").expect("a loss"), 0.0);
    assert_eq!(session.read("test", "gradient").expect("a gradient"), [0.0; 16]);
}

#[test]
fn offsets_that_do_not_fit_are_refused() {
    let targets = Targets::dense([2, 3], vec![0.0; 6]);
    let likelihood = Arc::new(Likelihood::new(2).squared_error(targets, 1.0).expect("targets"));
    let told = |offset: [usize; 2], scale: [usize; 2], count: usize, expected: &str| {
        let program = Program::new("wrong");
        let weight = program.parameter("weight", [4, 3], Initial::ZEROS);
        let offset = (program.input("offset", offset), program.input("scale", scale));
        let decoder = Decoder { offsets: vec![offset; count], ..Decoder::new(weight) };
        let _ = program.input("latent", [2, 4]).decoder_loss(decoder, &likelihood);
        let error = program.finish().expect_err("a mistake").to_string();
        assert!(error.contains(expected) && error.contains("tests.rs"), "{error}");
    };
    told([2, 2], [1, 1], 1, "2 × 3 does not fit 2 × 2: an offset has the shape of the scores");
    told([2, 3], [2, 1], 1, "2 × 3 does not fit 2 × 1: an offset is scaled by a single number or");
    told([2, 3], [1, 3], 5, "the decoder has 5 offsets, and 4 are the most");
}

#[test]
fn weights_have_the_shape_of_the_scores() {
    let targets = Targets::dense([2, 3], vec![0.0; 6]);
    let likelihood = Arc::new(Likelihood::new(2).squared_error(targets, 1.0).expect("targets"));
    let program = Program::new("wrong");
    let scores = program.parameter("scores", [2, 3], Initial::ZEROS);
    let _ = scores.weighted_loss(&likelihood, program.input("weights", [2, 1]));
    let error = program.finish().expect_err("a mistake").to_string();
    assert!(
        error.ends_with("2 × 3 does not fit 2 × 1: there is a weight for every score"),
        "{error}"
    );
}

#[test]
fn targets_that_do_not_fit_are_refused() {
    let targets = Targets::dense([3, 2], vec![0.0; 6]);
    let error = Likelihood::new(4).squared_error(targets, 1.0).expect_err("another size");
    assert!(error.to_string().contains("targets are 3 × 2; the scores have 4 rows"), "{error}");
    let error = Likelihood::new(1).balanced_bernoulli(Targets::dense([1, 2], vec![0.0, 3.0]), 1.0);
    let error = error.expect_err("a count");
    assert!(error.to_string().contains("3 was observed, not a number from 0 to 1"), "{error}");
    let error = Likelihood::new(1).multinomial(Targets::dense([1, 2], vec![0.0, -1.0]), 1.0);
    assert!(error.is_err());
    let twice = SparseRows::new(vec![0, 2], vec![1, 1], None, 3);
    let error = Likelihood::new(1).balanced_bernoulli(Targets::Sparse(twice), 1.0);
    let error = error.expect_err("a cell told twice");
    assert!(error.to_string().contains("the columns of row 0 do not rise"), "{error}");
    let error = Likelihood::new(2).categorical(3, vec![0, 3], 1.0).expect_err("an unknown level");
    assert!(error.to_string().contains("category 3 was observed; there are 3"), "{error}");
}
