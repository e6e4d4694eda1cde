//! A matrix of one number:  out = value

use crate::cpu::Call;
use crate::program::{Mismatch, Operation, Program};
use crate::{Matrix, Shape};

#[derive(Debug)]
pub(crate) struct Fill {
    shape: Shape,
    value: f32,
}

impl Fill {
    pub(crate) fn new(shape: Shape, value: f32) -> Self {
        Fill { shape, value }
    }
}

impl Program {
    /// A matrix that holds one number everywhere.
    #[track_caller]
    pub fn constant(&self, shape: impl Into<Shape>, value: f32) -> Matrix<'_> {
        self.record(Fill { shape: shape.into(), value }, &[])
    }
}

impl Operation for Fill {
    fn name(&self) -> &'static str {
        "fill"
    }

    fn shapes(&self, _inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        Ok(vec![self.shape])
    }

    fn cpu(&self, call: &mut Call<'_>) {
        call.output(0).fill(self.value);
    }
}
