//! `graphfill generate`: man pages and completion scripts, for packages and for one's own shell.

use std::fs;

use clap::{Command, CommandFactory, ValueEnum};
use clap_complete::Shell;
use graphfill::data::DataError;

use crate::arguments::{Arguments, Format, General, Generate};
use crate::output;
use crate::output::messages::Messages;

pub(crate) fn run(arguments: &Generate, general: &General) -> anyhow::Result<()> {
    let folder = &arguments.output;
    fs::create_dir_all(folder).map_err(|error| DataError::write(folder, error))?;
    let failed = |error| DataError::write(folder, error);
    for &shell in Shell::value_variants() {
        let mut command = Arguments::command();
        clap_complete::generate_to(shell, &mut command, "graphfill", folder).map_err(failed)?;
    }
    let command = examples_last(Arguments::command()).disable_help_subcommand(true);
    let command = command.long_version(env!("CARGO_PKG_VERSION"));
    clap_mangen::generate_to(command, folder).map_err(failed)?;
    if general.format() == Format::Json {
        return output::json(&serde_json::json!({ "output": folder.display().to_string() }));
    }
    let messages = Messages::new(general.quiet);
    messages.say(&format!("man pages and completion scripts are in {}", folder.display()));
    Ok(())
}

/// The command with its examples behind its options: man pages have no text before them.
fn examples_last(command: Command) -> Command {
    let texts = [command.get_before_help(), command.get_after_help()];
    let texts: Vec<String> = texts.into_iter().flatten().map(ToString::to_string).collect();
    let command = command.mut_subcommands(examples_last);
    if texts.is_empty() { command } else { command.after_help(texts.join("\n\n")) }
}
