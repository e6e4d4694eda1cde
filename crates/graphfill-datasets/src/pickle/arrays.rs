//! numpy arrays and scipy CSR matrices in a pickle: checked when they are built, decoded when they
//! are asked for.

use super::heap::{Heap, Object, ObjectId, Value};
use super::{Problem, check_limit};

/// The largest number of dimensions of a numpy array.
const MAX_DIMENSIONS: usize = 64;

/// The dtype of an array: little-endian numbers of `width` bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ElementType {
    kind: ElementKind,
    width: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ElementKind {
    Boolean,
    Signed,
    Unsigned,
    Float,
}

impl ElementType {
    /// Parses a dtype such as `i4` or `<f8`.
    pub(super) fn parse(text: &str) -> Result<Self, Problem> {
        let bare = text.trim_start_matches(['<', '|']);
        let kind = match bare {
            "b1" => ElementKind::Boolean,
            "i1" | "i2" | "i4" | "i8" => ElementKind::Signed,
            "u1" | "u2" | "u4" | "u8" => ElementKind::Unsigned,
            "f4" | "f8" => ElementKind::Float,
            _ => {
                let what = if bare.starts_with('O') { "Python objects" } else { "elements" };
                let text: String = text.chars().take(16).collect();
                return Err(Problem::refused(format!(
                    "an array holds {what} of dtype '{}'; little-endian integers, booleans, \
                     float32 and float64 are read",
                    text.escape_debug()
                )));
            }
        };
        Ok(ElementType { kind, width: usize::from(bare.as_bytes()[1] - b'0') })
    }

    /// The number in the bytes of one element.
    pub(super) fn number(self, element: &[u8]) -> Result<Value, Problem> {
        if element.len() != self.width {
            return Err(Problem::damaged(format!("a number of {} bytes", element.len())));
        }
        let mut bytes = [0; 8];
        bytes[..self.width].copy_from_slice(element);
        let bits = u64::from_le_bytes(bytes);
        Ok(match self.kind {
            ElementKind::Boolean => Value::Boolean(bits != 0),
            ElementKind::Signed => {
                let unused = 64 - 8 * self.width;
                Value::Integer((bits << unused).cast_signed() >> unused)
            }
            ElementKind::Unsigned => {
                i64::try_from(bits).map_or(Value::Float(bits as f64), Value::Integer)
            }
            ElementKind::Float if self.width == 4 => {
                Value::Float(f64::from(f32::from_bits(bits as u32)))
            }
            ElementKind::Float => Value::Float(f64::from_bits(bits)),
        })
    }
}

/// The order of the elements of an array with several dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    RowMajor,
    ColumnMajor,
}

/// A numpy array whose bytes are another object of the heap.
#[derive(Debug)]
pub(crate) struct Array {
    element: ElementType,
    shape: Vec<usize>,
    layout: Layout,
    data: ObjectId,
}

impl Array {
    /// Checks that the data are as long as the shape says.
    pub(super) fn new(
        heap: &Heap<'_>,
        shape: Value,
        element: Value,
        layout: Layout,
        data: Value,
    ) -> Result<Self, Problem> {
        let Some(&Object::ElementType(element)) = heap.object(element) else {
            return Err(Problem::unexpected("the dtype of an array", heap.describe(element)));
        };
        let extents = heap.items(shape)?;
        if extents.len() > MAX_DIMENSIONS {
            return Err(Problem::damaged(format!("an array of {} dimensions", extents.len())));
        }
        let shape: Vec<usize> =
            extents.iter().map(|&extent| extent_of(heap, extent)).collect::<Result<_, _>>()?;
        let bytes = heap.bytes(data)?.len();
        let needed = shape.iter().try_fold(element.width, |size, &extent| size.checked_mul(extent));
        let (Some(true), Value::Object(data)) = (needed.map(|needed| needed == bytes), data) else {
            return Err(Problem::damaged(format!(
                "an array of shape {shape:?} and {} bytes per element has {bytes} bytes",
                element.width
            )));
        };
        Ok(Array { element, shape, layout, data })
    }

    /// The extent of each dimension.
    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Decodes the elements in row-major order, if 8 bytes per element are within `limit`.
    fn decode<T>(
        &self,
        heap: &Heap<'_>,
        limit: u64,
        convert: impl Fn(Value) -> Result<T, Problem>,
    ) -> Result<Vec<T>, Problem> {
        let bytes = heap.bytes(Value::Object(self.data))?;
        let width = self.element.width;
        let count = bytes.len() / width;
        check_limit(8 * count as u64, limit)?;
        let rows = match (self.layout, &self.shape[..]) {
            (Layout::RowMajor, _) | (Layout::ColumnMajor, [] | [_]) => 1,
            (Layout::ColumnMajor, &[rows, _]) => rows.max(1),
            (Layout::ColumnMajor, _) => {
                return Err(Problem::refused("a column-major array of three or more dimensions"));
            }
        };
        let columns = count / rows;
        let number = |position: usize| {
            let start = (position % columns * rows + position / columns) * width;
            self.element.number(&bytes[start..start + width])
        };
        (0..count).map(|position| convert(number(position)?)).collect()
    }

