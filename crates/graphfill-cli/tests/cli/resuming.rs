//! Training that is killed goes on where its checkpoint is, to the bit.

use std::time::{Duration, Instant};

use graphfill::data::generator::{ColumnSet, GeneratorConfig};
use graphfill::engine::TensorStore;

use crate::support::{Place, town};

const SVGA: &str = "fill nodes.csv --method svga --param svga.hidden=48 --param svga.patience=100000 --max-updates 2000";
const SVGA_P: &str = "fill nodes.csv --method svga-p --param svga-p.hidden=48 --param svga-p.models=4 --param svga-p.patience=100000 --max-updates 400";

fn people() -> Place {
    town(&GeneratorConfig {
        nodes: 120,
        topics: 12,
        words_per_node: 3.0,
        ..GeneratorConfig::default()
    })
}

/// The models that are finished and the updates of the one being trained, where a file says so.
fn reached(place: &Place, name: &str) -> Option<(u64, u64)> {
    let path = place.path(name);
    let texts = match TensorStore::read_beside_session(&path) {
        Ok(store) => store.texts,
        // A finished model has no session beside it.
        Err(_) => TensorStore::read(&path).ok()?.texts,
    };
    let run: serde_json::Value = serde_json::from_str(texts.get("run")?).ok()?;
    let finished = run["finished"].as_array()?.len() as u64;
    Some((finished, run["current"]["updates"].as_u64().unwrap_or(0)))
}

/// Kills the command at random moments, lets it finish at last, and compares with a run in one go.
fn survives_kills(place: &Place, call: &str, kills: usize) {
    let began = Instant::now();
    place.succeed(&format!("{call} -o whole.csv --checkpoint whole.model --checkpoint-every 10"));
    let whole = began.elapsed();
    let resumed = format!("{call} -o pieces.csv --checkpoint pieces.model --checkpoint-every 10");
    let mut random = 0x2545_F491_4F6C_DD1Du64;
    let mut states = Vec::new();
    for _ in 0..kills {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        // So that the last kill, too, comes before the end: on average two fifths of a run.
        let share = (random >> 11) as f64 / (1u64 << 53) as f64 * 0.8 / kills as f64;
        let mut child = place.start(&resumed);
        wait_for_progress(place, &mut child, states.last().copied());
        std::thread::sleep(whole.mul_f64(share));
        if child.try_wait().expect("a process").is_some() {
            break;
        }
        child.kill().expect("killed");
        child.wait().expect("ended");
        assert!(!place.path("pieces.csv").exists(), "the output is written at the end");
        states.extend(reached(place, "pieces.model"));
    }
    assert!(states.len() > kills / 2, "too few kills in the middle: {states:?} in {whole:?}");
    assert!(states.is_sorted(), "a kill lost what was reached: {states:?}");
    assert!(states.first() < states.last(), "nothing was taken up: {states:?}");
    place.succeed(&resumed);
    assert_eq!(place.read("whole.csv"), place.read("pieces.csv"));
    let bytes = |name: &str| std::fs::read(place.path(name)).expect("a checkpoint");
    assert!(bytes("whole.model") == bytes("pieces.model"), "the models differ");
}

/// Waits until there is a checkpoint that is further than `state`, or the process ends.
fn wait_for_progress(place: &Place, child: &mut std::process::Child, state: Option<(u64, u64)>) {
    while child.try_wait().expect("a process").is_none() && reached(place, "pieces.model") <= state
    {
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn svga_survives_ten_kills() {
    survives_kills(&people(), SVGA, 10);
}

#[test]
fn svga_p_survives_kills() {
    survives_kills(&people(), SVGA_P, 5);
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let place = people();
    let call = "fill nodes.csv --method svga --param svga.hidden=8 --max-updates 20";
    place.succeed(&format!("{call} -o out.csv --checkpoint own.model"));
    let before = std::fs::read(place.path("own.model")).expect("a file");
    let other = town(&GeneratorConfig {
        nodes: 120,
        seed: 9,
        topics: 12,
        words_per_node: 3.0,
        ..GeneratorConfig::default()
    });
    place.write("other.csv", &other.read("nodes.csv"));
    place.write("other.types.toml", &place.read("nodes.types.toml"));
    for another in [
        call.replace("nodes.csv", "other.csv nodes.edges.csv"),
        format!("{call} --seed 1"),
        format!("{call} --param svga.lambda=0.3"),
        call.replace("svga", "svga-p"),
    ] {
        let done = place.run(&format!("{another} -o another.csv --checkpoint own.model"));
        assert_eq!(done.code, 1, "{another}: {}", done.err);
        for part in ["error: own.model: it is of another run", "\n  --checkpoint FILE\n"] {
            assert!(done.err.contains(part), "{another}: {}", done.err);
        }
        assert!(!place.path("another.csv").exists());
    }
    assert_eq!(std::fs::read(place.path("own.model")).expect("a file"), before);
}

#[test]
fn half_a_checkpoint_is_refused() {
    let config = GeneratorConfig {
        nodes: 60,
        topics: 0,
        columns: ColumnSet::Mixed,
        ..GeneratorConfig::default()
    };
    let place = town(&config);
    let call = "fill nodes.csv --method svga --param svga.hidden=8 --max-updates 20 -o out.csv";
    place.succeed(&format!("{call} --checkpoint whole.model"));
    std::fs::remove_file(place.path("out.csv")).expect("removed");
    let whole = std::fs::read(place.path("whole.model")).expect("a file");
    for length in [0, 5, 200, whole.len() / 2, whole.len() - 1] {
        std::fs::write(place.path("half.model"), &whole[..length]).expect("written");
        for use_ in [format!("{call} --checkpoint half.model"), model_call("half.model")] {
            let done = place.run(&use_);
            assert_eq!(done.code, 1, "{length} bytes: {}", done.err);
            assert!(done.err.contains("error: half.model: "), "{length} bytes: {}", done.err);
            assert!(!done.err.contains("panicked"), "{length} bytes: {}", done.err);
            assert!(!place.path("out.csv").exists());
        }
        assert_eq!(std::fs::read(place.path("half.model")).expect("a file"), whole[..length]);
    }
}

fn model_call(model: &str) -> String {
    format!("fill nodes.csv --model {model} -o out.csv")
}

/// A checkpoint carries a checksum over all of its bytes: a flipped bit anywhere is noticed.
#[test]
fn a_damaged_checkpoint_is_refused() {
    let place = people();
    let call = "fill nodes.csv --method svga --param svga.hidden=8 --max-updates 20 -o out.csv";
    place.succeed(&format!("{call} --checkpoint whole.model"));
    let whole = std::fs::read(place.path("whole.model")).expect("a file");
    for at in [whole.len() / 2, whole.len() - 40, whole.len() - 1] {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        std::fs::write(place.path("damaged.model"), &damaged).expect("written");
        for use_ in [format!("{call} --checkpoint damaged.model"), model_call("damaged.model")] {
            let done = place.run(&use_);
            assert_eq!(done.code, 1, "byte {at}: {}", done.err);
            assert!(done.err.contains("damaged.model: damaged"), "byte {at}: {}", done.err);
        }
    }
}
