//! Many cells, several at a time, each finished one kept: what is found again is not run again.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use graphfill_data::{DataError, Progress};
use graphfill_engine::EngineError;
use graphfill_methods::learning::TrainingOptions;
use graphfill_methods::{FixedParameters, MethodError, Result};

use super::cell::{Cell, Failure, Outcome};
use super::cells::{CellName, Cells};
use super::subject::Subject;
use super::work;
use crate::summary::mean;

/// What all cells of a grid share.
pub struct GridOptions<'a> {
    /// Parameters that the caller fixed.
    pub fixed: &'a FixedParameters,
    /// Limits of training.
    pub training: TrainingOptions,
    /// Where finished cells are kept.
    pub cells: &'a Cells,
    /// How many cells run at a time.
    pub jobs: usize,
    /// How many threads they have together.
    pub threads: usize,
    /// Who watches.
    pub watcher: &'a dyn Watcher,
}

/// Sees how a grid goes on.
pub trait Watcher: Sync {
    /// A cell was begun or finished.
    fn see(&self, state: &GridState<'_>);
    /// Whether somebody asked to stop.
    fn is_cancelled(&self) -> bool;
}

/// How far a grid is.
pub struct GridState<'a> {
    /// How many cells are finished.
    pub done: usize,
    /// How many there are.
    pub total: usize,
    /// What runs now, in words.
    pub running: &'a [String],
    /// The cell that was just finished, in words, and how long it took; nothing where one was begun.
    pub finished: Option<(&'a str, Result<&'a Outcome, &'a Failure>)>,
    /// About how long the rest will take, once something is known.
    pub left: Option<Duration>,
}

/// A cell and what came of it.
pub type Ran = (Cell, Result<Outcome, Failure>);

/// Runs the cells that are not finished yet. Each one that fails is told; the others go on.
///
/// # Errors
/// [`DataError::Cancelled`] once somebody asked to stop, or whatever keeps cells from being kept.
pub fn run(subjects: &[Subject], cells: &[Cell], options: &GridOptions<'_>) -> Result<Vec<Ran>> {
    let names: Vec<CellName> =
        cells.iter().map(|cell| CellName::of(cell, &subjects[cell.subject], options)).collect();
    let found: Vec<Option<Outcome>> = names.iter().map(|name| options.cells.find(name)).collect();
    let open: Vec<usize> = (0..cells.len()).filter(|&at| found[at].is_none()).collect();
    let clock = Clock::new(subjects, cells, &found, options);
    let outcomes: Vec<Mutex<Option<Result<Outcome, Failure>>>> =
        found.into_iter().map(|outcome| Mutex::new(outcome.map(Ok))).collect();
    let next = AtomicUsize::new(0);
    let fatal: Mutex<Option<MethodError>> = Mutex::new(None);
    let jobs = options.jobs.clamp(1, open.len().max(1));
    let worker = || -> Result<()> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads((options.threads / jobs).max(1))
            .build()
            .map_err(|error| MethodError::Table(format!("cannot start threads: {error}")))?;
        while let Some(&at) = open.get(next.fetch_add(1, Ordering::SeqCst)) {
            Heedful(options.watcher).check()?;
            clock.begin(at);
            let cell = &cells[at];
            let outcome = pool.install(|| run_cell(cell, &subjects[cell.subject], options));
            let outcome = match outcome {
                Ok(outcome) => Ok(outcome),
                Err(error) => Err(failure(error)?),
            };
            clock.end(at, &outcome);
            *locked(&outcomes[at]) = Some(outcome);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                if let Err(error) = worker() {
                    // The others end, too.
                    next.store(open.len(), Ordering::SeqCst);
                    locked(&fatal).get_or_insert(error);
                }
            });
        }
    });
    if let Some(error) = locked(&fatal).take() {
        return Err(error);
    }
    let outcomes = outcomes.into_iter().map(|outcome| locked(&outcome).take());
    let ran = cells.iter().zip(outcomes);
    Ok(ran.filter_map(|(cell, outcome)| Some((*cell, outcome?))).collect())
}

/// Runs a cell and keeps what came of it; a training that was killed before goes on.
fn run_cell(cell: &Cell, subject: &Subject, options: &GridOptions<'_>) -> Result<Outcome> {
    let name = CellName::of(cell, subject, options);
    let checkpoint = options.cells.checkpoint(&name);
    let progress = Heedful(options.watcher);
    let mut outcomes = work::run(cell, subject, options, &checkpoint, &progress);
    if let Err(MethodError::Checkpoint { .. }) = &outcomes {
        // Left by another build of the program: begin anew.
        options.cells.forget_checkpoint(&name);
        outcomes = work::run(cell, subject, options, &checkpoint, &progress);
    }
    let outcomes = outcomes?;
    let mut own = None;
    for (work, outcome) in outcomes {
        let cell = Cell { work, ..*cell };
        options.cells.keep(&CellName::of(&cell, subject, options), &outcome)?;
        own = Some(outcome);
    }
    options.cells.forget_checkpoint(&name);
    own.ok_or_else(|| MethodError::Table("nothing came of it".to_owned()))
}

