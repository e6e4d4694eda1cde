//! The progress of a grid of jobs: a bar on a terminal, a line per finished job elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use graphfill::eval::experiments::{GridProgress, GridState};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::escape::escaped;
use super::messages::Messages;
use super::numbers::seconds;
use crate::stop;

/// Shows a grid's progress on standard error.
pub(crate) struct GridBar<'a> {
    bar: Option<ProgressBar>,
    messages: &'a Messages,
}

impl<'a> GridBar<'a> {
    pub(crate) fn new(quiet: bool, messages: &'a Messages) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        let bar = shown.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let template = "{bar:30.cyan/dim} {pos} of {len} jobs  {wide_msg}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.progress_chars("━━╌"));
            }
            bar
        });
        GridBar { bar, messages }
    }

    /// Takes the bar away.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl GridProgress for GridBar<'_> {
    fn update(&self, state: &GridState<'_>) {
        let left =
            state.left.map_or_else(String::new, |left| format!("about {} left", about(left)));
        let line = state.finished.map(|(job, outcome)| {
            let what = match outcome {
                Ok(outcome) => seconds(outcome.seconds),
                Err(failure) => format!("left out: {}", failure.reason()),
            };
            format!("{job}: {what}")
        });
        match &self.bar {
            Some(bar) => {
                bar.set_length(state.total as u64);
                bar.set_position(state.done as u64);
                let parts = [left, state.running.join(", ")];
                let parts: Vec<String> =
                    parts.into_iter().filter(|part| !part.is_empty()).collect();
                bar.set_message(escaped(&parts.join("; ")));
                if let (Some(line), Some((_, Err(_)))) = (line, state.finished) {
                    bar.suspend(|| self.messages.warning(&line));
                }
            }
            None => {
                if let Some(line) = line {
                    let (done, total) = (state.done, state.total);
                    let left = if left.is_empty() { left } else { format!("; {left}") };
                    let line = format!("[{done}/{total}] {line}{left}");
                    match state.finished {
                        Some((_, Err(_))) => self.messages.warning(&line),
                        _ => self.messages.say(&line),
                    }
                }
            }
        }
    }

    fn is_cancelled(&self) -> bool {
        stop::is_interrupted()
    }
}

/// A time that nobody knows to the second.
fn about(time: Duration) -> String {
    match time.as_secs() {
        0..=90 => format!("{} s", time.as_secs().max(1)),
        91..=5400 => format!("{} min", (time.as_secs() + 30) / 60),
        _ => format!("{:.1} h", time.as_secs_f64() / 3600.0),
    }
}
