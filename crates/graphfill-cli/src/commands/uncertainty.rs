//! What `fill` writes about the uncertainty of its estimates: columns beside them, a file with one row per
//! cell, or draws.

use std::ffi::OsStr;
use std::path::Path;

use graphfill::data::arrow::array::Array;
use graphfill::data::formats::{self, OutputFormat};
use graphfill::data::{Column, Dataset, Kind, NodeTable, atomic_file};
use graphfill::methods::MethodError;
use graphfill::methods::features::Features;
use graphfill::methods::fill::Filled;
use graphfill::methods::uncertainty::{CellSource, MIN_CALIBRATION_CELLS, Uncertainty};
use serde_json::{Map, Value};

use crate::arguments::{Uncertainty as Arguments, UsageError};
use crate::output::messages::Messages;

/// How many uncalibrated columns a warning names.
const MAX_NAMED: usize = 5;

/// Fails where a call asks for what cannot be written.
pub(super) fn check(arguments: &Arguments, output: &Path) -> anyhow::Result<()> {
    let refuse = |found: &str| Err(UsageError(found.to_owned()).into());
    if arguments.draws.is_some()
        && !arguments.intervals.is_empty()
        && arguments.uncertainty.is_none()
    {
        return refuse(
            "--draws writes completed tables, which have no intervals: give --uncertainty FILE for them",
        );
    }
    if arguments.draws.is_some() && OutputFormat::of(output)? == OutputFormat::Npz {
        return refuse("--draws: .npz holds one table\n  end the output in .csv, .tsv or .parquet");
    }
    if let Some(path) = &arguments.uncertainty
        && !is_json(path)
        && matches!(OutputFormat::of(path), Err(_) | Ok(OutputFormat::Npz))
    {
        return refuse("--uncertainty: end the name in .csv, .tsv, .parquet or .json");
    }
    Ok(())
}

fn is_json(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("json"))
}

/// Says which columns have no intervals, and why.
pub(super) fn warn(filled: &Filled, messages: &Messages) {
    let Some(uncertainty) = &filled.uncertainty else {
        if filled.estimated > 0 {
            messages.warning(
                "how sure the estimates are is unknown: too few rows are observed to hide any and see how well they are estimated, or the calibration was stopped",
            );
        }
        return;
    };
    let unknown: Vec<&str> = uncertainty
        .columns
        .iter()
        .filter(|column| !uncertainty.calibration().columns[column.group].is_calibrated())
        .filter(|column| filled.choices.iter().any(|choice| choice.group == column.name))
        .map(|column| column.name.as_str())
        .collect();
    if !unknown.is_empty() {
        let named = unknown[..unknown.len().min(MAX_NAMED)].join("', '");
        let more = match unknown.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        messages.warning(&format!(
            "how sure the estimates of '{named}'{more} are is unknown: fewer than {MIN_CALIBRATION_CELLS} observed cells could be hidden to find out, so there are no intervals"
        ));
    }
}

/// The filled table as it is to be written, and writes the cells' own file where one is asked for.
pub(super) fn write(
    arguments: &Arguments,
    source: &CellSource<'_>,
    uncertainty: Option<&Uncertainty>,
    dataset: &Dataset,
    output: &Path,
    messages: &Messages,
) -> anyhow::Result<()> {
    let coverages = arguments.coverages();
    let Some(uncertainty) = uncertainty else {
        return Ok(formats::write_nodes(dataset, output)?);
    };
    if let Some(path) = &arguments.uncertainty {
        let cells = uncertainty.cells(source, &coverages)?;
        match is_json(path) {
            true => atomic_file::write(path, json(&cells).as_bytes())?,
            false => formats::write_nodes(&Dataset { table: cells, ..dataset.clone() }, path)?,
        }
    }
    let (table, filled, features): (_, _, &Features<'_>) =
        (source.table, source.filled, source.features);
    if let Some(count) = arguments.draws {
        for column in uncertainty.undrawn(table) {
            messages.warning(&format!(
                "the draws of '{column}' all repeat its estimate: it is not calibrated, or too large to be drawn"
            ));
        }
        return Ok(formats::write_draws(count, output, &mut |number| {
            uncertainty.draw(table, filled, features, number)
        })
        .map_err(|error: MethodError| error)?);
    }
    let table = match arguments.intervals.is_empty() || arguments.uncertainty.is_some() {
        true => filled.clone(),
        false => uncertainty.beside(table, filled, features, &coverages)?,
    };
    Ok(formats::write_nodes(&Dataset { table, ..dataset.clone() }, output)?)
}

/// A table as a JSON list of objects, without what is missing.
fn json(table: &NodeTable) -> String {
    let columns: Vec<_> = table.columns().iter().map(|column| (column, column.text())).collect();
    let mut text = String::from("[");
    for row in 0..table.rows() {
        let mut object = Map::new();
        for (column, cells) in &columns {
            if !cells.is_null(row) {
                object.insert(column.name().to_owned(), json_cell(column, cells.value(row)));
            }
        }
        text.push_str(if row == 0 { "\n" } else { ",\n" });
        text.push_str(&Value::Object(object).to_string());
    }
    text.push_str("\n]\n");
    text
}

fn json_cell(column: &Column, cell: &str) -> Value {
    match (column.kind(), cell.parse::<serde_json::Number>()) {
        (Kind::Number | Kind::Count, Ok(number)) => Value::Number(number),
        _ => Value::String(cell.to_owned()),
    }
}
