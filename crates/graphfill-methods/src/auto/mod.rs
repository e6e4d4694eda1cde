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

/// The method that the others must beat.
const BASELINE: &str = "column-mean";
/// The method where nothing can be compared.
const UNCOMPARED: &str = "arb";
/// How many standard errors a method must be ahead of the baseline: the best of many candidates
/// looks better than it is.
const CLEARLY_AHEAD: f64 = 3.0;
/// What is weighed, simplest first: of equals the simplest wins.
const CANDIDATES: [&str; 5] = [BASELINE, "neighbour-mean", "fp", UNCOMPARED, "pcfi"];

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
            return registry::find(UNCOMPARED)?.fit(task);
        }
        let sets: Vec<ValidationRows> =
            task.validation.iter().map(|cells| ValidationRows::of(task.features, cells)).collect();
        let mut weighed = Vec::new();
        for name in CANDIDATES {
            let fitted = registry::find(name)?.fit(task)?;
            let scores = validate::validate(fitted.as_ref(), task, &sets)?;
            weighed.push((fitted.choices().to_vec(), scores));
        }
        let choices = (0..task.features.groups().len()).map(|group| {
            let candidates: Vec<Weighed<'_>> = weighed
                .iter()
                .map(|(choices, scores)| Weighed {
                    choice: &choices[group],
                    score: scores.finish(&sets)[group],
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
    let mut best = baseline;
    for candidate in &candidates[1..] {
        let better = match (&candidate.score, &best.score) {
            (Some(own), Some(other)) => own.is_better_than(other),
            _ => false,
        };
        if better {
            best = candidate;
        }
    }
    let mut choice = best.choice.clone();
    choice.validation = best.score;
    let (Some(own), Some(mean)) = (best.score, baseline.score) else { return choice };
    let rows = best.losses.len();
    let name = match own.measure {
        Measure::Recall { at } => format!("recall@{at}"),
        Measure::RootMeanSquaredError => "RMSE".to_owned(),
    };
    if std::ptr::eq(best, baseline) {
        choice.reason = Some(format!("no method beats the column mean on {rows} hidden rows"));
        return choice;
    }
    let gain = standard_errors(&baseline.losses, &best.losses);
    let against = format!(
        "{name} {} against {} of the column mean on {rows} hidden rows",
        significant(own.value),
        significant(mean.value)
    );
    if gain < CLEARLY_AHEAD {
        choice = baseline.choice.clone();
        choice.validation = baseline.score;
        let reason = format!("{} gains less than its noise: {against}", best.choice.method);
        choice.reason = Some(reason);
    } else {
        choice.reason = Some(against);
    }
    choice
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
    if variance == 0.0 { 0.0 } else { mean / (variance / count).sqrt() }
}

/// Three significant digits, plainly.
fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let digits = (2 - value.abs().log10().floor() as i64).clamp(0, 8) as usize;
    format!("{value:.digits$}")
}
