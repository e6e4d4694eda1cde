//! Uncertainty as columns: beside the estimates in the filled table, or one row per estimated cell.
//!
//! | column of the table | columns beside it |
//! |---|---|
//! | number, count, date, numeric block | `X__lower`, `X__upper` |
//! | boolean, category | `X__probability`, `X__set` |
//! | 0/1 block | `X__probability`: name and probability of each estimated one |
//!
//! With several levels of coverage, names end in the percentage: `X__lower50`, `X__set95`.

use std::sync::Arc;

use graphfill_data::arrow::array::{Float64Array, StringArray};
use graphfill_data::{
    Block, BlockBuilder, BlockLayout, CellMask, Column, ColumnData, Kind, NodeTable, Unused,
};

use super::distributions::{ColumnCells, ColumnDistributions, LevelCell, Uncertainty};
use crate::error::{MethodError, Result};
use crate::features::{Features, GroupKind};

/// A set of levels is written with this between them.
const SEPARATOR: &str = "|";

/// The names of the columns that [`Uncertainty::beside`] adds to a table: those of its columns with missing
/// cells.
pub fn added_columns(features: &Features<'_>, coverages: &[f64]) -> Vec<String> {
    let missing = features.missing();
    let mut names = Vec::new();
    for group in features.groups() {
        if missing.slice(group.cells.clone()).is_empty() {
            continue;
        }
        let ends: &[&str] = match group.kind {
            GroupKind::Number | GroupKind::Count | GroupKind::NumericBlock => &["lower", "upper"],
            GroupKind::Boolean | GroupKind::Category(_) => &["set"],
            GroupKind::BinaryBlock => &[],
        };
        if ends.len() < 2 {
            names.push(format!("{}__probability", group.name));
        }
        for suffix in suffixes(coverages) {
            names.extend(ends.iter().map(|end| format!("{}__{end}{suffix}", group.name)));
        }
    }
    names
}

impl Uncertainty {
    /// The filled table with columns of uncertainty behind each estimated column. `table` is the table
    /// before it was filled.
    pub fn beside(
        &self,
        table: &NodeTable,
        filled: &NodeTable,
        features: &Features<'_>,
        coverages: &[f64],
    ) -> Result<NodeTable> {
        let mut columns: Vec<Vec<Column>> =
            filled.columns().iter().map(|column| vec![column.clone()]).collect();
        for own in &self.columns {
            let position = features.groups()[own.group].column;
            let (holed, whole) = (&table.columns()[position], &filled.columns()[position]);
            let more = self.columns_of(own, holed, whole, features, coverages)?;
            for column in &more {
                if filled.column(column.name()).is_some() || filled.id_column.name == column.name()
                {
                    return Err(MethodError::Table(format!(
                        "the table has a column '{}' already, which uncertainty would be written to: rename it, or write one row per estimated cell",
                        column.name()
                    )));
                }
            }
            columns[position].extend(more);
        }
        Ok(filled.with_columns(columns.into_iter().flatten().collect())?)
    }

