//! Runs many jobs, several at a time. Finished jobs are stored and not run again.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use graphfill_data::{DataError, Progress};
use graphfill_engine::EngineError;
use graphfill_methods::{Context, MethodError, ParamOverrides, Result};

use super::benchmark::Benchmark;
use super::job::{Failure, Job, Outcome, Work};
use super::key::JobKey;
use super::store::JobStore;
use super::work;
use crate::summary::mean;

/// What all jobs of a grid share.
pub struct GridOptions<'a> {
    /// Parameters that the caller fixed.
    pub fixed: &'a ParamOverrides,
    /// Device and limits of all jobs.
    pub context: Context<'a>,
    /// How many settings are compared for each method that is tuned, its defaults among them.
    pub trials: usize,
    /// Where finished jobs are stored.
    pub store: &'a JobStore,
    /// How many jobs run at a time.
    pub jobs: usize,
    /// How many threads they have together.
    pub threads: usize,
    /// Receives progress updates.
    pub progress: &'a dyn GridProgress,
}

/// Receives progress updates of a grid.
pub trait GridProgress: Sync {
    /// A job was started or finished.
    fn update(&self, state: &GridState<'_>);
    /// Whether the grid should stop.
    fn is_cancelled(&self) -> bool;
}

/// The progress of a grid.
pub struct GridState<'a> {
    /// How many jobs are finished.
    pub done: usize,
    /// How many there are.
    pub total: usize,
    /// What runs now, in words.
    pub running: &'a [String],
    /// The job that was just finished, in words, and its result; none where one was started.
    pub finished: Option<(&'a str, Result<&'a Outcome, &'a Failure>)>,
    /// About how long the rest will take, once something is known.
    pub left: Option<Duration>,
}

/// A job and its result.
pub type JobResult = (Job, Result<Outcome, Failure>);

/// Runs the jobs that are not stored yet. A job that fails does not stop the others.
///
/// # Errors
/// [`DataError::Cancelled`] after a request to stop, or the error of writing to the store.
pub fn run(
    benchmarks: &[Benchmark],
    jobs: &[Job],
    options: &GridOptions<'_>,
) -> Result<Vec<JobResult>> {
    let key = |job: &Job| JobKey::new(job, &benchmarks[job.benchmark], options);
    let found: Vec<Option<Outcome>> =
        jobs.iter().map(|job| options.store.find(&key(job))).collect();
    let open: Vec<usize> = (0..jobs.len()).filter(|&at| found[at].is_none()).collect();
    let clock = Clock::new(benchmarks, jobs, &found, options);
    let outcomes: Vec<Mutex<Option<Result<Outcome, Failure>>>> =
        found.into_iter().map(|outcome| Mutex::new(outcome.map(Ok))).collect();
    let next = AtomicUsize::new(0);
    let fatal: Mutex<Option<MethodError>> = Mutex::new(None);
    let workers = options.jobs.clamp(1, open.len().max(1));
    let worker = || -> Result<()> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads((options.threads / workers).max(1))
            .build()
            .map_err(|error| MethodError::Table(format!("cannot start threads: {error}")))?;
        while let Some(&at) = open.get(next.fetch_add(1, Ordering::SeqCst)) {
            CancelOnly(options.progress).check()?;
            clock.begin(at);
            let job = &jobs[at];
            let outcome = pool.install(|| run_job(job, &benchmarks[job.benchmark], options));
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
        for _ in 0..workers {
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
    let results = jobs.iter().zip(outcomes);
    Ok(results.filter_map(|(job, outcome)| Some((*job, outcome?))).collect())
}

/// Runs a job and stores its outcome; an interrupted training continues from its checkpoint.
fn run_job(job: &Job, benchmark: &Benchmark, options: &GridOptions<'_>) -> Result<Outcome> {
    let key = JobKey::new(job, benchmark, options);
    let checkpoint = options.store.checkpoint(&key);
    let progress = CancelOnly(options.progress);
    let mut outcomes = work::run(job, benchmark, options, &checkpoint, &progress);
    if let Err(MethodError::Checkpoint { .. }) = &outcomes {
        // It is of another build of the program: start again.
        options.store.remove_checkpoint(&key);
        outcomes = work::run(job, benchmark, options, &checkpoint, &progress);
    }
    let mut own = None;
    for (work, outcome) in outcomes? {
        let job = Job { work, ..*job };
        options.store.save(&JobKey::new(&job, benchmark, options), &outcome)?;
        own = Some(outcome);
    }
    options.store.remove_checkpoint(&key);
    own.ok_or_else(|| MethodError::Table("the job has no outcome".to_owned()))
}

/// Why a job has no outcome; an error where the whole grid should stop.
fn failure(error: MethodError) -> Result<Failure> {
    match error {
        MethodError::Data(DataError::Cancelled | DataError::Write { .. }) => Err(error),
        MethodError::Engine(EngineError::Memory { .. }) => Ok(Failure::Memory(error.to_string())),
        MethodError::NoFeatures => Ok(Failure::Refused(error.to_string())),
        MethodError::Table(reason) => Ok(Failure::Refused(reason)),
        other => Ok(Failure::Other(other.to_string())),
    }
}

/// Passes on cancellation and nothing else.
struct CancelOnly<'a>(&'a dyn GridProgress);

impl Progress for CancelOnly<'_> {
    fn begin(&self, _stage: &str, _total: Option<u64>) {}

    fn advance(&self, _units: u64) {}

    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// Reports the progress of the grid, and how long it will take.
struct Clock<'a> {
    benchmarks: &'a [Benchmark],
    jobs: &'a [Job],
    workers: usize,
    progress: &'a dyn GridProgress,
    state: Mutex<ClockState>,
}

struct ClockState {
    done: Vec<bool>,
    running: Vec<(usize, Instant)>,
    /// The seconds of finished jobs, by data set, method and work.
    seconds: HashMap<(usize, &'static str, String), Vec<f64>>,
}

impl<'a> Clock<'a> {
    fn new(
        benchmarks: &'a [Benchmark],
        jobs: &'a [Job],
        found: &[Option<Outcome>],
        options: &GridOptions<'a>,
    ) -> Self {
        let mut state = ClockState {
            done: found.iter().map(Option::is_some).collect(),
            running: Vec::new(),
            seconds: HashMap::new(),
        };
        for (job, outcome) in jobs.iter().zip(found) {
            if let Some(outcome) = outcome {
                state.seconds.entry(kind(job)).or_default().push(outcome.seconds);
            }
        }
        let (workers, progress) = (options.jobs.max(1), options.progress);
        Clock { benchmarks, jobs, workers, progress, state: Mutex::new(state) }
    }

