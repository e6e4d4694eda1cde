//! The best of the three networks on the validation cells.
//!
//! Each has a checkpoint of its own beside the one that was asked for, so that a search that was
//! killed goes on where it was; when all are trained, the file of the best one takes its place, and
//! the others are removed.

use std::fs;
use std::path::{Path, PathBuf};

use graphfill_engine::TensorStore;

use super::method::{GraphNetwork, NetworkChoice};
use crate::context::{CheckpointOptions, Context, Deadline};
use crate::error::{MethodError, Result};
use crate::learning::{History, HistoryLine, SavedModel, StopReason, TrainedImputer, read_state};
use crate::method::{Choice, EstimateSink, Fitted, Task};
use crate::parameters::ParameterField;

const CHOICES: [NetworkChoice; 3] = [NetworkChoice::Gcn, NetworkChoice::Sage, NetworkChoice::Gat];

/// Trains all three networks, and keeps the best.
pub(super) fn fit(method: &GraphNetwork, task: &Task<'_>) -> Result<Box<dyn Fitted>> {
    if let Some(choice) = chosen_before(task) {
        return Ok(Box::new(method.clone().network(choice).train(task)?));
    }
    if task.validation.is_empty() {
        let reason = "too few observed rows to compare networks on";
        let only = method.clone().network(CHOICES[0]).train(task)?;
        return Ok(Box::new(BestNetwork::new(vec![(CHOICES[0], only)], 0, reason)));
    }
    let mut networks = Vec::new();
    for (at, choice) in CHOICES.into_iter().enumerate() {
        let context = own_context(task.context, choice, CHOICES.len() - at);
        let own = Task { context: &context, ..*task };
        let network = method.clone().network(choice).train(&own)?;
        let is_cancelled = network.stopped_early() == Some(StopReason::Cancelled);
        networks.push((choice, network));
        if is_cancelled {
            break;
        }
    }
    let score = |at: usize| networks[at].1.validation_score().unwrap_or(f64::NEG_INFINITY);
    let better = |best: usize, other: usize| if score(other) > score(best) { other } else { best };
    let best = (1..networks.len()).fold(0, better);
    let scores = networks.iter().enumerate();
    let scores: Vec<String> =
        scores.map(|(at, (choice, _))| format!("{} {:.4}", choice.word(), score(at))).collect();
    let reason = format!("validation scores: {}", scores.join(", "));
    let best = BestNetwork::new(networks, best, &reason);
    let is_finished = best.stopped_early.is_none();
    if let Some(checkpoint) = task.context.checkpoint.as_ref().filter(|_| is_finished) {
        keep_best(&checkpoint.path, best.choice)?;
    }
    Ok(Box::new(best))
}

/// The network that an earlier run has found best and saved. A file that holds anything else is of
/// another run, as training finds out.
fn chosen_before(task: &Task<'_>) -> Option<NetworkChoice> {
    let path = &task.context.checkpoint.as_ref().filter(|options| options.path.exists())?.path;
    let saved = read_state(path).ok().and_then(|state| SavedModel::read(&state, task).ok());
    let word =
        saved.and_then(|saved| NetworkChoice::from_value(saved.parameters.value("network")?));
    Some(word.unwrap_or(CHOICES[0]))
}

/// A checkpoint of its own and its share of the time, where `left` networks are left to train.
fn own_context<'a>(context: &Context<'a>, choice: NetworkChoice, left: usize) -> Context<'a> {
    let checkpoint = context.checkpoint.as_ref();
    Context {
        checkpoint: checkpoint.map(|options| CheckpointOptions {
            path: own_path(&options.path, choice),
            ..options.clone()
        }),
        deadline: context.deadline.map(|deadline| Deadline::after(deadline.left() / left as u32)),
        ..context.clone()
    }
}

fn own_path(path: &Path, choice: NetworkChoice) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}", choice.word()));
    PathBuf::from(name)
}

/// The file of the best network becomes the checkpoint; those of the others are removed.
fn keep_best(path: &Path, best: NetworkChoice) -> Result<()> {
    let failed = |error: std::io::Error| MethodError::Checkpoint {
        path: path.to_owned(),
        problem: error.to_string(),
    };
    fs::rename(own_path(path, best), path).map_err(failed)?;
    for choice in CHOICES.into_iter().filter(|choice| *choice != best) {
        fs::remove_file(own_path(path, choice)).map_err(failed)?;
    }
    Ok(())
}

/// The best network, with the history of all.
struct BestNetwork {
    choice: NetworkChoice,
    network: TrainedImputer,
    choices: Vec<Choice>,
    history: History,
    stopped_early: Option<StopReason>,
}

impl BestNetwork {
    fn new(mut networks: Vec<(NetworkChoice, TrainedImputer)>, best: usize, reason: &str) -> Self {
        let history = joined(&networks);
        let stopped_early = networks.iter().find_map(|(_, network)| network.stopped_early());
        let (choice, network) = networks.swap_remove(best);
        let choices = network.choices().iter();
        let choices =
            choices.map(|choice| Choice { reason: Some(reason.to_owned()), ..choice.clone() });
        let choices = choices.collect();
        BestNetwork { choice, network, choices, history, stopped_early }
    }
}

/// The histories of all networks, one after the other.
fn joined(networks: &[(NetworkChoice, TrainedImputer)]) -> History {
    let mut all = History::default();
    for (choice, network) in networks {
        let Some(history) = network.history() else { continue };
        let before = all.models.len();
        all.losses.clone_from(&history.losses);
        let purposes = history.models.iter();
        all.models.extend(purposes.map(|purpose| format!("{purpose} ({})", choice.word())));
        let later = |line: &HistoryLine| HistoryLine { model: before + line.model, ..line.clone() };
        all.lines.extend(history.lines.iter().map(later));
    }
    all
}

impl Fitted for BestNetwork {
    fn choices(&self) -> &[Choice] {
        &self.choices
    }

    fn estimate(&self, task: &Task<'_>, sink: &mut dyn EstimateSink) -> Result<()> {
        self.network.estimate(task, sink)
    }

    fn held_out_sets(&self, task: &Task<'_>) -> usize {
        self.network.held_out_sets(task)
    }

    fn estimate_held_out(
        &self,
        task: &Task<'_>,
        set: usize,
        sink: &mut dyn EstimateSink,
    ) -> Result<()> {
        self.network.estimate_held_out(task, set, sink)
    }

    fn state(&self) -> Result<TensorStore> {
        self.network.state()
    }

    fn validation_score(&self) -> Option<f64> {
        self.network.validation_score()
    }

    fn history(&self) -> Option<&History> {
        Some(&self.history)
    }

    fn stopped_early(&self) -> Option<StopReason> {
        self.stopped_early
    }
}
