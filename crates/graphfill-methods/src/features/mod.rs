//! A node table as numbers: what every method computes with.
//!
//! Each used column becomes a **group** of feature columns:
//!
//! | column | features | centred |
//! |---|---|---|
//! | number, count | its value | yes |
//! | boolean | 0 or 1 | yes |
//! | category of L levels | L columns, a one in that of its level | yes |
//! | numeric block | its columns | yes |
//! | binary block | its columns | no: scores rank words, and a zero is a fact |
//!
//! Centred means that the mean over the known cells is subtracted before a method sees a value
//! and added to what it returns, so that a method which knows nothing says "the mean".
//!
//! Methods compute in single precision. A column with numbers beyond `MAX_MAGNITUDE` is therefore
//! divided by a power of two, its **unit**; estimates are multiplied with it when they are written.
//!
//! A **cell** is what can be missing: one of a single column, one a column of a block. A category
//! has one cell and L features.

mod column_means;
mod panel;
pub(crate) mod reach;
mod sample;

use std::ops::Range;

use graphfill_data::{Block, BlockKind, CellMask, Column, ColumnData, Kind, Levels, NodeTable};

use crate::schema::{ColumnSchema, ColumnType, Schema};

pub use column_means::ColumnMeans;
pub(crate) use column_means::MIN_KNOWN;
pub use panel::{Panel, Panels};
pub use sample::ColumnSample;

/// Numbers whose squares single precision holds, with room for sums of many.
const MAX_MAGNITUDE: f64 = 1e15;

/// The features of a table.
#[derive(Debug)]
pub struct Features<'a> {
    rows: usize,
    width: usize,
    cells: usize,
    groups: Vec<Group>,
    values: Vec<Values<'a>>,
    /// The means of a model's training table, for columns of which a later table knows little.
    trained_means: Option<Vec<f64>>,
}

/// A column of the table and the features that it became.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The name of the column.
    pub name: String,
    /// What it holds.
    pub kind: GroupKind,
    /// Its position among the columns of the table.
    pub column: usize,
    /// Its features.
    pub features: Range<usize>,
    /// Its cells.
    pub cells: Range<usize>,
    /// What one stands for in its values, estimates and errors: 1, or a power of two in a column of
    /// numbers so large that single precision could not hold their squares.
    pub unit: f64,
    /// Whether its numbers are dates, whose zero has no meaning.
    pub is_date: bool,
}

/// What a group holds.
#[derive(Debug, Clone, PartialEq)]
pub enum GroupKind {
    /// One number.
    Number,
    /// One whole number ≥ 0.
    Count,
    /// One truth value.
    Boolean,
    /// One of these levels.
    Category(Vec<String>),
    /// Zeros and ones, to be ranked.
    BinaryBlock,
    /// Numbers.
    NumericBlock,
}

#[derive(Debug)]
enum Values<'a> {
    Numbers(Vec<f64>),
    Levels(Vec<Option<u32>>),
    Block(&'a Block),
}

impl Group {
    /// Whether its estimates are scores that rank its columns.
    pub fn is_ranking(&self) -> bool {
        self.kind == GroupKind::BinaryBlock
    }

    /// Whether its estimates are probabilities of levels.
    pub fn has_levels(&self) -> bool {
        matches!(self.kind, GroupKind::Boolean | GroupKind::Category(_))
    }

    /// The cell that a feature belongs to.
    pub fn cell_of(&self, feature: usize) -> usize {
        match self.kind {
            GroupKind::BinaryBlock | GroupKind::NumericBlock => {
                self.cells.start + (feature - self.features.start)
            }
            _ => self.cells.start,
        }
    }
}

impl<'a> Features<'a> {
    /// Features of so many nodes, without any column yet.
    fn empty(rows: usize) -> Self {
        Features {
            rows,
            width: 0,
            cells: 0,
            groups: Vec::new(),
            values: Vec::new(),
            trained_means: None,
        }
    }

    /// The features of the used columns of a table.
    pub fn of(table: &'a NodeTable) -> Self {
        let mut features = Features::empty(table.rows());
        for (position, column) in table.columns().iter().enumerate() {
            features.push(position, column, None);
        }
        features
    }

