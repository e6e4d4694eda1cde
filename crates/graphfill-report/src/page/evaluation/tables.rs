//! The tables of an evaluation: metrics, paired tests, columns, times.

use std::collections::BTreeSet;

use graphfill_eval::comparison::Comparison;
use graphfill_eval::{MethodEvaluation, mean};

use super::{View, value};
use crate::page::document::paragraph;
use crate::page::format::{self, duration, mean_and_sd, number};
use crate::page::metric::{self, Direction, arrow, label};
use crate::page::table::{Cell, Table};

impl View<'_> {
    /// Methods down, metrics across.
    pub(super) fn metric_table(&self) -> String {
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

    /// The best method against each of the others.
    pub(super) fn tests(&self) -> String {
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
    pub(super) fn columns(&self) -> String {
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

    /// Time and memory per method.
    pub(super) fn time_table(&self) -> String {
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