/// Why a cell has no outcome; an error where the whole grid should end.
fn failure(error: MethodError) -> Result<Failure> {
    match error {
        MethodError::Data(DataError::Cancelled | DataError::Write { .. }) => Err(error),
        MethodError::Engine(EngineError::Memory { .. }) => Ok(Failure::Memory(error.to_string())),
        MethodError::NoFeatures => Ok(Failure::Refused(error.to_string())),
        MethodError::Table(reason) => Ok(Failure::Refused(reason)),
        other => Ok(Failure::Other(other.to_string())),
    }
}

/// Passes on that somebody wants to stop, and nothing else.
struct Heedful<'a>(&'a dyn Watcher);

impl Progress for Heedful<'_> {
    fn begin(&self, _stage: &str, _total: Option<u64>) {}

    fn advance(&self, _units: u64) {}

    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// Tells the watcher how far the grid is, and how long it will take.
struct Clock<'a> {
    subjects: &'a [Subject],
    cells: &'a [Cell],
    jobs: usize,
    watcher: &'a dyn Watcher,
    state: Mutex<ClockState>,
}

struct ClockState {
    done: Vec<bool>,
    running: Vec<(usize, Instant)>,
    /// The seconds of finished cells, by data set, method and work.
    seconds: HashMap<(usize, &'static str, String), Vec<f64>>,
}

impl<'a> Clock<'a> {
    fn new(
        subjects: &'a [Subject],
        cells: &'a [Cell],
        found: &[Option<Outcome>],
        options: &GridOptions<'a>,
    ) -> Self {
        let mut state = ClockState {
            done: found.iter().map(Option::is_some).collect(),
            running: Vec::new(),
            seconds: HashMap::new(),
        };
        for (cell, outcome) in cells.iter().zip(found) {
            if let Some(outcome) = outcome {
                state.seconds.entry(kind(cell)).or_default().push(outcome.seconds);
            }
        }
        let (jobs, watcher) = (options.jobs.max(1), options.watcher);
        Clock { subjects, cells, jobs, watcher, state: Mutex::new(state) }
    }

    fn begin(&self, at: usize) {
        let mut state = locked(&self.state);
        state.running.push((at, Instant::now()));
        self.tell(&state, None);
    }

    fn end(&self, at: usize, outcome: &Result<Outcome, Failure>) {
        let mut state = locked(&self.state);
        state.done[at] = true;
        if let Some(place) = state.running.iter().position(|(running, _)| *running == at) {
            let (_, begin) = state.running.remove(place);
            let seconds = begin.elapsed().as_secs_f64();
            state.seconds.entry(kind(&self.cells[at])).or_default().push(seconds);
        }
        self.tell(&state, Some((at, outcome.as_ref())));
    }

    fn tell(&self, state: &ClockState, finished: Option<(usize, Result<&Outcome, &Failure>)>) {
        let running: Vec<String> = state.running.iter().map(|(at, _)| self.words(*at)).collect();
        let words = finished.map(|(at, _)| self.words(at));
        self.watcher.see(&GridState {
            done: state.done.iter().filter(|done| **done).count(),
            total: self.cells.len(),
            running: &running,
            finished: words.as_deref().zip(finished.map(|(_, outcome)| outcome)),
            left: self.left(state),
        });
    }

    fn words(&self, at: usize) -> String {
        let Cell { subject, method, seed, work, .. } = self.cells[at];
        let (subject, method) = (&self.subjects[subject].name, method.info().name);
        match work {
            super::Work::Timing => format!("{subject} {method} {work}"),
            _ => format!("{subject} {method} seed {seed} {work}"),
        }
    }

    /// What cells like it took, else what any took.
    fn left(&self, state: &ClockState) -> Option<Duration> {
        let all: Vec<f64> = state.seconds.values().flatten().copied().collect();
        if all.is_empty() {
            return None;
        }
        let expected = |at: usize| {
            state.seconds.get(&kind(&self.cells[at])).map_or(mean(&all), |own| mean(own))
        };
        let open = (0..self.cells.len()).filter(|&at| !state.done[at]);
        let mut seconds: f64 = open.map(expected).sum();
        for (at, begin) in &state.running {
            seconds -= begin.elapsed().as_secs_f64().min(expected(*at));
        }
        Some(Duration::from_secs_f64(seconds.max(0.0) / self.jobs as f64))
    }
}

fn kind(cell: &Cell) -> (usize, &'static str, String) {
    (cell.subject, cell.method.info().name, cell.work.to_string())
}

/// A lock is only poisoned by a panic, which ends the program anyway.
fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
