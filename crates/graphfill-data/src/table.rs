//! The node table: one row per node with an id, typed columns with missing cells, and labels.

use std::collections::HashMap;

use arrow_schema::FieldRef;

use crate::cell_mask::CellMask;
use crate::column::{Column, ColumnData};
use crate::error::{DataError, Result};
use crate::formats::Dialect;
use crate::ids::NodeIds;
use crate::labels::Labels;

/// Rows in the order of the file; the id column is kept apart from the others.
#[derive(Debug, Clone)]
pub struct NodeTable {
    /// The name, position and type of the id column in the file.
    pub id_column: IdColumn,
    /// The schema metadata of an Arrow or Parquet file, kept for the output.
    pub file_metadata: HashMap<String, String>,
    /// How the text file was written down, kept for the output.
    pub(crate) dialect: Option<Dialect>,
    ids: NodeIds,
    columns: Vec<Column>,
    labels: Option<Labels>,
}

/// The id column of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdColumn {
    /// Its name.
    pub name: String,
    /// The number of columns before it; none where the file has no such column (nodes are numbered).
    pub position: Option<usize>,
    /// Its field in a typed file.
    pub field: Option<FieldRef>,
    /// Whether the text file has no line of column names.
    pub headerless: bool,
}

impl Default for IdColumn {
    fn default() -> Self {
        IdColumn { name: "id".to_owned(), position: Some(0), field: None, headerless: false }
    }
}

impl NodeTable {
    /// A table of these columns.
    ///
    /// Fails if a column or the labels have another number of rows than there are ids.
    pub fn new(
        id_column: IdColumn,
        ids: NodeIds,
        columns: Vec<Column>,
        labels: Option<Labels>,
    ) -> Result<Self> {
        for column in &columns {
            check_rows(&format!("column '{}'", column.name()), column.rows(), ids.len())?;
        }
        if let Some(labels) = &labels {
            check_rows("the labels column", labels.codes.len(), ids.len())?;
        }
        let file_metadata = HashMap::new();
        Ok(NodeTable { id_column, file_metadata, dialect: None, ids, columns, labels })
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

    /// The same table with other columns; fails if one has another number of rows.
    pub fn with_columns(&self, columns: Vec<Column>) -> Result<NodeTable> {
        let (ids, labels) = (self.ids.clone(), self.labels.clone());
        let table = NodeTable::new(self.id_column.clone(), ids, columns, labels)?;
        Ok(NodeTable { file_metadata: self.file_metadata.clone(), dialect: self.dialect, ..table })
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
        NodeTable {
            id_column: self.id_column.clone(),
            file_metadata: self.file_metadata.clone(),
            dialect: self.dialect,
            ids: self.ids.extended(ids),
            columns,
            labels,
        }
    }

    /// The missing cells of the used columns. The mask has one column per single column and `width`
    /// columns per block, in the order of the used columns.
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

    /// The table with further cells missing. `hidden` has the columns of [`NodeTable::missing`];
    /// fails if it is of another size.
    pub fn with_hidden(&self, hidden: &CellMask) -> Result<NodeTable> {
        check_rows("the mask", hidden.rows(), self.rows())?;
        if hidden.width() != self.features() {
            let (found, expected) = (hidden.width(), self.features());
            return Err(DataError::request(
                format!("the mask has {found} columns, but the table has {expected} features"),
                "",
            ));
        }
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

fn check_rows(what: &str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    let found = format!("{what} has {found} rows, but the table has {expected}");
    Err(DataError::request(found, "give every column one cell per node"))
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

/// The number of cells per row of the column.
fn cells_per_row(column: &Column) -> usize {
    match column.data() {
        ColumnData::Array(_) => 1,
        ColumnData::Block(block) => block.width(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Kind;
    use arrow_array::Float64Array;
    use std::sync::Arc;

    fn column(rows: usize) -> Column {
        Column::new("v", Kind::Number, Arc::new(Float64Array::from(vec![1.5; rows])))
    }

    #[test]
    fn rows_that_differ_are_refused() {
        let made = |rows, labels: Option<usize>| {
            let labels = labels.and_then(|rows| Labels::from_numbers("y", &vec![1; rows]));
            NodeTable::new(IdColumn::default(), NodeIds::numbered(3), vec![column(rows)], labels)
        };
        let mut table = made(3, Some(3)).expect("a table");
        assert!(made(2, None).expect_err("a short column").to_string().contains("'v' has 2 rows"));
        assert!(
            made(3, Some(4)).expect_err("long labels").to_string().contains("labels column has 4")
        );
        assert!(table.with_columns(vec![column(4)]).is_err());
        assert!(table.with_hidden(&CellMask::none(2, 1)).is_err());
        assert!(table.with_hidden(&CellMask::none(3, 2)).is_err());
        let hidden = table.with_hidden(&CellMask::of_rows(3, 1, [1])).expect("a mask of its size");
        assert_eq!(hidden.missing(), CellMask::of_rows(3, 1, [1]));
        table.file_metadata.insert("key".into(), "value".into());
        let longer = table.with_new_nodes(&["x".to_owned()]);
        assert_eq!((longer.rows(), longer.file_metadata.len()), (4, 1));
        assert_eq!(longer.missing(), CellMask::of_rows(4, 1, [3]));
    }
}
