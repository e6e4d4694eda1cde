//! What `fill` writes about the uncertainty of its estimates: columns beside them, a file with one row per
//! cell, or draws.

use std::path::Path;

use graphfill::FilledData;
use graphfill::data::arrow::array::Array;
use graphfill::data::formats::{self, DRAW_COLUMN, OutputFormat};
use graphfill::data::{Column, Dataset, Kind, NodeTable, atomic_file};
use graphfill::methods::features::Features;
use graphfill::methods::uncertainty::{added_columns, levels_of_set, undrawn_note};
use graphfill::methods::{MethodError, Model};
use serde_json::Value;

use super::outputs;
use crate::arguments::{Uncertainty as Arguments, UsageError};
use crate::input;
use crate::output::messages::Messages;
use crate::stop::Stopped;

/// Fails where a call asks for what cannot be written.
pub(super) fn check(arguments: &Arguments, output: &Path) -> anyhow::Result<()> {
    outputs::check_report(arguments.report.as_ref())?;
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
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"))
}

/// Fails where the table has a column that the output would have, too.
pub(super) fn check_columns(
    arguments: &Arguments,
    table: &NodeTable,
    saved: Option<&Model>,
) -> anyhow::Result<()> {
    let is_taken = |name: &str| table.column(name).is_some() || table.id_column.name == name;
    if arguments.draws.is_some() && is_taken(DRAW_COLUMN) {
        anyhow::bail!(
            "the table has a column '{DRAW_COLUMN}', in which --draws would count the completed tables\n  rename it"
        );
    }
    if arguments.intervals.is_empty() || arguments.uncertainty.is_some() {
        return Ok(());
    }
    let features = match saved {
        Some(saved) => Features::with_schema(table, saved.schema()),
        None => Features::of(table),
    };
    let added = added_columns(&features, &arguments.coverages());
    match added.into_iter().find(|name| is_taken(name)) {
        None => Ok(()),
        Some(name) => anyhow::bail!(
            "the table has a column '{name}' already, which --intervals would write\n  rename it, or give --uncertainty FILE for one row per estimated cell"
        ),
    }
}

/// Fails where no column has a distribution to draw from.
pub(super) fn check_drawable(filled: &FilledData) -> anyhow::Result<()> {
    let Some(uncertainty) = filled.uncertainty() else {
        let found = "stopped during the calibration, as asked: there is nothing to draw from, and no table was written";
        return Err(Stopped(found.to_owned()).into());
    };
    let calibrated = &uncertainty.calibration().columns;
    if !uncertainty.columns.is_empty()
        && !uncertainty.columns.iter().any(|column| calibrated[column.group].is_calibrated())
    {
        anyhow::bail!(
            "there is nothing to draw from: too few observed cells could be hidden to find out how sure the estimates are\n  leave --draws out: the table is filled once, with estimates"
        );
    }
    Ok(())
}

/// Writes the filled table as it was asked for, and the cells' own file where one is asked for.
pub(super) fn write(
    arguments: &Arguments,
    filled: &FilledData,
    output: &Path,
    messages: &Messages,
) -> anyhow::Result<()> {
    let (coverages, dataset) = (arguments.coverages(), filled.dataset());
    let Some(uncertainty) = filled.uncertainty() else {
        return Ok(formats::write_nodes(dataset, output)?);
    };
    let before = &filled.before().table;
    if let (Some(path), Some(cells)) = (&arguments.uncertainty, filled.cells(&coverages)?) {
        match is_json(path) {
            true => atomic_file::write(path, json(&cells, before).as_bytes())?,
            false => formats::write_nodes(&Dataset { table: cells, ..dataset.clone() }, path)?,
        }
    }
    if let Some(count) = arguments.draws {
        let undrawn = undrawn_note(uncertainty, before);
        input::say_notes(undrawn.as_slice(), messages);
        let features = filled.features();
        return Ok(formats::write_draws(count, output, &mut |number| {
            uncertainty.draw(before, &dataset.table, &features, number)
        })
        .map_err(|error: MethodError| error)?);
    }
    if arguments.intervals.is_empty() || arguments.uncertainty.is_some() {
        return Ok(formats::write_nodes(dataset, output)?);
    }
    let table = filled.with_intervals(&coverages)?;
    Ok(formats::write_nodes(&Dataset { table, ..dataset.clone() }, output)?)
}

/// The list of estimated cells as JSON: objects without what is missing, in the order of the columns.
/// Estimates and intervals of numbers are numbers, sets are lists.
fn json(cells: &NodeTable, table: &NodeTable) -> String {
    let columns: Vec<_> = cells.columns().iter().map(|column| (column, column.text())).collect();
    // The id, the name of the column, and what is known about the cell.
    let [(_, _), (_, names), ..] = &columns[..] else { return "[]\n".to_owned() };
    let mut text = String::from("[");
    for row in 0..cells.rows() {
        // Other names are those of columns of a block, which are numbers.
        let kind = table.column(names.value(row)).map(Column::kind);
        let of_number = matches!(kind, None | Some(Kind::Number | Kind::Count));
        let fields = columns.iter().enumerate().filter(|(_, (_, cells))| !cells.is_null(row));
        let fields = fields.map(|(at, (column, cells))| {
            let value = match at {
                0 | 1 => Value::from(cells.value(row)),
                _ => json_cell(column, cells.value(row), of_number),
            };
            format!("{}:{value}", Value::from(column.name()))
        });
        text.push_str(if row == 0 { "\n{" } else { ",\n{" });
        text.push_str(&fields.collect::<Vec<_>>().join(","));
        text.push('}');
    }
    text.push_str("\n]\n");
    text
}

fn json_cell(column: &Column, cell: &str, of_number: bool) -> Value {
    let name = column.name();
    if name.starts_with("set") {
        return Value::from(levels_of_set(cell));
    }
    let is_value = ["estimate", "lower", "upper"].iter().any(|value| name.starts_with(value));
    let is_number = match is_value {
        true => of_number,
        false => matches!(column.kind(), Kind::Number | Kind::Count),
    };
    match cell.parse::<serde_json::Number>() {
        Ok(number) if is_number => Value::Number(number),
        _ => Value::from(cell),
    }
}
