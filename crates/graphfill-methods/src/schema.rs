//! The columns that a model was trained on: names, types, category levels and styles. A later table is
//! matched to them by column name, in any order.

use graphfill_data::{
    BlockKind, Column, ColumnData, ColumnStyle, DeclaredKind, DeclaredTypes, Kind, NodeTable, Note,
    did_you_mean,
};
use serde::{Deserialize, Serialize};

use crate::error::{MethodError, Result, suggest};
use crate::features::reach::{known_range, reach};
use crate::features::{ColumnMeans, Features, unit_of};

/// How many new levels a note names.
const MAX_NAMED: usize = 3;

/// The used columns of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// The columns, in the order of the table that a model was trained on.
    pub columns: Vec<ColumnSchema>,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColumnSchema {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: ColumnType,
    /// How it writes its values.
    pub style: ColumnStyle,
    /// What its numbers are divided by before a method computes with them.
    pub unit: f64,
    /// The smallest and the largest number that estimates may be.
    pub range: Option<(f64, f64)>,
    /// The mean of each of its features over the known cells.
    pub means: Vec<f64>,
}

/// The type of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ColumnType {
    /// A number.
    Number,
    /// A whole number ≥ 0.
    Count,
    /// A truth value.
    Boolean,
    /// A date, as a number of days.
    Date,
    /// One of these levels.
    Category(Vec<String>),
    /// So many columns of zeros and ones.
    BinaryBlock(usize),
    /// So many columns of numbers.
    NumericBlock(usize),
}

impl ColumnType {
    fn of(column: &Column) -> Option<Self> {
        Some(match (column.kind(), column.data()) {
            (Kind::Unused(_), _) => return None,
            (_, ColumnData::Block(block)) => match block.kind() {
                BlockKind::Binary => ColumnType::BinaryBlock(block.width()),
                BlockKind::Numeric => ColumnType::NumericBlock(block.width()),
            },
            (Kind::Category, _) => match column.levels().names {
                names if names.is_empty() => return None,
                names => ColumnType::Category(names),
            },
            (Kind::Count, _) => ColumnType::Count,
            (Kind::Boolean, _) => ColumnType::Boolean,
            (Kind::Date, _) => ColumnType::Date,
            _ => ColumnType::Number,
        })
    }

    fn declared(&self) -> Option<DeclaredKind> {
        match self {
            ColumnType::Number => Some(DeclaredKind::Number),
            ColumnType::Count => Some(DeclaredKind::Count),
            ColumnType::Boolean => Some(DeclaredKind::Boolean),
            ColumnType::Date => Some(DeclaredKind::Date),
            ColumnType::Category(_) => Some(DeclaredKind::Category),
            ColumnType::BinaryBlock(_) | ColumnType::NumericBlock(_) => None,
        }
    }

    /// The kind of a column of this type, as the table has it.
    fn kind(&self) -> Kind {
        match self {
            ColumnType::Number => Kind::Number,
            ColumnType::Count => Kind::Count,
            ColumnType::Boolean => Kind::Boolean,
            ColumnType::Date => Kind::Date,
            ColumnType::Category(_) => Kind::Category,
            ColumnType::BinaryBlock(_) => Kind::Block(BlockKind::Binary),
            ColumnType::NumericBlock(_) => Kind::Block(BlockKind::Numeric),
        }
    }

    fn describe(&self) -> String {
        match self {
            ColumnType::BinaryBlock(width) => format!("a block of {width} columns of 0 and 1"),
            ColumnType::NumericBlock(width) => format!("a block of {width} numeric columns"),
            other => format!("a column of type {}", other.kind().as_str()),
        }
    }
}

impl Schema {
    /// The used columns of a table.
    pub fn of(table: &NodeTable) -> Self {
        let features = Features::of(table);
        let means = ColumnMeans::of(&features, &features.missing()).means;
        let mut groups = features.groups().iter();
        let column = |column: &Column| {
            let kind = ColumnType::of(column)?;
            let means = groups.next().map(|group| means[group.features.clone()].to_vec());
            let (unit, range) = match (&kind, column.data()) {
                (ColumnType::Category(_), _) | (_, ColumnData::Block(_)) => (1.0, None),
                _ => {
                    let numbers = column.numbers();
                    let (low, high) = match kind {
                        ColumnType::Number | ColumnType::Count => reach(numbers.iter().copied()),
                        _ => known_range(numbers.iter().copied()),
                    };
                    (unit_of(&numbers), (low <= high).then_some((low, high)))
                }
            };
            let (name, style) = (column.name().to_owned(), column.column_style());
            Some(ColumnSchema { name, kind, style, unit, range, means: means.unwrap_or_default() })
        };
        Schema { columns: table.columns().iter().filter_map(column).collect() }
    }

