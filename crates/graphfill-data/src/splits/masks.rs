//! Splits from boolean masks, as PyTorch Geometric has them: `train_mask`, `val_mask` and
//! `test_mask`, each with one value per node, or one value per node and split.

use super::Split;
use crate::column::{Column, ColumnData};
use crate::error::{DataError, Result};
use crate::kind::{Kind, Unused};
use crate::table::NodeTable;

/// The names of the masks of the three parts; the first is the usual one.
pub(crate) const MASK_NAMES: [&[&str]; 3] =
    [&["train_mask"], &["val_mask", "valid_mask", "validation_mask"], &["test_mask"]];

/// How many splits the lists of a mask column may describe.
const MAX_SPLITS: usize = 1000;

/// What to do about masks that are no split.
pub(crate) const MASK_ADVICE: &str = "give train_mask, val_mask and test_mask; each needs at least one node, and no node may be in two";

/// The masks of one part: `nodes × splits` booleans, row by row.
pub(crate) struct PartMasks {
    pub(crate) name: String,
    pub(crate) nodes: usize,
    pub(crate) cells: Vec<bool>,
}

impl PartMasks {
    fn splits(&self) -> usize {
        self.cells.len() / self.nodes.max(1)
    }

    fn rows(&self, split: usize) -> Vec<u32> {
        let splits = self.splits();
        let rows = (0..self.nodes).filter(|row| self.cells[row * splits + split]);
        rows.map(|row| row as u32).collect()
    }
}

/// The splits of the masks of train, validation and test; the error says why they are none.
pub(crate) fn from_masks(parts: &[PartMasks; 3]) -> std::result::Result<Vec<Split>, String> {
    let [train, validation, test] = parts;
    for other in [validation, test] {
        if (other.nodes, other.splits()) != (train.nodes, train.splits()) {
            let size = |part: &PartMasks| format!("{} × {}", part.nodes, part.splits());
            return Err(format!(
                "'{}' has {} values (nodes × splits), but '{}' has {}",
                train.name,
                size(train),
                other.name,
                size(other)
            ));
        }
    }
    (0..train.splits())
        .map(|split| {
            let mut part_of: Vec<Option<&str>> = vec![None; train.nodes];
            for part in parts {
                let rows = part.rows(split);
                if rows.is_empty() {
                    return Err(format!("'{}' has no node in split {split}", part.name));
                }
                for row in rows {
                    if let Some(other) = part_of[row as usize].replace(&part.name) {
                        let name = &part.name;
                        return Err(format!(
                            "row {row} is in '{other}' and in '{name}' in split {split}"
                        ));
                    }
                }
            }
            let [train, validation, test] = parts.each_ref().map(|part| part.rows(split));
            Ok(Split { train, validation, test })
        })
        .collect()
}

/// The splits that mask columns of the table describe, or none if it has no such column.
///
/// Mask columns are called `train_mask`, `val_mask` (also `valid_mask`, `validation_mask`) and
/// `test_mask`, and hold 0/1, true/false or lists of them, one item per split. Several splits can
/// also be several columns, `train_mask_0`, `train_mask_1`, … The split at position `i` belongs to
/// seed `i`.
///
/// Fails if one of the three masks is missing, is not boolean, has no node, or shares a node with
/// another.
///
/// ```
/// use std::sync::Arc;
/// use graphfill_data::arrow::array::{ArrayRef, BooleanArray, RecordBatch};
/// use graphfill_data::{DeclaredTypes, NodeTable, splits};
///
/// let mask = |row: usize| Arc::new((0..3).map(|r| Some(r == row)).collect::<BooleanArray>());
/// let columns: [(&str, ArrayRef); 3] =
///     [("train_mask", mask(2)), ("val_mask", mask(0)), ("test_mask", mask(1))];
/// let batch = RecordBatch::try_from_iter(columns)?;
/// let table = NodeTable::from_record_batches(&[batch], None, &DeclaredTypes::default())?;
/// let found = splits::from_mask_columns(&table)?.expect("a split");
/// assert_eq!((&found[0].train[..], &found[0].test[..]), (&[2][..], &[1][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn from_mask_columns(table: &NodeTable) -> Result<Option<Vec<Split>>> {
    let parts = mask_columns(table);
    if parts.iter().all(Vec::is_empty) {
        return Ok(None);
    }
    let invalid = |found: String| DataError::request(found, MASK_ADVICE);
    let mut masks = Vec::new();
    for (columns, names) in parts.into_iter().zip(MASK_NAMES) {
        masks.push(part_masks(names[0], &columns, table.rows()).map_err(invalid)?);
    }
    let Ok(masks) = <[PartMasks; 3]>::try_from(masks) else { return Ok(None) };
    from_masks(&masks).map(Some).map_err(invalid)
}

