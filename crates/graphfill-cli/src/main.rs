//! The program `graphfill`: everything is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    graphfill_cli::run(std::env::args_os())
}
