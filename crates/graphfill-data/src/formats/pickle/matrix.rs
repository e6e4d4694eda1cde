//! scipy CSR matrices inside a pickle: a dict of three arrays and a shape, checked against each
//! other when the matrix is asked for.

use super::arrays::extent_of;
use super::heap::{Heap, Object, Value};
use super::problem::Problem;

/// A scipy matrix in compressed rows: the cells of row `i` stand at `offsets[i]..offsets[i + 1]`.
pub(in crate::formats) struct CsrMatrix {
    pub(in crate::formats) columns: usize,
    pub(in crate::formats) offsets: Vec<usize>,
    pub(in crate::formats) indices: Vec<u32>,
    pub(in crate::formats) values: Vec<f64>,
}

impl CsrMatrix {
    /// The matrix at `value`, its parts checked against each other.
    pub(in crate::formats) fn of(heap: &Heap<'_>, value: Value) -> Result<Self, Problem> {
        let state = match heap.object(value) {
            Some(Object::Matrix(Some(state))) => heap.pairs(Value::Object(*state))?,
            Some(Object::Matrix(None)) => return Err(Problem::damaged("a matrix without content")),
            _ => return Err(Problem::unexpected("a scipy csr_matrix", heap.word(value))),
        };
        let part = |name: &str| {
            let found = state.iter().rev().find(|pair| heap.name(pair.0) == Some(name));
            let missing = || Problem::damaged(format!("a csr_matrix without its '{name}'"));
            found.map(|pair| pair.1).ok_or_else(missing)
        };
        let &[rows, columns] = heap.items(part("_shape").or_else(|_| part("shape"))?)? else {
            return Err(Problem::refused("a sparse array that has not two dimensions"));
        };
        let (rows, columns) = (extent_of(heap, rows)?, extent_of(heap, columns)?);
        if u32::try_from(columns).is_err() {
            return Err(Problem::refused(format!("a csr_matrix of {columns} columns")));
        }
        let offsets = heap.array(part("indptr")?)?.integers(heap)?;
        let indices = heap.array(part("indices")?)?.integers(heap)?;
        let values = heap.array(part("data")?)?.floats(heap)?;
        let offsets = checked_offsets(&offsets, rows, indices.len())?;
        if values.len() != indices.len() {
            return Err(Problem::damaged(format!(
                "a csr_matrix with {} column numbers and {} values",
                indices.len(),
                values.len()
            )));
        }
        let column = |&index: &i64| {
            let inside = usize::try_from(index).is_ok_and(|index| index < columns);
            u32::try_from(index).ok().filter(|_| inside).ok_or_else(|| {
                Problem::damaged(format!("a csr_matrix of {columns} columns names column {index}"))
            })
        };
        let indices = indices.iter().map(column).collect::<Result<_, _>>()?;
        Ok(CsrMatrix { columns, offsets, indices, values })
    }

    /// The number of rows.
    pub(in crate::formats) fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Appends the cells of a row; where a column stands twice its values add up, as in scipy.
    pub(in crate::formats) fn append_row(&self, row: usize, cells: &mut Vec<(u32, f64)>) {
        let slots = self.offsets[row]..self.offsets[row + 1];
        cells.extend(slots.map(|slot| (self.indices[slot], self.values[slot])));
        cells.sort_by_key(|cell| cell.0);
        cells.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            earlier.1 += if same { later.1 } else { 0.0 };
            same
        });
    }
}

/// Offsets that start at zero, never fall, and stay within the stored cells.
fn checked_offsets(offsets: &[i64], rows: usize, stored: usize) -> Result<Vec<usize>, Problem> {
    let ascending = offsets.is_sorted() && offsets.first() == Some(&0);
    let inside = offsets.last().is_some_and(|&last| last as u64 <= stored as u64);
    if offsets.len() != rows.saturating_add(1) || !ascending || !inside {
        return Err(Problem::damaged(format!(
            "a csr_matrix of {rows} rows and {stored} cells with row offsets that don't fit \
             ({} of them)",
            offsets.len()
        )));
    }
    Ok(offsets.iter().map(|&offset| offset as usize).collect())
}
