//! Sessions that are saved and loaded: to the bit, or not at all.

mod device;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use graphfill_engine::{Adam, EngineError, Initial, Plan, Program, Schedule, Session};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView, serialize};
use sha2::{Digest, Sha256};

const X: usize = 20;

/// One layer with dropout, so that seed and step matter, and Adam, so that state does.
fn trainer(hidden: usize) -> Program {
    let program = Program::new("train");
    let weights = program.parameter("weights", [6, hidden], Initial::Glorot);
    let out = program.parameter("out", [hidden, 3], Initial::Glorot);
    let hidden = program.input("x", [X, 6]).product(weights).relu().dropout(0.3);
    let error = hidden.product(out) - program.input("y", [X, 3]);
    let loss = error.multiply(error).mean();
    program.output("loss", loss);
    let adam = Adam::new(Schedule::Cosine { from: 0.05, to: 0.01, steps: 12 });
    program.minimise(loss, &adam, Some(1.0), &["weights", "out"]);
    program
}

fn predictor(hidden: usize) -> Program {
    let program = Program::new("predict");
    let weights = program.parameter("weights", [6, hidden], Initial::Glorot);
    let out = program.parameter("out", [hidden, 3], Initial::Glorot);
    program.output("y", program.input("x", [X, 6]).product(weights).relu().product(out));
    program
}

fn session(programs: Vec<Program>, seed: u64) -> Session {
    let programs = programs.into_iter().map(|program| program.finish().expect("a program"));
    let mut session = device::session(Plan::new(programs.collect()).expect("a plan"), seed);
    let wave = |len: usize| (0..len).map(|at| (at as f32 * 0.7).sin()).collect::<Vec<_>>();
    session.write("x", &wave(X * 6)).expect("x");
    // Only a program that learns has something to learn.
    let _ = session.write("y", &wave(X * 3));
    session
}

fn both(hidden: usize, seed: u64) -> Session {
    session(vec![trainer(hidden), predictor(hidden)], seed)
}

fn train(session: &mut Session, steps: usize) {
    for _ in 0..steps {
        session.run("train").expect("a step");
    }
}

fn bits(session: &Session) -> Vec<u32> {
    let names = ["weights", "out", "train/weights/first_moment", "train/out/second_moment"];
    let buffers = names.into_iter().flat_map(|name| session.buffer(name).expect("a buffer"));
    buffers.map(f32::to_bits).collect()
}

