//! Grids of cells: what is finished is kept, what is kept is not run again.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use graphfill_data::DataError;
use graphfill_data::generator::{GeneratorConfig, generate};
use graphfill_eval::experiments::{
    Cell, Cells, Experiment, Extent, Failure, GridOptions, GridState, Outcome, Ran, Subject,
    Watcher, Work, run,
};
use graphfill_methods::learning::TrainingOptions;
use graphfill_methods::{FixedParameters, Method, MethodError, registry};

/// Notes which cells were run, and wants to stop after some.
#[derive(Default)]
struct Notes {
    finished: Mutex<Vec<String>>,
    stop_after: Option<usize>,
    stopped: AtomicBool,
}

impl Watcher for Notes {
    fn see(&self, state: &GridState<'_>) {
        if let Some((cell, _)) = state.finished {
            let mut finished = self.finished.lock().expect("nothing panicked");
            finished.push(cell.to_owned());
            let enough = self.stop_after.is_some_and(|most| finished.len() >= most);
            self.stopped.fetch_or(enough, Ordering::SeqCst);
        }
    }

    fn is_cancelled(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }
}

impl Notes {
    fn count(&self) -> usize {
        self.finished.lock().expect("nothing panicked").len()
    }
}

fn town(nodes: usize) -> Subject {
    let made =
        generate(&GeneratorConfig { nodes, ..GeneratorConfig::default() }).expect("a small town");

    Subject::new("town", made.dataset, None).expect("a table with columns")
}

fn methods(names: &[&str]) -> Vec<&'static dyn Method> {
    names.iter().map(|name| registry::find(name).expect("a method")).collect()
}

fn outcomes(ran: &[Ran]) -> Vec<&Outcome> {
    ran.iter().map(|(_, outcome)| outcome.as_ref().expect("an outcome")).collect()
}

fn run_table(
    folder: &Path,
    subjects: &[Subject],
    cells: &[Cell],
    jobs: usize,
    notes: &Notes,
) -> Result<Vec<Ran>, MethodError> {
    let options = GridOptions {
        fixed: &FixedParameters::default(),
        training: TrainingOptions::default(),
        cells: &Cells::new(folder).expect("a folder"),
        jobs,
        threads: 2,
        watcher: notes,
    };
    run(subjects, cells, &options)
}

fn grid(subjects: &[Subject], names: &[&str], seeds: &[u64]) -> Vec<Cell> {
    let extent = |_: &Subject, _: &dyn Method| Extent { seeds: seeds.to_vec(), most_updates: None };
    Experiment::Table2.cells(subjects, &methods(names), &extent)
}

#[test]
fn finished_cells_are_not_run_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let subjects = [town(120)];
    let cells = grid(&subjects, &["column-mean", "neighbour-mean"], &[0, 1]);
    let first = Notes::default();
    let ran = run_table(folder.path(), &subjects, &cells, 2, &first).expect("it runs");
    assert_eq!((ran.len(), first.count()), (4, 4));
    // One seed more, and the others come as they were.
    let more = grid(&subjects, &["column-mean", "neighbour-mean"], &[0, 1, 2]);
    let second = Notes::default();
    let again = run_table(folder.path(), &subjects, &more, 1, &second).expect("it runs");
    assert_eq!((again.len(), second.count()), (6, 2));
    for outcome in outcomes(&ran) {
        assert!(outcomes(&again).contains(&outcome));
    }
    // Seeds are told apart, and so is other data under the same name.
    let by_seed: Vec<_> = outcomes(&again).iter().map(|outcome| outcome.metrics.clone()).collect();
    assert_ne!(by_seed[0], by_seed[2]);
    let third = Notes::default();
    let others = [town(130)];
    run_table(folder.path(), &others, &cells, 1, &third).expect("it runs");
    assert_eq!(third.count(), 4);
    // So are limits.
    let mut limited = cells;
    limited.iter_mut().for_each(|cell| cell.most_updates = Some(7));
    let fourth = Notes::default();
    run_table(folder.path(), &subjects, &limited, 1, &fourth).expect("it runs");
    assert_eq!(fourth.count(), 4);
}

