//! `auto`: the best method for every column, on cells that chose nothing else.
//!
//! The propagation methods are fitted, and each group of features takes the one with the smallest loss
//! on held-out cells. A method must earn its place: a group whose best method beats the column mean by
//! less than three standard errors of the paired difference gets the column mean. Then SVGA-P is
//! trained, where that takes minutes at most, and gets every group that it estimates better. Where it
//! diverges, or memory or time do not suffice, propagation stands, and the choices say why.
//!
//! Held-out cells are not those on which parameters are chosen and training is stopped: half of the
//! validation sets are kept for the comparison alone.

mod fitted;

use std::sync::Arc;

use graphfill_data::CellMask;
use graphfill_engine::{EngineError, TensorStore};

use crate::arb::Arb;
use crate::column_mean::ColumnMean;
use crate::context::{Context, IgnoreCancel};
use crate::error::{MethodError, Result};
use crate::feature_propagation::FeaturePropagation;
use crate::features::ColumnMeans;
use crate::fill::validation_sets;
use crate::learning::StopReason;
use crate::method::{
    Choice, EstimateSink, Estimates, Fitted, LabelUse, Method, MethodInfo, Score, Task, significant,
};
use crate::neighbour_mean::NeighbourMean;
use crate::parameters;
use crate::pcfi::Pcfi;
use crate::selection::{Detail, ScoredCells, Scores, ValidationRows};
use crate::svga_p::SvgaP;
use fitted::AutoFitted;

/// How many standard errors a method must be ahead of the column mean: the best of many candidates
/// looks better than it is.
const CLEARLY_AHEAD: f64 = 3.0;
/// The same for a single candidate, the trained method.
const AHEAD: f64 = 2.0;
/// What a table with few columns counts as, beside its columns, when they tell how much proof one needs.
const UNPROVEN_COLUMNS: f64 = 2.0;
/// How many standard errors propagation must be ahead of the trained method, whose components it is.
const NOISE: f64 = 2.0;
/// Without a time limit, a method that takes longer is left out.
const MAX_SECONDS: f64 = 900.0;
/// With a time limit, a method is trained if this share of the time that it needs is left: early
/// stopping usually ends it sooner, and at the deadline the best so far is taken.
const MIN_SHARE_OF_TIME: f64 = 0.1;

/// The baseline in words, of numbers and of levels.
const COLUMN_MEAN: &str = "the column mean";
const MOST_FREQUENT_LEVEL: &str = "the most frequent level";

parameters! {
    /// Chooses among other methods, column by column.
    pub struct Auto [
        candidates: Vec<Arc<dyn Method>> = candidates(),
        trained: Arc<dyn Method> = Arc::new(SvgaP::new())
    ] {}
}

/// The column mean first: it is what the others must beat. Of equals the simplest wins.
fn candidates() -> Vec<Arc<dyn Method>> {
    vec![
        Arc::new(ColumnMean::new()),
        Arc::new(NeighbourMean::new()),
        Arc::new(FeaturePropagation::new()),
        Arc::new(Arb::new()),
        Arc::new(Pcfi::new()),
    ]
}

impl Method for Auto {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: "auto",
            title: "Automatic choice",
            about: "Fits the propagation methods and SVGA-P, and gives each column the one that does best on values hidden from it.",
            reference: "",
            edges: "as the methods that it compares",
            parameters: Auto::PARAMETERS,
        }
    }

    fn label_use(&self) -> LabelUse {
        LabelUse::Learned
    }

    fn with_candidates(&self, methods: &[Arc<dyn Method>]) -> Option<Arc<dyn Method>> {
        let same = |own: &Arc<dyn Method>| {
            let found = methods.iter().find(|method| method.info().name == own.info().name);
            Arc::clone(found.unwrap_or(own))
        };
        let candidates = self.candidates.iter().map(same).collect();
        Some(Arc::new(Auto { candidates, trained: same(&self.trained) }))
    }

    fn fit_task(&self, task: &Task<'_>) -> Result<Box<dyn Fitted>> {
        let (validation, held_out) = split(task);
        if held_out.is_empty() {
            let mut fitted = self.uncompared(task)?;
            let rows = task.features.rows();
            if task.labels.is_some_and(|labels| labels.known() > 0 && labels.known() < rows)
                && let Ok(trained) = self.train(task)?
            {
                // For the classes of nodes alone.
                let nothing = vec![None; task.features.groups().len()];
                fitted.add_trained(Arc::clone(&self.trained), trained, nothing);
            }
            return Ok(Box::new(fitted));
        }
        let task = &Task { validation: &validation, held_out: &held_out, ..*task };
        let mut fitted = self.compare_propagation(task)?;
        match self.train(task)? {
            Ok(trained) => self.compare_trained(task, &mut fitted, trained)?,
            Err(reason) => fitted.add_reason(&reason),
        }
        Ok(Box::new(fitted))
    }

    fn restore(&self, task: &Task<'_>, state: &TensorStore) -> Result<Box<dyn Fitted>> {
        let methods = self.candidates.iter().chain([&self.trained]);
        Ok(Box::new(AutoFitted::read(&methods.cloned().collect::<Vec<_>>(), task, state)?))
    }
}

