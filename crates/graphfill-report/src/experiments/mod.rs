//! The paper's experiments as a reader sees them: Markdown with the paper's figures beside ours, a CSV
//! with every seed, and a figure where the paper has one.

mod ablation;
mod csv;
mod labels;
mod numbers;
mod page;
mod remarks;
mod results;
mod scaling;
mod tables;

use graphfill_eval::experiments::{Experiment, Failure, JobResult};
use graphfill_eval::protocols::Protocol;

pub use page::{PAGE_TITLE, page};
use results::Results;

/// What a report needs to know beside the results.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// The experiment.
    pub experiment: Experiment,
    /// The names of the data sets, in the order of the jobs' benchmarks.
    pub datasets: &'a [String],
    /// What curves show of each data set: the metric by which models are selected.
    pub measures: &'a [String],
    /// The data sets of the experiment that were not there.
    pub missing: &'a [String],
    /// The command that gives these results.
    pub command: &'a str,
    /// The version of the program.
    pub version: &'a str,
}

/// The files of one experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The text.
    pub markdown: String,
    /// Every seed.
    pub csv: String,
    /// The figure, where there is one.
    pub svg: Option<String>,
}

/// The files of an experiment.
pub fn report(about: &About<'_>, jobs: &[JobResult]) -> Report {
    let results = Results::of(about.datasets, jobs);
    let name = about.experiment.name();
    let (body, svg) = match about.experiment {
        Experiment::Table2 | Experiment::Table3 | Experiment::Table4 => {
            (tables::body(about.experiment, &results), None)
        }
        Experiment::Labels => labels::body(&results),
        Experiment::Scaling => scaling::body(&results),
        Experiment::Ablation => ablation::body(&results, about),
    };
    let mut text = format!("## {}\n\n", title(about.experiment));
    text.push_str(introduction(about.experiment));
    text.push_str("\n\n");
    if about.experiment.protocols().contains(&Protocol::Tuned) {
        let is_tuned = jobs.iter().any(|(job, _)| job.protocol == Protocol::Tuned);
        text.push_str(PUBLISHED);
        text.push_str(&if is_tuned { format!(" {TUNED}\n\n") } else { "\n\n".to_owned() });
    }
    if svg.is_some() {
        text.push_str(&format!("![{}]({name}.svg)\n\n", title(about.experiment)));
    }
    text.push_str(body.trim());
    text.push_str("\n\n");
    text.push_str(&notes(about, jobs));
    text.push_str(&format!(
        "Every seed is in [{name}.csv]({name}.csv). graphfill {}:\n\n```\n{}\n```\n",
        about.version, about.command
    ));
    Report { markdown: text, csv: csv::csv(jobs), svg }
}

/// What the column "as published" has.
const PUBLISHED: &str = "**As published**: with the parameters of the published run, or with the method's defaults where none are published.";

/// What the column "tuned" has.
const TUNED: &str = "**Tuned**: with the best of as many settings for every method, its defaults among them, on the validation nodes of each split. Methods that choose their parameters by validation anyway, or have none, are the same in both.";

fn title(experiment: Experiment) -> &'static str {
    match experiment {
        Experiment::Table2 => "Table 2: estimates of binary features",
        Experiment::Table3 => "Table 3: estimates of continuous features",
        Experiment::Table4 => "Table 4: node classification on estimated features",
        Experiment::Labels => "Observed labels",
        Experiment::Scaling => "Scaling",
        Experiment::Ablation => "Ablation",
    }
}

fn introduction(experiment: Experiment) -> &'static str {
    match experiment {
        Experiment::Table2 => {
            "Of the nodes, four tenths are observed, one tenth validates and half are tested. Recall and nDCG of the test nodes, mean over the seeds ± standard deviation; the difference is relative to the paper. More is better; the best of a column is bold."
        }
        Experiment::Table3 => {
            "Of the nodes, four tenths are observed, one tenth validates and half are tested. RMSE (less is better) and R² over all cells of the test nodes (the paper's CORR; more is better), mean over the seeds ± standard deviation. Differences of RMSE are relative to the paper, those of R² absolute. The best of a column is bold."
        }
        Experiment::Table4 => {
            "Classifiers learn the class of test nodes from their estimated features, in five folds: an MLP of one hidden layer, and a GCN on the graph of the test nodes. Mean accuracy over folds and seeds ± standard deviation over seeds. **Best epoch** is the published protocol: the test fold itself chooses the epoch, which flatters every method. **Inner validation** is honest: a part of the training folds chooses it."
        }
        Experiment::Labels => {
            "How SVGA's estimates become better with labels to learn from: the share of all nodes whose label is observed against the score, mean over the seeds ± standard deviation. The paper has this as a figure without numbers."
        }
        Experiment::Scaling => {
            "Times of SVGA on graphs with a tenth to nine tenths of a data set's edges and all its nodes: an inference (from the graph to the estimates of all nodes) and an update in training. Medians of ten; the line is of least squares. Where edges are a small part of the work, the noise of the machine outweighs them. The paper has this as a figure without numbers."
        }
        Experiment::Ablation => {
            "SVGA, SVGA-R (without the Gaussian field) and SVGA-U (latents drawn at random, mean and covariance apart) while they train: the score on the nodes that they learn from and on test nodes, mean over the seeds ± standard deviation. The paper has this as a figure without numbers."
        }
    }
}

/// What was left out, and why.
fn notes(about: &About<'_>, jobs: &[JobResult]) -> String {
    let mut notes = Vec::new();
    if !about.missing.is_empty() {
        notes.push(format!("- Data sets that were not there: {}.", about.missing.join(", ")));
    }
    for (job, outcome) in jobs {
        if let Err(failure) = outcome {
            let reason = failure.reason().lines().next().unwrap_or_default();
            let what = match failure {
                Failure::Memory(_) => "out of memory",
                Failure::Refused(_) => "not possible",
                Failure::Other(_) => "failed",
            };
            let dataset = &about.datasets[job.benchmark];
            let note = format!("- {} on {dataset}: {what}: {reason}", job.competitor.label);
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes.extend(limits(about, jobs));
    match notes.is_empty() {
        true => String::new(),
        false => format!("{}\n\n", notes.join("\n")),
    }
}

/// Whose updates were limited, and whose training a limit of time ended.
fn limits(about: &About<'_>, jobs: &[JobResult]) -> Vec<String> {
    // What was limited on a data set, and for which methods.
    let mut limits: Vec<(String, Vec<&str>)> = Vec::new();
    for (job, outcome) in jobs {
        let (dataset, method) = (&about.datasets[job.benchmark], job.competitor.label);
        let updates =
            job.max_updates.map(|updates| format!("on {dataset} at most {updates} updates"));
        let is_early = outcome.as_ref().is_ok_and(|outcome| outcome.ended_early);
        let time = is_early.then(|| format!("on {dataset} a limit of time ended some trainings"));
        for limit in updates.into_iter().chain(time) {
            match limits.iter_mut().find(|(known, _)| *known == limit) {
                Some((_, methods)) if methods.contains(&method) => {}
                Some((_, methods)) => methods.push(method),
                None => limits.push((limit, vec![method])),
            }
        }
    }
    let note =
        |(limit, methods): (String, Vec<&str>)| format!("- {}: {limit}.", methods.join(", "));
    limits.into_iter().map(note).collect()
}
