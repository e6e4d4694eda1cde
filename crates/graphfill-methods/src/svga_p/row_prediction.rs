//! What a trained row network adds to the prior, computed on the CPU, some rows at a time:
//!
//!   H = relu([z, known, C] W₁ + b₁)                                                rows × width
//!   Z = relu(H W₂ + b₂)                                                            rows × width
//!   correction = Z W_x                                                          rows × features
//!
//! The network itself is small, so that no program has to hold all rows of a large table: memory is
//! rows × features for the corrections, and a portion's H and Z.

use graphfill_engine::cpu::multiply;
use rayon::prelude::*;

use super::prior::RowInput;
use crate::error::Result;

/// Rows that one task computes.
const PORTION: usize = 1024;

/// The parameters of a trained network.
pub(super) struct RowNetwork {
    /// W₁, inputs × width: the weights of z, of what is known, and of C below one another.
    first: Vec<f32>,
    first_bias: Vec<f32>,
    second: Vec<f32>,
    second_bias: Vec<f32>,
}

impl RowNetwork {
    /// Takes the parameters by their names.
    pub(super) fn of(parameter: &dyn Fn(&str) -> Result<Vec<f32>>) -> Result<Self> {
        let mut first = parameter("values.weight")?;
        first.extend(parameter("shown.weight")?);
        first.extend(parameter("context.weight")?);
        Ok(RowNetwork {
            first,
            first_bias: parameter("first.bias")?,
            second: parameter("second.weight")?,
            second_bias: parameter("second.bias")?,
        })
    }

    /// Z W for some rows, one after the other: rows × columns, for a decoder W of width × columns.
    pub(super) fn decoded(&self, input: &RowInput, rows: &[u32], decoder: &[f32]) -> Vec<f32> {
        let width = self.first_bias.len();
        let columns = decoder.len() / width.max(1);
        let mut out = vec![0.0f32; rows.len() * columns];
        let portions = out.par_chunks_mut((PORTION * columns).max(1)).zip(rows.par_chunks(PORTION));
        portions.for_each(|(out, rows)| {
            let inputs = input.gathered(rows);
            let hidden = self.layer(&inputs, rows.len(), &self.first, &self.first_bias);
            let latent = self.layer(&hidden, rows.len(), &self.second, &self.second_bias);
            multiply(&latent, rows.len(), width, decoder, columns, out);
        });
        out
    }

    /// relu(X W + b).
    fn layer(&self, inputs: &[f32], rows: usize, weight: &[f32], bias: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0f32; rows * bias.len()];
        multiply(inputs, rows, inputs.len() / rows.max(1), weight, bias.len(), &mut out);
        for row in out.chunks_exact_mut(bias.len().max(1)) {
            row.iter_mut().zip(bias).for_each(|(value, bias)| *value = (*value + bias).max(0.0));
        }
        out
    }
}
