//! `graphfill reproduce`: an experiment of the paper, its figures beside ours.

use std::path::{Path, PathBuf};

use graphfill::data::{DataError, atomic_file, registry as data_sets};
use graphfill::engine::MemoryLimit;
use graphfill::eval::experiments::{
    Cells, Experiment, Extent, Failure, GridOptions, Subject, run as run_grid,
};
use graphfill::methods::learning::{Deadline, TrainingOptions};
use graphfill::methods::{Method, MethodError, registry};
use graphfill::report::experiments::{About, Report, page, report};

use super::fill::fixed_parameters;
use crate::arguments::{General, Reproduce, WrongCall, value_for};
use crate::output::grid_bar::GridBar;
use crate::output::messages::Messages;
use crate::output::progress::Bars;
use crate::stop::Stopped;
use crate::{input, output};

pub(crate) fn run(arguments: &Reproduce, general: &General) -> anyhow::Result<()> {
    let messages = Messages::new(general.quiet);
    let experiment = arguments.experiment.experiment();
    let methods = methods(experiment, &arguments.methods)?;
    let fixed = fixed_parameters(&arguments.param, &methods)?;
    let cells = Cells::new(&arguments.out.join("cells"))?;
    let (subjects, missing) = subjects(experiment, arguments, general, &messages)?;
    arguments.seeds.iter().try_for_each(|scoped| scoped.check(&methods, &subjects))?;
    arguments.max_updates.iter().try_for_each(|scoped| scoped.check(&methods, &subjects))?;
    let extent = |subject: &Subject, method: &dyn Method| {
        let (method, subject) = (method.info().name, subject.name.as_str());
        let seeds = value_for(&arguments.seeds, method, subject);
        Extent {
            seeds: seeds.map_or_else(|| (0..10).collect(), |seeds| seeds.0.clone()),
            most_updates: value_for(&arguments.max_updates, method, subject).copied(),
        }
    };
    let grid = experiment.cells(&subjects, &methods, &extent);
    if grid.is_empty() {
        return Err(WrongCall("none of these data sets has labels to classify".to_owned()).into());
    }
    let bar = GridBar::new(general.quiet, &messages);
    let options = GridOptions {
        fixed: &fixed,
        training: TrainingOptions {
            deadline: arguments.time_limit.map(Deadline::after),
            memory: arguments.memory_limit.map(MemoryLimit::Allowed),
            ..TrainingOptions::default()
        },
        cells: &cells,
        jobs: match experiment {
            Experiment::Scaling => 1,
            _ => usize::from(arguments.jobs),
        },
        threads: rayon::current_num_threads(),
        watcher: &bar,
    };
    let ran = run_grid(&subjects, &grid, &options);
    bar.clear();
    let ran = ran.map_err(|error| stopped(error, &arguments.out))?;
    let datasets: Vec<String> = subjects.iter().map(|subject| subject.name.clone()).collect();
    let measures: Vec<String> = subjects.iter().map(Subject::measure).collect();
    let about = About {
        experiment,
        datasets: &datasets,
        measures: &measures,
        missing: &missing,
        command: &arguments.command_line(),
        version: env!("CARGO_PKG_VERSION"),
    };
    let Report { markdown, csv, svg } = report(&about, &ran);
    let file = |ending: &str| arguments.out.join(format!("{}.{ending}", experiment.name()));
    atomic_file::write(&file("csv"), csv.as_bytes())?;
    if let Some(svg) = &svg {
        atomic_file::write(&file("svg"), svg.as_bytes())?;
    }
    atomic_file::write(&file("md"), markdown.as_bytes())?;
    let page = write_page(arguments)?;
    output::line(markdown.trim_end())?;
    messages.say(&format!("{} and {} are written", file("md").display(), page.display()));
    let failed =
        ran.iter().filter(|(_, outcome)| matches!(outcome, Err(Failure::Other(_)))).count();
    if failed > 0 {
        anyhow::bail!("{failed} of {} cells failed; the notes in the table say why", ran.len());
    }
    Ok(())
}

/// The page of all experiments whose results are in the folder.
fn write_page(arguments: &Reproduce) -> anyhow::Result<PathBuf> {
    let read = |experiment: Experiment| {
        let path = arguments.out.join(format!("{}.md", experiment.name()));
        Some((experiment, std::fs::read_to_string(path).ok()?))
    };
    let texts: Vec<(Experiment, String)> = Experiment::ALL.into_iter().filter_map(read).collect();
    let path = arguments.page.clone().unwrap_or_else(|| arguments.out.join("README.md"));
    let beside = path.parent().unwrap_or(Path::new(""));
    let folder = arguments.out.strip_prefix(beside).unwrap_or(&arguments.out);
    // Links have slashes whatever the system.
    let folder: Vec<String> =
        folder.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    atomic_file::write(&path, page(&texts, &folder.join("/")).as_bytes())?;
    Ok(path)
}

/// Says that nothing is lost.
fn stopped(error: MethodError, out: &Path) -> anyhow::Error {
    match error {
        MethodError::Data(DataError::Cancelled) => Stopped(format!(
            "stopped, as asked: finished cells are kept in {}, and the same command goes on with the rest",
            out.join("cells").display()
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
        names => names.iter().map(|name| registry::find(name)).collect(),
    }
}

/// The data sets that are there; the others are named with the way to get them.
fn subjects(
    experiment: Experiment,
    arguments: &Reproduce,
    general: &General,
    messages: &Messages,
) -> anyhow::Result<(Vec<Subject>, Vec<String>)> {
    let progress = Bars::new(general.quiet);
    let names: Vec<String> = match arguments.datasets.as_slice() {
        [] => experiment.datasets().iter().map(|name| (*name).to_owned()).collect(),
        names => names.to_vec(),
    };
    let mut subjects = Vec::new();
    let mut missing = Vec::new();
    for name in &names {
        let Ok(prepared) = input::prepared(name, arguments.data_dir.as_deref()) else {
            missing.push(name.clone());
            continue;
        };
        let dataset = input::read_plainly(&prepared.location, messages, &progress)?;
        let dataset = super::as_published(dataset, name);
        subjects.push(Subject::new(name, dataset, prepared.splits)?);
    }
    if !missing.is_empty() {
        let told = missing_data(&missing, arguments.data_dir.as_deref());
        if subjects.is_empty() {
            return Err(WrongCall(told).into());
        }
        messages.note(&told);
    }
    Ok((subjects, missing))
}

/// What is not there, and the command that gets it.
fn missing_data(names: &[String], folder: Option<&Path>) -> String {
    let known: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| data_sets::find(name).is_ok()).collect();
    let mut told = format!("not there, and left out: {}", names.join(", "));
    if !known.is_empty() {
        let folder = folder
            .map_or_else(String::new, |folder: &Path| format!(" --data-dir {}", folder.display()));
        told.push_str(&format!("\n  graphfill datasets get {}{folder}", known.join(" ")));
    }
    told
}
