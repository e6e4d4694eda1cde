//! The report page of an evaluation: methods side by side, paired tests, columns, times.

mod plots;
mod tables;

use std::collections::BTreeSet;

use graphfill_eval::{Evaluation, MethodEvaluation, Metrics};

use crate::page::data::RunInfo;
use crate::page::document::{Document, paragraph, run_section};
use crate::page::format::{count, counted, duration, mean_and_sd, name, sentence};
use crate::page::metric::{self, Direction, label};
use crate::page::plot::Plot;

/// The page of an evaluation as HTML: one file that loads nothing, the same bytes for the same input.
pub fn evaluation_page(evaluation: &Evaluation, run: &RunInfo) -> String {
    let view = View { evaluation };
    let mut page = Document {
        title: match evaluation.dataset.is_empty() {
            true => "Report".to_owned(),
            false => name(&evaluation.dataset),
        },
        kind: "Evaluation of methods",
        summary: view.summary(),
        facts: vec![
            ("nodes", count(evaluation.nodes)),
            ("edges", count(evaluation.edges)),
            ("columns", count(evaluation.features)),
            ("methods", count(evaluation.methods.len())),
            ("seeds", count(view.seeds())),
            ("time", duration(run.seconds)),
        ],
        ..Document::default()
    };
    let methods = match evaluation.methods.is_empty() {
        true => "<p class=\"none\">No method was evaluated.</p>\n".to_owned(),
        false => {
            let mut cards: Vec<Plot> = view.metric_plot(&evaluation.primary).into_iter().collect();
            let others = view.metrics().into_iter().filter(|name| *name != evaluation.primary);
            let others: Vec<Plot> = others.filter_map(|name| view.metric_plot(&name)).collect();
            cards.extend(others);
            let mut html = paragraph(
                "Dots are means over the seeds, lines one standard deviation to either side, small grey \
                 dots single seeds. Metrics are of hidden test cells.",
            );
            html += &page.plots.grid("m", ["metrics", "the primary one, then by name"], &cards);
            html + &view.metric_table()
        }
    };
    let times = match view.time_plot() {
        Some(plot) => page.plots.cards(&[plot]) + &view.time_table(),
        None => view.time_table(),
    };
    for (id, title, html) in [
        ("methods", "Methods side by side", methods),
        ("tests", "Paired tests", view.tests()),
        ("columns", "Per column", view.columns()),
        ("times", "Time and memory", times),
        ("run", "This run", run_section(run)),
    ] {
        page.section(id, title, html);
    }
    page.to_html()
}

struct View<'a> {
    evaluation: &'a Evaluation,
}

fn value(metrics: &Metrics, name: &str) -> f64 {
    metrics.table.get(name).copied().unwrap_or(f64::NAN)
}

impl View<'_> {
    fn methods(&self) -> &[MethodEvaluation] {
        &self.evaluation.methods
    }

    fn seeds(&self) -> usize {
        self.methods().iter().map(|method| method.seeds.len()).max().unwrap_or(0)
    }

    /// The names of metrics of the whole table, the primary one first.
    fn metrics(&self) -> Vec<String> {
        let names: BTreeSet<&String> =
            self.methods().iter().flat_map(|method| method.mean.table.keys()).collect();
        let mut names: Vec<String> = names.into_iter().cloned().collect();
        names.sort_by_key(|name| *name != self.evaluation.primary);
        names
    }

    /// Positions of the methods, the best first by a metric.
    fn ranked(&self, name: &str) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.methods().len()).collect();
        let cost = |index: usize| {
            let value = value(&self.methods()[index].mean, name);
            match metric::direction(name) {
                _ if value.is_nan() => f64::INFINITY,
                Direction::Higher => -value,
                Direction::Lower => value,
                Direction::Nominal(nominal) => (value - nominal.unwrap_or(100.0) / 100.0).abs(),
            }
        };
        order.sort_by(|a, b| cost(*a).total_cmp(&cost(*b)));
        order
    }

    fn summary(&self) -> String {
        let Evaluation { primary, comparisons, hidden, .. } = self.evaluation;
        let mut text = format!(
            "{} on {}, {}: {}.",
            counted(self.methods().len(), "method"),
            name(&self.evaluation.dataset),
            counted(self.seeds(), "seed"),
            sentence(hidden)
        );
        let ranked = self.ranked(primary);
        if let Some(first) = ranked.first().map(|index| &self.methods()[*index]) {
            let (mean, sd) = (value(&first.mean, primary), value(&first.sd, primary));
            text += &format!(
                " By {}, {} is in front with {}.",
                label(primary),
                name(&first.method),
                mean_and_sd(mean, sd)
            );
        }
        let (real, all) =
            (comparisons.iter().filter(|comparison| comparison.real).count(), comparisons.len());
        if all > 0 {
            text += &format!(" Its lead is more than noise over {real} of {all} other methods.");
        }
        text
    }

    /// The times of the seeds, in seconds.
    fn seconds(method: &MethodEvaluation) -> Vec<f64> {
        let seconds = method.seeds.iter().map(|seed| seed.seconds);
        seconds.filter(|seconds| seconds.is_finite()).collect()
    }
}
