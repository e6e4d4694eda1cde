//! A whole layer of gated recurrent units: the inputs' share of the gates, then the recurrence.

use super::Direction;
use crate::{Initial, Matrix};

impl<'p> Matrix<'p> {
    /// The states of gated recurrent units that read this matrix, with all rows of the first time
    /// first. The parameters are `NAME.input.weight`, `NAME.input.bias`, `NAME.recurrent.weight`
    /// and `NAME.recurrent.bias`, the columns of each being the gates reset, update and new.
    /// Weights begin as Glorot says, biases at zero.
    #[must_use]
    #[track_caller]
    pub fn gru_layer(
        self,
        name: &str,
        hidden: usize,
        length: usize,
        direction: Direction,
    ) -> Matrix<'p> {
        let (program, columns) = (self.program(), 3 * hidden);
        let gates = self.linear(&format!("{name}.input"), columns);
        let weight = format!("{name}.recurrent.weight");
        let weight = program.parameter(&weight, [hidden, columns], Initial::Glorot);
        let bias = format!("{name}.recurrent.bias");
        let bias = program.parameter(&bias, [1, columns], Initial::ZEROS);
        gates.gru(weight, bias, length, direction)
    }
}