/// Validation sets, and sets that are held out: half of them each. Where the task brings fewer than two,
/// as an evaluation does, known cells are hidden as when a table is filled.
fn split(task: &Task<'_>) -> (Vec<CellMask>, Vec<CellMask>) {
    let own;
    let sets = match task.validation {
        [] | [_] => {
            own = validation_sets(task.features, task.unknown, task.context.seed);
            &own[..]
        }
        sets => sets,
    };
    let (validation, held_out) = sets.split_at(sets.len().div_ceil(2));
    (validation.to_vec(), held_out.to_vec())
}

impl Auto {
    /// ARB for every column, where there are too few rows to compare anything.
    fn uncompared(&self, task: &Task<'_>) -> Result<AutoFitted> {
        let usual = self.candidates.iter().find(|method| method.info().name == "arb");
        let usual = usual.unwrap_or(&self.candidates[0]);
        let fit = usual.fit_task(task)?;
        let choices = fit.choices().iter().map(|choice| Choice {
            reason: Some("too few observed rows to compare methods on".to_owned()),
            ..choice.clone()
        });
        let choices = choices.collect();
        Ok(AutoFitted::new(vec![(Arc::clone(usual), fit)], None, choices))
    }

    /// The best propagation method of every group.
    fn compare_propagation(&self, task: &Task<'_>) -> Result<AutoFitted> {
        let sets = validation_rows(task, task.held_out.len());
        let (mut fits, mut scored) = (Vec::new(), Vec::new());
        for method in &self.candidates {
            let fit = method.fit_task(task)?;
            let scores = score(fit.as_ref(), task, &sets)?;
            scored.push((scores.finish(&sets), scores));
            fits.push((Arc::clone(method), fit));
        }
        let choices = (0..task.features.groups().len()).map(|group| {
            let candidates: Vec<Candidate<'_>> = fits
                .iter()
                .zip(&scored)
                .map(|((_, fit), (finished, scores))| Candidate {
                    choice: &fit.choices()[group],
                    score: finished[group],
                    losses: scores.losses(group, &sets),
                })
                .collect();
            choose(&candidates)
        });
        let choices = choices.collect();
        Ok(AutoFitted::new(fits, None, choices))
    }

    /// The trained method, or why there is none: it would take too long, it diverged, or memory or a
    /// device failed.
    fn train(&self, task: &Task<'_>) -> Result<std::result::Result<Box<dyn Fitted>, String>> {
        let name = self.trained.info().name;
        let expected = self.trained.expected_seconds(task).unwrap_or(0.0);
        match &task.context.deadline {
            Some(deadline) if deadline.left().as_secs_f64() < MIN_SHARE_OF_TIME * expected => {
                let (left, expected) = (deadline.left().as_secs_f64(), expected.ceil());
                return Ok(Err(format!(
                    "{name} needs about {expected} seconds, and the time limit leaves {left:.0}"
                )));
            }
            None if expected > MAX_SECONDS => {
                let minutes = (expected / 60.0).round();
                return Ok(Err(format!(
                    "{name} may be better but takes about {minutes} minutes: choose it, or set a time limit"
                )));
            }
            _ => {}
        }
        match self.trained.fit_task(task) {
            Ok(fitted) => Ok(Ok(fitted)),
            Err(MethodError::Engine(EngineError::Memory { .. })) => {
                Ok(Err(format!("there is too little memory for {name}")))
            }
            Err(MethodError::Diverged { updates }) => Ok(Err(format!(
                "{name} diverged after {updates} updates (are there extreme values?)"
            ))),
            Err(MethodError::Engine(error @ EngineError::Device { .. })) => {
                Ok(Err(format!("{name} could not be trained: {error}")))
            }
            Err(MethodError::Table(problem)) => Ok(Err(format!("{name}: {problem}"))),
            Err(error) => Err(error),
        }
    }

