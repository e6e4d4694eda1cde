//! `graphfill reproduce`: an experiment of the paper, its figures beside ours.

mod results_file;

use std::path::{Component, Path, PathBuf};

use graphfill::data::{DataError, atomic_file};
use graphfill::datasets as data_sets;
use graphfill::engine::MemoryLimit;
use graphfill::engine::cuda::Launching;
use graphfill::eval::experiments::{
    Benchmark, Experiment, Extent, Failure, GridOptions, JobStore, find_method, run as run_grid,
};
use graphfill::eval::protocols::Protocol;
use graphfill::methods::{Context, Deadline, Method, MethodError};
use graphfill::report::experiments::{About, PAGE_TITLE, Report, page, report};

use super::device::{self, Workload};
use super::fill::fixed_parameters;
use crate::arguments::{Format, General, ProtocolName, Reproduce, Seeds, UsageError, value_for};
use crate::output::grid_bar::GridBar;
use crate::output::messages::Messages;
use crate::output::progress::Bars;
use crate::stop::Stopped;
use crate::{input, output};
use results_file::{NewResults, ResultsFile};

pub(crate) fn run(arguments: &Reproduce, general: &General) -> anyhow::Result<()> {
    let messages = Messages::new(general.quiet);
    let experiment = arguments.experiment.experiment();
    let methods = methods(experiment, &arguments.methods)?;
    let fixed = fixed_parameters(&arguments.param, &methods)?;
    check_page(arguments)?;
    let results_path = ResultsFile::path(&arguments.output, experiment);
    let mut results = ResultsFile::read(&results_path)?;
    let store = JobStore::new(&arguments.output.join("jobs"))?;
    let protocols = protocols(experiment, arguments.protocol)?;
    if experiment == Experiment::Scaling && !arguments.param.is_empty() {
        return Err(
            UsageError("scaling takes no --param: it times the published model".into()).into()
        );
    }
    let (benchmarks, missing) = benchmarks(experiment, arguments, general, &messages)?;
    let names: Vec<&str> = benchmarks.iter().map(|benchmark| benchmark.name.as_str()).collect();
    let names: Vec<&str> = names.into_iter().chain(missing.iter().map(String::as_str)).collect();
    arguments.seeds.iter().try_for_each(|scoped| scoped.check(&methods, &names))?;
    arguments.max_updates.iter().try_for_each(|scoped| scoped.check(&methods, &names))?;
    for seed in arguments.seeds.iter().flat_map(|scoped| &scoped.value().0) {
        benchmarks.iter().try_for_each(|benchmark| benchmark.check_seed(*seed))?;
    }
    let extent = |benchmark: &Benchmark, method: &dyn Method| {
        let (method, dataset) = (method.info().name, benchmark.name.as_str());
        let seeds = value_for(&arguments.seeds, method, dataset);
        Extent {
            seeds: seeds.map_or_else(|| (0..10).collect(), Seeds::once_each),
            max_updates: value_for(&arguments.max_updates, method, dataset).copied(),
        }
    };
    let competitors = experiment.competitors(&methods)?;
    let jobs = experiment.jobs(&benchmarks, &competitors, &protocols, &extent);
    if jobs.is_empty() {
        let nothing =
            "nothing is left to run: these data sets have no labels, or there are no seeds";
        return Err(UsageError(nothing.to_owned()).into());
    }
    let device = match experiment {
        Experiment::Scaling | Experiment::Table4 => {
            device::open(&arguments.device, Launching::default(), Workload::Training, &messages)?
        }
        _ => device::for_methods(&arguments.device, &methods, &messages)?,
    };
    let bar = GridBar::new(general.quiet, &messages);
    let options = GridOptions {
        fixed: &fixed,
        context: Context {
            deadline: arguments.time_limit.map(Deadline::after),
            memory: arguments.memory_limit.map(MemoryLimit::Allowed),
            device,
            ..Context::default()
        },
        trials: usize::from(arguments.trials),
        store: &store,
        jobs: match experiment {
            Experiment::Scaling => 1,
            _ => usize::from(arguments.jobs),
        },
        threads: rayon::current_num_threads(),
        progress: &bar,
    };
    let own = run_grid(&benchmarks, &jobs, &options);
    bar.clear();
    let own = own.map_err(|error| stopped(error, &arguments.output))?;
    let datasets: Vec<String> = benchmarks.iter().map(|benchmark| benchmark.name.clone()).collect();
    let measures: Vec<String> = benchmarks.iter().map(Benchmark::measure).collect();
    let new = NewResults {
        datasets: &datasets,
        measures: &measures,
        missing: &missing,
        command: &arguments.command_line(),
        results: &own,
    };
    results.add(experiment, &new);
    results.write(&results_path)?;
    let all = results.all(experiment);
    let about = About {
        experiment,
        datasets: &all.datasets,
        measures: &all.measures,
        missing: &all.missing,
        command: &all.command,
        version: env!("CARGO_PKG_VERSION"),
    };
    let Report { markdown, csv, svg } = report(&about, &all.results);
    let file = |ending: &str| arguments.output.join(format!("{}.{ending}", experiment.name()));
    atomic_file::write(&file("csv"), csv.as_bytes())?;
    if let Some(svg) = &svg {
        atomic_file::write(&file("svg"), svg.as_bytes())?;
    }
    atomic_file::write(&file("md"), markdown.as_bytes())?;
    let page = write_page(arguments)?;
    match general.format() {
        Format::Table => output::data(markdown.trim_end())?,
        Format::Csv => output::data(csv.trim_end())?,
        Format::Json => {
            let outcomes = all.results.iter().filter_map(|(_, outcome)| outcome.as_ref().ok());
            output::json_list("outcomes", &outcomes.collect::<Vec<_>>())?;
        }
    }
    messages.say(&format!("{} and {} are written", file("md").display(), page.display()));
    let failed =
        own.iter().filter(|(_, outcome)| matches!(outcome, Err(Failure::Other(_)))).count();
    if failed > 0 {
        anyhow::bail!("{failed} of {} jobs failed; the notes in the table say why", own.len());
    }
    Ok(())
}

