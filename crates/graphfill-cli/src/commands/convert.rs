//! `graphfill convert`: from any format that is read to any that is written.

use graphfill::data::atomic_file::check_not_an_input;
use graphfill::data::formats::{self, Location, OutputFormat};

use crate::arguments::{Convert, General, WrongCall};
use crate::input;
use crate::output::messages::Messages;
use crate::output::numbers::count;
use crate::output::progress::Bars;

pub(crate) fn run(arguments: &Convert, general: &General) -> anyhow::Result<()> {
    let messages = Messages::new(general.quiet);
    let progress = Bars::new(general.quiet);
    let (nodes, edges, output) = match arguments.paths.as_slice() {
        [nodes, output] => (nodes, None, output),
        [nodes, edges, output] => (nodes, Some(edges.as_path()), output),
        _ => return Ok(()),
    };
    OutputFormat::of(output).map_err(|error| WrongCall(error.to_string()))?;
    let location = Location::find(nodes, edges)?;
    for written in formats::outputs(output) {
        check_not_an_input(&written, &location.files())?;
    }
    let dataset = input::read(&location, &arguments.reading, &messages, &progress)?;
    let written = formats::write(&dataset, output)?;
    let names: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
    messages.say(&format!(
        "{} nodes and {} arcs from {} to {}",
        count(dataset.table.rows()),
        count(dataset.graph.arcs()),
        dataset.format,
        names.join(", ")
    ));
    Ok(())
}
