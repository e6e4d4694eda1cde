//! What the propagation methods share. Each of them says how a panel is propagated with given
//! parameters ([`Propagation::run`]) and which parameters are worth comparing; the choice by
//! validation and the estimates are made here, once for all of them.
//!
//! Every group of features chooses for itself: a price may want a long walk, a name for a colour
//! a short one.
//!
//! Rounds run on the processor, or as programs on a device that has memory of its own.

mod chosen;
mod loaded;
mod operators;
mod programs;
mod runner;
mod search;
#[cfg(test)]
mod tests;

use crate::method::{DeviceUse, Fitted, Method, MethodInfo, Task};
use crate::parameters::Parameters;

pub(crate) use chosen::Chosen;
pub use loaded::Loaded;
pub use operators::Operators;

use crate::error::Result;

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
pub trait Propagation: Send + Sync {
    /// Its name and abilities.
    fn info(&self) -> &'static MethodInfo;

    /// The parameters (rounds left out) to compare where the caller fixed only `fixed`.
    fn settings(&self, purpose: Purpose, fixed: &Parameters) -> Vec<Parameters> {
        let _ = (purpose, fixed);
        vec![Parameters::default()]
    }

    /// The parameters, rounds included, where nothing can be compared.
    fn default(&self, purpose: Purpose, fixed: &Parameters) -> Parameters {
        let _ = (purpose, fixed);
        Parameters::default()
    }

    /// The most rounds to compare; one where the method has no rounds.
    fn most_rounds(&self) -> usize {
        1
    }

    /// Whether anything of it runs on a device other than the processor.
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

impl<P: Propagation> Method for P {
    fn info(&self) -> &'static MethodInfo {
        Propagation::info(self)
    }

    fn fit<'a>(&self, task: &Task<'a>) -> Result<Box<dyn Fitted + 'a>>
    where
        P: Sized,
    {
        search::fit(self, task)
    }

    fn device_use(&self) -> DeviceUse {
        Propagation::device_use(self)
    }
}
