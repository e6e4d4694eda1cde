//! `fill` and `evaluate` called by another program, such as the Python package: the flags of the command
//! line, data from memory or files, and results as values. Nothing is printed.

use std::path::PathBuf;

use clap::builder::StyledStr;
use clap::{CommandFactory, FromArgMatches};
use graphfill::FilledData;
use graphfill::data::formats::{EdgeFrame, NodeFrame, ReadOptions};
use graphfill::data::{Dataset, Note, Progress};
use graphfill::datasets::Source;
use graphfill::engine::Device;
use graphfill::eval::Evaluation;
use graphfill::methods::Model;
use graphfill::report::page::{FillPage, RunInfo, evaluation_page};

use crate::arguments::{Arguments, Command, Evaluate, Fill, General};
pub use crate::arguments::{NoDevice, UsageError};
use crate::commands::devices;
use crate::commands::evaluate::EvaluateJob;
use crate::commands::fill::FillJob;
use crate::commands::methods;
use crate::input;
use crate::output::messages::Messages;

/// Where nodes and edges come from.
#[derive(Debug, Clone)]
pub enum Input {
    /// Tables in memory.
    Frames(NodeFrame, Option<EdgeFrame>),
    /// Files, as on the command line.
    Files(PathBuf, Option<PathBuf>),
}

/// A call of `graphfill fill`.
pub struct FillCall {
    arguments: Fill,
    general: General,
    messages: Messages,
}

impl FillCall {
    /// A call with these flags (`--seed=7`); nodes, edges and output are given otherwise.
    pub fn parse(flags: &[String]) -> anyhow::Result<Self> {
        let (command, general) = parse("fill", &["nodes", "--output=-"], flags)?;
        match command {
            Command::Fill(arguments) => {
                Ok(FillCall { arguments, general, messages: Messages::kept() })
            }
            _ => Err(UsageError("not a call of fill".to_owned()).into()),
        }
    }

    /// The number of threads; 0 for as many as the machine has.
    pub fn threads(&self) -> usize {
        self.general.threads.map_or(0, usize::from)
    }

    /// Whether columns of intervals are to stand beside the estimates.
    pub fn wants_intervals(&self) -> bool {
        !self.arguments.uncertainty.intervals.is_empty()
    }

    /// The coverages of intervals, ascending; the usual one where none is given.
    pub fn coverages(&self) -> Vec<f64> {
        self.arguments.uncertainty.coverages()
    }

    /// Notes and warnings since this was last asked.
    pub fn take_notes(&self) -> Vec<Note> {
        self.messages.take()
    }

    /// Reads the data; a model says what types its columns have.
    pub fn read(
        &self,
        input: Input,
        model: Option<&Model>,
        progress: &dyn Progress,
    ) -> anyhow::Result<Dataset> {
        let job = FillJob::with_model(&self.arguments, model.cloned())?;
        read(input, &job.read_options()?, &self.messages, progress)
    }

    /// Fills a table, with a model where one is given. Intervals are found out where the call asks for
    /// them; [`FillCall::calibrate`] does it later.
    pub fn fill(
        &self,
        dataset: Dataset,
        model: Option<&Model>,
        progress: &dyn Progress,
    ) -> anyhow::Result<Run> {
        let mut job = FillJob::with_model(&self.arguments, model.cloned())?;
        let device = job.device(&self.messages)?;
        let wanted = self.wants_intervals();
        let filled = job.fill(dataset, device.clone(), wanted, &self.messages, progress)?;
        for (column, missing, reason) in filled.left_columns() {
            let name = column.name();
            let cells = if missing == 1 { "1 cell".to_owned() } else { format!("{missing} cells") };
            self.messages
                .warning(&format!("column '{name}' was left as it is, {cells} missing: {reason}"));
        }
        Ok(Run { filled, device })
    }

    /// Fits the method to a table, without filling it.
    pub fn fit(&self, dataset: &Dataset, progress: &dyn Progress) -> anyhow::Result<Model> {
        let mut job = FillJob::with_model(&self.arguments, None)?;
        let device = job.device(&self.messages)?;
        job.fit(dataset, device, self.wants_intervals(), &self.messages, progress)
    }

    /// Finds out how sure the estimates are. False where the run was cancelled or a model does not know
    /// it.
    pub fn calibrate(&self, run: &mut Run, progress: &dyn Progress) -> anyhow::Result<bool> {
        let job = FillJob::with_model(&self.arguments, None)?;
        let context = job.context(run.device.clone(), progress);
        let was_known = run.filled.uncertainty().is_some();
        let is_known = run.filled.calibrate(&context)?;
        if is_known && !was_known {
            let (uncertainty, choices) = (run.filled.uncertainty(), run.filled.choices());
            let notes = graphfill::methods::uncertainty::notes;
            input::say_notes(&notes(uncertainty, choices, &self.coverages()), &self.messages);
        }
        Ok(is_known)
    }

    /// The report of a filled table; `command` is the call as its user wrote it.
    pub fn report(&self, run: &Run, command: &str, said: Vec<String>, seconds: f64) -> FillPage {
        let found = run.filled.before().found.as_ref().map(ToString::to_string);
        let warnings = found.into_iter().chain(said).collect();
        let info = run_info(command, self.arguments.seed, seconds, &run.device);
        run.filled.report(&self.coverages(), warnings, info)
    }
}

