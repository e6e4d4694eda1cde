//! Networks that were trained on the same task, of which the best on validation cells estimates.

use crate::encoder::EncoderKind;
use crate::error::Result;
use crate::learning::{Ended, History, HistoryLine, Learnt};
use crate::method::{Choice, EstimateSink, Fitted, Task};

/// The best network, and what the others have shown.
pub(super) struct Compared {
    /// Which one it is.
    pub(super) best: EncoderKind,
    learnt: Learnt,
    choices: Vec<Choice>,
    history: History,
    ended_early: Option<Ended>,
}

impl Compared {
    /// The best of some networks, of which there is at least one; of equals the first.
    pub(super) fn new(mut networks: Vec<(EncoderKind, Learnt)>) -> Self {
        let score = |at: usize| networks[at].1.validation_score().unwrap_or(f64::NEG_INFINITY);
        let better =
            |best: usize, other: usize| if score(other) > score(best) { other } else { best };
        let best = (1..networks.len()).fold(0, better);
        let names = networks.iter().map(|(kind, _)| kind).enumerate();
        let scores: Vec<String> =
            names.map(|(at, kind)| format!("{kind} {:.4}", score(at))).collect();
        let reason = format!("validation scores: {}", scores.join(", "));
        let history = joined(&networks);
        let ended_early = networks.iter().find_map(|(_, learnt)| learnt.ended_early());
        let (best, learnt) = networks.swap_remove(best);
        let choices = with_reason(&learnt, &reason);
        Compared { best, learnt, choices, history, ended_early }
    }

    /// The only network, where nothing can be validated.
    pub(super) fn uncompared(kind: EncoderKind, learnt: Learnt) -> Self {
        let choices = with_reason(&learnt, "too few observed rows to compare networks on");
        let history = learnt.history().cloned().unwrap_or_default();
        let ended_early = learnt.ended_early();
        Compared { best: kind, learnt, choices, history, ended_early }
    }
}

fn with_reason(learnt: &Learnt, reason: &str) -> Vec<Choice> {
    let choices = learnt.choices().iter();
    choices.map(|choice| Choice { reason: Some(reason.to_owned()), ..choice.clone() }).collect()
}

/// One history of all networks, one after the other.
fn joined(networks: &[(EncoderKind, Learnt)]) -> History {
    let mut all = History::default();
    for (kind, learnt) in networks {
        let Some(history) = learnt.history() else { continue };
        let before = all.models.len();
        all.losses.clone_from(&history.losses);
        all.models.extend(history.models.iter().map(|purpose| format!("{purpose} ({kind})")));
        let later = |line: &HistoryLine| HistoryLine { model: before + line.model, ..line.clone() };
        all.lines.extend(history.lines.iter().map(later));
    }
    all
}

impl Fitted for Compared {
    fn choices(&self) -> &[Choice] {
        &self.choices
    }

    fn estimate(&self, task: &Task<'_>, sink: &mut dyn EstimateSink) -> Result<()> {
        self.learnt.estimate(task, sink)
    }

    fn validated(&self, task: &Task<'_>) -> usize {
        self.learnt.validated(task)
    }

    fn estimate_validation(
        &self,
        task: &Task<'_>,
        set: usize,
        sink: &mut dyn EstimateSink,
    ) -> Result<()> {
        self.learnt.estimate_validation(task, set, sink)
    }

    fn validation_score(&self) -> Option<f64> {
        self.learnt.validation_score()
    }

    fn history(&self) -> Option<&History> {
        Some(&self.history)
    }

    fn ended_early(&self) -> Option<Ended> {
        self.ended_early
    }
}