/// The table with its mask columns unused ([`Unused::Split`]), so that they are no features;
/// unchanged if it lacks one of the three masks.
pub fn without_mask_features(table: &NodeTable) -> Result<NodeTable> {
    let parts = mask_columns(table);
    if parts.iter().any(Vec::is_empty) {
        return Ok(table.clone());
    }
    let names: Vec<&str> = parts.iter().flatten().map(|column| column.name()).collect();
    let columns = table.columns().iter().cloned();
    let columns = columns.map(|column| match names.contains(&column.name()) {
        true => column.with_kind(Kind::Unused(Unused::Split)),
        false => column,
    });
    table.with_columns(columns.collect())
}

/// The mask columns of train, validation and test, by their number.
fn mask_columns(table: &NodeTable) -> [Vec<&Column>; 3] {
    MASK_NAMES.map(|names| {
        let number = |column: &Column| {
            let name = column.name().to_ascii_lowercase();
            let rest = names.iter().find_map(|usual| name.strip_prefix(usual))?;
            if rest.is_empty() { Some(0) } else { rest.strip_prefix('_')?.parse::<u32>().ok() }
        };
        let numbered = table.columns().iter().filter_map(|column| Some((number(column)?, column)));
        let mut columns: Vec<(u32, &Column)> = numbered.collect();
        columns.sort_by_key(|(number, _)| *number);
        columns.into_iter().map(|(_, column)| column).collect()
    })
}