    /// Gives every group to the trained method unless propagation is better on held-out cells.
    fn compare_trained(
        &self,
        task: &Task<'_>,
        fitted: &mut AutoFitted,
        trained: Box<dyn Fitted>,
    ) -> Result<()> {
        // A caller who cancelled wants the best estimates so far.
        let ignored = IgnoreCancel(task.context.progress);
        let finishing = Context { progress: &ignored, ..task.context.clone() };
        let task = &match trained.stopped_early() {
            Some(StopReason::Cancelled) => Task { context: &finishing, ..*task },
            _ => *task,
        };
        let sets = validation_rows(task, trained.held_out_sets(task));
        let own = score(trained.as_ref(), task, &sets)?;
        let own_scores = own.finish(&sets);
        // Only what the trained method is compared with: the column mean, and what the groups have.
        let groups = task.features.groups().len();
        let is_compared =
            |at: usize| at == 0 || (0..groups).any(|group| fitted.assigned(group) == at);
        let mut others = Vec::new();
        for (at, (_, fit)) in fitted.fits().iter().enumerate() {
            others.push(match is_compared(at) {
                true => {
                    let scores = score(fit.as_ref(), task, &sets)?;
                    Some((scores.finish(&sets), scores))
                }
                false => None,
            });
        }
        let candidate = |at: usize, group: usize| {
            let scores = others[at].as_ref();
            Candidate {
                choice: &fitted.fits()[at].1.choices()[group],
                score: scores.and_then(|(finished, _)| finished[group]),
                losses: scores.map_or_else(Vec::new, |(_, scores)| scores.losses(group, &sets)),
            }
        };
        let own_candidate = |group: usize| Candidate {
            choice: &trained.choices()[group],
            score: own_scores[group],
            losses: own.losses(group, &sets),
        };
        let own_candidates: Vec<Candidate<'_>> = (0..groups).map(own_candidate).collect();
        let is_clear =
            |own: &Candidate<'_>, group| is_ahead(own, &candidate(0, group), CLEARLY_AHEAD);
        let clear: Vec<bool> =
            own_candidates.iter().enumerate().map(|(group, own)| is_clear(own, group)).collect();
        let mut chosen = Vec::new();
        for (group, own) in own_candidates.iter().enumerate() {
            let (baseline, other) = (candidate(0, group), candidate(fitted.assigned(group), group));
            let ahead = proof_needed(&clear, group);
            let earned = fitted.assigned(group) != 0 || is_ahead(own, &baseline, ahead);
            chosen.push((is_no_worse(own, &other) && earned).then(|| Choice {
                validation: own.score,
                reason: against(own, &other),
                ..own.choice.clone()
            }));
        }
        fitted.add_trained(Arc::clone(&self.trained), trained, chosen);
        Ok(())
    }
}

/// How many standard errors the trained method must be ahead of the column mean in a group: fewer, the
/// more of the other groups it estimates clearly better. A table of noise has no such group.
fn proof_needed(clear: &[bool], group: usize) -> f64 {
    let others = clear.len().saturating_sub(1) as f64;
    let clear = clear.iter().filter(|&&clear| clear).count() - usize::from(clear[group]);
    AHEAD * (1.0 - clear as f64 / (others + UNPROVEN_COLUMNS))
}

fn validation_rows(task: &Task<'_>, sets: usize) -> Vec<ValidationRows> {
    let sets = task.held_out[..sets].iter();
    sets.map(|cells| ValidationRows::of(task.features, cells)).collect()
}