    /// The types of the columns, to be declared before a later table is read.
    pub fn declared_types(&self) -> DeclaredTypes {
        let mut types = DeclaredTypes::default();
        for column in &self.columns {
            if let Some(kind) = column.kind.declared() {
                types.declare(column.name.clone(), kind);
            }
        }
        types
    }

    /// A table whose columns have the types of the model, with the others left as they are, and notes
    /// about what differs. Fails where the table lacks a column, or a block has another width.
    pub fn apply(&self, table: &NodeTable) -> Result<(NodeTable, Vec<Note>)> {
        self.check_names(table)?;
        let (mut columns, mut notes) = (Vec::new(), Vec::new());
        let mut others = Vec::new();
        for column in table.columns() {
            let Some(schema) = self.columns.iter().find(|own| own.name == column.name()) else {
                if column.kind().is_used() {
                    others.push(column.name().to_owned());
                }
                let kind = match column.kind() {
                    Kind::Unused(reason) => Kind::Unused(reason.clone()),
                    _ => Kind::Unused(graphfill_data::Unused::Declared),
                };
                columns.push(column.clone().with_kind(kind));
                continue;
            };
            columns.push(schema.apply(column)?);
            notes.extend(schema.new_levels(column));
        }
        if !others.is_empty() {
            notes.push(Note::new(format!(
                "the model was trained without {}: left as they are",
                others.join(", ")
            )));
        }
        Ok((table.with_columns(columns)?, notes))
    }

    fn check_names(&self, table: &NodeTable) -> Result<()> {
        let names: Vec<&str> = table.columns().iter().map(Column::name).collect();
        let lacking: Vec<String> = self
            .columns
            .iter()
            .filter(|own| !names.contains(&own.name.as_str()))
            .map(|own| {
                let closest = suggest(did_you_mean(&own.name, names.iter().copied()));
                format!("'{}'{closest}", own.name)
            })
            .collect();
        if lacking.is_empty() {
            return Ok(());
        }
        Err(MethodError::Table(format!(
            "the model was trained with columns that the table lacks: {}\n  add them (their cells may be missing), or train again without them",
            lacking.join(", ")
        )))
    }
}

impl ColumnSchema {
    fn apply(&self, column: &Column) -> Result<Column> {
        let found = match (column.data(), &self.kind) {
            (
                ColumnData::Block(block),
                ColumnType::BinaryBlock(width) | ColumnType::NumericBlock(width),
            ) if block.width() == *width => {
                return Ok(column.clone());
            }
            (ColumnData::Block(block), _) => format!("a block of {} columns", block.width()),
            (ColumnData::Array(_), ColumnType::BinaryBlock(_) | ColumnType::NumericBlock(_)) => {
                "a single column".to_owned()
            }
            (ColumnData::Array(_), _) => {
                let column = column.clone().with_kind(self.kind.kind());
                return Ok(column.with_default_style(&self.style));
            }
        };
        Err(MethodError::Table(format!(
            "column '{}': the model expects {}, found {found}",
            self.name,
            self.kind.describe()
        )))
    }

    /// A note about levels that the model does not know: their cells are no evidence.
    fn new_levels(&self, column: &Column) -> Option<Note> {
        let ColumnType::Category(known) = &self.kind else { return None };
        let found = column.levels();
        let new: Vec<&String> = found.names.iter().filter(|name| !known.contains(name)).collect();
        if new.is_empty() {
            return None;
        }
        let is_new = |code: &&Option<u32>| {
            code.is_some_and(|code| new.contains(&&found.names[code as usize]))
        };
        let cells = found.codes.iter().filter(is_new).count();
        let mut names: Vec<String> =
            new.iter().take(MAX_NAMED).map(|name| format!("'{name}'")).collect();
        if new.len() > MAX_NAMED {
            names.push(format!("and {} more", new.len() - MAX_NAMED));
        }
        let what = if new.len() == 1 { "a level" } else { "levels" };
        Some(Note::warning(format!(
            "column '{}' has {what} that the model does not know ({}): {cells} cells are treated as missing evidence and stay as they are",
            self.name,
            names.join(", ")
        )))
    }
}
