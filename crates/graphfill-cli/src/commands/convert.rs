//! `graphfill convert`: from any format that is read to any that is written.

use graphfill::data::atomic_file::check_not_an_input;
use graphfill::data::formats::{self, Location, OutputFormat};

use crate::arguments::{Convert, Format, General};
use crate::output::messages::Messages;
use crate::output::numbers::count;
use crate::output::progress::Bars;
use crate::{input, output};

pub(crate) fn run(arguments: &Convert, general: &General) -> anyhow::Result<()> {
    let messages = Messages::new(general.quiet);
    let progress = Bars::new(general);
    let target = &arguments.output;
    OutputFormat::of(target)?;
    let location = Location::find(&arguments.input, arguments.edges.as_deref())?;
    for written in formats::outputs(target) {
        check_not_an_input(&written, &location.files())?;
    }
    let dataset = input::read(&location, &arguments.reading, &messages, &progress)?;
    let written = formats::write(&dataset, target)?;
    let names: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
    if general.format() == Format::Json {
        return output::json(&serde_json::json!({
            "nodes": dataset.table.rows(),
            "arcs": dataset.graph.arcs(),
            "written": names,
        }));
    }
    messages.say(&format!(
        "{} nodes and {} arcs from {} to {}",
        count(dataset.table.rows()),
        count(dataset.graph.arcs()),
        dataset.format,
        names.join(", ")
    ));
    Ok(())
}
