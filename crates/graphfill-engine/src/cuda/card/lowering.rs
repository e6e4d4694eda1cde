//! From a planned program to commands with their kernels found: once, when it is first run.

use std::collections::{HashMap, HashSet};

use super::driver::{Function, Graph};
use super::executor::{ADVANCE, Cuda, FIND_NOT_FINITE};
use crate::cuda::fusion::{Addresses, joined, lowered};
use crate::cuda::lanes::{self, Turn};
use crate::cuda::{Address, Argument, Command, Finish, Grid, Kernel, Product};
use crate::error::Result;
use crate::executor::Context;
use crate::plan::PlannedProgram;

/// A program whose kernels are compiled and whose constants are on the card.
#[derive(Debug)]
pub(super) struct Ready {
    /// The commands of each step, and how the run ends.
    pub(super) steps: Vec<Vec<Resolved>>,
    pub(super) end: Resolved,
    /// How the steps are dealt out where they are captured.
    pub(super) turns: Vec<Turn>,
    pub(super) graph: Option<Graph>,
    /// What the card has as seed and step, if it was ever told.
    pub(super) told: Option<Context>,
}

/// A command with its kernel found.
#[derive(Debug)]
pub(super) enum Resolved {
    Launch { function: Function, grid: Grid, arguments: Vec<Argument> },
    Product(Product),
    Zero { at: Address, numbers: usize },
    Beside(Vec<Resolved>),
    Meet,
}

fn add_kernels(command: &Command, kernels: &mut HashSet<Kernel>) {
    match command {
        Command::Launch { kernel, .. } => {
            kernels.insert(*kernel);
        }
        Command::Beside(commands) => {
            commands.iter().for_each(|command| add_kernels(command, kernels));
        }
        _ => {}
    }
}

impl Cuda {
    /// Makes a program ready to run.
    pub(super) fn ready(&mut self, index: usize, program: &PlannedProgram) -> Result<Ready> {
        let addresses = self.addresses(index);
        let joined = joined(program, addresses, &mut self.uploads);
        let steps = self.lowered(index, program, &joined)?;
        let joined: Vec<usize> = joined.iter().map(Vec::len).collect();
        let arguments = vec![self.context(index).into()];
        let end = Command::Launch { kernel: ADVANCE, grid: Grid::blocks(1, 1), arguments };
        let end = self.resolved(vec![vec![end]])?.pop().and_then(|mut one| one.pop());
        let turns = lanes::deal(&program.steps, &joined);
        let (graph, told) = (None, None);
        let end = end.ok_or_else(|| self.card.failed("a run has no end".to_owned()))?;
        Ok(Ready { steps, end, turns, graph, told })
    }

    fn addresses(&self, index: usize) -> Addresses {
        let (base, context) = (self.arena.address(), self.context(index));
        Addresses { base, context, precision: self.card.options.precision }
    }

    /// The commands of each step; of those whose work an earlier one does, none.
    fn lowered(
        &mut self,
        index: usize,
        program: &PlannedProgram,
        joined: &[Vec<Finish>],
    ) -> Result<Vec<Vec<Resolved>>> {
        let addresses = self.addresses(index);
        let steps = lowered(program, joined, addresses, &mut self.uploads);
        let steps = steps.map_err(|problem| self.card.failed(problem))?;
        self.resolved(steps)
    }

    /// Finds the kernels of commands, which are compiled if need be.
    fn resolved(&self, steps: Vec<Vec<Command>>) -> Result<Vec<Vec<Resolved>>> {
        let mut kernels = HashSet::from([FIND_NOT_FINITE]);
        steps.iter().flatten().for_each(|command| add_kernels(command, &mut kernels));
        let functions = self.card.functions(&kernels)?;
        let resolve = |command: Command| self.resolve(command, &functions);
        let step = |commands: Vec<Command>| commands.into_iter().map(resolve).collect();
        steps.into_iter().map(step).collect()
    }

    fn resolve(&self, command: Command, functions: &HashMap<Kernel, Function>) -> Result<Resolved> {
        Ok(match command {
            Command::Launch { kernel, grid, arguments } => {
                let function = functions[&kernel];
                let name = kernel.function;
                if !function.takes(arguments.len(), self.card.driver) {
                    let count = arguments.len();
                    let problem = format!("{name} does not take {count} arguments of eight bytes");
                    return Err(self.card.failed(problem));
                }
                if let Some(problem) = grid.problem() {
                    return Err(self.card.failed(format!("{name}: {problem}")));
                }
                function.allow_shared(grid.shared).map_err(|error| self.fail(error))?;
                Resolved::Launch { function, grid, arguments }
            }
            Command::Product(product) => Resolved::Product(product),
            Command::Zero { at, numbers } => Resolved::Zero { at, numbers },
            Command::Beside(commands) => {
                let all = commands.into_iter().map(|command| self.resolve(command, functions));
                Resolved::Beside(all.collect::<Result<_>>()?)
            }
            Command::Meet => Resolved::Meet,
        })
    }
}
