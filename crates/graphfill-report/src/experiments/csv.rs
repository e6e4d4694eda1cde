//! Every seed as CSV: one line per outcome, or one line per point where outcomes are curves or timings.

use std::collections::BTreeSet;

use graphfill_eval::experiments::{JobResult, Outcome};

/// All outcomes.
pub(super) fn csv(jobs: &[JobResult]) -> String {
    let outcomes: Vec<&Outcome> =
        jobs.iter().filter_map(|(_, outcome)| outcome.as_ref().ok()).collect();
    match outcomes.iter().any(|outcome| !outcome.series.is_empty()) {
        true => points(&outcomes),
        false => metrics(&outcomes),
    }
}

fn metrics(outcomes: &[&Outcome]) -> String {
    let names: BTreeSet<&String> =
        outcomes.iter().flat_map(|outcome| outcome.metrics.keys()).collect();
    let mut header = vec!["dataset", "method", "seed", "protocol", "labels"];
    header.extend(names.iter().map(|name| name.as_str()));
    header.extend(["seconds", "ended_early", "parameters"]);
    header.extend(gpu_title(outcomes));
    let mut text = line(header.into_iter().map(str::to_owned));
    for outcome in outcomes {
        let mut cells = whose(outcome);
        cells.push(outcome.protocol.name().to_owned());
        cells.push(outcome.labels.to_string());
        cells.extend(names.iter().map(|name| number(outcome.metrics.get(*name))));
        let parameters: Vec<String> =
            outcome.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        cells.push(format!("{:.3}", outcome.seconds));
        cells.push(outcome.ended_early.to_string());
        cells.push(parameters.join(" "));
        cells.extend(gpu_title(outcomes).map(|_| gpu(outcome)));
        text.push_str(&line(cells));
    }
    text
}

fn points(outcomes: &[&Outcome]) -> String {
    let names: BTreeSet<&String> =
        outcomes.iter().flat_map(|outcome| outcome.series.keys()).collect();
    let mut header = vec!["dataset", "method", "seed"];
    header.extend(names.iter().map(|name| name.as_str()));
    header.extend(gpu_title(outcomes));
    let mut text = line(header.into_iter().map(str::to_owned));
    for outcome in outcomes {
        for point in 0..outcome.series.values().map(Vec::len).max().unwrap_or(0) {
            let value = |name: &&String| {
                number(outcome.series.get(*name).and_then(|values| values.get(point)))
            };
            let own_gpu = gpu_title(outcomes).map(|_| gpu(outcome));
            let values = names.iter().map(value).chain(own_gpu);
            text.push_str(&line(whose(outcome).into_iter().chain(values)));
        }
    }
    text
}

/// The column of GPUs, where any was used.
fn gpu_title(outcomes: &[&Outcome]) -> Option<&'static str> {
    outcomes.iter().any(|outcome| outcome.gpu.is_some()).then_some("gpu")
}

fn gpu(outcome: &Outcome) -> String {
    outcome.gpu.clone().unwrap_or_default()
}

fn whose(outcome: &Outcome) -> Vec<String> {
    vec![outcome.dataset.clone(), outcome.method.clone(), outcome.seed.to_string()]
}

fn number(value: Option<&f64>) -> String {
    value.map_or_else(String::new, f64::to_string)
}

/// Cells with a comma, a quote or a line end are quoted.
fn line(cells: impl IntoIterator<Item = String>) -> String {
    let quoted = cells.into_iter().map(|cell| match cell.contains([',', '"', '\n']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    });
    let mut line = quoted.collect::<Vec<String>>().join(",");
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn awkward_cells_are_quoted() {
        assert_eq!(line(["a,b", "c\"d", "e"].map(str::to_owned)), "\"a,b\",\"c\"\"d\",e\n");
    }
}
