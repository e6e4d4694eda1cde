//! Optimisers:  parameters ← parameters − something like rate · ∂loss/∂parameters
//!
//! An update is an operation like any other, recorded behind those that compute the gradient. It
//! works in place on the parameter and on buffers that the program keeps for it between its steps.

mod adam;
mod clip;
mod schedule;
#[cfg(test)]
mod tests;

pub use adam::{Adam, WeightDecay};
pub use schedule::Schedule;

use crate::{Matrix, Program};

impl Program {
    /// Makes every run of the program one step of Adam on the parameters of these names, down the
    /// gradient of `loss`. With `clip`, gradients that are longer, all of them taken together as one
    /// vector, are shortened to that length. Learning rate and bias correction count the runs of
    /// this program alone.
    #[track_caller]
    pub fn minimise<'p>(
        &'p self,
        loss: Matrix<'p>,
        adam: &Adam,
        clip: Option<f32>,
        parameters: &[&str],
    ) {
        if let Some(problem) = adam.problem() {
            self.fail("Adam", problem);
        }
        let gradients = self.differentiate(loss, parameters);
        let scale = match clip {
            Some(limit) if !gradients.is_empty() => Some(clip::clip_scale(&gradients, limit)),
            _ => None,
        };
        for (name, gradient) in parameters.iter().zip(gradients) {
            // One that is missing has been complained about already.
            let Some(parameter) = self.find_named(name) else { continue };
            let shape = parameter.shape();
            // Each program that trains a parameter has moments of its own.
            let program = self.name();
            let first = self.state(&format!("{program}/{name}/first_moment"), shape);
            let second = self.state(&format!("{program}/{name}/second_moment"), shape);
            let read: Vec<Matrix<'p>> = [gradient].into_iter().chain(scale).collect();
            self.record_update(adam::Update(*adam), &[parameter, first, second], &read);
        }
    }
}
