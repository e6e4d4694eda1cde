//! The node table: one row per node, an id, typed columns with missing cells, labels.

use std::collections::HashMap;

use arrow_schema::FieldRef;

use crate::cell_mask::CellMask;
use crate::column::{Column, ColumnData};
use crate::ids::NodeIds;
use crate::labels::Labels;

/// Rows in the order of the file; the id column is kept apart from the others.
#[derive(Debug, Clone)]
pub struct NodeTable {
    /// The name of the id column, and how many columns stood before it in the file.
    pub id_column: IdColumn,
    /// What a typed file says about itself beside its columns, kept for the output.
    pub file_metadata: HashMap<String, String>,
    ids: NodeIds,
    columns: Vec<Column>,
    labels: Option<Labels>,
}

/// Where the ids stood in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdColumn {
    /// Its name.
    pub name: String,
    /// How many columns stood before it.
    pub position: usize,
    /// Its field in a typed file.
    pub field: Option<FieldRef>,
}

impl Default for IdColumn {
    fn default() -> Self {
        IdColumn { name: "id".to_owned(), position: 0, field: None }
    }
}

impl NodeTable {
    /// A table of these columns.
    ///
    /// # Panics
    /// If a column has another number of rows than there are ids.
    pub fn new(
        id_column: IdColumn,
        ids: NodeIds,
        columns: Vec<Column>,
        labels: Option<Labels>,
    ) -> Self {
        for column in &columns {
            assert_eq!(column.rows(), ids.len(), "rows of column '{}'", column.name());
        }
        if let Some(labels) = &labels {
            assert_eq!(labels.codes.len(), ids.len(), "rows of the labels");
        }
        NodeTable { id_column, file_metadata: HashMap::new(), ids, columns, labels }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.ids.len()
    }

    /// The ids.
    pub fn ids(&self) -> &NodeIds {
        &self.ids
    }

    /// The columns in the order of the file, the id column left out.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name() == name)
    }

    /// The classes of the nodes, where the table has them.
    pub fn labels(&self) -> Option<&Labels> {
        self.labels.as_ref()
    }

    /// The columns whose missing cells are estimated.
    pub fn used_columns(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| column.kind().is_used())
    }

    /// The number of feature columns, each column of a block counted.
    pub fn features(&self) -> usize {
        self.used_columns().map(cells_per_row).sum()
    }

    /// The same table with other columns.
    #[must_use]
    pub fn with_columns(&self, columns: Vec<Column>) -> NodeTable {
        let (ids, labels) = (self.ids.clone(), self.labels.clone());
        let table = NodeTable::new(self.id_column.clone(), ids, columns, labels);
        NodeTable { file_metadata: self.file_metadata.clone(), ..table }
    }

    /// The table with further rows in which everything is missing.
    #[must_use]
    pub fn with_new_nodes(&self, ids: &[String]) -> NodeTable {
        let columns =
            self.columns.iter().map(|column| column.with_missing_rows(ids.len())).collect();
        let labels = self.labels.clone().map(|mut labels| {
            labels.codes.resize(self.rows() + ids.len(), None);
            labels
        });
        NodeTable::new(self.id_column.clone(), self.ids.extended(ids), columns, labels)
    }

    /// The missing cells of the used columns. Columns of the mask are counted through the used
    /// columns: one per single column, `width` per block.
    pub fn missing(&self) -> CellMask {
        let used = self.missing_of_used();
        let whole = |row: usize| !used.is_empty() && used.iter().all(|m| m.is_whole(row));
        let features: usize = used.iter().map(UsedColumn::width).sum();
        let single = CellMask::build(self.rows(), features, |row, cells| {
            if whole(row) {
                return;
            }
            let mut start = 0u32;
            for column in &used {
                if column.is_whole(row) {
                    cells.extend(start..start + column.width() as u32);
                } else {
                    cells.extend(column.cells(row).iter().map(|cell| start + cell));
                }
                start += column.width() as u32;
            }
        });
        single.with_rows((0..self.rows()).filter(|&row| whole(row)))
    }

    /// The bytes that [`NodeTable::missing`] takes in a table with blocks: four per cell that it
    /// lists. A row that is missing in one wide block and observed elsewhere lists the whole width
    /// of the block.
    pub(crate) fn missing_bytes(&self) -> u64 {
        if !self.used_columns().any(|column| matches!(column.data(), ColumnData::Block(_))) {
            return 0;
        }
        let used = self.missing_of_used();
        let listed = |row: usize| -> u64 {
            if used.iter().all(|column| column.is_whole(row)) {
                return 0;
            }
            let cells = used.iter().map(|column| match column.is_whole(row) {
                true => column.width(),
                false => column.cells(row).len(),
            });
            cells.sum::<usize>() as u64
        };
        (0..self.rows()).map(listed).sum::<u64>() * 4
    }

    fn missing_of_used(&self) -> Vec<UsedColumn<'_>> {
        let missing = self.used_columns().map(|column| match column.data() {
            ColumnData::Array(_) => UsedColumn::Single(column.missing()),
            ColumnData::Block(block) => UsedColumn::Block(block.missing()),
        });
        missing.collect()
    }

    /// The table with further cells missing; `hidden` counts columns as [`NodeTable::missing`].
    #[must_use]
    pub fn with_hidden(&self, hidden: &CellMask) -> NodeTable {
        let mut start = 0;
        let columns = self.columns.iter().map(|column| {
            if !column.kind().is_used() {
                return column.clone();
            }
            let at = start;
            start += cells_per_row(column);
            match column.data() {
                ColumnData::Array(_) => {
                    let rows: Vec<bool> =
                        (0..self.rows()).map(|row| hidden.contains(row, at)).collect();
                    column.with_hidden_rows(&rows)
                }
                ColumnData::Block(block) => {
                    let part = hidden.slice(at..at + block.width());
                    column.with_block(block.with_hidden(&part))
                }
            }
        });
        let columns = columns.collect();
        self.with_columns(columns)
    }
}

/// Which cells of a used column are missing.
enum UsedColumn<'a> {
    Single(Vec<bool>),
    Block(&'a CellMask),
}

impl UsedColumn<'_> {
    fn width(&self) -> usize {
        match self {
            UsedColumn::Single(_) => 1,
            UsedColumn::Block(mask) => mask.width(),
        }
    }

    fn is_whole(&self, row: usize) -> bool {
        match self {
            UsedColumn::Single(missing) => missing[row],
            UsedColumn::Block(mask) => mask.is_whole(row),
        }
    }

    fn cells(&self, row: usize) -> &[u32] {
        match self {
            UsedColumn::Single(_) => &[],
            UsedColumn::Block(mask) => mask.cells(row),
        }
    }
}

/// How many cells a row of the column has.
fn cells_per_row(column: &Column) -> usize {
    match column.data() {
        ColumnData::Array(_) => 1,
        ColumnData::Block(block) => block.width(),
    }
}
