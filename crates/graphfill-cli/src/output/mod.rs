//! What the program prints.

pub(crate) mod grid_bar;
pub(crate) mod messages;
pub(crate) mod numbers;
pub(crate) mod progress;
pub(crate) mod text_table;

use std::io::{self, Write};

use serde::Serialize;

/// Prints a line of data.
pub(crate) fn line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")
}

/// Prints a value as JSON.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(value)?;
    Ok(line(&text)?)
}

/// Prints rows as CSV, the header first.
pub(crate) fn csv(rows: &[Vec<String>]) -> io::Result<()> {
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| quoted(cell)).collect();
        line(&cells.join(","))?;
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
