//! Runs work on threads of its own while the calling thread, without the interpreter's lock, looks for
//! Ctrl-C and shows progress.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use graphfill::data::{DataError, Progress};
use graphfill::methods::MethodError;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::errors;

/// How often the calling thread looks for signals and shows progress.
const INTERVAL: Duration = Duration::from_millis(50);

/// The state of the current stage, and whether the work should stop.
#[derive(Default)]
struct Watched {
    stage: Mutex<Stage>,
    is_cancelled: AtomicBool,
}

#[derive(Default, Clone, PartialEq)]
struct Stage {
    name: String,
    total: Option<u64>,
    done: u64,
    message: String,
}

impl Watched {
    fn update(&self, change: impl FnOnce(&mut Stage)) {
        change(&mut self.stage.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Progress for Watched {
    fn begin(&self, stage: &str, total: Option<u64>) {
        self.update(|own| *own = Stage { name: stage.to_owned(), total, ..Stage::default() });
    }

    fn advance(&self, units: u64) {
        self.update(|own| own.done += units);
    }

    fn set_message(&self, state: &str) {
        self.update(|own| own.message = state.to_owned());
    }

    fn end(&self) {
        self.update(|own| *own = Stage::default());
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
}

/// What became of the work.
pub(crate) struct Outcome<T> {
    /// The result; none where the work was stopped before there was one.
    pub(crate) value: Option<T>,
    /// The exception that asked to stop, such as Ctrl-C's.
    pub(crate) stop: Option<PyErr>,
}

impl<T> Outcome<T> {
    /// The result of work that has none before it ends: an exception where it was stopped.
    pub(crate) fn finished(self) -> PyResult<T> {
        match (self.value, self.stop) {
            (_, Some(stop)) => Err(stop),
            (Some(value), None) => Ok(value),
            (None, None) => Err(PyKeyboardInterrupt::new_err(())),
        }
    }
}

/// Runs `work` with so many threads (0: all cores). `progress` is called with stage, done, total and
/// message now and then; an exception that it raises stops the work, as Ctrl-C does.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&dyn Progress) -> anyhow::Result<T> + Send,
) -> PyResult<Outcome<T>> {
    // A pool per call: the pool of a process does not survive a fork.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| errors::raise(&error.into()))?;
    let watched = Watched::default();
    let ended = (Mutex::new(false), Condvar::new());
    let mut stop: Option<PyErr> = None;
    let done = std::thread::scope(|scope| {
        let working = scope.spawn(|| {
            let end = End(&ended);
            let done = pool.install(|| work(&watched));
            drop(end);
            done
        });
        let mut shown = Stage::default();
        while !py.detach(|| has_ended(&ended)) {
            let asked = py.check_signals().and_then(|()| match progress {
                Some(progress) if stop.is_none() => show(progress, &watched, &mut shown),
                _ => Ok(()),
            });
            if let Err(error) = asked {
                watched.is_cancelled.store(true, Ordering::Relaxed);
                stop.get_or_insert(error);
            }
        }
        py.detach(|| working.join())
    });
    let value = match done {
        Ok(Ok(value)) => Some(value),
        Ok(Err(error)) if stop.is_some() && is_cancelled(&error) => None,
        Ok(Err(error)) => return Err(errors::raise(&error)),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            let text = text.unwrap_or_default();
            let told = format!("graphfill has a bug: {text}\n  please report it with the call");
            return Err(errors::raise(&anyhow::anyhow!(told)));
        }
    };
    Ok(Outcome { value, stop })
}

/// Says that the work has ended, also where it panics.
struct End<'a>(&'a (Mutex<bool>, Condvar));

impl Drop for End<'_> {
    fn drop(&mut self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }
}

/// Waits for the end of the work, for one interval at the most.
fn has_ended(ended: &(Mutex<bool>, Condvar)) -> bool {
    let guard = ended.0.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = ended.1.wait_timeout_while(guard, INTERVAL, |ended| !*ended);
    *waited.unwrap_or_else(PoisonError::into_inner).0
}

fn show(progress: &Bound<'_, PyAny>, watched: &Watched, shown: &mut Stage) -> PyResult<()> {
    let stage = watched.stage.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if stage == *shown {
        return Ok(());
    }
    progress.call1((&stage.name, stage.done, stage.total, &stage.message))?;
    *shown = stage;
    Ok(())
}

fn is_cancelled(error: &anyhow::Error) -> bool {
    let of_method = error.downcast_ref::<MethodError>();
    matches!(of_method, Some(MethodError::Data(DataError::Cancelled)))
        || matches!(error.downcast_ref::<DataError>(), Some(DataError::Cancelled))
}
