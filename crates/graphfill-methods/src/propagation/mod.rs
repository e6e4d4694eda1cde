//! What the propagation methods share. Each of them defines how a panel is propagated with given
//! parameters ([`Propagation::run`]) and which parameters are worth comparing. The choice by
//! validation (`search.rs`) and the estimates (`model.rs`) are the same for all of them.
//!
//! Parameters are chosen for every group of features: a price may need many rounds where a category
//! needs few.
//!
//! On directed graphs the neighbourhood has a parameter, [`IN_SHARE`] (`direction.rs`). The search and the
//! matrices know it; a method declares it and passes its parameters to [`Operators::along`].
//!
//! Rounds run on the CPU, or as programs of the engine on a GPU.

mod direction;
mod loaded;
mod model;
mod operators;
mod programs;
mod runner;
mod search;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use graphfill_engine::TensorStore;

pub use direction::{IN_SHARE, describe_in_share};
pub use loaded::Loaded;
pub use model::PropagationModel;
pub use operators::{Along, Operators};

use crate::error::Result;
use crate::method::{DeviceUse, Fitted, Method, MethodInfo, Task};
use crate::parameters::{Parameterised, Parameters};

/// The name of the parameter that counts rounds.
pub const ROUNDS: &str = "rounds";

/// Takes the number of a round and the panel that it gave: `rows × width`.
pub type Each<'e> = dyn FnMut(usize, &[f32]) + 'e;

/// What kind of estimates a group needs; parameters differ between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Scores that rank the columns of a row.
    Ranking,
    /// Values.
    Values,
}

/// A method that spreads known values along edges, a panel at a time.
pub trait Propagation: Parameterised + Send + Sync {
    /// Its name and abilities.
    fn info(&self) -> &'static MethodInfo;

    /// The parameters (rounds and the share of in-arcs left out) to compare where the caller fixed only `fixed`.
    fn settings(&self, purpose: Purpose, fixed: &Parameters) -> Vec<Parameters> {
        let _ = (purpose, fixed);
        vec![Parameters::default()]
    }

    /// The parameters, rounds included, where nothing can be compared.
    fn default(&self, purpose: Purpose, fixed: &Parameters) -> Parameters {
        let _ = (purpose, fixed);
        Parameters::default()
    }

    /// The largest number of rounds to compare; one where the method has no rounds.
    fn max_rounds(&self) -> usize {
        1
    }

    /// Whether anything of it runs on a device other than the CPU.
    fn device_use(&self) -> DeviceUse {
        DeviceUse::Propagation
    }

    /// Runs rounds up to the last of `rounds`, which ascend, and hands the panel to `each` after
    /// every one that is among them.
    fn run(
        &self,
        loaded: &Loaded<'_>,
        parameters: &Parameters,
        rounds: &[usize],
        each: &mut Each<'_>,
    ) -> Result<()>;
}

/// The fitted model keeps a copy of the method, so that a method of any crate can estimate.
impl<P: Propagation + Clone + 'static> Method for P {
    fn info(&self) -> &'static MethodInfo {
        Propagation::info(self)
    }

    fn fit_task(&self, task: &Task<'_>) -> Result<Box<dyn Fitted>> {
        let choices = search::choose(self, task)?;
        Ok(Box::new(PropagationModel::new(Arc::new(self.clone()), choices)))
    }

    fn restore(&self, task: &Task<'_>, state: &TensorStore) -> Result<Box<dyn Fitted>> {
        Ok(Box::new(PropagationModel::read(Arc::new(self.clone()), task, state)?))
    }

    fn device_use(&self) -> DeviceUse {
        Propagation::device_use(self)
    }
}
