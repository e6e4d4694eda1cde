//! Whether scores on validation cells are computed on the host or where a model is trained changes
//! nothing but their rounding, on whichever device `GRAPHFILL_TEST_DEVICE` names.

use std::path::PathBuf;

use graphfill_data::CellMask;
use graphfill_methods::features::Features;
use graphfill_methods::learning::History;
use graphfill_methods::{CheckpointOptions, Context, Deadline, Task, ValidationDevice};

use crate::support::{LEARNERS, device, method_with, small_models};
use crate::tables::{mixed, village};

const ROWS: usize = 96;

/// Which cells are hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hidden {
    Rows,
    Cells,
}

/// Cells of which some set is made: every so-many'th row, or some cells of most rows.
fn cells(features: &Features<'_>, hidden: Hidden, set: usize) -> CellMask {
    match hidden {
        Hidden::Rows => {
            let rows = (0..features.rows()).filter(|row| row % 6 == set);
            CellMask::of_rows(features.rows(), features.cells(), rows)
        }
        Hidden::Cells => CellMask::build(features.rows(), features.cells(), |row, cells| {
            let is_hidden = |&cell: &usize| (row * 5 + cell * 3) % 17 == set;
            cells.extend((0..features.cells()).filter(is_hidden).map(|cell| cell as u32));
        }),
    }
}

/// What happened in a training whose scores were computed there.
fn history(method: &str, hidden: Hidden, context: Context<'_>) -> History {
    let table = mixed(ROWS, |row, _| row, |_, _| false);
    let features = Features::of(&table);
    let graph = village(ROWS).undirected();
    let sets = [cells(&features, hidden, 0), cells(&features, hidden, 1)];
    let unknown = cells(&features, hidden, 2).union(&sets[0]).union(&sets[1]);
    let watched = [cells(&features, hidden, 2), cells(&features, hidden, 3)];
    let mut fixed = small_models();
    LEARNERS.into_iter().for_each(|name| fixed.set(name, "patience", 1e9));
    let context = Context { max_updates: Some(40), ..context };
    let task = Task::new(&graph, &features, &unknown, &context);
    let task = Task { validation: &sets, watched: &watched, ..task };
    let fitted = method_with(method, &fixed).fit_task(&task).expect("fitted");
    fitted.history().expect("a history").clone()
}

fn compare(what: &str, one: &History, other: &History) {
    assert_eq!(one.lines.len(), other.lines.len(), "{what}");
    for (one, other) in one.lines.iter().zip(&other.lines) {
        assert_eq!((one.update, &one.losses), (other.update, &other.losses), "{what}");
        let scores = |line: &graphfill_methods::learning::HistoryLine| -> Vec<f64> {
            line.validation.iter().chain(&line.watched).copied().collect()
        };
        let (one, other) = (scores(one), scores(other));
        assert_eq!(one.len(), 3, "{what}: validation and two watched sets");
        for (one, other) in one.iter().zip(&other) {
            assert!((one - other).abs() < 1e-5 * one.abs().max(1.0), "{what}: {one}, {other}");
        }
    }
}

fn at(validation_device: ValidationDevice) -> Context<'static> {
    Context { validation_device, device: device::device(), ..Context::default() }
}

#[test]
fn every_method_is_scored_the_same_wherever_it_is() {
    for hidden in [Hidden::Rows, Hidden::Cells] {
        for method in LEARNERS {
            let host = history(method, hidden, at(ValidationDevice::Cpu));
            assert!(host.lines.len() > 3, "{method}");
            let device = history(method, hidden, at(ValidationDevice::Training));
            compare(&format!("{method}, {hidden:?}"), &host, &device);
            // SVGA-P's network of single rows is small, and computed on the host in any case.
            let by_rows = method == "svga-p" && matches!(hidden, Hidden::Cells);
            let is_same = host.lines == device.lines;
            assert_eq!(is_same, by_rows, "{method}: a device rounds to single precision");
        }
    }
}

/// A run that was begun the one way goes on the other way, from the same file.
#[test]
fn a_training_goes_on_wherever_scores_are_computed() {
    let folder = tempfile::tempdir().expect("a folder");
    let with_file = |path: PathBuf, is_stopped: bool, validation: ValidationDevice| {
        let checkpoint = Some(CheckpointOptions { path, every: 10 });
        let deadline = is_stopped.then(|| Deadline::after(std::time::Duration::ZERO));
        Context { checkpoint, deadline, ..at(validation) }
    };
    let places = [ValidationDevice::Cpu, ValidationDevice::Training];
    for (first, second) in [(places[0], places[1]), (places[1], places[0])] {
        let whole = history("svga-p", Hidden::Rows, at(first));
        let path = folder.path().join(format!("{first:?}"));
        let begun = history("svga-p", Hidden::Rows, with_file(path.clone(), true, first));
        assert!(begun.lines.len() < whole.lines.len(), "it was to be stopped");
        let resumed = history("svga-p", Hidden::Rows, with_file(path, false, second));
        compare(&format!("{first:?}, then {second:?}"), &whole, &resumed);
    }
}
