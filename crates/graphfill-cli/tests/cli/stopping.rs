//! Ctrl-C and SIGTERM end training, not the job: the best estimates so far are written.

#![cfg(unix)]

use std::process::{Child, Command};
use std::time::{Duration, Instant};

use graphfill::data::generator::GeneratorConfig;

use crate::support::{Done, Place, done, is_complete, town};

const PATIENT: &str =
    "fill nodes.csv --method svga --param svga.hidden=64 --param svga.patience=100000";

fn people() -> Place {
    town(&GeneratorConfig {
        nodes: 120,
        topics: 12,
        words_per_node: 3.0,
        ..GeneratorConfig::default()
    })
}

/// Presses Ctrl-C as soon as there is a checkpoint.
fn interrupted(place: &Place, call: &str, checkpoint: &str) -> Done {
    signalled("-INT", place, call, checkpoint)
}

/// Sends a signal as soon as there is a checkpoint.
fn signalled(signal: &str, place: &Place, call: &str, checkpoint: &str) -> Done {
    let child = place.start(&format!("{call} --checkpoint {checkpoint} --checkpoint-every 10"));
    let began = Instant::now();
    while !place.path(checkpoint).exists() {
        assert!(began.elapsed() < Duration::from_secs(60), "there is no checkpoint yet");
        std::thread::sleep(Duration::from_millis(5));
    }
    let done = send(signal, child);
    assert!(began.elapsed() < Duration::from_secs(60), "it took long to stop");
    done
}

fn send(signal: &str, child: Child) -> Done {
    let told = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(told.expect("kill").success());
    done(&child.wait_with_output().expect("ended"))
}

#[test]
fn what_was_reached_is_written_and_the_same_command_goes_on() {
    let place = people();
    let call = format!("{PATIENT} --max-updates 1500");
    let done = interrupted(&place, &format!("{call} -o out.csv"), "town.model");
    assert_eq!(done.code, 130, "{}", done.err);
    let said = "stopped early, as asked: out.csv has the best estimates so far";
    assert!(done.err.contains(said), "{}", done.err);
    assert!(!done.err.contains("no output"), "{}", done.err);
    assert_eq!(place.read("out.csv").lines().count(), 121);
    assert!(is_complete(&place.read("out.csv")), "{}", place.read("out.csv"));

    let refused = place.run("fill nodes.csv --model town.model -o other.csv");
    assert_eq!(refused.code, 1, "{}", refused.err);
    assert!(refused.err.contains("was not finished"), "{}", refused.err);

    place.succeed(&format!("{call} -o out.csv --checkpoint town.model --checkpoint-every 10"));
    place.succeed(&format!("{call} -o whole.csv"));
    assert_eq!(place.read("out.csv"), place.read("whole.csv"));
}

#[test]
fn sigterm_stops_as_ctrl_c_does_and_ends_with_143() {
    let place = people();
    let done = signalled("-TERM", &place, &format!("{PATIENT} -o out.csv"), "town.model");
    assert_eq!(done.code, 143, "{}", done.err);
    assert!(done.err.contains("out.csv has the best estimates so far"), "{}", done.err);
    assert!(is_complete(&place.read("out.csv")), "{}", place.read("out.csv"));
}

#[test]
fn a_history_of_what_happened_so_far_is_written_too() {
    let place = people();
    let done =
        interrupted(&place, &format!("{PATIENT} -o out.csv --history so-far.csv"), "town.model");
    assert_eq!(done.code, 130, "{}", done.err);
    let history = place.read("so-far.csv");
    assert!(history.lines().nth(1).is_some_and(|line| line.contains(",10,")), "{history}");
}

#[test]
fn svga_p_and_auto_stop_as_well() {
    let place = people();
    for method in ["svga-p", "auto"] {
        let call = format!(
            "fill nodes.csv --method {method} --param svga-p.patience=100000 --param svga-p.models=100 -o {method}.csv"
        );
        let done = interrupted(&place, &call, &format!("{method}.model"));
        assert_eq!(done.code, 130, "{method}: {}", done.err);
        assert!(done.err.contains("best estimates so far"), "{method}: {}", done.err);
        assert!(is_complete(&place.read(&format!("{method}.csv"))), "{method}");
    }
}
