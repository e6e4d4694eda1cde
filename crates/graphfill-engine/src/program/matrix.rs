//! A handle on something that a program computes.

use std::fmt;

use super::{Program, ValueId};
use crate::Shape;

/// A matrix of a program under construction: its shape is known, its numbers come with the run.
#[derive(Clone, Copy)]
pub struct Matrix<'p> {
    pub(crate) program: &'p Program,
    pub(crate) value: ValueId,
    pub(crate) shape: Shape,
}

impl<'p> Matrix<'p> {
    /// Its rows and columns.
    pub fn shape(self) -> Shape {
        self.shape
    }

    /// Its number of rows.
    pub fn rows(self) -> usize {
        self.shape.rows
    }

    /// Its number of columns.
    pub fn columns(self) -> usize {
        self.shape.columns
    }

    /// The program that it belongs to.
    pub fn program(self) -> &'p Program {
        self.program
    }
}

impl fmt::Debug for Matrix<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "%{} ({})", self.value.0, self.shape)
    }
}
