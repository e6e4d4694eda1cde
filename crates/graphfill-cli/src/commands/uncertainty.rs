//! What `fill` writes about the uncertainty of its estimates: columns beside them, a file with one row per
//! cell, or draws.

use std::path::Path;

use graphfill::data::arrow::array::Array;
use graphfill::data::formats::{self, DRAW_COLUMN, OutputFormat};
use graphfill::data::{Column, Dataset, Kind, NodeTable, atomic_file};
use graphfill::methods::features::Features;
use graphfill::methods::fill::Filled;
use graphfill::methods::uncertainty::{
    CellSource, ColumnCells, ColumnDistributions, MIN_CALIBRATION_CELLS, Uncertainty,
    added_columns, levels_of_set, percentage,
};
use graphfill::methods::{MethodError, Model};
use serde_json::Value;

use super::outputs;
use crate::arguments::{Uncertainty as Arguments, UsageError};
use crate::output::messages::Messages;
use crate::stop::Stopped;

/// How many uncalibrated columns a warning names.
const MAX_NAMED: usize = 5;

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
pub(super) fn check_drawable(filled: &Filled) -> anyhow::Result<()> {
    let Some(uncertainty) = &filled.uncertainty else {
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

/// Says which columns have no intervals, and why.
pub(super) fn warn(filled: &Filled, coverages: &[f64], messages: &Messages) {
    let Some(uncertainty) = &filled.uncertainty else {
        messages.warning(
            "how sure the estimates are is unknown: the run was stopped before it could be found out",
        );
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
        let named = named(&unknown);
        messages.warning(&format!(
            "how sure the estimates of {named} are is unknown: fewer than {MIN_CALIBRATION_CELLS} observed cells could be hidden to find out, so there are no intervals"
        ));
    }
    for &coverage in coverages {
        let lacking: Vec<&str> = uncertainty
            .columns
            .iter()
            .filter(|column| lacks_intervals(uncertainty, column, coverage))
            .map(|column| column.name.as_str())
            .collect();
        if !lacking.is_empty() {
            messages.warning(&format!(
                "some cells of {} have no {}% interval or set: too few cells could be hidden to tell one of that coverage",
                named(&lacking),
                percentage(coverage)
            ));
        }
    }
}

/// Whether a calibrated column has cells without an interval or set of this coverage.
fn lacks_intervals(uncertainty: &Uncertainty, column: &ColumnDistributions, coverage: f64) -> bool {
    let group = column.group;
    match &column.cells {
        ColumnCells::Numbers(features) => features.iter().enumerate().any(|(feature, cells)| {
            uncertainty
                .number_calibration(group, feature)
                .is_some_and(|own| cells.iter().any(|cell| own.interval(cell, coverage).is_none()))
        }),
        ColumnCells::Levels(cells) => cells.iter().any(|cell| {
            !cell.probabilities.is_empty() && uncertainty.set(group, cell, coverage).is_none()
        }),
        ColumnCells::Ones(_) => false,
    }
}

/// The first of some columns in quotes, and how many there are beyond them.
fn named(columns: &[&str]) -> String {
    let first = columns[..columns.len().min(MAX_NAMED)].join("', '");
    match columns.len().saturating_sub(MAX_NAMED) {
        0 => format!("'{first}'"),
        more => format!("'{first}' and {more} more"),
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
            true => atomic_file::write(path, json(&cells, source.table).as_bytes())?,
            false => formats::write_nodes(&Dataset { table: cells, ..dataset.clone() }, path)?,
        }
    }
    let (table, filled, features): (_, _, &Features<'_>) =
        (source.table, source.filled, source.features);
    if let Some(count) = arguments.draws {
        let undrawn = uncertainty.undrawn(table);
        if !undrawn.is_empty() {
            messages.warning(&format!(
                "all draws repeat the estimates of {}: how sure they are is unknown, or they are too many to be drawn",
                named(&undrawn)
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