#[test]
fn a_damaged_cell_is_run_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let subjects = [town(120)];
    let cells = grid(&subjects, &["column-mean"], &[0]);
    let ran = run_table(folder.path(), &subjects, &cells, 1, &Notes::default()).expect("it runs");
    let files: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").flatten().collect();
    assert_eq!(files.len(), 1);
    std::fs::write(files[0].path(), "{\"key\":").expect("to be written");
    let notes = Notes::default();
    let again = run_table(folder.path(), &subjects, &cells, 1, &notes).expect("it runs");
    assert_eq!(notes.count(), 1);
    assert_eq!(outcomes(&ran)[0].metrics, outcomes(&again)[0].metrics);
}

#[test]
fn a_stopped_grid_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let subjects = [town(120)];
    let cells = grid(&subjects, &["column-mean"], &[0, 1, 2, 3]);
    let stopped = Notes { stop_after: Some(2), ..Notes::default() };
    let ended = run_table(folder.path(), &subjects, &cells, 1, &stopped);
    assert!(matches!(ended, Err(MethodError::Data(DataError::Cancelled))));
    assert_eq!(stopped.count(), 2);
    let rest = Notes::default();
    let ran = run_table(folder.path(), &subjects, &cells, 1, &rest).expect("it runs");
    assert_eq!((ran.len(), rest.count()), (4, 2));
}

#[test]
fn a_cell_that_cannot_be_run_does_not_keep_the_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let subjects = [town(120)];
    let mut cells = grid(&subjects, &["svga", "column-mean"], &[0]);
    // SVGA at a width for which no memory suffices.
    let mut fixed = FixedParameters::default();
    fixed.fix("svga", "hidden", 16_384.0);
    cells.iter_mut().for_each(|cell| cell.most_updates = Some(1));
    let notes = Notes::default();
    let options = GridOptions {
        fixed: &fixed,
        training: TrainingOptions {
            memory: Some(graphfill_engine::MemoryLimit::Allowed(1 << 20)),
            ..TrainingOptions::default()
        },
        cells: &Cells::new(folder.path()).expect("a folder"),
        jobs: 1,
        threads: 1,
        watcher: &notes,
    };
    let ran = run(&subjects, &cells, &options).expect("it runs");
    assert!(matches!(ran[0].1, Err(Failure::Memory(_))));
    assert!(ran[1].1.is_ok());
}

#[test]
fn curves_have_both_scores_and_do_not_end_early() {
    let folder = tempfile::tempdir().expect("a folder");
    let subjects = [town(120)];
    let extent = |_: &Subject, _: &dyn Method| Extent { seeds: vec![0], most_updates: Some(50) };
    let cells = Experiment::Ablation.cells(&subjects, &methods(&["svga-r"]), &extent);
    assert_eq!(cells[0].work, Work::Curves);
    let ran = run_table(folder.path(), &subjects, &cells, 1, &Notes::default()).expect("it runs");
    let series = &outcomes(&ran)[0].series;
    assert_eq!(series["update"], [10.0, 20.0, 30.0, 40.0, 50.0]);
    assert_eq!((series["training"].len(), series["test"].len()), (5, 5));
    // Without a field, what was seen is learnt.
    assert!(series["training"][4] > series["training"][0]);
}

#[test]
fn timings_have_nine_graphs() {
    let folder = tempfile::tempdir().expect("a folder");
    let subjects = [town(120)];
    let extent = |_: &Subject, _: &dyn Method| Extent { seeds: vec![0, 1, 2], most_updates: None };
    let cells = Experiment::Scaling.cells(&subjects, &methods(&["svga"]), &extent);
    assert_eq!(cells.len(), 1);
    let ran = run_table(folder.path(), &subjects, &cells, 1, &Notes::default()).expect("it runs");
    let series = &outcomes(&ran)[0].series;
    let edges = subjects[0].edges() as f64;
    assert_eq!(series["edges"].len(), 9);
    assert_eq!(series["edges"][4], (edges * 0.5).round());
    assert!(series["update_ms"].iter().chain(&series["inference_ms"]).all(|time| *time > 0.0));
}
