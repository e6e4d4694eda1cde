//! The command line of graphfill: arguments, one file a subcommand, and what they print.
//!
//! Standard output is data, standard error is messages. Exit codes: 0 done, 1 the job failed,
//! 2 the call is wrong, 130 stopped by Ctrl-C.
#![forbid(unsafe_code)]

mod arguments;
mod bugs;
mod commands;
mod input;
mod output;
mod parameters_file;
mod stop;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use graphfill::data::DataError;
use graphfill::methods::MethodError;

use arguments::{Arguments, Command};
use output::messages;

/// The job failed.
const FAILED: u8 = 1;
/// The call is wrong.
const USAGE_ERROR: u8 = 2;
/// Stopped by Ctrl-C, as shells count it.
const STOPPED: u8 = 130;

/// Runs the program with these arguments, the program's name first.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version go to standard output and are no mistake.
            let wrong = error.use_stderr();
            let _ = error.print();
            return if wrong { ExitCode::from(USAGE_ERROR) } else { ExitCode::SUCCESS };
        }
    };
    stop::listen();
    let threads = arguments.general.threads.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let done = match pool {
        Ok(pool) => bugs::catch_panics(|| pool.install(|| dispatch(&arguments))),
        Err(error) => Err(error.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            messages::error(&error);
            ExitCode::from(code_of(&error))
        }
    }
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
        Command::Devices => commands::devices::run(general),
        Command::Demo(command) => commands::demo::run(command, general),
        Command::Completions(command) => commands::completions::run(command),
    }
}

fn code_of(error: &anyhow::Error) -> u8 {
    let cancelled = |error: &DataError| matches!(error, DataError::Cancelled);
    if let Some(error) = error.downcast_ref::<MethodError>() {
        return match error {
            MethodError::UnknownMethod { .. } | MethodError::Parameter(_) => USAGE_ERROR,
            MethodError::Data(error) if cancelled(error) => STOPPED,
            _ => FAILED,
        };
    }
    match error.downcast_ref::<DataError>() {
        Some(error) if cancelled(error) => STOPPED,
        _ if error.is::<arguments::UsageError>() => USAGE_ERROR,
        _ if error.is::<stop::Stopped>() => STOPPED,
        _ => FAILED,
    }
}

/// The reader of our output has gone (`graphfill … | head`): no failure of ours.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
