//! Progress bars: on a terminal only, and only for what takes longer than a second.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use graphfill::data::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::stop;

/// How long a stage may take before it is worth a bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// Shows stages as bars on standard error.
pub(crate) struct Bars {
    shown: bool,
    current: Mutex<Option<Stage>>,
}

struct Stage {
    bar: ProgressBar,
    started: Instant,
    visible: bool,
}

impl Bars {
    pub(crate) fn new(quiet: bool) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        Bars { shown, current: Mutex::new(None) }
    }
}

impl Progress for Bars {
    fn begin(&self, stage: &str, total: Option<u64>) {
        if !self.shown {
            return;
        }
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
        bar.set_prefix(stage.to_owned());
        let stage = Stage { bar, started: Instant::now(), visible: false };
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
            if !stage.visible && stage.started.elapsed() > PATIENCE {
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
            stage.bar.set_message(state.to_owned());
        }
    }

    fn end(&self) {
        if let Ok(mut current) = self.current.lock()
            && let Some(stage) = current.take()
        {
            stage.bar.finish_and_clear();
        }
    }

    fn is_cancelled(&self) -> bool {
        stop::is_interrupted()
    }
}
