//! A session: a plan on a device, with the parameters that its programs share.

use std::time::Duration;

use crate::Shape;
use crate::cpu::Cpu;
use crate::device::{Context, Device, Watch};
use crate::error::{EngineError, Result};
use crate::plan::{Plan, unknown};
use crate::program::Role;

mod checkpoint;
mod tensor_file;

/// The programs of a plan, ready to run, and everything that they remember.
#[derive(Debug)]
pub struct Session {
    plan: Plan,
    device: Box<dyn Device>,
    seed: u64,
    /// How often each program has been run.
    steps: Vec<u64>,
    watch_every: Option<u64>,
}

/// How long an operation takes.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationTime {
    /// The operation.
    pub operation: &'static str,
    /// The line that recorded it.
    pub place: String,
    /// The shape of its first output.
    pub shape: Shape,
    /// The mean time of a run.
    pub seconds: f64,
    /// The floating-point operations of its products.
    pub flop: u64,
}

impl Session {
    /// A session on the processor. Parameters get the values that the seed gives them.
    pub fn new(plan: Plan, seed: u64) -> Self {
        let device = Box::new(Cpu::new(plan.arena_len()));
        let steps = vec![0; plan.programs.len()];
        let mut session = Session { plan, device, seed, steps, watch_every: None };
        session.initialise();
        session
    }

    /// Looks for NaN and infinity after every operation in every `interval`-th step; 0 never does.
    /// A watched step of a large program takes a little longer.
    pub fn watch(&mut self, interval: u64) {
        self.watch_every = (interval > 0).then_some(interval);
    }

    /// Runs every operation of a program once. Call it from within a rayon pool to choose the
    /// threads; what comes out doesn't depend on them.
    pub fn run(&mut self, program: &str) -> Result<()> {
        let (index, program) = self.plan.program(program)?;
        let step = self.steps[index];
        let watched = self.watch_every.is_some_and(|every| step % every == 0);
        let watch = if watched { Watch::On } else { Watch::Off };
        if watched {
            self.check_buffers(index)?;
        }
        let context = Context { seed: self.seed, step };
        self.device.run(program, context, watch).map_err(|problem| {
            let culprit = &program.steps[problem.step];
            EngineError::NotFinite {
                program: program.name.clone(),
                step,
                operation: culprit.operation.name(),
                place: culprit.place.to_string(),
                found: problem.found,
            }
        })?;
        self.steps[index] += 1;
        Ok(())
    }

    /// Runs a program so many times and says how long each of its operations took on average, in
    /// the order of the run.
    pub fn profile(&mut self, program: &str, runs: u32) -> Result<Vec<OperationTime>> {
        let (index, planned) = self.plan.program(program)?;
        let mut times = vec![Duration::ZERO; planned.steps.len()];
        for _ in 0..runs {
            let context = Context { seed: self.seed, step: self.steps[index] };
            self.device.run_timed(planned, context, &mut times);
            self.steps[index] += 1;
        }
        let described = planned.steps.iter().zip(times).map(|(step, time)| OperationTime {
            operation: step.operation.name(),
            place: step.place.to_string(),
            shape: step.output_shapes[0],
            seconds: time.as_secs_f64() / f64::from(runs.max(1)),
            flop: step.arithmetic(),
        });
        Ok(described.collect())
    }

    /// How often a program has been run.
    pub fn steps(&self, program: &str) -> Result<u64> {
        Ok(self.steps[self.plan.program(program)?.0])
    }

    /// Fills a parameter or an input.
    pub fn write(&mut self, name: &str, values: &[f32]) -> Result<()> {
        let buffer = self.plan.buffer(name)?;
        if values.len() != buffer.shape.len() {
            let first = format!("{} ({} numbers)", buffer.shape, buffer.shape.len());
            let second = format!("{} numbers", values.len());
            return Err(EngineError::Shared { name: name.to_owned(), first, second });
        }
        self.device.write(buffer.place, values);
        Ok(())
    }

    /// The numbers of a parameter or an input.
    pub fn buffer(&self, name: &str) -> Result<Vec<f32>> {
        let buffer = self.plan.buffer(name)?;
        let mut values = vec![0.0; buffer.shape.len()];
        self.device.read(buffer.place, &mut values);
        Ok(values)
    }

    /// The numbers of an output of the program that was run last.
    pub fn read(&self, program: &str, output: &str) -> Result<Vec<f32>> {
        let (_, planned) = self.plan.program(program)?;
        let found = planned.outputs.iter().find(|(name, ..)| name == output);
        let (_, place, shape) = found.ok_or_else(|| {
            unknown("output", output, planned.outputs.iter().map(|(name, ..)| name))
        })?;
        let mut values = vec![0.0; shape.len()];
        self.device.read(*place, &mut values);
        Ok(values)
    }

    /// An output of one number, such as a loss.
    pub fn scalar(&self, program: &str, output: &str) -> Result<f32> {
        Ok(self.read(program, output)?[0])
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The names of the parameters.
    pub fn parameters(&self) -> impl Iterator<Item = &str> {
        let parameters =
            self.plan.buffers.iter().filter(|buffer| matches!(buffer.role, Role::Parameter(_)));
        parameters.map(|buffer| buffer.name.as_str())
    }

    fn initialise(&mut self) {
        for buffer in &self.plan.buffers {
            if let Role::Parameter(initial) = buffer.role {
                let values = initial.draw(self.seed, &buffer.name, buffer.shape);
                self.device.write(buffer.place, &values);
            }
        }
    }

    /// A watched step can name an operation only if what it began with was in order.
    fn check_buffers(&self, index: usize) -> Result<()> {
        let program = &self.plan.programs[index];
        for buffer in program.used.iter().map(|&buffer| &self.plan.buffers[buffer]) {
            if let Some(found) = self.device.not_finite(buffer.place) {
                return Err(EngineError::NotFiniteBefore {
                    program: program.name.clone(),
                    step: self.steps[index],
                    buffer: buffer.name.clone(),
                    found,
                });
            }
        }
        Ok(())
    }
}
