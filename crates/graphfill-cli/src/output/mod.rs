//! What the program prints.

pub(crate) mod escape;
mod found;
pub(crate) mod grid_bar;
pub(crate) mod hints;
pub(crate) mod log;
pub(crate) mod messages;
pub(crate) mod numbers;
pub(crate) mod progress;
pub(crate) mod style;
pub(crate) mod text_table;

use std::io::{self, Write};

use serde::Serialize;

pub(crate) use found::FoundJson;
use style::Stream;
use text_table::TextTable;

/// Raised whenever a program that reads our JSON would have to change.
pub(crate) const SCHEMA_VERSION: u32 = 1;

/// A JSON document: the version of its schema first.
#[derive(Serialize)]
struct Document<'a, T> {
    schema_version: u32,
    #[serde(flatten)]
    content: &'a T,
}

/// Prints text for people, control characters escaped.
pub(crate) fn line(text: &str) -> io::Result<()> {
    data(&escape::escaped_lines(text))
}

/// Prints a table for people.
pub(crate) fn table(table: &TextTable) -> io::Result<()> {
    data(&table.render_for(Stream::Out))
}

/// Prints text for programs, as it is.
pub(crate) fn data(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")
}

/// Prints an object as a JSON document with the version of its schema.
pub(crate) fn json(content: &impl Serialize) -> anyhow::Result<()> {
    let document = Document { schema_version: SCHEMA_VERSION, content };
    Ok(data(&serde_json::to_string_pretty(&document)?)?)
}

/// Prints a list as a JSON document, under its name.
pub(crate) fn json_list(name: &str, list: &impl Serialize) -> anyhow::Result<()> {
    json(&serde_json::Map::from_iter([(name.to_owned(), serde_json::to_value(list)?)]))
}

/// Prints rows as CSV, the header first.
pub(crate) fn csv(rows: &[Vec<String>]) -> io::Result<()> {
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| quoted(cell)).collect();
        data(&cells.join(","))?;
    }
    Ok(())
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}
