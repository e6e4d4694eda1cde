//! `auto`: the best method for every column, by validation.
//!
//! The propagation methods are fitted, and each group of features takes the one with the least loss
//! on the validation cells. The graph must earn its place: a group whose best method beats the column
//! mean by less than three standard errors of the paired difference gets the column mean. Then SVGA-P
//! is trained, where that takes minutes at most, and has every group that it estimates better.

mod estimates;
mod validate;

use graphfill_engine::{EngineError, TensorStore};

use crate::column_mean::ColumnMean;
use crate::error::{MethodError, Result};
use crate::learning::{Ended, Undisturbed};
use crate::method::{Choice, Fitted, LabelUse, Measure, Method, MethodInfo, Score, Task};
use crate::propagation::Chosen;
use crate::registry;
use crate::selection::ValidationRows;
use crate::svga_p::{self, SvgaP};
use estimates::{AutoFitted, read_choices, save_choices};

/// The method where nothing can be compared.
const UNCOMPARED: &str = "arb";
/// How many standard errors a method must be ahead of the baseline: the best of many candidates
/// looks better than it is.
const CLEARLY_AHEAD: f64 = 3.0;
/// How many standard errors are nothing, between two methods neither of which is the best of many.
const NOISE: f64 = 1.0;
/// SVGA-P is left out where it would take longer, or where less time is left.
const LONGEST_SECONDS: f64 = 900.0;
const SHORTEST_SECONDS: f64 = 10.0;

/// Chooses among the other methods.
#[derive(Debug, Clone, Copy)]
pub struct Auto;

impl Method for Auto {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: "auto",
            title: "Automatic choice",
            about: "Fits the propagation methods and SVGA-P, and gives each column the one that does best on values hidden from it.",
            reference: "",
            parameters: &[],
        }
    }

    fn label_use(&self) -> LabelUse {
        LabelUse::Learnt
    }

    fn fit<'a>(&self, task: &Task<'a>) -> Result<Box<dyn Fitted + 'a>> {
        if task.validation.is_empty() {
            let fitted = registry::find(UNCOMPARED)?.fit(task)?;
            let unchecked = fitted.choices().iter().map(|choice| Choice {
                reason: Some("too few observed rows to compare methods on".to_owned()),
                ..choice.clone()
            });
            return Ok(Box::new(Chosen::new(task, unchecked.collect())));
        }
        let propagation = Chosen::new(task, propagation_choices(task)?);
        let learnt = match worth_training(task) {
            Ok(()) => train(task)?,
            Err(reason) => Err(reason),
        };
        let fitted = match learnt {
            Ok(learnt) => compare(task, propagation, learnt)?,
            Err(reason) => AutoFitted::of_propagation(propagation, Some(&reason)),
        };
        if let Some(checkpoint) = &task.training.checkpoint {
            save_choices(&checkpoint.path, &fitted)?;
        }
        Ok(Box::new(fitted))
    }

    fn restore<'a>(&self, task: &Task<'a>, saved: &TensorStore) -> Result<Box<dyn Fitted + 'a>> {
        let learnt = SvgaP.restore(task, saved)?;
        let choices = read_choices(saved, task)?;
        let propagation = Chosen::new(task, choices.propagation);
        Ok(Box::new(AutoFitted::new(propagation, learnt, choices.is_learnt)))
    }
}

/// The best propagation method of every group.
fn propagation_choices(task: &Task<'_>) -> Result<Vec<Choice>> {
    let sets = validation_rows(task, task.validation.len());
    let mut weighed = Vec::new();
    // Simplest first, the baseline at the head: of equals the simplest wins.
    for method in registry::propagations() {
        let fitted = method.fit(task)?;
        let scores = validate::validate(fitted.as_ref(), task, &sets)?;
        weighed.push((fitted.choices().to_vec(), scores.finish(&sets), scores));
    }
    let choices = (0..task.features.groups().len()).map(|group| {
        let candidates: Vec<Weighed<'_>> = weighed
            .iter()
            .map(|(choices, finished, scores)| Weighed {
                choice: &choices[group],
                score: finished[group],
                losses: scores.losses(group, &sets),
            })
            .collect();
        choose(&candidates)
    });
    Ok(choices.collect())
}

