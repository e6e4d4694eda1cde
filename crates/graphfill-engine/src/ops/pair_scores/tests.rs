use std::sync::Arc;

use proptest::prelude::*;

use crate::random::{Key, PAIR_GROUP, pairs_below};
use crate::testing::{Reference, check, some_numbers};
use crate::{Initial, Plan, Program, Shape};

fn scores(left: &Reference, right: &Reference, pairs: &[[u32; 2]]) -> Reference {
    Reference::new(Shape::new(pairs.len(), 1), |pair, _| {
        let [i, j] = pairs[pair].map(|row| row as usize);
        left.row(i).iter().zip(right.row(j)).map(|(left, right)| left * right).sum()
    })
}

/// The pairs that the first random operation of the test draws in step 0.
fn drawn(count: usize, bounds: [u32; 2]) -> Vec<[u32; 2]> {
    let key = Key::new(5, Program::new("test").new_stream(), 0);
    let groups = 0..count.div_ceil(PAIR_GROUP) as u32;
    groups.flat_map(|group| pairs_below(key, group, bounds)).take(count).collect()
}

proptest! {
    #[test]
    fn rows_may_be_paired_again_and_again(
        left in 1usize..6,
        right in 1usize..6,
        columns in prop_oneof![0usize..5, 15usize..19],
        picks in prop::collection::vec((0usize..100, 0usize..100), 0..80),
    ) {
        let shapes = [Shape::new(left, columns), Shape::new(right, columns)];
        let within = |(i, j): &(usize, usize)| [(i % left) as u32, (j % right) as u32];
        let pairs: Arc<[[u32; 2]]> = picks.iter().map(within).collect();
        check(&shapes, |_, x| x[0].pair_scores(x[1], &pairs), |x| scores(&x[0], &x[1], &pairs));
        // A matrix with itself, a row with itself now and then.
        let within = |(i, j): &(usize, usize)| [(i % left) as u32, (j % left) as u32];
        let pairs: Arc<[[u32; 2]]> = picks.iter().map(within).collect();
        check(&shapes[..1], |_, x| x[0].pair_scores(x[0], &pairs), |x| {
            scores(&x[0], &x[0], &pairs)
        });
    }

    #[test]
    fn the_gradient_draws_the_same_pairs(
        left in 1usize..40, right in 1usize..6, columns in 0usize..10, count in 0usize..80,
    ) {
        let shapes = [Shape::new(left, columns), Shape::new(right, columns)];
        let pairs = drawn(count, [left as u32, right as u32]);
        check(&shapes, |_, x| x[0].sampled_pair_scores(x[1], count), |x| {
            scores(&x[0], &x[1], &pairs)
        });
    }
}

/// Lists of hundreds and of thousands of pairs.
#[test]
fn few_rows_may_have_many_pairs() {
    for (left, right, columns, count) in [(3, 2, 5, 2500), (4, 1, 4, 700), (2, 1, 1, 12_000)] {
        let shapes = [Shape::new(left, columns), Shape::new(right, columns)];
        let pairs: Arc<[[u32; 2]]> = drawn(count, [left as u32, right as u32]).into();
        let reference = |x: &[Reference]| scores(&x[0], &x[1], &pairs);
        check(&shapes, |_, x| x[0].sampled_pair_scores(x[1], count), reference);
        check(&shapes, |_, x| x[0].pair_scores(x[1], &pairs), reference);
    }
}

#[test]
fn only_one_side_may_be_learnt() {
    let (shape, pairs) = (Shape::new(3, 4), Arc::from([[0, 2], [2, 2], [0, 1]]));
    let half = Reference::new(shape, |_, _| 0.5);
    check(
        &[shape],
        |program, x| x[0].pair_scores(program.constant(shape, 0.5), &pairs),
        |x| scores(&x[0], &half, &pairs),
    );
    check(
        &[shape],
        |program, x| program.constant(shape, 0.5).pair_scores(x[0], &pairs),
        |x| scores(&half, &x[0], &pairs),
    );
}

#[test]
fn no_rows_have_no_pairs() {
    let none: Arc<[[u32; 2]]> = Arc::from([]);
    let shapes = [Shape::new(0, 3), Shape::new(0, 3)];
    let empty = |_: &[Reference]| Reference::new(Shape::new(0, 1), |_, _| 0.0);
    check(&shapes, |_, x| x[0].pair_scores(x[1], &none), empty);
    check(&shapes, |_, x| x[0].sampled_pair_scores(x[1], 0), empty);
}

#[test]
fn pairs_are_drawn_anew_and_evenly() {
    let program = Program::new("draw");
    let own = program.parameter("own", [5, 1], Initial::ZEROS);
    program.output("scores", own.sampled_pair_scores(program.constant([1, 1], 1.0), 50_000));
    let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
    let mut session = crate::testing::session(plan, 0);
    session.write("own", &[0.0, 1.0, 2.0, 3.0, 4.0]).expect("own");
    let mut draw = || {
        session.run("draw").expect("a run");
        session.read("draw", "scores").expect("an output")
    };
    let (first, second) = (draw(), draw());
    assert_ne!(first, second);
    for row in 0..5 {
        let count = first.iter().filter(|&&score| score == row as f32).count();
        assert!((9500..10_500).contains(&count), "row {row}: {count}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let pairs: Arc<[[u32; 2]]> = (0..5000u32).map(|k| [k * 7919 % 211, k * k % 83 % 61]).collect();
    let run = |threads: usize| {
        let program = Program::new("test");
        let left = program.parameter("left", [211, 37], Initial::Normal(1.0));
        let right = program.parameter("right", [61, 37], Initial::Normal(1.0));
        let fixed = left.pair_scores(right, &pairs);
        let sampled = left.sampled_pair_scores(right, 3000);
        let weights = program.input("weights", [5000, 1]);
        let loss = fixed.multiply(weights).sum() + sampled.multiply(sampled).sum();
        let gradients = program.differentiate(loss, &["left", "right"]);
        program.output("fixed", fixed);
        program.output("left", gradients[0]);
        program.output("right", gradients[1]);
        let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
        let mut session = crate::testing::session(plan, 9);
        session.write("weights", &some_numbers(5000, 4)).expect("weights");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("a pool").install(|| session.run("test").expect("a run"));
        ["fixed", "left", "right"].map(|name| session.read("test", name).expect("an output"))
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn mistakes_are_refused() {
    let message = |record: fn(&Program)| {
        let program = Program::new("pairs");
        record(&program);
        program.finish().expect_err("a mistake").to_string()
    };
    let outside = message(|program| {
        let x = program.constant([3, 2], 1.0);
        let _ = x.pair_scores(x, &Arc::from([[0, 1], [3, 0]]));
    });
    assert!(outside.contains("rows 3 and 0 were asked for; there are 3 and 3"), "{outside}");
    let narrow = message(|program| {
        let (left, right) = (program.constant([3, 2], 1.0), program.constant([3, 4], 1.0));
        let _ = left.sampled_pair_scores(right, 5);
    });
    assert!(narrow.contains("3 × 2 does not fit 3 × 4"), "{narrow}");
    let nothing = message(|program| {
        let x = program.constant([0, 2], 1.0);
        let _ = x.sampled_pair_scores(x, 5);
    });
    assert!(nothing.contains("5 pairs cannot be drawn from 0 × 0"), "{nothing}");
}
