//! Texts and tensors in a file of their own, and beside a session in its checkpoint.

mod device;

use std::collections::BTreeMap;
use std::fs;

use graphfill_engine::{
    Adam, EngineError, Initial, Plan, Program, Schedule, Session, Shape, TensorStore, Tensors,
};
use proptest::prelude::*;
use safetensors::tensor::{Dtype, TensorView, serialize};

fn store() -> TensorStore {
    let texts = [("columns", "age\n\"weight\""), ("", "nameless"), ("format", "mine")];
    let texts = texts.map(|(name, text)| (name.to_owned(), text.to_owned()));
    let tensor = |rows: usize, columns: usize, from: f32| {
        let numbers = (0..rows * columns).map(|at| from + at as f32).collect();
        (Shape::new(rows, columns), numbers)
    };
    let mut tensors = Tensors::new();
    tensors.insert("weights".to_owned(), tensor(2, 3, -1.5));
    tensors.insert("extra:odd / name ×".to_owned(), tensor(1, 1, f32::MIN_POSITIVE));
    tensors.insert(String::new(), tensor(4, 0, 0.0));
    TensorStore { texts: BTreeMap::from(texts), tensors }
}

/// One parameter that moves in every step, and a draw, so that the seed matters.
fn session(size: usize, seed: u64) -> Session {
    let program = Program::new("train");
    let weights = program.parameter("weights", [2, size], Initial::Glorot);
    let _ = program.parameter("still", [1, 1], Initial::Constant(2.0));
    let loss = weights.multiply(weights).dropout(0.5).sum();
    program.minimise(loss, &Adam::new(Schedule::Constant(0.1)), None, &["weights"]);
    let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
    device::session(plan, seed)
}

fn train(session: &mut Session, steps: usize) -> Vec<f32> {
    (0..steps).for_each(|_| session.run("train").expect("a step"));
    session.buffer("weights").expect("a buffer")
}

#[test]
fn a_store_comes_back_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    for store in [store(), TensorStore::default()] {
        store.write(&path).expect("a file");
        assert_eq!(TensorStore::read(&path).expect("the file"), store);
    }
    store().write(&path).expect("a file");
    let bytes = fs::read(&path).expect("the file");
    store().write(&path).expect("a file");
    assert_eq!(fs::read(&path).expect("the file"), bytes, "the same store, the same file");
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1);
}

#[test]
fn tensors_that_cannot_be_kept_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let refused = |name: &str, shape: Shape, numbers: usize, expected: &str| {
        let mut store = store();
        store.tensors.insert(name.to_owned(), (shape, vec![0.0; numbers]));
        let told = |result: Result<(), EngineError>| {
            let error = result.expect_err("a tensor that cannot be kept").to_string();
            assert!(error.contains(expected), "{error}");
        };
        told(store.write(&path));
        told(session(3, 1).save_with(&path, &store));
        assert!(!path.exists());
    };
    refused("x", Shape::new(2, 2), 3, "tensor `x` is 2 × 2; 3 numbers were given");
    refused("x", Shape::new(usize::MAX, 2), 3, "3 numbers were given");
    refused("__metadata__", Shape::new(1, 1), 1, "tensor `__metadata__` has a name");
}