fn part_masks(
    usual_name: &str,
    columns: &[&Column],
    nodes: usize,
) -> std::result::Result<PartMasks, String> {
    let Some(first) = columns.first() else {
        return Err(format!("the table has mask columns, but no '{usual_name}'"));
    };
    let name = first.name().to_owned();
    let mut masks: Vec<Vec<bool>> = Vec::new();
    for column in columns {
        match column.data() {
            ColumnData::Array(_) => {
                let numbers = (*column).clone().with_kind(Kind::Boolean).numbers();
                let mask = numbers.iter().enumerate().map(|(row, &value)| match value {
                    0.0 => Ok(false),
                    1.0 => Ok(true),
                    _ => Err(format!("row {row} of '{}' is neither true nor false", column.name())),
                });
                masks.push(mask.collect::<std::result::Result<_, _>>()?);
            }
            ColumnData::Block(block) => {
                let valid = block.missing().is_empty()
                    && (0..nodes).all(|row| block.cells(row).all(|(_, value)| value == 1.0));
                if !valid || block.width() > MAX_SPLITS {
                    let name = column.name();
                    return Err(format!(
                        "'{name}' holds other lists than up to {MAX_SPLITS} times true or false"
                    ));
                }
                let mut items = vec![vec![false; nodes]; block.width()];
                for (row, item) in
                    (0..nodes).flat_map(|row| block.columns(row).iter().map(move |at| (row, *at)))
                {
                    items[item as usize][row] = true;
                }
                masks.extend(items);
            }
        }
    }
    let cells = (0..nodes).flat_map(|row| masks.iter().map(move |mask| mask[row])).collect();
    Ok(PartMasks { name, nodes, cells })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::NodeIds;
    use crate::infer::typed_column;
    use crate::table::IdColumn;
    use crate::types_file::DeclaredTypes;
    use arrow_array::builder::{BooleanBuilder, ListBuilder};
    use arrow_array::{ArrayRef, RecordBatch, StringArray};
    use std::sync::Arc;

    fn table(columns: &[(&str, [&str; 4])]) -> NodeTable {
        let column = |(name, cells): &(&str, [&str; 4])| {
            let cells = cells.iter().map(|cell| (!cell.is_empty()).then_some(*cell));
            let cells = Arc::new(cells.collect::<StringArray>());
            typed_column(name, cells, None).expect("a column")
        };
        let columns = columns.iter().map(column).collect();
        let ids = NodeIds::numbered(4);
        NodeTable::new(IdColumn::default(), ids, columns, None).expect("a table")
    }

    const GOOD: [(&str, [&str; 4]); 4] = [
        ("age", ["3", "5", "4", ""]),
        ("train_mask", ["True", "False", "False", "True"]),
        ("val_mask", ["0", "1", "0", "0"]),
        ("test_mask", ["no", "no", "yes", "no"]),
    ];

    #[test]
    fn masks_of_any_spelling_are_splits_and_no_features() {
        let table = table(&GOOD);
        let splits = from_mask_columns(&table).expect("valid masks").expect("masks");
        let expected = Split { train: vec![0, 3], validation: vec![1], test: vec![2] };
        assert_eq!(splits, std::slice::from_ref(&expected));
        let marked = without_mask_features(&table).expect("the same rows");
        assert_eq!((table.features(), marked.features()), (4, 1));
        assert_eq!(*marked.columns()[1].kind(), Kind::Unused(Unused::Split));
        assert_eq!(from_mask_columns(&marked).expect("valid masks"), Some(vec![expected]));
    }

    #[test]
    fn several_columns_are_several_splits() {
        let table = table(&[
            ("train_mask_1", ["0", "0", "0", "1"]),
            ("train_mask_0", ["1", "0", "0", "0"]),
            ("validation_mask_0", ["0", "1", "0", "0"]),
            ("validation_mask_1", ["0", "1", "0", "0"]),
            ("test_mask_0", ["0", "0", "1", "1"]),
            ("test_mask_1", ["0", "0", "1", "0"]),
        ]);
        let splits = from_mask_columns(&table).expect("valid masks").expect("masks");
        let trains: Vec<_> = splits.iter().map(|split| split.train.clone()).collect();
        assert_eq!(trains, [[0], [3]]);
    }

    #[test]
    fn lists_are_several_splits() {
        let mask = |name: &'static str, lists: [[bool; 2]; 3]| -> (&str, ArrayRef) {
            let mut builder = ListBuilder::new(BooleanBuilder::new());
            lists.iter().for_each(|list| builder.append_value(list.map(Some)));
            (name, Arc::new(builder.finish()))
        };
        let batch = RecordBatch::try_from_iter([
            mask("train_mask", [[true, false], [false, true], [false, false]]),
            mask("val_mask", [[false, true], [true, false], [false, false]]),
            mask("test_mask", [[false, false], [false, false], [true, true]]),
        ]);
        let batch = batch.expect("a batch");
        let table = NodeTable::from_record_batches(&[batch], None, &DeclaredTypes::default());
        let table = table.expect("a table");
        let splits = from_mask_columns(&table).expect("valid masks").expect("masks");
        let parts: Vec<_> = splits.iter().map(|s| (&s.train[..], &s.validation[..])).collect();
        assert_eq!(parts, [(&[0][..], &[1][..]), (&[1], &[0])]);
        assert_eq!(without_mask_features(&table).expect("the same rows").features(), 0);
    }

    #[test]
    fn masks_that_are_no_split_are_refused() {
        let without = |name: &str| GOOD.into_iter().filter(|c| c.0 != name).collect::<Vec<_>>();
        let with = |name: &'static str, cells| [without(name), vec![(name, cells)]].concat();
        for (columns, told) in [
            (without("val_mask"), "no 'val_mask'"),
            (with("val_mask", ["0", "0", "0", "0"]), "'val_mask' has no node"),
            (with("val_mask", ["0", "1", "1", "0"]), "row 2 is in 'val_mask' and in 'test_mask'"),
            (with("test_mask", ["0", "", "1", "0"]), "row 1 of 'test_mask'"),
            (with("test_mask", ["0", "2", "1", "0"]), "row 1 of 'test_mask'"),
            ([&GOOD[..], &[("test_mask_1", ["1", "0", "0", "0"])]].concat(), "4 × 1"),
        ] {
            let error = from_mask_columns(&table(&columns)).expect_err(told).to_string();
            assert!(error.contains(told) && error.contains("at least one node"), "{error}");
        }
        assert_eq!(from_mask_columns(&table(&GOOD[..1])).expect("no masks"), None);
        let alone = without_mask_features(&table(&GOOD[..2])).expect("the same rows");
        assert_eq!(alone.features(), 2);
    }
}
