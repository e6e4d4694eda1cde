//! A stream, and what multiplies on it. Making one takes longer than many a step, so a card keeps
//! those that are done with for the next session.

use super::Card;
use super::blas::Blas;
use super::driver::{Stream, problem};
use super::lowering::Resolved;
use crate::error::Result;

#[derive(Debug)]
pub(super) struct Lane {
    blas: Blas,
    pub(super) stream: Stream,
}

impl Lane {
    pub(super) fn new(card: &Card) -> Result<Self> {
        let stream = Stream::new(&card.context).map_err(|error| card.failed(problem(error)))?;
        let blas = Blas::new(&card.context, &stream, card.options.precision);
        Ok(Lane { blas: blas.map_err(|problem| card.failed(problem))?, stream })
    }

    /// Puts a command into the stream.
    pub(super) fn launch(&self, command: &Resolved) -> Result<(), String> {
        let Lane { stream, blas } = self;
        match command {
            Resolved::Launch { function, grid, arguments } => {
                stream.launch(*function, *grid, arguments).map_err(problem)
            }
            Resolved::Product(product) => blas.product(product),
            Resolved::Zero { at, numbers } => stream.zero(*at, *numbers).map_err(problem),
            // In one stream everything is done in order.
            Resolved::Beside(commands) => {
                commands.iter().try_for_each(|command| self.launch(command))
            }
            Resolved::Meet => Ok(()),
        }
    }
}