fn problem(result: Result<(), EngineError>) -> String {
    match result {
        Err(error @ EngineError::Checkpoint { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

/// A saved session's file, and another in the same folder made of it.
struct Saved {
    folder: tempfile::TempDir,
    bytes: Vec<u8>,
}

impl Saved {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut session = both(4, 1);
        train(&mut session, 2);
        let path = folder.path().join("good");
        session.save(&path).expect("a file");
        Saved { bytes: fs::read(path).expect("the file"), folder }
    }

    fn with(&self, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join("changed");
        fs::write(&path, bytes).expect("a file");
        path
    }

    /// The file with other texts and tensors, and the checksum that they have.
    fn edited(&self, edit: impl Fn(&mut HashMap<String, String>, &mut Vec<Tensor>)) -> PathBuf {
        let (_, header) = SafeTensors::read_metadata(&self.bytes).expect("a header");
        let mut texts = header.metadata().clone().expect("texts");
        let file = SafeTensors::deserialize(&self.bytes).expect("a file");
        let tensor = |(name, view): (String, TensorView<'_>)| {
            (name, view.dtype(), view.shape().to_vec(), view.data().to_vec())
        };
        let mut tensors: Vec<Tensor> = file.tensors().into_iter().map(tensor).collect();
        tensors.retain(|tensor| tensor.0 != "graphfill.sha256");
        tensors.sort_by(|one, other| one.0.cmp(&other.0));
        edit(&mut texts, &mut tensors);
        let views = tensors.iter().map(|(name, dtype, shape, data)| {
            (name.as_str(), TensorView::new(*dtype, shape.clone(), data).expect("a tensor"))
        });
        self.with(&with_checksum(&serialize(views, Some(texts)).expect("a file")))
    }
}

/// A safetensors file with a last tensor that is the SHA-256 of all bytes before it.
fn with_checksum(file: &[u8]) -> Vec<u8> {
    let (len, rest) = file.split_at(8);
    let len = u64::from_le_bytes(len.try_into().expect("eight bytes")) as usize;
    let (header, numbers) = rest.split_at(len);
    let mut header: serde_json::Value = serde_json::from_slice(header).expect("a header");
    let (begin, end) = (numbers.len(), numbers.len() + 32);
    header["graphfill.sha256"] =
        serde_json::json!({ "dtype": "F32", "shape": [1, 8], "data_offsets": [begin, end] });
    let header = header.to_string();
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.bytes());
    bytes.extend(numbers);
    let checksum = Sha256::digest(&bytes);
    bytes.extend(checksum);
    bytes
}

type Tensor = (String, Dtype, Vec<usize>, Vec<u8>);

#[test]
fn a_loaded_session_goes_on_to_the_bit() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("half.safetensors");
    let mut whole = both(4, 1);
    train(&mut whole, 10);
    let mut first = both(4, 1);
    train(&mut first, 5);
    first.save(&path).expect("a file");
    let mut second = both(4, 99);
    train(&mut second, 3);
    second.load(&path).expect("the same program");
    assert_eq!(second.steps("train").ok(), Some(5));
    assert_eq!(bits(&first), bits(&second));
    train(&mut second, 5);
    assert_eq!(bits(&whole), bits(&second));
    // The second half draws and steps otherwise where seed and count are not restored.
    let mut other = both(4, 99);
    train(&mut other, 10);
    assert_ne!(bits(&whole), bits(&other));
}

#[test]
fn the_same_session_gives_the_same_file() {
    let saved = Saved::new();
    assert_eq!(saved.bytes, Saved::new().bytes);
    let file = SafeTensors::deserialize(&saved.bytes).expect("what others can read");
    assert_eq!(file.tensor("weights").expect("a tensor").shape(), [6, 4]);
    assert!(file.tensor("x").is_err(), "inputs are not saved");
}

#[test]
fn another_plan_takes_the_parameters_alone() {
    let saved = Saved::new();
    let path = saved.with(&saved.bytes);
    let mut trained = both(4, 1);
    train(&mut trained, 2);
    let mut predicting = session(vec![predictor(4)], 7);
    problem(predicting.load(&path));
    predicting.load_parameters(&path).expect("its parameters");
    for session in [&mut trained, &mut predicting] {
        session.run("predict").expect("a run");
    }
    let read = |session: &Session| session.read("predict", "y").expect("an output");
    assert_eq!(read(&trained), read(&predicting));
    let wrong = problem(session(vec![predictor(5)], 7).load_parameters(&path));
    assert!(wrong.contains("`weights` is 6 × 4, and 6 × 5 is expected"), "{wrong}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let saved = Saved::new();
    let mut session = both(4, 3);
    let before = bits(&session);
    let mut refused = |path: &Path, expected: &str| {
        let found = problem(session.load(path));
        assert!(found.contains(expected), "{found}");
        assert!(found.starts_with(&path.display().to_string()), "{found}");
    };
    let text = |name: &'static str, value: &'static str| {
        saved.edited(move |texts, _| {
            texts.insert(name.to_owned(), value.to_owned());
        })
    };
    refused(&saved.with(b"abc"), "not a safetensors file: it has 3 bytes");
    refused(&saved.with(b"Once upon a time there was"), "not a safetensors file");
    refused(&saved.with(&[u64::MAX.to_le_bytes(), [0; 8]].concat()), "its header should take");
    refused(&saved.with(&[&8u64.to_le_bytes()[..], b"{}{}{}{}"].concat()), "its header: ");
    refused(&saved.with(&[&4u64.to_le_bytes()[..], &[0xff; 4]].concat()), "utf-8");
    refused(&saved.with(&[&4u64.to_le_bytes()[..], b"{}  "].concat()), "its format is missing");
    refused(&saved.with(&saved.bytes[..saved.bytes.len() - 4]), "cut short or damaged");
    refused(&saved.with(&[&saved.bytes[..], &[0; 4]].concat()), "cut short or damaged");
    refused(&text("format", "model"), "its format is model, and graphfill-session");
    refused(&text("version", "2"), "its version is 2, and 1 is expected");
    refused(&text("fingerprint", "12ab"), "its fingerprint is 12ab, and ");
    refused(&text("seed", "-1"), "its `seed` is `-1`, and a whole number is expected");
    refused(&text("steps of train", ""), "its `steps of train` is ``");
    let without = saved.edited(|texts, _| {
        texts.remove("steps of predict");
    });
    refused(&without, "its `steps of predict` is missing");
    let missing = saved.edited(|_, tensors| tensors.retain(|tensor| tensor.0 != "out"));
    refused(&missing, "it has no tensor `out`, which is expected to be 4 × 3");
    let extra = saved.edited(|_, tensors| {
        let spare = Tensor::from(("spare".to_owned(), Dtype::F32, vec![1], vec![0; 4]));
        tensors.push(spare);
    });
    refused(&extra, "it has a tensor `spare`");
    let (_, header) = SafeTensors::read_metadata(&saved.bytes).expect("a header");
    let file = SafeTensors::deserialize(&saved.bytes).expect("a file");
    let own = file.tensors().into_iter().filter(|(name, _)| name != "graphfill.sha256");
    let unchecked = serialize(own, header.metadata().clone()).expect("a file");
    refused(&saved.with(&unchecked), "its checksum is missing");
    let shape = saved.edited(|_, tensors| tensors[0].2 = vec![3, 2, 2]);
    refused(&shape, "`out` is 3 × 2 × 2, and 4 × 3 is expected");
    let dtype = saved.edited(|_, tensors| tensors[0].1 = Dtype::I32);
    refused(&dtype, "`out` is of type I32, and F32 is expected");
    assert_eq!(before, bits(&session), "a refused file changes nothing");
    assert_eq!(session.steps("train").ok(), Some(0));
}

#[test]
fn damaged_files_are_refused() {
    let saved = Saved::new();
    let mut session = both(4, 3);
    for len in (0..saved.bytes.len()).step_by(5) {
        problem(session.load(saved.with(&saved.bytes[..len])));
    }
    let mut bytes = saved.bytes.clone();
    let header = 8 + u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
    let before = bits(&session);
    for at in (0..header).chain([header, bytes.len() - 1]) {
        let flip = [0x01, 0x20, 0x80][at % 3];
        bytes[at] ^= flip;
        let path = saved.with(&bytes);
        problem(session.load(&path));
        problem(session.load_parameters(&path));
        bytes[at] ^= flip;
    }
    assert_eq!(before, bits(&session), "a damaged file changes nothing");
}

#[test]
fn a_failed_write_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = both(4, 1);
    let missing = folder.path().join("missing").join("model");
    let error = session.save(&missing).expect_err("no folder").to_string();
    assert!(error.contains("missing") && error.contains("not found"), "{error}");
    let taken = folder.path().join("taken");
    fs::create_dir(&taken).expect("a folder");
    assert!(matches!(session.save(&taken), Err(EngineError::File { .. })));
    let names: Vec<_> = fs::read_dir(folder.path()).expect("the folder").collect();
    assert_eq!(names.len(), 1, "{names:?}");
    assert_eq!(fs::read_dir(&taken).expect("the folder").count(), 0);
    let mut session = session;
    assert!(matches!(session.load(&taken), Err(EngineError::File { .. })));
    assert!(matches!(session.load(&missing), Err(EngineError::File { .. })));
}

#[test]
fn a_flipped_bit_is_noticed() {
    let saved = Saved::new();
    let mut session = both(4, 3);
    let before = bits(&session);
    let header = 8 + u64::from_le_bytes(saved.bytes[..8].try_into().expect("eight bytes")) as usize;
    for at in [header, header + 5, (header + saved.bytes.len()) / 2, saved.bytes.len() - 1] {
        let mut bytes = saved.bytes.clone();
        bytes[at] ^= 4;
        let found = problem(session.load(saved.with(&bytes)));
        assert!(found.contains("its bytes do not match its checksum"), "byte {at}: {found}");
    }
    assert_eq!(before, bits(&session), "a damaged file changes nothing");
}

/// An output belongs to the parameters that it was computed from.
#[test]
fn outputs_are_gone_after_loading() {
    let saved = Saved::new();
    let path = saved.with(&saved.bytes);
    let mut session = both(4, 3);
    session.run("predict").expect("a run");
    session.load(&path).expect("the same program");
    let stale = |session: &Session| match session.read("predict", "y") {
        Err(EngineError::NotRun { last, .. }) => assert_eq!(last, "none"),
        other => panic!("{other:?}"),
    };
    stale(&session);
    session.run("predict").expect("a run");
    session.read("predict", "y").expect("an output");
    session.load_parameters(&path).expect("the same parameters");
    stale(&session);
}

#[test]
fn a_snapshot_goes_to_another_session_of_the_same_plan() {
    let (mut one, mut other) = (both(4, 1), both(4, 2));
    train(&mut one, 3);
    other.restore(&one.snapshot().expect("a snapshot")).expect("the same parameters");
    for session in [&mut one, &mut other] {
        session.run("predict").expect("a run");
    }
    let read = |session: &Session| session.read("predict", "y").expect("an output");
    assert_eq!(read(&one), read(&other));
}

/// A snapshot of other parameters is refused and changes nothing, on any device.
#[test]
fn a_snapshot_of_other_parameters_is_refused() {
    let record = |parameters: &[(&str, usize)]| {
        let program = Program::new("predict");
        let x = program.input("x", [X, 6]);
        for (name, columns) in parameters {
            let weights = program.parameter(name, [6, *columns], Initial::Glorot);
            program.output(name, x.product(weights));
        }
        session(vec![program], 7)
    };
    let mut own = record(&[("weights", 4), ("out", 3)]);
    let before = own.snapshot().expect("a snapshot");
    let cases = [
        (&[("weights", 40), ("out", 30)][..], "`weights` is 6 × 40 there, and 6 × 4 is expected"),
        (&[("weights", 2), ("out", 2)], "`weights` is 6 × 2 there"),
        (&[("weights", 4)], "`out` is missing from it"),
        (&[], "`weights` is missing from it"),
        (&[("weights", 4), ("out", 3), ("more", 1)], "`more` is no parameter of this session"),
    ];
    for (parameters, expected) in cases {
        let foreign = record(parameters).snapshot().expect("a snapshot");
        let error = own.restore(&foreign).expect_err("another session's").to_string();
        assert!(error.contains("the snapshot is of another session"), "{error}");
        assert!(error.contains(expected), "{error}");
        assert_eq!(own.snapshot().expect("a snapshot"), before);
    }
    // The same parameters in another order are the same.
    let turned = record(&[("out", 3), ("weights", 4)]).snapshot().expect("a snapshot");
    own.restore(&turned).expect("the same parameters");
    let tensors = |snapshot: graphfill_engine::Snapshot| snapshot.tensors();
    assert_eq!(tensors(own.snapshot().expect("a snapshot")), tensors(turned));
}
