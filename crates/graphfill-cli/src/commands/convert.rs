//! `graphfill convert`: from any format that is read to any that is written.

use graphfill::data::atomic_file::check_not_an_input;
use graphfill::data::formats::{self, OutputFormat, ReadOptions, Replace, UnusableValues};
use graphfill::datasets::Source;

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
    let source = Source::detect(&arguments.input, arguments.edges.as_deref())?;
    for written in formats::outputs(target) {
        check_not_an_input(&written, &source.files())?;
    }
    let options = ReadOptions {
        unusable_values: UnusableValues::Warn,
        ..input::read_options(&arguments.reading, arguments.memory_limit)?
    };
    let dataset = input::read(source, &options, &messages, &progress)?;
    let replace = if arguments.overwrite { Replace::AnyFile } else { Replace::OwnFiles };
    let written = formats::write_replacing(&dataset, target, replace)?;
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