fn validation_rows(task: &Task<'_>, sets: usize) -> Vec<ValidationRows> {
    let sets = task.validation[..sets].iter();
    sets.map(|cells| ValidationRows::of(task.features, cells)).collect()
}

/// Why SVGA-P is not trained, if it should not be.
fn worth_training(task: &Task<'_>) -> std::result::Result<(), String> {
    let seconds = svga_p::expected_seconds(task);
    if task.training.deadline.is_some_and(|end| end.left().as_secs_f64() < SHORTEST_SECONDS) {
        return Err("the time limit leaves none for svga-p".to_owned());
    }
    if seconds > LONGEST_SECONDS && task.training.deadline.is_none() {
        let minutes = (seconds / 60.0).round();
        return Err(format!(
            "svga-p may be better but takes about {minutes} minutes: choose it, or set a time limit"
        ));
    }
    Ok(())
}

/// SVGA-P, or why it cannot be trained here: there is too little memory for it, or a card failed.
fn train<'a>(task: &Task<'a>) -> Result<std::result::Result<Box<dyn Fitted + 'a>, String>> {
    match SvgaP.fit(task) {
        Ok(fitted) => Ok(Ok(fitted)),
        Err(MethodError::Engine(EngineError::Memory { .. })) => {
            Ok(Err("there is too little memory for svga-p".to_owned()))
        }
        Err(MethodError::Engine(error @ EngineError::Device { .. })) => {
            Ok(Err(format!("svga-p could not be trained: {error}")))
        }
        Err(error) => Err(error),
    }
}

/// Gives every group to SVGA-P unless propagation is better on cells that neither has seen.
fn compare<'a>(
    task: &Task<'a>,
    propagation: Chosen<'a>,
    learnt: Box<dyn Fitted + 'a>,
) -> Result<AutoFitted<'a>> {
    let undisturbed = Undisturbed(task.progress);
    let task = &match learnt.ended_early() {
        Some(Ended::Stopped) => Task { progress: &undisturbed, ..*task },
        _ => Task { ..*task },
    };
    let sets = validation_rows(task, learnt.validated(task));
    let baseline = ColumnMean.fit(task)?;
    let scored = |fitted: &dyn Fitted| validate::validate(fitted, task, &sets);
    let [mean, own, other] =
        [scored(baseline.as_ref())?, scored(&propagation)?, scored(learnt.as_ref())?];
    let [mean_scores, own_scores, other_scores] = [&mean, &own, &other].map(|s| s.finish(&sets));
    let mut is_learnt = Vec::new();
    for group in 0..task.features.groups().len() {
        let baseline = Weighed {
            choice: &baseline.choices()[group],
            score: mean_scores[group],
            losses: mean.losses(group, &sets),
        };
        let own = Weighed {
            choice: &propagation.choices()[group],
            score: own_scores[group],
            losses: own.losses(group, &sets),
        };
        let other = Weighed {
            choice: &learnt.choices()[group],
            score: other_scores[group],
            losses: other.losses(group, &sets),
        };
        let earned =
            own.choice.method != baseline.choice.method || is_ahead(&other, &baseline, NOISE);
        is_learnt.push((is_no_worse(&other, &own) && earned).then(|| Choice {
            validation: other.score,
            reason: against(&other, &own),
            ..other.choice.clone()
        }));
    }
    Ok(AutoFitted::weighed(propagation, learnt, is_learnt))
}

/// A candidate for one group.
struct Weighed<'a> {
    choice: &'a Choice,
    score: Option<Score>,
    losses: Vec<f64>,
}

