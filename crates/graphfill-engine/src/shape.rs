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

    /// How many numbers it holds.
    pub const fn len(self) -> usize {
        self.rows * self.columns
    }

    /// Whether it holds none.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
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
