//! From a planned program to commands, with steps fused where one kernel can do the work of several.
//!
//! Steps that only change single numbers of the step before, in place, are left to that one where it
//! can do their work while it has the numbers at hand. Nothing here needs a GPU: commands are data.

use super::call::{Call, Constants};
use super::{Address, Command, Finish, Precision};
use crate::plan::PlannedProgram;

/// What commands of a program are made of beside its plan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Addresses {
    /// Where the arena begins.
    pub(crate) base: Address,
    /// Where the seed and the number of the step are.
    pub(crate) context: Address,
    pub(crate) precision: Precision,
}

/// What each step can do of the steps right after it, which change its output in place.
pub(crate) fn joined(
    program: &PlannedProgram,
    addresses: Addresses,
    constants: &mut dyn Constants,
) -> Vec<Vec<Finish>> {
    let Addresses { base, context, precision } = addresses;
    let mut joined: Vec<Vec<Finish>> = Vec::new();
    let mut skipped = 0;
    for (at, step) in program.steps.iter().enumerate() {
        let mut finishes = Vec::new();
        for next in program.steps[at + 1..].iter().take_while(|_| skipped == 0) {
            let place = step.outputs[0];
            let in_place = place.is_some()
                && step.outputs.len() == 1
                && next.outputs[..] == [place]
                && next.inputs.iter().any(|input| Some(*input) == place);
            let mut nothing = Vec::new();
            let call = Call::new(base, next, context, precision, constants, &mut nothing);
            let Some(finish) = next.operation.cuda_finish(&call).filter(|_| in_place) else {
                break;
            };
            finishes.push(finish);
            if !step.operation.cuda_can_finish(&finishes) {
                finishes.pop();
                break;
            }
        }
        skipped = if skipped > 0 { skipped - 1 } else { finishes.len() };
        joined.push(finishes);
    }
    joined
}

/// The commands of each step; of those whose work an earlier one does, none. The error names the operation
/// that has no kernel, or cannot do this.
pub(crate) fn lowered(
    program: &PlannedProgram,
    joined: &[Vec<Finish>],
    addresses: Addresses,
    constants: &mut dyn Constants,
) -> Result<Vec<Vec<Command>>, String> {
    let Addresses { base, context, precision } = addresses;
    let mut steps: Vec<Vec<Command>> = Vec::new();
    // How many of the next steps were done already.
    let mut done = 0;
    for (at, step) in program.steps.iter().enumerate() {
        let mut commands = Vec::new();
        if done > 0 {
            done -= 1;
            steps.push(commands);
            continue;
        }
        done = joined[at].len();
        let mut call = Call::new(base, step, context, precision, constants, &mut commands);
        call.finish_with(joined[at].clone());
        step.operation.cuda(&mut call).map_err(|problem| {
            let (name, place) = (step.operation.name(), step.place);
            format!("{name} ({place}): {problem}")
        })?;
        steps.push(commands);
    }
    Ok(steps)
}
