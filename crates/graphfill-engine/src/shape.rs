//! The size of a matrix.

use std::fmt;

/// Rows × columns. Everything in a program is a matrix: a scalar is 1 × 1, a bias 1 × columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
}

impl Shape {
    /// A single number.
    pub const SCALAR: Shape = Shape { rows: 1, columns: 1 };

    /// So many rows and columns.
    pub const fn new(rows: usize, columns: usize) -> Self {
        Shape { rows, columns }
    }

    /// The most rows, columns and elements of a matrix: 2⁴⁸, which is 1 PiB. Beyond any memory, and
    /// far enough below the largest `usize` that sizes can be added and multiplied.
    pub(crate) const MAX_ELEMENTS: usize = 1 << 48;

    /// How many numbers it holds.
    ///
    /// # Panics
    /// If they are more than a `usize` can count. No matrix of a program has so many:
    /// [`Program::finish`](crate::Program::finish) refuses those above 2⁴⁸.
    pub const fn len(self) -> usize {
        match self.rows.checked_mul(self.columns) {
            Some(len) => len,
            None => panic!("a shape has more elements than can be counted"),
        }
    }

    /// Whether its rows, columns and elements can be counted with room to spare.
    pub(crate) fn is_countable(self) -> bool {
        let Shape { rows, columns } = self;
        let elements = rows.saturating_mul(columns);
        rows.max(columns).max(elements) <= Shape::MAX_ELEMENTS
    }

    /// Whether it holds none.
    pub const fn is_empty(self) -> bool {
        self.rows == 0 || self.columns == 0
    }

    /// Rows and columns exchanged.
    #[must_use]
    pub const fn transposed(self) -> Self {
        Shape { rows: self.columns, columns: self.rows }
    }
}

impl From<[usize; 2]> for Shape {
    fn from([rows, columns]: [usize; 2]) -> Self {
        Shape { rows, columns }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} × {}", self.rows, self.columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_shapes_are_counted() {
        assert!(Shape::new(1 << 24, 1 << 24).is_countable());
        assert!(!Shape::new(1 << 24, (1 << 24) + 1).is_countable());
        assert!(!Shape::new(0, (1 << 48) + 1).is_countable());
        assert!(!Shape::new(1 << 32, 1 << 32).is_countable(), "their product is 0 in 64 bits");
        assert!(Shape::new(0, usize::MAX).is_empty() && !Shape::new(1 << 32, 1 << 32).is_empty());
    }

    #[test]
    #[should_panic(expected = "more elements than can be counted")]
    fn a_length_never_wraps() {
        let _ = Shape::new(1 << 32, 1 << 32).len();
    }
}
