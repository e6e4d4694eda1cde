//! What a plan promises: little memory, old values for every reader, messages that help.

mod device;

use graphfill_engine::{Adam, EngineError, Initial, Matrix, MemoryLimit, Plan, Program, Schedule};

fn plan(programs: Vec<Program>) -> Plan {
    let programs = programs.into_iter().map(|program| program.finish().expect("a program"));
    Plan::new(programs.collect()).expect("a plan")
}

const ROWS: usize = 1000;

/// x, then 50 times something.
fn chain(again: impl for<'p> Fn(&'p Program, Matrix<'p>) -> Matrix<'p>) -> Plan {
    let program = Program::new("chain");
    let mut x = program.input("x", [ROWS, 16]);
    for _ in 0..50 {
        x = again(&program, x);
    }
    program.output("x", x);
    plan(vec![program])
}

#[test]
fn buffers_share_memory_when_their_lives_do_not_meet() {
    let plan = chain(|program, x| {
        x.product(program.parameter("w", [16, 16], Initial::Glorot)).relu().scale(2.0)
    });
    let buffer = (ROWS * 16) as f64;
    let room = plan.arena_len() as f64 - buffer;
    assert!(room < 2.5 * buffer, "{} buffers", room / buffer);
}

#[test]
fn operations_work_in_place() {
    let plan = chain(|_, x| x.relu().scale(0.5));
    // The input stays, and the first operation needs a place beside it.
    assert_eq!(plan.arena_len(), 2 * ROWS * 16);
}

#[test]
fn what_nobody_asks_for_is_not_there() {
    let program = Program::new("lazy");
    let x = program.input("x", [ROWS, 16]);
    let _ = x.exp().product(program.parameter("w", [16, 500], Initial::Glorot)).relu();
    program.output("y", x.relu());
    let lazy = plan(vec![program]);
    let listing = lazy.listing();
    assert!(listing.contains("relu") || listing.contains("Relu"), "{listing}");
    assert!(!listing.to_lowercase().contains("exp"), "{listing}");
    assert_eq!(lazy.arithmetic("lazy").ok(), Some(0));
    assert_eq!(lazy.arena_len(), 2 * ROWS * 16 + 16 * 500);
}

/// The output of an operation with two, of which one is wanted.
#[test]
fn an_output_that_nobody_reads_has_no_place() {
    let program = Program::new("rows");
    program.output("rows", program.input("x", [ROWS, 16]).normalise_rows());
    let listing = plan(vec![program]).listing();
    assert!(listing.contains(", –] ="), "{listing}");
}

/// An update that reads what another one changes runs first, even where a later reader of its own
/// buffer holds it back.
#[test]
fn updates_see_the_values_from_before_the_step() {
    let program = Program::new("step");
    let (a, b) = (program.state("a", [1, 8]), program.state("b", [1, 8]));
    program.send(b, a, None);
    program.output("late", b.scale(2.0));
    program.send(a, program.input("c", [1, 8]), None);
    let mut session = device::session(plan(vec![program]), 0);
    for (name, value) in [("a", 1.0), ("b", 2.0), ("c", 3.0)] {
        session.write(name, &[value; 8]).expect("a buffer");
    }
    session.run("step").expect("a step");
    assert_eq!(session.read("step", "late").expect("an output"), [4.0; 8]);
    assert_eq!(session.buffer("b").expect("b"), [1.0; 8], "what `a` was before the step");
    assert_eq!(session.buffer("a").expect("a"), [3.0; 8]);
}

#[test]
fn readers_see_the_value_from_before_the_update() {
    let program = Program::new("step");
    let x = program.parameter("x", [1, 1], Initial::Constant(3.0));
    let schedule = Schedule::Constant(1.0);
    program.minimise(x.sum(), &Adam::new(schedule), None, &["x"]);
    // Recorded after the update, yet it reads what the update started from.
    program.output("before", x.scale(1.0));
    let mut session = device::session(plan(vec![program]), 0);
    session.run("step").expect("a step");
    assert_eq!(session.scalar("step", "before").ok(), Some(3.0));
    let after = session.buffer("x").expect("x")[0];
    assert!((after - 2.0).abs() < 1e-5, "{after}");
}

#[test]
fn programs_share_parameters_by_name() {
    let trainer = Program::new("train");
    let x = trainer.parameter("x", [2, 3], Initial::Constant(1.0));
    trainer.minimise(x.multiply(x).sum(), &Adam::default(), None, &["x"]);
    let reader = Program::new("read");
    reader.output("x", reader.parameter("x", [2, 3], Initial::Constant(1.0)).scale(1.0));
    let mut session = device::session(plan(vec![trainer, reader]), 0);
    session.run("train").expect("a step");
    session.run("read").expect("a run");
    let read = session.read("read", "x").expect("x");
    assert_eq!(read, session.buffer("x").expect("x"));
    assert!(read.iter().all(|&value| value < 1.0));
    assert_eq!(session.parameters().collect::<Vec<_>>(), ["x"]);
}

#[test]
fn buffers_of_one_name_and_two_shapes_are_refused() {
    let recorded = |name: &str, rows: usize| {
        let program = Program::new(name);
        program.output("out", program.parameter("shared", [rows, 3], Initial::Glorot).relu());
        program.finish().expect("a program")
    };
    let error = Plan::new(vec![recorded("one", 2), recorded("two", 4)]).expect_err("two shapes");
    let text = error.to_string();
    assert!(matches!(error, EngineError::Shared { .. }));
    for part in ["`shared`", "2 × 3", "4 × 3"] {
        assert!(text.contains(part), "{text}");
    }
    let error = Plan::new(vec![recorded("same", 2), recorded("same", 2)]).expect_err("one name");
    assert!(error.to_string().contains("`same`"), "{error}");
}

#[test]
fn a_plan_that_does_not_fit_says_what_to_lower() {
    let program = Program::new("large");
    let hidden = program.parameter("hidden.weights", [ROWS, 256], Initial::Glorot);
    let x = program.input("features", [100, ROWS]);
    program.output("out", x.product(hidden).sum());
    let mut large = plan(vec![program]);
    large.check_memory(MemoryLimit::Allowed(large.peak_bytes()), "x").expect("just enough");
    large.check_memory(MemoryLimit::Available, "x").expect("a few megabytes");
    let error = large
        .check_memory(MemoryLimit::Allowed(100 * 1024), "svga.hidden")
        .expect_err("too little")
        .to_string();
    let parts = [
        "needs 2.4 MiB of memory",
        "100.0 KiB are allowed",
        "`hidden.weights` (1000 × 256), temporary memory of product (1000.0 KiB), `features`",
        "lower svga.hidden",
    ];
    for part in parts {
        assert!(error.contains(part), "{error}");
    }
}
