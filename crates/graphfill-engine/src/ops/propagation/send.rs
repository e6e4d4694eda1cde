//! What nodes send:  out = factors ∘ values, and 0 where a value is NaN

use rayon::prelude::*;

use crate::Shape;
use crate::cpu::{Call, PORTION};
use crate::cuda;
use crate::program::{Mismatch, Operation};

const SEND: cuda::Kernel = cuda::Source::new("send.cu", include_str!("send.cu")).kernel("send");

/// Inputs: the buffer that is written, the values, perhaps the factors.
#[derive(Debug)]
pub(super) struct Send;

impl Operation for Send {
    fn name(&self) -> &'static str {
        "send"
    }

    fn identity(&self) -> String {
        "send".to_owned()
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        for &other in &inputs[1..] {
            let rule = "what is sent has the shape of the values and of their factors";
            Mismatch::unless(inputs[0] == other, inputs[0], other, rule)?;
        }
        Ok(vec![inputs[0]])
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let values = call.input(1);
        let factors = (call.inputs() > 2).then(|| call.input(2));
        let out = call.output(0).par_chunks_mut(PORTION).enumerate();
        out.for_each(|(portion, out)| {
            let begin = portion * PORTION;
            for (out, value) in out.iter_mut().zip(&values[begin..]) {
                *out = if value.is_nan() { 0.0 } else { *value };
            }
            if let Some(factors) = factors {
                out.iter_mut().zip(&factors[begin..]).for_each(|(out, factor)| *out *= factor);
            }
        });
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let quads = call.input_shape(0).len().div_ceil(4);
        let factors = (call.inputs() > 2).then(|| call.input(2));
        let arguments = [call.input(1).into(), factors.into(), call.output(0).into(), quads.into()];
        call.launch(SEND, cuda::Grid::strided(quads), arguments);
        Ok(())
    }
}