    /// The columns of uncertainty of one column; cells that were observed are missing in them.
    pub(super) fn columns_of(
        &self,
        own: &ColumnDistributions,
        holed: &Column,
        filled: &Column,
        features: &Features<'_>,
        coverages: &[f64],
    ) -> Result<Vec<Column>> {
        let mut columns = Vec::new();
        match &own.cells {
            ColumnCells::Numbers(_) => {
                for (&coverage, suffix) in coverages.iter().zip(suffixes(coverages)) {
                    for (end, name) in [(End::Lower, "lower"), (End::Upper, "upper")] {
                        let name = format!("{}__{name}{suffix}", own.name);
                        columns.push(
                            match holed.data() {
                                ColumnData::Array(_) => {
                                    self.ends(own, holed, filled, coverage, end)?
                                }
                                ColumnData::Block(block) => {
                                    let name = if end == End::Lower { "lower" } else { "upper" };
                                    let suffix = format!("__{name}{suffix}");
                                    Column::block(
                                        "",
                                        self.block_ends(own, block, filled, coverage, end, &suffix),
                                    )
                                }
                            }
                            .renamed(name),
                        );
                    }
                }
            }
            ColumnCells::Levels(cells) => {
                let probability = |cell: &LevelCell| Some((cell.row, cell.probability()?));
                let cells_with = cells.iter().filter_map(probability);
                let name = format!("{}__probability", own.name);
                columns.push(numbers(name, holed.rows(), cells_with));
                let names = level_names(holed, &features.groups()[own.group].kind)?;
                for (&coverage, suffix) in coverages.iter().zip(suffixes(coverages)) {
                    let set = |cell: &LevelCell| {
                        let set = self.set(own.group, cell, coverage)?;
                        Some((cell.row, spelt_set(&set, &names)))
                    };
                    let name = format!("{}__set{suffix}", own.name);
                    columns.push(texts(name, holed.rows(), cells.iter().filter_map(set)));
                }
            }
            ColumnCells::Ones(cells) => {
                let ColumnData::Block(block) = holed.data() else { return Ok(columns) };
                let mut rows: Vec<(u32, String)> = Vec::new();
                for row in cells.chunk_by(|a, b| a.row == b.row) {
                    let spelt = row.iter().filter_map(|cell| {
                        let name = block.column_name(&own.name, cell.column as usize);
                        Some(format!("{name}:{}", rounded(cell.probability?)))
                    });
                    let spelt: Vec<String> = spelt.collect();
                    if !spelt.is_empty() {
                        rows.push((row[0].row, spelt.join(SEPARATOR)));
                    }
                }
                let name = format!("{}__probability", own.name);
                columns.push(texts(name, holed.rows(), rows.into_iter()));
            }
        }
        Ok(columns)
    }

    /// One end of the intervals of a column, written as the column writes its values.
    fn ends(
        &self,
        own: &ColumnDistributions,
        holed: &Column,
        filled: &Column,
        coverage: f64,
        end: End,
    ) -> Result<Column> {
        let ColumnCells::Numbers(features) = &own.cells else { return Ok(holed.clone()) };
        let estimates = filled.numbers();
        // A later table of a model may have no observed value that tells.
        let observed: Vec<f64> = holed.numbers().into_iter().filter(|own| !own.is_nan()).collect();
        let is_whole = *holed.kind() == Kind::Count
            || (!observed.is_empty() && observed.iter().all(|value| value.fract() == 0.0));
        let mut numbers = estimates.clone();
        let mut is_empty = vec![true; holed.rows()];
        for cell in features.iter().flatten() {
            let Some(interval) = self.interval(own.group, 0, cell, coverage) else { continue };
            let row = cell.row as usize;
            is_empty[row] = false;
            numbers[row] = end.of(interval, is_whole, estimates[row]);
        }
        Ok(holed.completed_with_numbers(&numbers)?.with_hidden_rows(&is_empty))
    }

    /// One end of the intervals of a numeric block.
    fn block_ends(
        &self,
        own: &ColumnDistributions,
        block: &Block,
        filled: &Column,
        coverage: f64,
        end: End,
        suffix: &str,
    ) -> Block {
        let ColumnCells::Numbers(features) = &own.cells else { return block.clone() };
        let layout = match block.layout() {
            BlockLayout::List | BlockLayout::TypedList(_) => BlockLayout::List,
            _ => {
                let names = (0..block.width()).map(|at| block.column_name(&own.name, at) + suffix);
                BlockLayout::Columns(names.collect())
            }
        };
        let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); block.rows()];
        for (feature, cells) in features.iter().enumerate() {
            for cell in cells {
                if let Some(interval) = self.interval(own.group, feature, cell, coverage) {
                    let estimate = block_value(filled, cell.row as usize, feature);
                    let value = end.of(interval, false, estimate);
                    rows[cell.row as usize].push((feature as u32, f64::from(value as f32)));
                }
            }
        }
        let width = block.width();
        let missing = CellMask::build(block.rows(), width, |row, cells| {
            let known = |column: &u32| rows[row].binary_search_by_key(column, |c| c.0).is_ok();
            cells.extend((0..width as u32).filter(|column| !known(column)));
        });
        let mut builder = BlockBuilder::new(width, layout);
        rows.iter_mut().for_each(|row| builder.push_row(row));
        builder.finish(missing)
    }
}

