//! The command line of graphfill: arguments, one file per subcommand, and what they print.
//!
//! Standard output is data, standard error is messages. Exit codes:
//!
//! - 0: done.
//! - 1: the job failed.
//! - 2: the call is wrong. It names something that does not exist (a file, column, method, parameter,
//!   data set, device, seed or split), or it makes no sense.
//! - 130: stopped by Ctrl-C; 143: stopped by SIGTERM. Both stop at the next safe place, with the best
//!   estimates so far written where there are any.
#![forbid(unsafe_code)]

mod arguments;
mod bugs;
pub mod calls;
mod commands;
mod input;
mod output;
mod parameters_file;
mod stop;

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use graphfill::data::DataError;
use graphfill::engine::EngineError;
use graphfill::methods::MethodError;

use arguments::{Arguments, ColorChoice, Command, NoDevice, UsageError};
use output::messages;

/// Done.
const DONE: u8 = 0;
/// The job failed.
const FAILED: u8 = 1;
/// The call is wrong.
const USAGE_ERROR: u8 = 2;

/// Runs the program with these arguments, the program's name first.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    ExitCode::from(run_with_code(arguments))
}

/// Runs the program with these arguments, the program's name first; returns its exit code.
pub fn run_with_code(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = arguments.into_iter().collect();
    let arguments = match parse(&words) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version go to standard output and are no mistake.
            let wrong = error.use_stderr();
            let _ = error.print();
            return if wrong { USAGE_ERROR } else { DONE };
        }
    };
    output::hints::use_subcommand(arguments.command.name());
    output::style::choose(arguments.general.color);
    output::log::start(arguments.general.verbose);
    stop::listen();
    let threads = arguments.general.threads.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let done = match pool {
        Ok(pool) => bugs::catch_panics(|| pool.install(|| dispatch(&arguments))),
        Err(error) => Err(error.into()),
    };
    match done {
        Ok(()) => DONE,
        Err(error) if is_broken_pipe(&error) => DONE,
        Err(error) => {
            messages::error(&error);
            exit_code(&error)
        }
    }
}

/// The arguments, or the help, version or complaint to print, in the colours that they ask for.
fn parse(words: &[OsString]) -> Result<Arguments, clap::Error> {
    let color = ColorChoice::among(words);
    let matches = Arguments::command().color(color.into()).try_get_matches_from(words)?;
    Arguments::from_arg_matches(&matches)
}

fn dispatch(arguments: &Arguments) -> anyhow::Result<()> {
    let general = &arguments.general;
    match &arguments.command {
        Command::Fill(command) => commands::fill::run(command, general),
        Command::Evaluate(command) => commands::evaluate::run(command, general),
        Command::Reproduce(command) => commands::reproduce::run(command, general),
        Command::Inspect(command) => commands::inspect::run(command, general),
        Command::Convert(command) => commands::convert::run(command, general),
        Command::Datasets(command) => commands::datasets::run(command, general),
        Command::Methods(command) => commands::methods::run(command, general),
        Command::Bench(command) => commands::bench::run(command, general),
        Command::Devices(_) => commands::devices::run(general),
        Command::Demo(command) => commands::demo::run(command, general),
        Command::Generate(command) => commands::generate::run(command, general),
    }
}

fn exit_code(error: &anyhow::Error) -> u8 {
    if error.is::<UsageError>() || error.is::<NoDevice>() {
        return USAGE_ERROR;
    }
    if error.is::<stop::Stopped>() {
        return stop::exit_code();
    }
    if let Some(error) = error.downcast_ref::<MethodError>() {
        return match error {
            MethodError::UnknownMethod { .. } | MethodError::Parameter(_) => USAGE_ERROR,
            MethodError::Data(error) => exit_code_of_data(error),
            MethodError::Engine(error) => exit_code_of_engine(error),
            _ => FAILED,
        };
    }
    let data = error.downcast_ref::<DataError>().map(exit_code_of_data);
    let engine = || error.downcast_ref::<EngineError>().map(exit_code_of_engine);
    data.or_else(engine).unwrap_or(FAILED)
}

fn exit_code_of_data(error: &DataError) -> u8 {
    match error {
        DataError::Cancelled => stop::exit_code(),
        DataError::UnknownColumn { .. } | DataError::Request { .. } => USAGE_ERROR,
        // A path that the call names leads nowhere.
        DataError::Read { source, .. } | DataError::Write { source, .. } => named_nothing(source),
        _ => FAILED,
    }
}

fn exit_code_of_engine(error: &EngineError) -> u8 {
    match error {
        EngineError::File { cause, .. } => named_nothing(cause),
        _ => FAILED,
    }
}

fn named_nothing(error: &io::Error) -> u8 {
    if error.kind() == io::ErrorKind::NotFound { USAGE_ERROR } else { FAILED }
}

/// The reader of our output has gone (`graphfill … | head`): no failure of ours.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<io::Error>();
    io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