/// A filled table, and the device on which it was filled.
pub struct Run {
    /// The table and everything about its estimates.
    pub filled: FilledData,
    /// The device.
    pub device: Device,
}

/// A call of `graphfill evaluate`.
pub struct EvaluateCall {
    arguments: Evaluate,
    general: General,
    messages: Messages,
}

impl EvaluateCall {
    /// A call with these flags; nodes and edges are given otherwise, unless a flag names a data set.
    pub fn parse(flags: &[String]) -> anyhow::Result<Self> {
        let named = flags.iter().any(|flag| flag.starts_with("--dataset="));
        let given: &[&str] = if named { &[] } else { &["nodes"] };
        let (command, general) = parse("evaluate", given, flags)?;
        match command {
            Command::Evaluate(arguments) => {
                Ok(EvaluateCall { arguments, general, messages: Messages::kept() })
            }
            _ => Err(UsageError("not a call of evaluate".to_owned()).into()),
        }
    }

    /// The number of threads; 0 for as many as the machine has.
    pub fn threads(&self) -> usize {
        self.general.threads.map_or(0, usize::from)
    }

    /// Notes and warnings since this was last asked.
    pub fn take_notes(&self) -> Vec<Note> {
        self.messages.take()
    }

    /// Reads the data, hides known values, estimates them and scores the methods. Without input, the call
    /// names a data set.
    pub fn evaluate(
        &self,
        input: Option<Input>,
        command: &str,
        progress: &dyn Progress,
    ) -> anyhow::Result<Scored> {
        let started = std::time::Instant::now();
        let arguments = &self.arguments;
        let mut job = EvaluateJob::new(arguments)?;
        let device = job.device(&self.messages)?;
        let options = input::read_options(&arguments.reading, arguments.training.memory_limit)?;
        let (dataset, splits) = match (input, &arguments.dataset) {
            (Some(input), _) => (read(input, &options, &self.messages, progress)?, None),
            (None, Some(name)) => {
                let prepared = input::prepared(name, arguments.data_dir.as_deref())?;
                let dataset = input::read(prepared.source, &options, &self.messages, progress)?;
                (crate::commands::as_published(dataset, name)?, prepared.splits)
            }
            (None, None) => {
                return Err(UsageError("name a node table or a data set".to_owned()).into());
            }
        };
        let evaluation = job.evaluate(dataset, splits, device.clone(), &self.messages, progress)?;
        let seconds = started.elapsed().as_secs_f64();
        let info = run_info(command, arguments.seeds.0[0], seconds, &device);
        Ok(Scored { page: evaluation_page(&evaluation, &info), evaluation })
    }
}

/// The scores of methods.
pub struct Scored {
    /// The scores.
    pub evaluation: Evaluation,
    /// Its report, an HTML page.
    pub page: String,
}

/// Every method with its parameters, as `graphfill methods --format json` lists them.
pub fn methods_json() -> anyhow::Result<String> {
    methods::json()
}

/// The devices of this machine, as `graphfill devices --format json` lists them, and why there is no GPU.
pub fn devices_json() -> anyhow::Result<String> {
    devices::json()
}

/// The names of the flags that a subcommand takes, its own and the general ones.
pub fn flags(subcommand: &str) -> Vec<String> {
    let mut command = Arguments::command();
    command.build();
    let own = command.find_subcommand(subcommand);
    let arguments = own.into_iter().flat_map(clap::Command::get_arguments);
    arguments.filter_map(|argument| Some(argument.get_long()?.to_owned())).collect()
}

fn run_info(command: &str, seed: u64, seconds: f64, device: &Device) -> RunInfo {
    let (command, version) = (command.to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    RunInfo { command, version, seed, seconds, device: device.name() }
}

fn read(
    input: Input,
    options: &ReadOptions,
    messages: &Messages,
    progress: &dyn Progress,
) -> anyhow::Result<Dataset> {
    match input {
        Input::Files(nodes, edges) => {
            let source = Source::detect(&nodes, edges.as_deref())?;
            input::read(source, options, messages, progress)
        }
        Input::Frames(nodes, edges) => {
            let dataset = Dataset::from_frames(nodes, edges, options, progress)?;
            input::say_notes(&dataset.notes, messages);
            Ok(dataset)
        }
    }
}

/// The arguments of a subcommand; what is wrong with them is told in one line.
fn parse(subcommand: &str, given: &[&str], flags: &[String]) -> anyhow::Result<(Command, General)> {
    let words = ["graphfill", subcommand].into_iter().chain(given.iter().copied());
    let words = words.chain(flags.iter().map(String::as_str));
    let parsed = Arguments::command()
        .color(clap::ColorChoice::Never)
        .try_get_matches_from(words)
        .and_then(|matches| Arguments::from_arg_matches(&matches));
    let arguments = parsed.map_err(|error| UsageError(problem(&error.render())))?;
    Ok((arguments.command, arguments.general))
}

/// The first paragraph of a complaint, without the word "error".
fn problem(complaint: &StyledStr) -> String {
    let text = complaint.to_string();
    let first = text.split("\n\n").next().unwrap_or(&text);
    first.trim_start_matches("error: ").trim().to_owned()
}