fn better(own: &Weighed<'_>, other: &Weighed<'_>) -> bool {
    match (&own.score, &other.score) {
        (Some(own), Some(other)) => own.is_better_than(other),
        _ => false,
    }
}

/// Whether a learnt candidate may stand in for propagation. Rankings of a few hundred rows are noisy,
/// and propagation was chosen as the best of hundreds on these very rows: it must be clearly ahead to
/// be preferred. Values must be met better.
fn is_no_worse(candidate: &Weighed<'_>, other: &Weighed<'_>) -> bool {
    match candidate.score.map(|score| score.measure) {
        Some(Measure::Recall { .. }) => standard_errors(&other.losses, &candidate.losses) > -NOISE,
        _ => better(candidate, other),
    }
}

/// Whether a candidate beats the baseline by so many standard errors.
fn is_ahead(candidate: &Weighed<'_>, baseline: &Weighed<'_>, by: f64) -> bool {
    // Errors and their squares: the one is steady where tails are heavy, the other sees the rare
    // large errors that a method avoids.
    let squares = |losses: &[f64]| losses.iter().map(|loss| loss * loss).collect::<Vec<f64>>();
    let plain = standard_errors(&baseline.losses, &candidate.losses);
    let squared = standard_errors(&squares(&baseline.losses), &squares(&candidate.losses));
    better(candidate, baseline) && plain.max(squared) >= by
}

fn choose(candidates: &[Weighed<'_>]) -> Choice {
    let baseline = &candidates[0];
    let best_of = |eligible: &dyn Fn(&Weighed<'_>) -> bool| {
        let eligible = candidates[1..].iter().filter(|candidate| eligible(candidate));
        eligible.reduce(|best, candidate| if better(candidate, best) { candidate } else { best })
    };
    let chosen = best_of(&|candidate| is_ahead(candidate, baseline, CLEARLY_AHEAD));
    let runner_up = best_of(&|candidate| better(candidate, baseline));
    let mut choice = chosen.unwrap_or(baseline).choice.clone();
    choice.validation = chosen.unwrap_or(baseline).score;
    let rows = baseline.losses.len();
    choice.reason = match (chosen, runner_up) {
        (Some(best), _) => against(best, baseline),
        (None, Some(best)) => against(best, baseline)
            .map(|against| format!("{} gains less than its noise: {against}", best.choice.method)),
        (None, None) => Some(format!("no method beats the column mean on {rows} hidden rows")),
    };
    choice
}

/// What a candidate reached beside what another did, in words.
fn against(candidate: &Weighed<'_>, other: &Weighed<'_>) -> Option<String> {
    let (own, theirs) = (candidate.score?, other.score?);
    let name = match own.measure {
        Measure::Recall { at } => format!("recall@{at}"),
        Measure::RootMeanSquaredError => "RMSE".to_owned(),
    };
    let rival = match other.choice.method {
        "column-mean" => "the column mean",
        method => method,
    };
    Some(format!(
        "{name} {} against {} of {rival} on {} hidden rows",
        significant(own.value),
        significant(theirs.value),
        candidate.losses.len()
    ))
}

/// The mean of `before − after` in units of its standard error.
fn standard_errors(before: &[f64], after: &[f64]) -> f64 {
    let count = before.len() as f64;
    if count < 2.0 {
        return 0.0;
    }
    let gains: Vec<f64> = before.iter().zip(after).map(|(before, after)| before - after).collect();
    let mean = gains.iter().sum::<f64>() / count;
    let variance = gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / (count - 1.0);
    match (variance == 0.0, mean > 0.0) {
        (false, _) => mean / (variance / count).sqrt(),
        (true, true) => f64::INFINITY,
        (true, false) => 0.0,
    }
}

/// Three significant digits, plainly.
fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let digits = 2 - value.abs().log10().floor() as i64;
    match digits {
        0..=8 => format!("{value:.*}", digits as usize),
        ..0 => format!("{value:.0}"),
        _ => format!("{value:.2e}"),
    }
}
