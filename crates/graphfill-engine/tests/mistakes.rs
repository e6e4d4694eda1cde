//! Mistakes in a program are told when it is finished, never by a panic, and reading is never wrong
//! in silence.

mod device;

use std::sync::Arc;

use graphfill_engine::{
    Adam, EngineError, Initial, Likelihood, Plan, Program, Schedule, Session, Targets,
};

fn adam() -> Adam {
    Adam::new(Schedule::Constant(0.1))
}

fn told(program: Program, part: &str) {
    let message = program.finish().expect_err("a mistake").to_string();
    assert!(message.contains(part), "{message}");
    assert!(message.contains("mistakes.rs"), "{message}");
}

#[test]
fn shapes_that_do_not_fit_are_told_after_minimising_too() {
    let program = Program::new("wrong");
    let x = program.parameter("x", [3, 4], Initial::Glorot);
    let w = program.parameter("w", [5, 2], Initial::Glorot);
    program.minimise(x.product(w).sum(), &adam(), None, &["w", "x"]);
    told(program, "3 × 4 does not fit 5 × 2");
}

#[test]
fn a_row_outside_is_told_after_minimising_too() {
    let program = Program::new("wrong");
    let x = program.parameter("x", [3, 4], Initial::Glorot);
    program.minimise(x.gather_rows(&[0, 7]).sum(), &adam(), None, &["x"]);
    told(program, "row 7 was asked for; there are 3");
}

#[test]
fn a_loss_is_a_single_number() {
    let program = Program::new("wrong");
    let x = program.parameter("x", [3, 4], Initial::Glorot);
    program.minimise(x.relu(), &adam(), None, &["x"]);
    told(program, "the loss is 3 × 4, not a single number");
}

#[test]
fn what_the_loss_does_not_depend_on_cannot_be_learnt() {
    let program = Program::new("wrong");
    let x = program.parameter("x", [3, 4], Initial::Glorot);
    let _ = program.parameter("y", [3, 4], Initial::Glorot);
    program.minimise(x.sum(), &adam(), None, &["x", "y"]);
    told(program, "the loss does not depend on `y`");
    let program = Program::new("wrong");
    let x = program.parameter("x", [3, 4], Initial::Glorot);
    program.minimise(x.sum(), &adam(), None, &["z"]);
    told(program, "no parameter `z`");
}

#[test]
fn matrices_stay_in_their_program() {
    let (one, other) = (Program::new("one"), Program::new("other"));
    let x = one.parameter("x", [3, 4], Initial::Glorot);
    let loss = other.parameter("y", [1, 1], Initial::Glorot).sum();
    let _ = one.differentiate(loss, &["x"]);
    let _ = x;
    told(one, "a matrix of `other` was used in `one`");
    let one = Program::new("one");
    add_and_minimise(&one, &other);
    told(one, "a matrix of `other` was used in `one`");
}

fn add_and_minimise(one: &Program, other: &Program) {
    let mine = one.parameter("x", [2, 2], Initial::ZEROS);
    let theirs = other.parameter("far", [2, 2], Initial::ZEROS);
    one.minimise((mine + theirs).sum(), &adam(), None, &["x"]);
}

#[test]
fn a_derivative_that_came_with_a_loss_has_no_gradient_of_its_own() {
    let targets = Targets::dense([2, 2], vec![0.0, 1.0, 1.0, 0.0]);
    let likelihood = Likelihood::new(2).squared_error(targets, 1.0).expect("targets that fit");
    let likelihood = Arc::new(likelihood);
    let program = Program::new("wrong");
    let x = program.parameter("x", [2, 2], Initial::Glorot);
    let gradient = program.differentiate(x.loss(&likelihood), &["x"])[0];
    let _ = program.differentiate(gradient.sum() + x.sum(), &["x"]);
    told(program, "loss (");
}

/// Each of two updates reads the buffer that the other one changes: one of them would see it changed.
#[test]
fn updates_that_read_what_the_other_changes_are_refused() {
    let program = Program::new("exchange");
    let (a, b) = (program.state("a", [3, 8]), program.state("b", [3, 8]));
    program.send(a, b, None);
    program.send(b, a, None);
    let message = program.finish().expect_err("a cycle").to_string();
    assert!(message.contains("these updates form a cycle"), "{message}");
    assert!(message.contains("updates `a`, which send (") && message.contains("updates `b`"));
    assert_eq!(message.matches("mistakes.rs").count(), 5, "{message}");
    // A longer way round.
    let program = Program::new("exchange");
    let states = ["a", "b", "c"].map(|name| program.state(name, [3, 8]));
    program.send(states[0], states[1], None);
    program.send(states[1], states[2], None);
    program.send(states[2], states[0], None);
    let message = program.finish().expect_err("a cycle").to_string();
    assert!(message.contains("`a`") && message.contains("`b`") && message.contains("`c`"));
}