    /// The features of the columns of a schema, in its order, with its category levels. A cell with
    /// another level counts as missing. The table must have the columns of the schema.
    pub fn with_schema(table: &'a NodeTable, schema: &Schema) -> Self {
        let mut features = Features::empty(table.rows());
        for own in &schema.columns {
            let found = table.columns().iter().position(|column| column.name() == own.name);
            let Some(position) = found else { continue };
            features.push(position, &table.columns()[position], Some(own));
        }
        let means = schema.columns.iter().flat_map(|own| own.means.iter().copied()).collect();
        features.trained_means = Some(means);
        features
    }

    /// The same rows and groups, some of the groups with another block of another width.
    pub(crate) fn with_blocks<'b>(&self, blocks: &'b [Option<(GroupKind, Block)>]) -> Features<'b>
    where
        'a: 'b,
    {
        let mut features = Features::empty(self.rows);
        for ((group, values), replaced) in self.groups.iter().zip(&self.values).zip(blocks) {
            let (kind, values) = match (replaced, values) {
                (Some((kind, block)), _) => (kind, Values::Block(block)),
                (None, Values::Block(block)) => (&group.kind, Values::Block(block)),
                (None, Values::Numbers(numbers)) => (&group.kind, Values::Numbers(numbers.clone())),
                (None, Values::Levels(levels)) => (&group.kind, Values::Levels(levels.clone())),
            };
            let (width, cells) = match &values {
                Values::Block(block) => (block.width(), block.width()),
                _ => (group.features.len(), 1),
            };
            features.groups.push(Group {
                kind: kind.clone(),
                features: features.width..features.width + width,
                cells: features.cells..features.cells + cells,
                ..group.clone()
            });
            features.values.push(values);
            features.width += width;
            features.cells += cells;
        }
        features
    }

    /// The same features, with the means of the table that a model was trained on.
    #[must_use]
    pub(crate) fn with_trained_means(mut self, means: Option<Vec<f64>>) -> Self {
        self.trained_means = means;
        self
    }

    fn push(&mut self, position: usize, column: &'a Column, schema: Option<&ColumnSchema>) {
        let mut unit = 1.0;
        let (kind, values, width, cells) = match (column.kind(), column.data()) {
            (Kind::Unused(_), _) => return,
            (_, ColumnData::Block(block)) => {
                // The values of a later table may all be 0 or 1 by chance: the model's type counts.
                let is_binary = match schema.map(|schema| &schema.kind) {
                    Some(ColumnType::BinaryBlock(_)) => true,
                    Some(ColumnType::NumericBlock(_)) => false,
                    _ => block.kind() == BlockKind::Binary,
                };
                let kind = if is_binary { GroupKind::BinaryBlock } else { GroupKind::NumericBlock };
                (kind, Values::Block(block), block.width(), block.width())
            }
            (Kind::Category, _) => {
                let levels = match schema.map(|schema| &schema.kind) {
                    Some(ColumnType::Category(known)) => known_levels(column, known),
                    _ => column.levels(),
                };
                let width = levels.names.len();
                (GroupKind::Category(levels.names), Values::Levels(levels.codes), width, 1)
            }
            (kind, _) => {
                let kind = match kind {
                    Kind::Count => GroupKind::Count,
                    Kind::Boolean => GroupKind::Boolean,
                    _ => GroupKind::Number,
                };
                let mut numbers = column.numbers();
                unit = schema.map_or_else(|| unit_of(&numbers), |schema| schema.unit);
                numbers.iter_mut().for_each(|number| *number /= unit);
                (kind, Values::Numbers(numbers), 1, 1)
            }
        };
        if width == 0 {
            // A category without any level.
            return;
        }
        self.groups.push(Group {
            name: column.name().to_owned(),
            kind,
            column: position,
            features: self.width..self.width + width,
            cells: self.cells..self.cells + cells,
            unit,
            is_date: *column.kind() == Kind::Date,
        });
        self.values.push(values);
        self.width += width;
        self.cells += cells;
    }

    /// The mean of a feature in the table that a model was trained on; none where this is that table.
    pub fn trained_mean(&self, feature: usize) -> Option<f64> {
        self.trained_means.as_ref().map(|means| means[feature])
    }

    /// The number of nodes.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of features.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of cells a row.
    pub fn cells(&self) -> usize {
        self.cells
    }

    /// The groups, in the order of the table, or of the schema where there is one.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The groups that have features in `range`: their position, and which of their features.
    pub fn groups_in(
        &self,
        range: Range<usize>,
    ) -> impl Iterator<Item = (usize, &Group, Range<usize>)> {
        let first = self.groups.partition_point(|group| group.features.end <= range.start);
        let end = range.end;
        let inside = (first..self.groups.len()).map(|at| (at, &self.groups[at]));
        inside.take_while(move |(_, group)| group.features.start < end).map(move |(at, group)| {
            let start = group.features.start.max(range.start);
            (at, group, start..group.features.end.min(end))
        })
    }

    /// The value of one feature; NaN where its cell is missing from the table.
    pub fn value(&self, group: usize, row: usize, feature: usize) -> f64 {
        let at = feature - self.groups[group].features.start;
        match &self.values[group] {
            Values::Numbers(numbers) => numbers[row],
            Values::Levels(levels) => match levels[row] {
                None => f64::NAN,
                Some(level) => f64::from(u8::from(level as usize == at)),
            },
            Values::Block(block) if block.missing().contains(row, at) => f64::NAN,
            Values::Block(block) => {
                block.cells_between(row, at..at + 1).next().map_or(0.0, |(_, value)| value)
            }
        }
    }

    /// The values of a group in one row, as [`Features::value`] has them.
    pub fn row_of(&self, group: usize, row: usize, out: &mut [f64]) {
        self.values_of(group, row, self.groups[group].features.clone(), out);
    }

    /// The values of some features of a group in one row, as [`Features::value`] has them.
    pub fn values_of(&self, group: usize, row: usize, features: Range<usize>, out: &mut [f64]) {
        let Values::Block(block) = &self.values[group] else {
            for (feature, value) in features.zip(out) {
                *value = self.value(group, row, feature);
            }
            return;
        };
        let first = self.groups[group].features.start;
        let columns = features.start - first..features.end - first;
        if block.missing().is_whole(row) {
            return out.fill(f64::NAN);
        }
        out.fill(0.0);
        for (column, value) in block.cells_between(row, columns.clone()) {
            out[column as usize - columns.start] = value;
        }
        let holes = block.missing().cells(row);
        let from = holes.partition_point(|&hole| (hole as usize) < columns.start);
        for &hole in holes[from..].iter().take_while(|&&hole| (hole as usize) < columns.end) {
            out[hole as usize - columns.start] = f64::NAN;
        }
    }

    /// The level of a category cell.
    pub fn level(&self, group: usize, row: usize) -> Option<u32> {
        match &self.values[group] {
            Values::Levels(levels) => levels[row],
            Values::Numbers(_) | Values::Block(_) => None,
        }
    }

    /// The block behind a group.
    pub fn block(&self, group: usize) -> Option<&'a Block> {
        match &self.values[group] {
            Values::Block(block) => Some(block),
            Values::Numbers(_) | Values::Levels(_) => None,
        }
    }

    /// Which cells the table itself lacks.
    pub fn missing(&self) -> CellMask {
        CellMask::build(self.rows, self.cells, |row, cells| {
            for (group, values) in self.groups.iter().zip(&self.values) {
                let start = group.cells.start as u32;
                match values {
                    Values::Numbers(numbers) if numbers[row].is_nan() => cells.push(start),
                    Values::Levels(levels) if levels[row].is_none() => cells.push(start),
                    Values::Block(block) if block.missing().is_whole(row) => {
                        cells.extend(start..group.cells.end as u32);
                    }
                    Values::Block(block) => {
                        cells.extend(block.missing().cells(row).iter().map(|cell| start + cell));
                    }
                    _ => {}
                }
            }
        })
    }
}

/// The levels of a column as positions among known ones; none where a level is not known.
fn known_levels(column: &Column, known: &[String]) -> Levels {
    let found = column.levels();
    let position = |name: &String| known.iter().position(|own| own == name).map(|at| at as u32);
    let positions: Vec<Option<u32>> = found.names.iter().map(position).collect();
    let codes = found.codes.iter().map(|code| code.and_then(|code| positions[code as usize]));
    Levels { names: known.to_vec(), codes: codes.collect() }
}

/// The power of two that brings the numbers of a column to at most 2; 1 where they are small enough.
pub(crate) fn unit_of(numbers: &[f64]) -> f64 {
    let largest = numbers.iter().map(|number| number.abs()).fold(0.0, f64::max);
    if largest > MAX_MAGNITUDE { largest.log2().floor().exp2() } else { 1.0 }
}
