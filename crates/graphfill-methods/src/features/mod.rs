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
//! A **cell** is what can be missing: one of a single column, one a column of a block. A category
//! has one cell and L features.

mod centres;
mod panel;

use std::ops::Range;

use graphfill_data::{Block, BlockKind, CellMask, Column, ColumnData, Kind, NodeTable};

pub use centres::Centres;
pub use panel::{Panel, Panels};

/// The features of a table.
#[derive(Debug)]
pub struct Features<'a> {
    rows: usize,
    width: usize,
    cells: usize,
    groups: Vec<Group>,
    values: Vec<Values<'a>>,
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
    /// The features of the used columns of a table.
    pub fn of(table: &'a NodeTable) -> Self {
        let mut features = Features {
            rows: table.rows(),
            width: 0,
            cells: 0,
            groups: Vec::new(),
            values: Vec::new(),
        };
        for (position, column) in table.columns().iter().enumerate() {
            features.push(position, column);
        }
        features
    }

    fn push(&mut self, position: usize, column: &'a Column) {
        let (kind, values, width, cells) = match (column.kind(), column.data()) {
            (Kind::Unused(_), _) => return,
            (_, ColumnData::Block(block)) => {
                let kind = match block.kind() {
                    BlockKind::Binary => GroupKind::BinaryBlock,
                    BlockKind::Numeric => GroupKind::NumericBlock,
                };
                (kind, Values::Block(block), block.width(), block.width())
            }
            (Kind::Category, _) => {
                let levels = column.levels();
                let width = levels.names.len();
                (GroupKind::Category(levels.names), Values::Levels(levels.codes), width, 1)
            }
            (kind, _) => {
                let kind = match kind {
                    Kind::Count => GroupKind::Count,
                    Kind::Boolean => GroupKind::Boolean,
                    _ => GroupKind::Number,
                };
                (kind, Values::Numbers(column.numbers()), 1, 1)
            }
        };
        self.groups.push(Group {
            name: column.name().to_owned(),
            kind,
            column: position,
            features: self.width..self.width + width,
            cells: self.cells..self.cells + cells,
        });
        self.values.push(values);
        self.width += width;
        self.cells += cells;
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

    /// The groups, in the order of the table.
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
        let Values::Block(block) = &self.values[group] else {
            for (feature, value) in self.groups[group].features.clone().zip(out) {
                *value = self.value(group, row, feature);
            }
            return;
        };
        out.fill(0.0);
        block.cells(row).for_each(|(column, value)| out[column as usize] = value);
        match block.missing().is_whole(row) {
            true => out.fill(f64::NAN),
            false => block.missing().cells(row).iter().for_each(|&at| out[at as usize] = f64::NAN),
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
