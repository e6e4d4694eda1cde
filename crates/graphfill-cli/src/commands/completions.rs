//! `graphfill completions`: a completion script for a shell.

use clap::CommandFactory;

use crate::arguments::{Arguments, Completions};
use crate::output;

pub(crate) fn run(arguments: &Completions) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "graphfill", &mut script);
    Ok(output::line(String::from_utf8_lossy(&script).trim_end())?)
}
