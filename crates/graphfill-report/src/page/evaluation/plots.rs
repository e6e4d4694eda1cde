//! The plots of an evaluation: a metric of every method with its seeds, the time per seed.

use graphfill_eval::{MethodEvaluation, mean};
use serde_json::json;

use super::{View, value};
use crate::figure::Axis as Scaled;
use crate::figure::interval::{AtZero, Interval, Room};
use crate::page::format::{self, duration, number};
use crate::page::metric::{self, Direction, label};
use crate::page::plot::{Axis, Data, Mark, Plot, rounded_json};

const ROOM: Room = Room { margin: 0.06, zero_below: 0.1, at_zero: AtZero::Margin };

impl View<'_> {
    /// A metric of every method, best first, with single seeds.
    pub(super) fn metric_plot(&self, name: &str) -> Option<Plot> {
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
            .map(|method| {
                format!("{} {}", format::name(&method.method), number(value(&method.mean, name)))
            })
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

    /// The time per seed of every method, the shortest first.
    pub(super) fn time_plot(&self) -> Option<Plot> {
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
        let words: Vec<String> = times
            .iter()
            .map(|(name, times)| format!("{} {}", format::name(name), duration(mean(times))))
            .collect();
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
}
