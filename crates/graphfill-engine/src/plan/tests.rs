//! Whatever a program is, sharing memory and working in place change nothing of what it computes.

use std::sync::Arc;

use proptest::prelude::*;

use super::{DeviceProfile, MemoryLimit, Plan, Sharing};
use crate::{Adam, Initial, Matrix, Program, Recorded, Schedule, SparseMatrix};

const ROWS: usize = 5;
const COLUMNS: usize = 4;

/// What one line of a random program does, and with which of the matrices so far.
type Line = (u8, usize, usize);

fn record(name: &str, lines: &[Line]) -> Recorded {
    let graph = Arc::new(SparseMatrix::selection(&[1, 0, 0, 4, 2], ROWS));
    let program = Program::new(name);
    let mut matrices = vec![
        program.parameter("x", [ROWS, COLUMNS], Initial::Normal(0.5)),
        program.parameter("y", [ROWS, COLUMNS], Initial::Normal(0.5)),
    ];
    let square = program.parameter("w", [COLUMNS, COLUMNS], Initial::Normal(0.5));
    let bias = program.parameter("b", [1, COLUMNS], Initial::Normal(0.5));
    for &(kind, first, second) in lines {
        let (a, b) = (matrices[first % matrices.len()], matrices[second % matrices.len()]);
        matrices.push(match kind % 12 {
            0 => a.relu(),
            1 => a.tanh(),
            2 => a.scale(0.7),
            3 => a + b,
            4 => a - b,
            5 => a.multiply(b),
            6 => a.dropout(0.3),
            7 => a.add_bias(bias),
            8 => a.product(square),
            9 => a.normalise_rows(),
            10 => program.sparse_product(&graph, a),
            _ => a.concatenate(b).slice_columns(2..2 + COLUMNS),
        });
    }
    let read: Vec<Matrix<'_>> = matrices.iter().rev().take(3).copied().collect();
    for (at, matrix) in read.iter().enumerate() {
        program.output(&format!("out{at}"), *matrix);
    }
    let used = matrices.iter().fold(matrices[0] - matrices[1], |sum, &matrix| sum + matrix);
    let loss = used.add_bias(bias).product(square).tanh().sum();
    program.output("loss", loss);
    program.minimise(loss, &Adam::new(Schedule::Constant(0.1)), Some(1.0), &["x", "y", "w", "b"]);
    program.finish().expect("a program")
}

/// The bits of everything that can be seen after three steps of each program.
fn run(programs: Vec<Recorded>, sharing: Sharing) -> (Vec<u32>, u64) {
    let plan = Plan::with_sharing(programs, sharing, crate::testing::device()).expect("a plan");
    let peak = plan.peak_bytes();
    let mut session = crate::Session::new(plan, 3).expect("a session");
    session.scribble();
    let mut seen = Vec::new();
    for _ in 0..3 {
        for program in ["first", "second"] {
            session.run(program).expect("a run");
            for output in ["out0", "out1", "out2", "loss"] {
                seen.extend(session.read(program, output).expect("an output"));
            }
        }
    }
    for name in ["x", "y", "w", "b"] {
        seen.extend(session.buffer(name).expect("a parameter"));
    }
    (seen.into_iter().map(f32::to_bits).collect(), peak)
}

proptest! {
    #[test]
    fn sharing_memory_changes_nothing(
        first in prop::collection::vec((0u8..12, 0usize..50, 0usize..50), 1..25),
        second in prop::collection::vec((0u8..12, 0usize..50, 0usize..50), 1..25),
    ) {
        let programs = || vec![record("first", &first), record("second", &second)];
        let (shared, small) = run(programs(), Sharing::Allowed);
        let (in_place, between) = run(programs(), Sharing::InPlace);
        let (apart, large) = run(programs(), Sharing::Never);
        prop_assert_eq!(&shared, &apart);
        prop_assert_eq!(&in_place, &apart);
        prop_assert!(small < large && small <= between && between <= large);
    }
}

/// cuBLAS has memory of its own on a GPU, for each of its streams.
#[test]
fn a_plan_for_a_gpu_counts_the_workspace_of_its_libraries() {
    let lines = [(8, 0, 1), (1, 2, 3)];
    let mut plan = Plan::new(vec![record("first", &lines)]).expect("a plan");
    plan.profile = DeviceProfile::gpu(1 << 34, 8 * (32 << 20));
    plan.arrange(Sharing::InPlace);
    let own = plan.arena_len() as u64 * 4 + plan.constants;
    assert_eq!(plan.peak_bytes(), own + (256 << 20));
    // The parameters are there twice once a session keeps them.
    let parameters = 4 * (2 * ROWS * COLUMNS + COLUMNS * COLUMNS + COLUMNS) as u64;
    let needed = own + (256 << 20) + parameters;
    let reused =
        needed - (plan.arena_len() - plan.arranged(Sharing::Allowed, &plan.profile).1) as u64 * 4;
    assert!(plan.fits(MemoryLimit::Allowed(needed), "x".into()).is_ok());
    assert!(plan.fits(MemoryLimit::Allowed(needed - 1), "x".into()).is_err());
    // Where it does not fit, buffers share memory.
    assert!(reused < needed);
    plan.check_memory(MemoryLimit::Allowed(reused), "x").expect("just enough");
    assert!(plan.check_memory(MemoryLimit::Allowed(reused - 1), "x").is_err());
}

/// Plans know devices by their profiles: nothing here imports a backend or asks for its kind.
#[test]
fn no_module_of_plans_knows_a_backend() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/plan");
    let mut files = 0;
    for file in std::fs::read_dir(folder).expect("the modules") {
        let path = file.expect("a module").path();
        if path.ends_with("tests.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a text");
        for word in ["is_cuda", "crate::cuda", "crate::cpu", "cfg(feature"] {
            assert!(!text.contains(word), "{} has `{word}`", path.display());
        }
        files += 1;
    }
    assert!(files >= 6, "{files} modules");
}