    fn begin(&self, at: usize) {
        let mut state = locked(&self.state);
        state.running.push((at, Instant::now()));
        self.report(&state, None);
    }

    fn end(&self, at: usize, outcome: &Result<Outcome, Failure>) {
        let mut state = locked(&self.state);
        state.done[at] = true;
        if let Some(place) = state.running.iter().position(|(running, _)| *running == at) {
            let (_, begin) = state.running.remove(place);
            let seconds = begin.elapsed().as_secs_f64();
            state.seconds.entry(kind(&self.jobs[at])).or_default().push(seconds);
        }
        self.report(&state, Some((at, outcome.as_ref())));
    }

    fn report(&self, state: &ClockState, finished: Option<(usize, Result<&Outcome, &Failure>)>) {
        let running: Vec<String> = state.running.iter().map(|(at, _)| self.words(*at)).collect();
        let words = finished.map(|(at, _)| self.words(at));
        self.progress.update(&GridState {
            done: state.done.iter().filter(|done| **done).count(),
            total: self.jobs.len(),
            running: &running,
            finished: words.as_deref().zip(finished.map(|(_, outcome)| outcome)),
            left: self.left(state),
        });
    }

    fn words(&self, at: usize) -> String {
        let Job { benchmark, competitor, seed, work, .. } = self.jobs[at];
        let (benchmark, label) = (&self.benchmarks[benchmark].name, competitor.label);
        let tuned = if self.jobs[at].is_tuned() { ", tuned" } else { "" };
        match work {
            Work::Timing => format!("{benchmark} {label} {work}"),
            _ => format!("{benchmark} {label} seed {seed} {work}{tuned}"),
        }
    }

    /// What jobs like it took, else what any took.
    fn left(&self, state: &ClockState) -> Option<Duration> {
        let all: Vec<f64> = state.seconds.values().flatten().copied().collect();
        if all.is_empty() {
            return None;
        }
        let expected = |at: usize| {
            state.seconds.get(&kind(&self.jobs[at])).map_or(mean(&all), |own| mean(own))
        };
        let open = (0..self.jobs.len()).filter(|&at| !state.done[at]);
        let mut seconds: f64 = open.map(expected).sum();
        for (at, begin) in &state.running {
            seconds -= begin.elapsed().as_secs_f64().min(expected(*at));
        }
        Some(Duration::from_secs_f64(seconds.max(0.0) / self.workers as f64))
    }
}

fn kind(job: &Job) -> (usize, &'static str, String) {
    (job.benchmark, job.competitor.label, format!("{} {}", job.work, job.is_tuned()))
}

/// A lock is only poisoned by a panic, which ends the program anyway.
fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