/// Scores a fitted method on held-out sets, each unknown while it is scored.
fn score(fitted: &dyn Fitted, task: &Task<'_>, sets: &[ValidationRows]) -> Result<Scores> {
    let unknown = task.held_out[..sets.len()].iter();
    let unknown = unknown.fold(task.unknown.clone(), |all, set| all.union(set));
    let known = ColumnMeans::of(task.features, &unknown);
    let mut scores = Scores::new(task.features, sets, task.ranking_depth, Detail::Losses)
        .with_hit_rates(task.features, sets, &known);
    for set in 0..sets.len() {
        fitted.estimate_held_out(
            task,
            set,
            &mut ScoringSink { task, sets, set, scores: &mut scores },
        )?;
    }
    Ok(scores)
}

struct ScoringSink<'a, 'b> {
    task: &'b Task<'a>,
    sets: &'b [ValidationRows],
    set: usize,
    scores: &'b mut Scores,
}

impl EstimateSink for ScoringSink<'_, '_> {
    fn accept(&mut self, estimates: &Estimates<'_>) -> Result<()> {
        let (rows, hidden) = (&self.sets[self.set], &self.task.held_out[self.set]);
        let cells = ScoredCells::new(self.task.features, rows, hidden, estimates.features());
        self.scores.add(&cells, &self.sets[..self.set], estimates);
        Ok(())
    }
}

/// A candidate for one group.
struct Candidate<'a> {
    choice: &'a Choice,
    score: Option<Score>,
    losses: Vec<f64>,
}

fn better(own: &Candidate<'_>, other: &Candidate<'_>) -> bool {
    match (&own.score, &other.score) {
        (Some(own), Some(other)) => own.is_better_than(other),
        _ => false,
    }
}

/// Whether the trained method may replace propagation: it is preferred unless it is behind by more than
/// noise. Propagation is the best of several on these few cells, and looks better than it is; the trained
/// method blends the same propagations by all known cells.
fn is_no_worse(candidate: &Candidate<'_>, other: &Candidate<'_>) -> bool {
    candidate.score.is_some() && gains(candidate, other) > -NOISE
}

/// Whether a candidate beats the baseline by so many standard errors.
fn is_ahead(candidate: &Candidate<'_>, baseline: &Candidate<'_>, by: f64) -> bool {
    better(candidate, baseline) && gains(candidate, baseline) >= by
}

/// By how many standard errors a candidate is ahead: by its errors or by their squares, whichever is more. The
/// one is steady where tails are heavy, the other sees the rare large errors that a method avoids.
fn gains(candidate: &Candidate<'_>, other: &Candidate<'_>) -> f64 {
    let squares = |losses: &[f64]| losses.iter().map(|loss| loss * loss).collect::<Vec<f64>>();
    let plain = standard_errors(&other.losses, &candidate.losses);
    plain.max(standard_errors(&squares(&other.losses), &squares(&candidate.losses)))
}

fn choose(candidates: &[Candidate<'_>]) -> Choice {
    let baseline = &candidates[0];
    let best_of = |eligible: &dyn Fn(&Candidate<'_>) -> bool| {
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
        (None, None) => {
            let has_levels = baseline.score.is_some_and(|score| score.hit_rate.is_some());
            let beaten = if has_levels { MOST_FREQUENT_LEVEL } else { COLUMN_MEAN };
            Some(format!("no method beats {beaten} on {rows} hidden rows"))
        }
    };
    choice
}

/// What a candidate that is better reached beside what another did, in words. Levels are compared by
/// their probabilities: of two candidates with equal hit rates one may be better.
fn against(candidate: &Candidate<'_>, other: &Candidate<'_>) -> Option<String> {
    let (own, theirs) = (candidate.score?, other.score?);
    let is_baseline = other.choice.method == "column-mean";
    let rows = candidate.losses.len();
    if let (Some(own), Some(theirs)) = (own.hit_rate, theirs.hit_rate) {
        let (theirs, rival) = match is_baseline {
            true => (own.most_frequent, MOST_FREQUENT_LEVEL),
            false => (theirs.value, other.choice.method.as_str()),
        };
        let but = if own.value > theirs { "" } else { ", but better probabilities," };
        let (own, theirs) = (significant(own.value), significant(theirs));
        return Some(format!(
            "hit rate {own} against {theirs} of {rival}{but} on {rows} hidden rows"
        ));
    }
    let rival = if is_baseline { COLUMN_MEAN } else { other.choice.method.as_str() };
    let (name, own, theirs) = (own.measure, significant(own.value), significant(theirs.value));
    Some(format!("{name} {own} against {theirs} of {rival} on {rows} hidden rows"))
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
