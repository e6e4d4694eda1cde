//! `auto`: the best method for every column, by validation.
//!
//! Every other method is fitted, and each group of features takes the one with the least loss on
//! the validation cells. The graph must earn its place: a group whose best method beats the
//! column mean by less than three standard errors of the paired difference gets the column mean.

mod validate;

use crate::error::Result;
use crate::method::{Choice, Fitted, Measure, Method, MethodInfo, Score, Task};
use crate::propagation::Chosen;
use crate::registry;
use crate::selection::ValidationRows;

/// The method where nothing can be compared.
const UNCOMPARED: &str = "arb";
/// How many standard errors a method must be ahead of the baseline: the best of many candidates
/// looks better than it is.
const CLEARLY_AHEAD: f64 = 3.0;

/// Chooses among the other methods.
#[derive(Debug, Clone, Copy)]
pub struct Auto;

impl Method for Auto {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: "auto",
            title: "Automatic choice",
            about: "Fits every method and gives each column the one that does best on values hidden from it.",
            reference: "",
            parameters: &[],
        }
    }

    fn fit<'a>(&self, task: &Task<'a>) -> Result<Box<dyn Fitted + 'a>> {
        if task.validation.is_empty() {
            let fitted = registry::find(UNCOMPARED)?.fit(task)?;
            let unchecked = fitted.choices().iter().map(|choice| Choice {
                reason: Some("too few observed rows to compare methods on".to_owned()),
                ..choice.clone()
            });
            return Ok(Box::new(Chosen::new(task.graph, unchecked.collect())));
        }
        let sets: Vec<ValidationRows> =
            task.validation.iter().map(|cells| ValidationRows::of(task.features, cells)).collect();
        let mut weighed = Vec::new();
        // Simplest first, the baseline at the head: of equals the simplest wins.
        for method in registry::all().into_iter().filter(|method| method.info().name != "auto") {
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
        Ok(Box::new(Chosen::new(task.graph, choices.collect())))
    }
}

/// A candidate for one group.
struct Weighed<'a> {
    choice: &'a Choice,
    score: Option<Score>,
    losses: Vec<f64>,
}

fn choose(candidates: &[Weighed<'_>]) -> Choice {
    let baseline = &candidates[0];
    let better = |own: &Weighed<'_>, other: &Weighed<'_>| match (&own.score, &other.score) {
        (Some(own), Some(other)) => own.is_better_than(other),
        _ => false,
    };
    // Errors and their squares: the one is steady where tails are heavy, the other sees the rare
    // large errors that a method avoids.
    let squares = |losses: &[f64]| losses.iter().map(|loss| loss * loss).collect::<Vec<f64>>();
    let ahead = |candidate: &Weighed<'_>| {
        let plain = standard_errors(&baseline.losses, &candidate.losses);
        let squared = standard_errors(&squares(&baseline.losses), &squares(&candidate.losses));
        better(candidate, baseline) && plain.max(squared) >= CLEARLY_AHEAD
    };
    let best_of = |eligible: &dyn Fn(&Weighed<'_>) -> bool| {
        let eligible = candidates[1..].iter().filter(|candidate| eligible(candidate));
        eligible.reduce(|best, candidate| if better(candidate, best) { candidate } else { best })
    };
    let chosen = best_of(&ahead);
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

/// What a candidate reached beside what the baseline did, in words.
fn against(candidate: &Weighed<'_>, baseline: &Weighed<'_>) -> Option<String> {
    let (own, mean) = (candidate.score?, baseline.score?);
    let name = match own.measure {
        Measure::Recall { at } => format!("recall@{at}"),
        Measure::RootMeanSquaredError => "RMSE".to_owned(),
    };
    Some(format!(
        "{name} {} against {} of the column mean on {} hidden rows",
        significant(own.value),
        significant(mean.value),
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