/// The page of all experiments whose results are in the folder.
fn write_page(arguments: &Reproduce) -> anyhow::Result<PathBuf> {
    let read = |experiment: Experiment| {
        let path = arguments.output.join(format!("{}.md", experiment.name()));
        Some((experiment, std::fs::read_to_string(path).ok()?))
    };
    let texts: Vec<(Experiment, String)> = Experiment::ALL.into_iter().filter_map(read).collect();
    let path = page_path(arguments);
    let folder = relative_path(path.parent().unwrap_or(Path::new("")), &arguments.output)?;
    atomic_file::write(&path, page(&texts, &folder).as_bytes())?;
    Ok(path)
}

fn page_path(arguments: &Reproduce) -> PathBuf {
    arguments.page.clone().unwrap_or_else(|| arguments.output.join("README.md"))
}

/// Fails if the page would take the place of something else.
fn check_page(arguments: &Reproduce) -> Result<(), UsageError> {
    let path = page_path(arguments);
    match std::fs::read_to_string(&path) {
        Ok(text) if !text.starts_with(PAGE_TITLE) => Err(UsageError(format!(
            "{} is no page of experiments: name another place with --page",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// The relative path from one folder to another, as links have it.
fn relative_path(from: &Path, to: &Path) -> std::io::Result<String> {
    let (from, to) = (std::path::absolute(from.join("."))?, std::path::absolute(to)?);
    let (from, to): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (from.components().collect(), to.components().collect());
    let shared = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = from[shared..].iter().map(|_| "..".to_owned());
    let down = to[shared..].iter().map(|part| part.as_os_str().to_string_lossy().into_owned());
    Ok(up.chain(down).collect::<Vec<String>>().join("/"))
}

/// The error for a run that was stopped: nothing is lost.
fn stopped(error: MethodError, out: &Path) -> anyhow::Error {
    match error {
        MethodError::Data(DataError::Cancelled) => Stopped(format!(
            "stopped, as asked: finished jobs are stored in {}, and the same command goes on with the rest",
            out.join("jobs").display()
        ))
        .into(),
        other => other.into(),
    }
}

/// The methods that the caller names, else those of the experiment.
fn methods(
    experiment: Experiment,
    names: &[String],
) -> Result<Vec<&'static dyn Method>, MethodError> {
    match names {
        [] => experiment.methods(),
        names if experiment == Experiment::Scaling && names != ["svga"] => {
            Err(MethodError::Parameter("scaling is about the times of svga alone".to_owned()))
        }
        names => once_each(names).into_iter().map(|name| find_method(&name)).collect(),
    }
}

/// The protocols that the caller names, else all that the experiment can be run under.
fn protocols(
    experiment: Experiment,
    named: Option<ProtocolName>,
) -> Result<Vec<Protocol>, UsageError> {
    let named = match named {
        None => return Ok(experiment.protocols().to_vec()),
        Some(ProtocolName::Both) => vec![Protocol::Published, Protocol::Tuned],
        Some(ProtocolName::Published) => vec![Protocol::Published],
        Some(ProtocolName::Tuned) => vec![Protocol::Tuned],
    };
    match named.iter().all(|protocol| experiment.protocols().contains(protocol)) {
        true => Ok(named),
        false => Err(UsageError(format!(
            "{} is about the published models: it is not tuned",
            experiment.name()
        ))),
    }
}

fn once_each(names: &[String]) -> Vec<String> {
    let mut once: Vec<String> = Vec::new();
    for name in names.iter().filter(|name| !name.is_empty()) {
        if !once.contains(name) {
            once.push(name.clone());
        }
    }
    once
}

/// The data sets that are there; the others are named with the way to get them.
fn benchmarks(
    experiment: Experiment,
    arguments: &Reproduce,
    general: &General,
    messages: &Messages,
) -> anyhow::Result<(Vec<Benchmark>, Vec<String>)> {
    let progress = Bars::new(general);
    let names: Vec<String> = match arguments.datasets.as_slice() {
        [] => experiment.datasets().iter().map(|name| (*name).to_owned()).collect(),
        names => once_each(names),
    };
    let mut benchmarks = Vec::new();
    let mut missing = Vec::new();
    for name in &names {
        let prepared = match input::prepared(name, arguments.data_dir.as_deref()) {
            Ok(prepared) => prepared,
            Err(error) if error.is::<UsageError>() => {
                missing.push(name.clone());
                continue;
            }
            Err(error) => return Err(error),
        };
        let dataset = input::read(
            prepared.source,
            &graphfill::data::formats::ReadOptions::default(),
            messages,
            &progress,
        )?;
        let dataset = super::as_published(dataset, name)?;
        benchmarks.push(Benchmark::new(name, dataset, prepared.splits)?);
    }
    if !missing.is_empty() {
        let text = missing_data(&missing, arguments.data_dir.as_deref());
        if benchmarks.is_empty() {
            return Err(UsageError(text).into());
        }
        messages.warning(&text);
    }
    Ok((benchmarks, missing))
}

/// What is not there, and the command that gets it.
fn missing_data(names: &[String], folder: Option<&Path>) -> String {
    let known: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| data_sets::find(name).is_ok()).collect();
    let mut text = format!("not there, and left out: {}", names.join(", "));
    if !known.is_empty() {
        let folder = folder
            .map_or_else(String::new, |folder: &Path| format!(" --data-dir {}", folder.display()));
        text.push_str(&format!("\n  graphfill datasets get {}{folder}", known.join(" ")));
    }
    text
}
