//! How long runs take. On a GPU a run comes back before it is done: many are begun, and the last is
//! waited for.

use std::time::Instant;

use graphfill_engine::{Result, Session};

/// Runs until a GPU is as fast as it is going to be: the first compiles, the second captures.
const CARD_WARMING: u32 = 3;
/// The least seconds of a batch on a GPU, to which its end adds little.
const MIN_BATCH_SECONDS: f64 = 0.02;
/// The most runs of a batch.
const LARGEST_BATCH: f64 = 10_000.0;

/// How many runs come before those that are timed.
pub(crate) fn warming_runs(session: &Session) -> u32 {
    if session.plan().device().is_cuda() { CARD_WARMING } else { 1 }
}

/// Runs a program until it is worth timing.
pub(crate) fn warm_up(session: &mut Session, program: &str) -> Result<()> {
    let runs = warming_runs(session);
    seconds_per_run(session, program, runs)?;
    Ok(())
}

/// How many runs are timed at once: on a GPU, as many as take long enough; on the CPU, one.
pub(crate) fn batch_size(session: &mut Session, program: &str) -> Result<u32> {
    if !session.plan().device().is_cuda() {
        return Ok(1);
    }
    let seconds = seconds_per_run(session, program, 1)?;
    Ok((MIN_BATCH_SECONDS / seconds).ceil().clamp(1.0, LARGEST_BATCH) as u32)
}

/// The seconds of a run, as the mean of a batch.
pub(crate) fn seconds_per_run(session: &mut Session, program: &str, batch: u32) -> Result<f64> {
    let begin = Instant::now();
    for _ in 0..batch {
        session.run(program)?;
    }
    session.finish()?;
    Ok(begin.elapsed().as_secs_f64() / f64::from(batch))
}
