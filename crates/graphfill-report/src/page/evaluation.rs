//! The report page of an evaluation: methods side by side, paired tests, columns, times.

use std::collections::BTreeSet;

use graphfill_eval::comparison::Comparison;
use graphfill_eval::{Evaluation, MethodEvaluation, Metrics, mean};
use serde_json::json;

use super::data::RunInfo;
use super::document::{Document, paragraph, run_section};
use super::format::{self, count, counted, duration, mean_and_sd, number};
use super::metric::{self, Direction, arrow, label};
use super::plot::{Axis, Data, Mark, Plot, rounded_json};
use super::table::{Cell, Table};
use crate::figure::Axis as Scaled;
use crate::figure::interval::{AtZero, Interval, Room};

const ROOM: Room = Room { margin: 0.06, zero_below: 0.1, at_zero: AtZero::Margin };

/// The page of an evaluation as HTML: one file that loads nothing, the same bytes for the same input.
pub fn evaluation_page(evaluation: &Evaluation, run: &RunInfo) -> String {
    let view = View { evaluation };
    let mut page = Document {
        title: evaluation.dataset.clone(),
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
            html += &page.plots.grid("m", "metrics, the primary one first", &cards);
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
            self.evaluation.dataset,
            counted(self.seeds(), "seed"),
            hidden
        );
        let ranked = self.ranked(primary);
        if let Some(first) = ranked.first().map(|index| &self.methods()[*index]) {
            let (mean, sd) = (value(&first.mean, primary), value(&first.sd, primary));
            text += &format!(
                " By {}, {} is in front with {}.",
                label(primary),
                first.method,
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

    /// A metric of every method, best first, with single seeds.
    fn metric_plot(&self, name: &str) -> Option<Plot> {
        let order: Vec<&MethodEvaluation> =
            self.ranked(name).into_iter().map(|index| &self.methods()[index]).collect();
        let seeds = self.seeds();
        let values = |method: &MethodEvaluation| -> Vec<f64> {
            method.seeds.iter().map(|seed| value(&seed.test, name)).collect()
        };
        let all: Vec<f64> = order
            .iter()
            .flat_map(|method| {
                let (mean, sd) = (value(&method.mean, name), value(&method.sd, name));
                values(method).into_iter().chain([mean, mean - sd, mean + sd])
            })
            .filter(|value| value.is_finite())
            .collect();
        let (low, high) = all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |range, value| {
            (range.0.min(*value), range.1.max(*value))
        });
        if all.is_empty() {
            return None;
        }
        let json = |value| rounded_json(value, high - low);
        let mut data = Data::new(["method", "mean", "mean − sd", "mean + sd"]);
        data.header.extend((1..=seeds).map(|seed| format!("seed {seed} of {seeds}")));
        for method in &order {
            let (mean, sd) = (value(&method.mean, name), value(&method.sd, name));
            let mut row = vec![
                json!(format::name(&method.method)),
                json(mean),
                json(mean - sd),
                json(mean + sd),
            ];
            row.extend(values(method).into_iter().map(json));
            data.rows.push(row);
        }
        let words: Vec<String> = order
            .iter()
            .map(|method| format!("{} {}", method.method, number(value(&method.mean, name))))
            .collect();
        let names: Vec<String> = order.iter().map(|method| method.method.clone()).collect();
        let rows = names.len() as f64;
        let mut marks: Vec<Mark> = (0..seeds)
            .map(|seed| Mark::Ranges { class: "dt seed", x: 4 + seed, bounds: None })
            .collect();
        let mut shown = all;
        let mut note = match metric::direction(name) {
            Direction::Higher => "Larger is better.".to_owned(),
            Direction::Lower => "Smaller is better.".to_owned(),
            Direction::Nominal(_) => "Best near the nominal coverage.".to_owned(),
        };
        if *name == self.evaluation.primary {
            note = format!("The primary metric. {note}");
        }
        if let Direction::Nominal(Some(percent)) = metric::direction(name) {
            let target = percent / 100.0;
            marks
                .insert(0, Mark::Line { class: "rf", points: vec![(target, 0.0), (target, rows)] });
            shown.push(target);
        }
        marks.push(Mark::Ranges { class: "dt big", x: 1, bounds: Some((2, 3)) });
        let interval = Interval::of(&Scaled::linear(""), shown, ROOM);
        Some(Plot {
            id: format!("m-{}", format::name(name)),
            title: label(name),
            note,
            description: format!("Means over {seeds} seeds, the best first: {}.", words.join(", ")),
            x: Axis::numeric(label(name), &interval, false),
            y: Axis::rows("", &names),
            marks,
            data,
        })
    }

    fn metric_table(&self) -> String {
        let metrics = self.metrics();
        let mut table = Table::new("Mean ± standard deviation over seeds", ["Method"]);
        table.header.extend(metrics.iter().map(|name| format!("{} {}", label(name), arrow(name))));
        let best: Vec<Vec<usize>> = metrics
            .iter()
            .map(|name| {
                let means: Vec<f64> =
                    self.methods().iter().map(|method| value(&method.mean, name)).collect();
                metric::best(name, &means)
            })
            .collect();
        for index in self.ranked(&self.evaluation.primary) {
            let method = &self.methods()[index];
            let mut row = vec![Cell::name(&method.method)];
            for (name, best) in metrics.iter().zip(&best) {
                let (mean, sd) = (value(&method.mean, name), value(&method.sd, name));
                let text = mean_and_sd(mean, sd);
                row.push(match (mean.is_nan(), best.contains(&index)) {
                    (true, _) => Cell::Empty,
                    (false, true) => Cell::Best(mean, text),
                    (false, false) => Cell::Number(mean, text),
                });
            }
            table.rows.push(row);
        }
        let key = "<p class=\"key\">↑ larger is better, ↓ smaller is better, → best near the nominal value, ◆ best.</p>\n";
        table.to_html() + key
    }

    fn tests(&self) -> String {
        let comparisons = &self.evaluation.comparisons;
        let mut table = Table::new(
            "Paired tests",
            [
                "Method",
                "Against",
                "Metric",
                "Difference",
                "p-value",
                "More than noise",
                "Paired by",
                "Pairs",
            ],
        );
        for Comparison { metric, method, against, difference, p_value, real, paired_by, pairs } in
            comparisons
        {
            table.rows.push(vec![
                Cell::name(method),
                Cell::name(against),
                Cell::Text(label(metric)),
                Cell::number(*difference),
                Cell::number(p_value.unwrap_or(f64::NAN)),
                Cell::Text(if *real { "yes" } else { "no" }.to_owned()),
                Cell::Text((*paired_by).to_owned()),
                Cell::count(*pairs),
            ]);
        }
        if table.rows.is_empty() {
            return String::new();
        }
        let text = "Each row compares the method in front with another one on the same hidden cells. The \
                    difference is positive where the method in front has the larger value.";
        paragraph(text) + &table.to_html()
    }

    /// One table per metric: columns down, methods across.
    fn columns(&self) -> String {
        let methods = self.methods();
        let all = || methods.iter().flat_map(|method| &method.mean.columns);
        let columns: BTreeSet<&String> = all().map(|(column, _)| column).collect();
        let metrics: BTreeSet<&String> = all().flat_map(|(_, metrics)| metrics.keys()).collect();
        let mut metrics: Vec<&String> = metrics.into_iter().collect();
        metrics.sort_by_key(|name| {
            let coverage = matches!(metric::direction(name), Direction::Nominal(_));
            (**name != self.evaluation.primary, coverage)
        });
        let mut html = String::new();
        for (position, name) in metrics.into_iter().enumerate() {
            let caption = format!("{} {} per column", label(name), arrow(name));
            let mut table = Table::new(&caption, ["Column"]);
            table.header.extend(methods.iter().map(|method| format::name(&method.method)));
            for column in &columns {
                let value = |method: &MethodEvaluation| {
                    method.mean.columns.get(*column)?.get(name).copied()
                };
                let values: Vec<f64> =
                    methods.iter().map(|method| value(method).unwrap_or(f64::NAN)).collect();
                if values.iter().all(|value| value.is_nan()) {
                    continue;
                }
                let best = metric::best(name, &values);
                let mut row = vec![Cell::name(column)];
                row.extend(values.iter().enumerate().map(|(index, value)| {
                    match best.contains(&index) {
                        true => Cell::Best(*value, number(*value)),
                        false => Cell::number(*value),
                    }
                }));
                table.rows.push(row);
            }
            let details = table.to_details();
            html += &match position {
                0 => details.replacen("<details>", "<details open>", 1),
                _ => details,
            };
        }
        html
    }

    fn seconds(method: &MethodEvaluation) -> Vec<f64> {
        let seconds = method.seeds.iter().map(|seed| seed.seconds);
        seconds.filter(|seconds| seconds.is_finite()).collect()
    }

    fn time_plot(&self) -> Option<Plot> {
        let mut times: Vec<(&str, Vec<f64>)> = self
            .methods()
            .iter()
            .map(|method| (method.method.as_str(), Self::seconds(method)))
            .filter(|(_, times)| !times.is_empty())
            .collect();
        if times.is_empty() {
            return None;
        }
        times.sort_by(|a, b| mean(&a.1).total_cmp(&mean(&b.1)));
        let ends = |times: &[f64]| {
            times
                .iter()
                .fold((f64::INFINITY, 0f64), |ends, time| (ends.0.min(*time), ends.1.max(*time)))
        };
        let mut data = Data::new(["method", "mean (s)", "shortest (s)", "longest (s)"]);
        let mut all = Vec::new();
        for (name, times) in &times {
            let (low, high) = ends(times);
            let values = [mean(times), low, high];
            all.extend(values);
            let mut row = vec![json!(format::name(name))];
            row.extend(values.map(|value| rounded_json(value, 0.0)));
            data.rows.push(row);
        }
        let (low, high) = ends(&all);
        let scaled = match low > 0.0 && high > 20.0 * low {
            true => Scaled::logarithmic(""),
            false => Scaled::linear(""),
        };
        let interval = Interval::of(&scaled, all, ROOM);
        let unit = if low > 0.0 && high > 20.0 * low { ", log scale" } else { "" };
        let names: Vec<String> = times.iter().map(|(name, _)| (*name).to_owned()).collect();
        let words: Vec<String> =
            times.iter().map(|(name, times)| format!("{name} {}", duration(mean(times)))).collect();
        Some(Plot {
            id: "times".to_owned(),
            title: "Time per seed".to_owned(),
            note:
                "Choosing parameters and estimating; lines from the shortest to the longest seed."
                    .to_owned(),
            description: format!("Mean times: {}.", words.join(", ")),
            x: Axis::numeric(format!("time (s{unit})"), &interval, false),
            y: Axis::rows("", &names),
            marks: vec![Mark::Ranges { class: "dt big", x: 1, bounds: Some((2, 3)) }],
            data,
        })
    }

    fn time_table(&self) -> String {
        let mut table = Table::new(
            "Time and memory per method",
            ["Method", "Seeds", "Mean time", "Longest time", "Peak memory (MiB)"],
        );
        for method in self.methods() {
            let times = Self::seconds(method);
            let time = |seconds: f64| match seconds.is_finite() {
                true => Cell::Number(seconds, duration(seconds)),
                false => Cell::Empty,
            };
            let memory = method.seeds.iter().filter_map(|seed| seed.peak_memory_bytes).max();
            table.rows.push(vec![
                Cell::name(&method.method),
                Cell::count(method.seeds.len()),
                time(if times.is_empty() { f64::NAN } else { mean(&times) }),
                time(times.iter().copied().fold(f64::NAN, f64::max)),
                memory.map_or(Cell::Empty, |bytes| Cell::count((bytes >> 20) as usize)),
            ]);
        }
        table.to_html()
    }
}
