//! The node table: one row a node, an id, typed columns with missing cells, labels.

use std::collections::HashMap;

use arrow_schema::DataType;

use crate::cell_mask::CellMask;
use crate::column::{Column, ColumnData};
use crate::formats::Dialect;
use crate::ids::NodeIds;
use crate::labels::Labels;

/// Rows in the order of the file; the id column is kept apart from the others.
#[derive(Debug, Clone)]
pub struct NodeTable {
    /// The name of the id column, and how many columns stood before it in the file.
    pub id_column: IdColumn,
    /// What a typed file says about itself beside its columns, kept for the output.
    pub file_metadata: HashMap<String, String>,
    /// How the text file was written down, kept for the output.
    pub(crate) dialect: Option<Dialect>,
    ids: NodeIds,
    columns: Vec<Column>,
    labels: Option<Labels>,
}

/// Where the ids stood in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdColumn {
    /// Its name.
    pub name: String,
    /// How many columns stood before it; none where the file has no such column (nodes are numbered).
    pub position: Option<usize>,
    /// Its type in a typed file.
    pub data_type: Option<DataType>,
    /// Whether the text file has no line of column names.
    pub headerless: bool,
}

impl Default for IdColumn {
    fn default() -> Self {
        IdColumn { name: "id".to_owned(), position: Some(0), data_type: None, headerless: false }
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
        let file_metadata = HashMap::new();
        NodeTable { id_column, file_metadata, dialect: None, ids, columns, labels }
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
        NodeTable { file_metadata: self.file_metadata.clone(), dialect: self.dialect, ..table }
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
        let table = NodeTable::new(self.id_column.clone(), self.ids.extended(ids), columns, labels);
        NodeTable { file_metadata: self.file_metadata.clone(), dialect: self.dialect, ..table }
    }

    /// The missing cells of the used columns. Columns of the mask are counted through the used
    /// columns: one a single column, `width` a block.
    pub fn missing(&self) -> CellMask {
        let mut single = Vec::new();
        let mut blocks = Vec::new();
        let mut start = 0u32;
        for column in self.used_columns() {
            match column.data() {
                ColumnData::Array(_) => single.push((start, column.missing())),
                ColumnData::Block(block) => blocks.push((start, block)),
            }
            start += cells_per_row(column) as u32;
        }
        CellMask::build(self.rows(), start as usize, |row, cells| {
            cells.extend(single.iter().filter(|(_, missing)| missing[row]).map(|(at, _)| *at));
            for (at, block) in &blocks {
                if block.missing().is_whole(row) {
                    cells.extend((0..block.width() as u32).map(|column| at + column));
                } else {
                    cells.extend(block.missing().cells(row).iter().map(|column| at + column));
                }
            }
        })
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
                    let width = block.width();
                    let part = CellMask::build(self.rows(), width, |row, cells| {
                        if hidden.is_whole(row) {
                            cells.extend(0..width as u32);
                        } else {
                            let inside = hidden.cells(row).iter().map(|&cell| cell as usize);
                            let inside = inside.filter(|cell| (at..at + width).contains(cell));
                            cells.extend(inside.map(|cell| (cell - at) as u32));
                        }
                    });
                    Column::block(column.name(), block.with_hidden(&part))
                        .with_kind(column.kind().clone())
                }
            }
        });
        let columns = columns.collect();
        self.with_columns(columns)
    }
}

/// How many cells a row of the column has.
fn cells_per_row(column: &Column) -> usize {
    match column.data() {
        ColumnData::Array(_) => 1,
        ColumnData::Block(block) => block.width(),
    }
}