/// The value of a cell of a block.
pub(super) fn block_value(column: &Column, row: usize, at: usize) -> f64 {
    match column.data() {
        ColumnData::Block(block) => {
            block.cells_between(row, at..at + 1).next().map_or(0.0, |(_, value)| value)
        }
        ColumnData::Array(_) => f64::NAN,
    }
}

/// One end of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Lower,
    Upper,
}

impl End {
    /// The end of an interval, which always has the estimate as it is written. Where all values are
    /// whole, the whole numbers inside are those that count.
    fn of(self, (low, high): (f64, f64), is_whole: bool, estimate: f64) -> f64 {
        match (self, is_whole) {
            (End::Lower, false) => low.min(estimate),
            (End::Upper, false) => high.max(estimate),
            (End::Lower, true) => (low - 1e-9).ceil().min(estimate),
            (End::Upper, true) => (high + 1e-9).floor().max(estimate),
        }
    }
}

/// What names end in: nothing with one level of coverage, the percentage with several.
pub(super) fn suffixes(coverages: &[f64]) -> Vec<String> {
    match coverages {
        [_] => vec![String::new()],
        several => several.iter().map(|coverage| percentage(*coverage)).collect(),
    }
}

/// 0.9 as 90, 0.995 as 99.5.
pub fn percentage(coverage: f64) -> String {
    ((coverage * 1e8).round() / 1e6).to_string()
}

/// The names of the levels of a boolean or category, as the column writes them.
pub(super) fn level_names(column: &Column, kind: &GroupKind) -> Result<Vec<String>> {
    if let GroupKind::Category(names) = kind {
        return Ok(names.clone());
    }
    let Some(row) = column.missing().iter().position(|missing| *missing) else {
        return Ok(["false", "true"].map(str::to_owned).to_vec());
    };
    let word = |value: f64| -> Result<String> {
        let filled = column.completed_with_numbers(&vec![value; column.rows()])?;
        Ok(filled.text().value(row).to_owned())
    };
    Ok(vec![word(0.0)?, word(1.0)?])
}

/// Levels with a separator between them; as a JSON list where a name holds the separator.
pub(super) fn spelt_set(set: &[usize], names: &[String]) -> String {
    let levels: Vec<&String> = set.iter().filter_map(|&level| names.get(level)).collect();
    if names.iter().any(|name| name.contains(SEPARATOR)) {
        return serde_json::to_string(&levels).unwrap_or_default();
    }
    levels.into_iter().map(String::as_str).collect::<Vec<_>>().join(SEPARATOR)
}

/// The levels of a set as it is written: the inverse of how [`Uncertainty::beside`] spells it.
pub fn levels_of_set(text: &str) -> Vec<String> {
    let list = text.starts_with('[').then(|| serde_json::from_str(text).ok()).flatten();
    list.unwrap_or_else(|| text.split(SEPARATOR).map(str::to_owned).collect())
}

/// A probability with four decimals.
pub(super) fn rounded(probability: f64) -> f64 {
    (probability * 1e4).round() / 1e4
}

fn numbers(name: String, rows: usize, cells: impl Iterator<Item = (u32, f64)>) -> Column {
    let mut values = vec![None; rows];
    cells.for_each(|(row, value)| values[row as usize] = Some(rounded(value)));
    Column::new(name, Kind::Number, Arc::new(Float64Array::from(values)))
}

fn texts(name: String, rows: usize, cells: impl Iterator<Item = (u32, String)>) -> Column {
    let mut values = vec![None; rows];
    cells.for_each(|(row, value)| values[row as usize] = Some(value));
    Column::new(name, Kind::Unused(Unused::Declared), Arc::new(StringArray::from(values)))
}