    /// The elements of an array of integers in row-major order, 8 bytes each.
    pub(crate) fn integers(&self, heap: &Heap<'_>, limit: u64) -> Result<Vec<i64>, Problem> {
        self.decode(heap, limit, |number| heap.integer(number))
    }

    /// The elements in row-major order, 8 bytes each.
    pub(crate) fn floats(&self, heap: &Heap<'_>, limit: u64) -> Result<Vec<f64>, Problem> {
        self.decode(heap, limit, |number| match number {
            Value::Float(number) => Ok(number),
            other => heap.integer(other).map(|number| number as f64),
        })
    }
}

impl Heap<'_> {
    /// A numpy array.
    pub(crate) fn array(&self, value: Value) -> Result<&Array, Problem> {
        match self.object(value) {
            Some(Object::Array(Some(array))) => Ok(array),
            Some(Object::Array(None)) => Err(Problem::damaged("an array without its state")),
            _ => Err(Problem::unexpected("a numpy array", self.describe(value))),
        }
    }
}

/// The extent of one dimension.
fn extent_of(heap: &Heap<'_>, value: Value) -> Result<usize, Problem> {
    let extent = heap.integer(value)?;
    usize::try_from(extent).map_err(|_| Problem::damaged(format!("a size of {extent}")))
}

/// A scipy CSR matrix: the cells of row `i` are at `indptr[i]..indptr[i + 1]`.
pub(crate) struct CsrMatrix {
    pub(crate) columns: usize,
    indptr: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl CsrMatrix {
    /// The matrix at `value`, its parts checked against each other; each of its arrays may take
    /// `limit` bytes.
    pub(crate) fn new(heap: &Heap<'_>, value: Value, limit: u64) -> Result<Self, Problem> {
        let state = match heap.object(value) {
            Some(Object::Matrix(Some(state))) => heap.pairs(Value::Object(*state))?,
            Some(Object::Matrix(None)) => return Err(Problem::damaged("a matrix without content")),
            _ => return Err(Problem::unexpected("a scipy csr_matrix", heap.describe(value))),
        };
        let part = |name: &str| {
            let found = state.iter().rev().find(|pair| heap.text(pair.0) == Some(name));
            let missing = || Problem::damaged(format!("a csr_matrix without its '{name}'"));
            found.map(|pair| pair.1).ok_or_else(missing)
        };
        let &[rows, columns] = heap.items(part("_shape").or_else(|_| part("shape"))?)? else {
            return Err(Problem::refused("a sparse array that does not have two dimensions"));
        };
        let (rows, columns) = (extent_of(heap, rows)?, extent_of(heap, columns)?);
        if u32::try_from(columns).is_err() {
            return Err(Problem::refused(format!("a csr_matrix of {columns} columns")));
        }
        let indptr = heap.array(part("indptr")?)?.integers(heap, limit)?;
        let indices = heap.array(part("indices")?)?.integers(heap, limit)?;
        let values = heap.array(part("data")?)?.floats(heap, limit)?;
        let ascending = indptr.is_sorted() && indptr.first() == Some(&0);
        let inside = indptr.last().is_some_and(|&last| last as u64 <= indices.len() as u64);
        if indptr.len() != rows.saturating_add(1) || !ascending || !inside {
            return Err(Problem::damaged(format!(
                "a csr_matrix of {rows} rows and {} cells with an indptr of {} entries that does \
                 not fit",
                indices.len(),
                indptr.len()
            )));
        }
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
        let indptr = indptr.iter().map(|&offset| offset as usize).collect();
        Ok(CsrMatrix { columns, indptr, indices, values })
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.indptr.len() - 1
    }

    /// The number of stored cells.
    pub(crate) fn stored(&self) -> usize {
        self.values.len()
    }

    /// Appends the cells of a row; values of a repeated column are added up, as in scipy.
    pub(crate) fn append_row(&self, row: usize, cells: &mut Vec<(u32, f64)>) {
        let slots = self.indptr[row]..self.indptr[row + 1];
        cells.extend(slots.map(|slot| (self.indices[slot], self.values[slot])));
        cells.sort_by_key(|cell| cell.0);
        cells.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            earlier.1 += if same { later.1 } else { 0.0 };
            same
        });
    }
}
