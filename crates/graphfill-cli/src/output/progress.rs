//! Progress bars: on a terminal only, and only for what takes longer than a second.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use graphfill::data::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::escape::escaped;
use crate::arguments::General;
use crate::stop;

/// A stage gets a bar after this time.
const MIN_DURATION: Duration = Duration::from_secs(1);

/// Shows stages as bars on standard error.
pub(crate) struct Bars {
    shown: bool,
    current: Mutex<Option<Stage>>,
}

struct Stage {
    name: String,
    bar: ProgressBar,
    started: Instant,
    visible: bool,
}

impl Bars {
    /// Bars, unless they are not wanted or `-v` prints lines in their place.
    pub(crate) fn new(general: &General) -> Self {
        let wanted = !general.quiet && general.verbose == 0;
        let shown = wanted && std::io::stderr().is_terminal();
        Bars { shown, current: Mutex::new(None) }
    }
}

impl Progress for Bars {
    fn begin(&self, stage: &str, total: Option<u64>) {
        let template = match total {
            Some(_) => "{prefix:32} {bar:30.cyan/dim} {percent:>3}%  {eta} left  {wide_msg}",
            None => "{prefix:32} {spinner} {human_pos}  {wide_msg}",
        };
        let bar = match total {
            Some(total) => ProgressBar::new(total),
            None => ProgressBar::new_spinner(),
        };
        bar.set_draw_target(ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━━╌"));
        }
        bar.set_prefix(escaped(stage));
        let stage = Stage { name: stage.to_owned(), bar, started: Instant::now(), visible: false };
        if let Ok(mut current) = self.current.lock() {
            *current = Some(stage);
        }
    }

    fn advance(&self, units: u64) {
        if !self.shown {
            return;
        }
        if let Ok(mut current) = self.current.lock()
            && let Some(stage) = current.as_mut()
        {
            stage.bar.inc(units);
            if !stage.visible && stage.started.elapsed() > MIN_DURATION {
                stage.visible = true;
                stage.bar.set_draw_target(ProgressDrawTarget::stderr());
            }
        }
    }

    fn set_message(&self, state: &str) {
        if !self.shown {
            return;
        }
        if let Ok(current) = self.current.lock()
            && let Some(stage) = current.as_ref()
        {
            stage.bar.set_message(escaped(state));
        }
    }

    fn end(&self) {
        if let Ok(mut current) = self.current.lock()
            && let Some(stage) = current.take()
        {
            stage.bar.finish_and_clear();
            let seconds = stage.started.elapsed().as_secs_f64();
            tracing::info!(stage = stage.name, seconds, "finished");
        }
    }

    fn is_cancelled(&self) -> bool {
        stop::is_interrupted()
    }
}
