//! Programs that only look at what others learn.

mod device;

use graphfill_engine::{Adam, Initial, Plan, Program, Recorded, Schedule, Session};

const ROWS: usize = 7;

fn trainer() -> Recorded {
    let program = Program::new("train");
    let weights = program.parameter("weights", [5, 3], Initial::Glorot);
    let bias = program.parameter("bias", [1, 3], Initial::Normal(0.1));
    let scores = program.input("x", [ROWS, 5]).product(weights).dropout(0.2).add_bias(bias);
    let loss = scores.multiply(scores).sum();
    program.output("loss", loss);
    let adam = Adam::new(Schedule::Constant(0.05));
    program.minimise(loss, &adam, None, &["weights", "bias"]);
    program.finish().expect("a program")
}

fn predictor() -> Recorded {
    let program = Program::new("predict");
    let weights = program.parameter("weights", [5, 3], Initial::Glorot);
    program.output("scores", program.input("x", [ROWS, 5]).product(weights));
    program.finish().expect("a program")
}

fn plan() -> Plan {
    Plan::new(vec![trainer(), predictor()]).expect("a plan")
}

/// Goes on from the prediction, with a buffer of the training and an input of its own.
fn looking(plan: &Plan) -> Recorded {
    let program = plan.continued("predict", "look").expect("a program to go on from");
    let scores = program.result("scores").add_bias(program.shared("bias"));
    program.output("difference", scores - program.input("own", [ROWS, 3]));
    program.finish().expect("a program")
}

fn with_auxiliary() -> Session {
    let plan = plan();
    let look = looking(&plan);
    filled(plan.with_auxiliary(vec![look]).expect("a plan"))
}

fn filled(plan: Plan) -> Session {
    let mut session = device::session(plan, 4);
    let x: Vec<f32> = (0..ROWS * 5).map(|at| (at as f32 * 0.7).sin()).collect();
    session.write("x", &x).expect("an input");
    session
}

fn train(session: &mut Session, steps: usize) -> Vec<Vec<f32>> {
    (0..steps).for_each(|_| session.run("train").expect("a step"));
    ["weights", "bias"].map(|name| session.buffer(name).expect("a parameter")).to_vec()
}

#[test]
fn they_see_what_is_learnt_and_change_nothing() {
    let (mut alone, mut watched) = (filled(plan()), with_auxiliary());
    assert_eq!(alone.plan().fingerprint(), watched.plan().fingerprint());
    let own = vec![0.25; ROWS * 3];
    watched.write("own", &own).expect("an input of its own");
    for _ in 0..3 {
        assert_eq!(train(&mut alone, 2), train(&mut watched, 2));
        watched.run("look").expect("a look");
        let found = watched.read("look", "difference").expect("an output");
        watched.run("predict").expect("a prediction");
        let scores = watched.read("predict", "scores").expect("an output");
        let bias = watched.buffer("bias").expect("a parameter");
        for (at, (found, score)) in found.iter().zip(&scores).enumerate() {
            let expected = score + bias[at % 3] - 0.25;
            assert!((found - expected).abs() < 1e-6, "{found} instead of {expected}");
        }
    }
}

#[test]
fn checkpoints_do_not_know_of_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("half");
    type Make = fn() -> Session;
    let without: Make = || filled(plan());
    for (first, second) in [(without, with_auxiliary as Make), (with_auxiliary, without)] {
        let mut whole = first();
        train(&mut whole, 3);
        if whole.plan().listing().contains("look:") {
            whole.run("look").expect("a look");
        }
        whole.save(&path).expect("a file");
        let mut resumed = second();
        resumed.load(&path).expect("the same programs");
        assert_eq!(resumed.steps("train").ok(), Some(3));
        assert_eq!(train(&mut resumed, 4), train(&mut whole, 4));
    }
}

#[test]
fn what_would_be_forgotten_is_refused() {
    let refused = |program: Program| {
        let recorded = program.finish().expect("a program");
        plan().with_auxiliary(vec![recorded]).expect_err("it changes something").to_string()
    };
    let program = Program::new("look");
    program.output("own", program.parameter("own", [2, 2], Initial::ZEROS).relu());
    assert_eq!(
        refused(program),
        "plan (`look` only looks): it has `own`, which no other program has"
    );
    let program = Program::new("look");
    let loss = program.parameter("weights", [5, 3], Initial::Glorot).sum();
    program.minimise(loss, &Adam::new(Schedule::Constant(0.1)), None, &["weights"]);
    assert!(refused(program).contains("it has `look/weights/first_moment`"));
    let same = plan().with_auxiliary(vec![predictor()]).expect_err("the same name").to_string();
    assert!(same.contains("rename `predict`"), "{same}");
}

#[test]
fn only_what_is_there_is_found() {
    let plan = plan();
    assert!(plan.continued("nothing", "look").is_err());
    for wrong in [|p: &Program| p.result("bias").rows(), |p: &Program| p.shared("scores").rows()] {
        let program = plan.continued("predict", "look").expect("a program to go on from");
        let _ = wrong(&program);
        let message = program.finish().expect_err("a mistake").to_string();
        assert!(message.contains("auxiliary.rs") && message.contains("nothing named"), "{message}");
    }
}

#[test]
fn a_program_goes_on_from_one_that_trains_without_training() {
    let plan = plan();
    let program = plan.continued("train", "look").expect("a program to go on from");
    program.output("loss", program.result("loss"));
    let look = program.finish().expect("a program");
    let mut session = filled(plan.with_auxiliary(vec![look]).expect("a plan"));
    let before = train(&mut session, 1);
    session.run("look").expect("a look");
    assert!(session.scalar("look", "loss").expect("an output") > 0.0);
    assert_eq!(train(&mut session, 0), before);
}

#[test]
fn what_is_kept_comes_back_whatever_happened_since() {
    let mut session = filled(plan());
    let kept = train(&mut session, 2);
    session.keep().expect("kept");
    assert_ne!(train(&mut session, 2), kept);
    let tensors = session.kept().expect("a device").expect("something kept").tensors();
    assert_eq!([&tensors["weights"].1, &tensors["bias"].1], [&kept[0], &kept[1]]);
    session.restore_kept().expect("restored");
    assert_eq!(train(&mut session, 0), kept);
}