#[test]
fn files_of_other_things_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("other");
    let refused = |expected: &str| {
        let error = TensorStore::read(&path).expect_err("another file");
        assert!(matches!(error, EngineError::Checkpoint { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    };
    let write = |dtype: Dtype, shape: Vec<usize>, bytes: &[u8]| {
        let view = TensorView::new(dtype, shape, bytes).expect("a tensor");
        let bytes = serialize([("x", view)], None).expect("a file");
        fs::write(&path, bytes).expect("a file");
    };
    fs::write(&path, b"age,weight").expect("a file");
    refused("not a safetensors file");
    write(Dtype::I32, vec![1, 1], &[0; 4]);
    refused("`x` is of type I32, and F32 is expected");
    write(Dtype::F32, vec![], &[0; 4]);
    refused("`x` is a number, and a matrix, rows × columns, is expected");
    write(Dtype::F32, vec![2], &[0; 8]);
    refused("`x` is a list of 2, and a matrix");
    write(Dtype::F32, vec![2, 1, 1], &[0; 8]);
    refused("`x` is 2 × 1 × 1, and a matrix");
    write(Dtype::F32, vec![2, 1], &[0; 8]);
    let read = TensorStore::read(&path).expect("what others wrote");
    assert_eq!(read.tensors["x"], (Shape::new(2, 1), vec![0.0; 2]));
    assert!(read.texts.is_empty());
    fs::remove_file(&path).expect("the file");
    assert!(matches!(TensorStore::read(&path), Err(EngineError::File { .. })));
}

proptest! {
    #[test]
    fn damaged_stores_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store");
        store().write(&path).expect("a file");
        let mut bytes = fs::read(&path).expect("the file");
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        fs::write(&path, bytes).expect("a file");
        match TensorStore::read(&path) {
            // What changed is a number, a text or a name.
            Ok(read) => read.write(&path).expect("a file"),
            Err(EngineError::Checkpoint { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_checkpoint_carries_more() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model");
    let mut first = session(3, 1);
    train(&mut first, 4);
    let plain = folder.path().join("plain");
    first.save(&plain).expect("a file");
    first.save_with(&path, &TensorStore::default()).expect("a file");
    assert_eq!(fs::read(&plain).expect("a file"), fs::read(&path).expect("a file"));
    assert_eq!(first.load_with(&plain).expect("without extras"), TensorStore::default());
    // Names of the caller's that look like the session's own.
    let mut extra = store();
    extra.texts.insert("seed".to_owned(), "none".to_owned());
    extra.tensors.insert("train/weights/first_moment".to_owned(), (Shape::new(1, 1), vec![9.0]));
    first.save_with(&path, &extra).expect("a file");
    let expected = train(&mut first, 3);
    for with in [true, false] {
        let mut second = session(3, 99);
        if with {
            assert_eq!(second.load_with(&path).expect("the same program"), extra);
        } else {
            second.load(&path).expect("the same program");
        }
        assert_eq!(second.steps("train").ok(), Some(4));
        assert_eq!(train(&mut second, 3), expected);
    }
    let mut third = session(3, 99);
    third.load_parameters(&path).expect("its parameters");
    let whole = TensorStore::read(&path).expect("a checkpoint is a store too");
    assert_eq!(whole.tensors["extra:weights"], extra.tensors["weights"]);
    assert_eq!(whole.tensors["weights"].1, third.buffer("weights").expect("a buffer"));
}

#[test]
fn a_file_whose_extras_are_broken_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model");
    let mut saved = session(3, 1);
    train(&mut saved, 4);
    saved.save_with(&path, &store()).expect("a file");
    // Of the same length, so that only the shape of the caller's tensor is another.
    let bytes = fs::read(&path).expect("the file");
    let header = 8 + u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
    let text = String::from_utf8(bytes[8..header].to_vec()).expect("a header");
    assert!(text.contains("[4,0]"), "{text}");
    let text = text.replace("[4,0]", "[0]  ");
    fs::write(&path, [&bytes[..8], text.as_bytes(), &bytes[header..]].concat()).expect("a file");
    let mut other = session(3, 99);
    let before = train(&mut other, 1);
    let error = other.load_with(&path).expect_err("a list").to_string();
    assert!(error.contains("damaged"), "{error}");
    assert_eq!(other.buffer("weights").expect("a buffer"), before);
    assert_eq!(other.steps("train").ok(), Some(1));
    // Without its checksum nobody can tell: that is damage, too.
    let text = text.replace("graphfill.sha256", "extra:sha256____");
    fs::write(&path, [&bytes[..8], text.as_bytes(), &bytes[header..]].concat()).expect("a file");
    let error = other.load(&path).expect_err("no checksum").to_string();
    assert!(error.contains("checksum is missing"), "{error}");
    assert_eq!(other.buffer("weights").expect("a buffer"), before);
}

#[test]
fn the_best_so_far_is_kept_in_the_checkpoint() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model");
    let mut first = session(3, 1);
    let best_values = train(&mut first, 4);
    let best = first.snapshot().expect("a snapshot");
    let last_values = train(&mut first, 3);
    let tensors = best.tensors();
    assert_eq!(tensors.keys().collect::<Vec<_>>(), ["still", "weights"]);
    let mut extra = TensorStore { tensors, ..TensorStore::default() };
    extra.tensors.insert("other".to_owned(), (Shape::new(1, 1), vec![0.0]));
    first.save_with(&path, &extra).expect("a file");
    let mut second = session(3, 99);
    let extra = second.load_with(&path).expect("the same program");
    assert_eq!(second.buffer("weights").expect("a buffer"), last_values);
    let restored = second.snapshot_of(&extra.tensors).expect("a snapshot");
    assert_eq!(restored, best);
    second.restore(&restored).expect("restored");
    assert_eq!(second.buffer("weights").expect("a buffer"), best_values);
    // What is not a snapshot of this session.
    let told = |session: &Session, tensors: &Tensors, expected: &str| {
        let error = session.snapshot_of(tensors).expect_err("no snapshot").to_string();
        assert_eq!(error, expected);
    };
    told(&session(4, 1), &extra.tensors, "tensor `weights` is 2 × 3, and 2 × 4 is expected");
    let mut fewer = best.tensors();
    fewer.remove("weights");
    told(&second, &fewer, "there is no tensor named `weights`; there are `still`");
    let mut short = best.tensors();
    short.insert("weights".to_owned(), (Shape::new(2, 3), vec![0.0; 5]));
    told(&second, &short, "tensor `weights` is 2 × 3; 5 numbers were given");
}

#[test]
fn names_that_checkpoints_use_are_refused_for_buffers() {
    for name in ["extra:weights", "__metadata__"] {
        let program = Program::new("wrong");
        let _ = program.parameter(name, [1, 1], Initial::ZEROS);
        let error = program.finish().expect_err("a mistake").to_string();
        assert!(error.contains("store.rs") && error.contains("rename it"), "{error}");
    }
}
