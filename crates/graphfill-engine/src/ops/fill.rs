//! A matrix of one number:  out = value

use crate::cpu::Call;
use crate::cuda;
use crate::program::{Mismatch, Operation, Program};
use crate::{Matrix, Shape};

const FILL: cuda::Kernel = cuda::Source::new("fill.cu", include_str!("fill.cu")).kernel("fill");

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

    fn identity(&self) -> String {
        format!("fill({}, value={})", self.shape, self.value)
    }

    fn shapes(&self, _inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        Ok(vec![self.shape])
    }

    fn cpu(&self, call: &mut Call<'_>) {
        call.output(0).fill(self.value);
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let (out, numbers) = (call.output(0), self.shape.len());
        if self.value.to_bits() == 0 {
            call.zero(out, numbers);
        } else {
            let quads = numbers.div_ceil(4);
            let arguments = [self.value.into(), out.into(), quads.into()];
            call.launch(FILL, cuda::Grid::strided(quads), arguments);
        }
        Ok(())
    }
}