/// What the message says: one of them reads a copy.
#[test]
fn a_copy_breaks_a_cycle_of_updates() {
    let program = Program::new("exchange");
    let (a, b) = (program.state("a", [1, 8]), program.state("b", [1, 8]));
    program.send(a, b.scale(1.0), None);
    program.send(b, a, None);
    let plan = Plan::new(vec![program.finish().expect("no cycle")]).expect("a plan");
    let mut session = device::session(plan, 0);
    session.write("a", &[1.0; 8]).expect("a");
    session.write("b", &[2.0; 8]).expect("b");
    session.run("exchange").expect("a run");
    assert_eq!(session.buffer("a").expect("a"), [2.0; 8]);
    assert_eq!(session.buffer("b").expect("b"), [1.0; 8]);
}

#[test]
fn matrices_beyond_any_memory_are_refused() {
    let program = Program::new("wrong");
    let _ = program.input("x", [1 << 32, 1 << 32]);
    told(program, "4294967296 × 4294967296 is larger than any memory");
    let program = Program::new("wrong");
    let (x, y) = (program.input("x", [1 << 40, 1]), program.input("y", [1, 1 << 40]));
    let _ = x.product(y);
    told(program, "1099511627776 × 1099511627776 is larger than any memory");
}

#[test]
fn outputs_are_those_of_the_last_run() {
    let record = |name: &str, factor: f32| {
        let program = Program::new(name);
        let x = program.parameter("x", [2, 3], Initial::Constant(1.0));
        program.output("sum", x.scale(factor).sum());
        program.output("all", x.scale(factor));
        program.finish().expect("a program")
    };
    let plan = Plan::new(vec![record("first", 1.0), record("second", 2.0)]).expect("a plan");
    let mut session = device::session(plan, 0);
    assert!(matches!(session.read("first", "sum"), Err(EngineError::NotRun { .. })));
    session.run("first").expect("a run");
    assert_eq!(session.scalar("first", "sum").expect("an output"), 6.0);
    session.run("second").expect("a run");
    let message = session.scalar("first", "sum").expect_err("gone").to_string();
    assert_eq!(message, "`sum` of `first` is gone: `second` was run last");
    assert_eq!(session.scalar("second", "sum").expect("an output"), 12.0);
    let message = session.scalar("second", "all").expect_err("six numbers").to_string();
    assert_eq!(message, "`all` is 2 × 3, 6 numbers; 1 were given");
    let message = session.write("x", &[0.0; 5]).expect_err("six numbers").to_string();
    assert_eq!(message, "`x` is 2 × 3, 6 numbers; 5 were given");
}

#[test]
fn a_parameter_as_an_output_is_that_of_before_the_step() {
    let program = Program::new("training");
    let x = program.parameter("x", [1, 1], Initial::Constant(3.0));
    program.output("x", x);
    program.minimise(x.multiply(x).sum(), &adam(), None, &["x"]);
    let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
    let mut session = device::session(plan, 0);
    session.run("training").expect("a run");
    assert_eq!(session.scalar("training", "x").expect("an output"), 3.0);
    assert!(session.buffer("x").expect("a buffer")[0] < 3.0);
}

#[test]
fn parameters_come_back_and_sessions_begin_anew() {
    let program = Program::new("training");
    let x = program.parameter("x", [4, 4], Initial::Glorot).dropout(0.5);
    let loss = x.multiply(x).sum();
    program.output("loss", loss);
    assert_eq!(program.parameters(), ["x"]);
    program.minimise(loss, &adam(), None, &["x"]);
    let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
    let mut session = device::session(plan, 7);
    let run = |session: &mut Session| {
        (0..5).for_each(|_| session.run("training").expect("a run"));
        session.buffer("x").expect("a buffer")
    };
    let first = run(&mut session);
    let best = session.snapshot().expect("a snapshot");
    let second = run(&mut session);
    assert_ne!(first, second);
    session.restore(&best).expect("restored");
    assert_eq!(session.buffer("x").expect("a buffer"), first);
    session.write("x", &second).expect("a buffer");
    assert_eq!(session.kept().expect("a device"), None);
    session.restore_kept().expect("nothing to restore");
    session.keep().expect("kept");
    session.restart(7).expect("a restart");
    assert_eq!(run(&mut session), first);
    assert_eq!(session.steps("training").expect("a program"), 5);
    session.restore_kept().expect("restored");
    assert_eq!(session.buffer("x").expect("a buffer"), second);
    assert_eq!(session.kept().expect("a device"), Some(session.snapshot().expect("a snapshot")));
    session.restore(&best).expect("restored");
    session.keep().expect("kept again");
    assert_eq!(session.kept().expect("a device"), Some(best));
}

#[test]
fn two_programs_of_one_name_are_refused() {
    let record = || Program::new("same").finish().expect("a program");
    let message = Plan::new(vec![record(), record()]).expect_err("the same name").to_string();
    assert!(message.contains("rename `same`"), "{message}");
}
