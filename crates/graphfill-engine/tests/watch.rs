//! What a watched session says when a number stops being one.

mod device;

use graphfill_engine::{EngineError, Initial, Plan, Program, Session};

fn session(program: Program, watch: u64) -> Session {
    let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
    let mut session = device::session(plan, 0);
    session.watch(watch);
    session
}

/// (e^(100 · x))², and the line that records the square. (The exponential itself stays finite.)
fn steep() -> (Program, u32) {
    let program = Program::new("steep");
    let exponential = program.input("x", [3, 4]).scale(100.0).exp();
    let (square, line) = (exponential.multiply(exponential), line!());
    program.output("out", square.sum());
    (program, line)
}

#[test]
fn the_first_operation_that_overflows_is_named() {
    let (program, line) = steep();
    let mut session = session(program, 1);
    session.run("steep").expect("finite numbers");
    session.write("x", &[1.0; 12]).expect("x");
    let error = session.run("steep").expect_err("infinity");
    let text = error.to_string();
    let EngineError::NotFinite { program, step, operation, place, found } = error else {
        panic!("{text}")
    };
    assert_eq!((program.as_str(), step, operation), ("steep", 1, "multiply"));
    assert!(place.starts_with(&format!("{}:{line}:", file!())), "{place}");
    assert_eq!(found, f32::INFINITY);
    assert!(text.contains("step 1 of `steep`: multiply (") && text.contains("gave inf"), "{text}");
    assert_eq!(session.steps("steep").ok(), Some(1), "a step that failed is not counted");
}

/// All numbers of the loss are finite, but its gradient by the factor is 1e30 · c = 1e50.
#[test]
fn an_overflow_in_the_gradient_is_named_by_the_line_of_its_operation() {
    let program = Program::new("back");
    let x = program.parameter("x", [1, 2], Initial::Constant(1e30));
    let scaled = x.scale(1e-30);
    let (product, line) = (scaled.multiply(program.input("c", [1, 2])), line!());
    let loss = product.sum().scale(1e30);
    program.output("loss", loss);
    program.output("gradient", program.differentiate(loss, &["x"])[0]);
    let mut session = session(program, 1);
    session.write("c", &[1e20, -1e20]).expect("c");
    let error = session.run("back").expect_err("infinity");
    let EngineError::NotFinite { operation, place, .. } = error else { panic!("{error}") };
    assert_eq!(operation, "multiply");
    assert!(place.starts_with(&format!("{}:{line}:", file!())), "{place}");
}

#[test]
fn a_number_that_was_none_before_is_named_by_its_buffer() {
    let program = Program::new("plain");
    let x = program.parameter("weights", [2, 2], Initial::ZEROS);
    program.output("out", x.relu());
    let mut session = session(program, 1);
    session.write("weights", &[0.0, f32::NAN, 0.0, 0.0]).expect("weights");
    let error = session.run("plain").expect_err("NaN");
    let text = error.to_string();
    let EngineError::NotFiniteBefore { program, step, buffer, found } = error else {
        panic!("{text}")
    };
    assert_eq!((program.as_str(), step, buffer.as_str()), ("plain", 0, "weights"));
    assert!(found.is_nan());
    assert!(text.contains("`weights` already held NaN before the step began"), "{text}");
}

#[test]
fn only_every_so_manieth_step_is_watched() {
    let mut session = session(steep().0, 3);
    session.run("steep").expect("a watched step");
    session.write("x", &[1.0; 12]).expect("x");
    session.run("steep").expect("nobody looks");
    session.run("steep").expect("nobody looks");
    let error = session.run("steep").expect_err("a watched step");
    assert!(matches!(error, EngineError::NotFinite { step: 3, .. }), "{error}");
}

#[test]
fn an_interval_of_zero_never_looks() {
    let mut session = session(steep().0, 0);
    session.write("x", &[1.0; 12]).expect("x");
    for _ in 0..5 {
        session.run("steep").expect("nobody looks");
    }
    assert_eq!(session.scalar("steep", "out").ok(), Some(f32::INFINITY));
}
