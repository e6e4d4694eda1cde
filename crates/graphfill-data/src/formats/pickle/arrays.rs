//! numpy arrays inside a pickle: checked when they are built, turned into numbers when they are
//! asked for.

use super::heap::{Heap, Object, ObjectId, Value};
use super::problem::Problem;

/// The most dimensions that numpy gives an array.
const MAX_DIMENSIONS: usize = 64;

/// What the bytes of one element mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ElementType {
    meaning: Meaning,
    width: usize,
    pub(super) byte_order: ByteOrder,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Boolean,
    Signed,
    Unsigned,
    Float,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByteOrder {
    LittleEndian,
    BigEndian,
}

impl ByteOrder {
    pub(super) fn spelt(sign: &str) -> Option<Self> {
        match sign {
            "<" | "|" => Some(ByteOrder::LittleEndian),
            ">" => Some(ByteOrder::BigEndian),
            _ => None,
        }
    }
}

impl ElementType {
    /// The type that numpy spells like `i4` or `>f8`.
    pub(super) fn spelt(text: &str) -> Result<Self, Problem> {
        let sign = text.get(..1).and_then(ByteOrder::spelt);
        let bare = if sign.is_some() { &text[1..] } else { text };
        let (meaning, width) = match bare {
            "b1" => (Meaning::Boolean, 1),
            "i1" => (Meaning::Signed, 1),
            "i2" => (Meaning::Signed, 2),
            "i4" => (Meaning::Signed, 4),
            "i8" => (Meaning::Signed, 8),
            "u1" => (Meaning::Unsigned, 1),
            "u2" => (Meaning::Unsigned, 2),
            "u4" => (Meaning::Unsigned, 4),
            "u8" => (Meaning::Unsigned, 8),
            "f4" => (Meaning::Float, 4),
            "f8" => (Meaning::Float, 8),
            _ => {
                let kind = if bare.starts_with('O') { "Python objects" } else { "elements" };
                let text: String = text.chars().take(16).collect();
                return Err(Problem::refused(format!(
                    "an array holds {kind} of dtype '{}'; whole numbers, booleans, float32 and \
                     float64 are read",
                    text.escape_debug()
                )));
            }
        };
        Ok(ElementType { meaning, width, byte_order: sign.unwrap_or(ByteOrder::LittleEndian) })
    }

    /// The bytes of one element.
    pub(super) fn width(self) -> usize {
        self.width
    }

    /// The number in the bytes of one element.
    pub(super) fn number(self, element: &[u8]) -> Value {
        let mut lowest_first = [0; 8];
        let own = &mut lowest_first[..self.width];
        own.copy_from_slice(element);
        if self.byte_order == ByteOrder::BigEndian {
            own.reverse();
        }
        let bits = u64::from_le_bytes(lowest_first);
        match self.meaning {
            Meaning::Boolean => Value::Boolean(bits != 0),
            Meaning::Signed => {
                let unused = 64 - 8 * self.width;
                Value::Integer((bits << unused).cast_signed() >> unused)
            }
            Meaning::Unsigned => {
                i64::try_from(bits).map_or(Value::Float(bits as f64), Value::Integer)
            }
            Meaning::Float if self.width == 4 => {
                Value::Float(f64::from(f32::from_bits(bits as u32)))
            }
            Meaning::Float => Value::Float(f64::from_bits(bits)),
        }
    }
}

/// How the elements of more than one dimension follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// A row after the other (C).
    ByRows,
    /// A column after the other (Fortran).
    ByColumns,
}

/// A numpy array whose bytes are another object of the heap.
#[derive(Debug)]
pub(in crate::formats) struct Array {
    element: ElementType,
    shape: Vec<usize>,
    layout: Layout,
    data: ObjectId,
}

impl Array {
    /// An array whose data are as long as its shape says.
    pub(super) fn new(
        heap: &Heap<'_>,
        shape: Value,
        element: Value,
        layout: Layout,
        data: Value,
    ) -> Result<Self, Problem> {
        let Some(&Object::ElementType(element)) = heap.object(element) else {
            return Err(Problem::unexpected("the dtype of an array", heap.word(element)));
        };
        let extents = heap.items(shape)?;
        if extents.len() > MAX_DIMENSIONS {
            return Err(Problem::damaged(format!("an array of {} dimensions", extents.len())));
        }
        let shape: Vec<usize> =
            extents.iter().map(|&extent| extent_of(heap, extent)).collect::<Result<_, _>>()?;
        let bytes = heap.bytes(data)?.len();
        let needed = shape.iter().try_fold(element.width, |size, &extent| size.checked_mul(extent));
        if needed != Some(bytes) {
            return Err(Problem::damaged(format!(
                "an array of shape {shape:?} and {} bytes an element has {bytes} bytes",
                element.width
            )));
        }
        let Value::Object(data) = data else {
            return Err(Problem::unexpected("bytes", heap.word(data)));
        };
        Ok(Array { element, shape, layout, data })
    }

    /// The extent of each dimension.
    pub(in crate::formats) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The numbers, a row after the other.
    fn numbers<'h>(
        &'h self,
        heap: &'h Heap<'_>,
    ) -> Result<impl Iterator<Item = Value> + 'h, Problem> {
        let bytes = heap.bytes(Value::Object(self.data))?;
        let count = bytes.len() / self.element.width;
        let rows = match (self.layout, &self.shape[..]) {
            (Layout::ByRows, _) | (Layout::ByColumns, [] | [_]) => 1,
            (Layout::ByColumns, &[rows, _]) => rows.max(1),
            (Layout::ByColumns, _) => {
                return Err(Problem::refused("an array of three or more dimensions by columns"));
            }
        };
        let columns = count / rows;
        let width = self.element.width;
        Ok((0..count).map(move |position| {
            let element = position % columns * rows + position / columns;
            self.element.number(&bytes[element * width..(element + 1) * width])
        }))
    }

    /// The numbers as whole numbers, a row after the other.
    pub(in crate::formats) fn integers(&self, heap: &Heap<'_>) -> Result<Vec<i64>, Problem> {
        self.numbers(heap)?.map(|number| heap.integer(number)).collect()
    }

    /// The numbers with fractions, a row after the other.
    pub(in crate::formats) fn floats(&self, heap: &Heap<'_>) -> Result<Vec<f64>, Problem> {
        let float = |number| match number {
            Value::Float(number) => number,
            Value::Integer(number) => number as f64,
            Value::Boolean(flag) => f64::from(u8::from(flag)),
            Value::None | Value::Global(_) | Value::Object(_) => f64::NAN,
        };
        Ok(self.numbers(heap)?.map(float).collect())
    }
}

impl Heap<'_> {
    /// A numpy array.
    pub(in crate::formats) fn array(&self, value: Value) -> Result<&Array, Problem> {
        match self.object(value) {
            Some(Object::Array(Some(array))) => Ok(array),
            Some(Object::Array(None)) => Err(Problem::damaged("an array was never filled")),
            _ => Err(Problem::unexpected("a numpy array", self.word(value))),
        }
    }
}

/// The extent of one dimension.
pub(super) fn extent_of(heap: &Heap<'_>, value: Value) -> Result<usize, Problem> {
    let extent = heap.integer(value)?;
    usize::try_from(extent).map_err(|_| Problem::damaged(format!("a size of {extent}")))
}
