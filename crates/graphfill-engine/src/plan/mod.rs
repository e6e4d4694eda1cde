//! The plan: where every buffer of some programs lies in one arena, known before anything runs.
//!
//! Named buffers (parameters, inputs, the optimiser's state) come first and stay. Behind them lies
//! the room of the steps, which all programs use in turn: there, buffers whose lives don't overlap
//! share memory. Nothing here knows what the arena is made of; that is the device's affair.

mod arrangement;
mod lifetimes;
mod memory;
mod order;
mod profile;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::panic::Location;
use std::sync::Arc;

pub use memory::MemoryLimit;
pub(crate) use memory::available;
pub(crate) use profile::DeviceProfile;

use arrangement::{Sharing, arrange};

use crate::Shape;
use crate::device::Device;
use crate::error::{EngineError, Lower, Result, in_units};
use crate::fingerprint::Fingerprint;
use crate::program::{Constant, Named, Operation, Program, Recorded, Role, stream_prefix};

/// Buffers begin at multiples of so many numbers: a cache line.
const ALIGNMENT: usize = 16;

/// Where a buffer lies in the arena, in numbers of four bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Place {
    /// Where it begins.
    pub offset: usize,
    /// How long it is.
    pub len: usize,
}

/// Some programs that share their named buffers, and where everything lies.
#[derive(Debug)]
pub struct Plan {
    recorded: Vec<Recorded>,
    /// How many of the programs, from the first on, the fingerprint and checkpoints know.
    own: usize,
    pub(crate) programs: Vec<PlannedProgram>,
    pub(crate) buffers: Vec<Buffer>,
    /// Where it is going to run.
    pub(crate) device: Device,
    profile: DeviceProfile,
    sharing: Sharing,
    arena: usize,
    constants: u64,
    fingerprint: u64,
}

/// A program as a device runs it: one step after the other.
#[derive(Debug)]
pub(crate) struct PlannedProgram {
    pub(crate) name: String,
    pub(crate) steps: Vec<Step>,
    pub(crate) outputs: Vec<(String, Place, Shape)>,
    /// The named buffers that it uses.
    pub(crate) used: Vec<usize>,
}

/// One operation with the places of everything that it touches.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) operation: Arc<dyn Operation>,
    pub(crate) inputs: Vec<Place>,
    pub(crate) input_shapes: Vec<Shape>,
    /// Outputs that nobody uses have no place.
    pub(crate) outputs: Vec<Option<Place>>,
    pub(crate) output_shapes: Vec<Shape>,
    pub(crate) scratch: Place,
    pub(crate) place: &'static Location<'static>,
}

/// A named buffer and its place.
#[derive(Debug)]
pub(crate) struct Buffer {
    pub(crate) name: String,
    pub(crate) shape: Shape,
    pub(crate) role: Role,
    pub(crate) place: Place,
}

impl Plan {
    /// Plans programs that are run in turn and share parameters and inputs by name. They run on the
    /// processor unless [`Plan::on`] says otherwise.
    pub fn new(programs: Vec<Recorded>) -> Result<Self> {
        Self::with_sharing(programs, Sharing::Allowed, Device::cpu())
    }

    /// The same programs, to run on another device, where operations need other temporary memory.
    #[must_use]
    pub fn on(self, device: &Device) -> Self {
        if self.device == *device {
            return self;
        }
        let mut plan = Plan { device: device.clone(), ..self };
        plan.arrange_on_device();
        plan
    }

    /// The same programs, and others that only look: they read the parameters and may have inputs of
    /// their own, but change nothing that is remembered. The fingerprint and checkpoints don't know
    /// of them, so that a session with them goes on from a checkpoint without them, and the other
    /// way round.
    pub fn with_auxiliary(self, programs: Vec<Recorded>) -> Result<Self> {
        for program in &programs {
            let is_known = |name: &str| self.buffers.iter().any(|buffer| buffer.name == name);
            if let Some(problem) = program.changes(is_known) {
                let place = format!("`{}` only looks", program.name);
                return Err(EngineError::Program { operation: "plan", place, problem });
            }
        }
        let mut plan = self;
        plan.recorded.extend(programs);
        check_streams(&plan.recorded)?;
        plan.buffers = shared_buffers(&plan.recorded)?;
        plan.arrange_on_device();
        Ok(plan)
    }

    /// A program under another name that begins with everything that one of these computes. It goes
    /// on from its outputs, which [`Program::result`] gives, with any of the plan's buffers
    /// ([`Program::shared`]), and changes nothing of what the other one changes.
    pub fn continued(&self, program: &str, name: &str) -> Result<Program> {
        let (index, _) = self.program(program)?;
        let known = |buffer: &Buffer| (buffer.name.clone(), buffer.shape, buffer.role);
        Ok(self.recorded[index].continued(name, self.buffers.iter().map(known).collect()))
    }

    /// The programs that the fingerprint and checkpoints know.
    pub(crate) fn own_programs(&self) -> &[PlannedProgram] {
        &self.programs[..self.own]
    }

    /// Where it is going to run.
    pub fn device(&self) -> &Device {
        &self.device
    }

    fn with_sharing(recorded: Vec<Recorded>, sharing: Sharing, device: Device) -> Result<Self> {
        let buffers = shared_buffers(&recorded)?;
        let described: String = recorded.iter().map(Recorded::describe).collect();
        check_streams(&recorded)?;
        let mut plan = Plan {
            own: recorded.len(),
            recorded,
            programs: Vec::new(),
            buffers,
            profile: device.profile(),
            device,
            sharing,
            arena: 0,
            constants: 0,
            fingerprint: Fingerprint::of(&described),
        };
        plan.arrange(sharing);
        Ok(plan)
    }

    /// Gives everything its place; where the device has room for it, so that steps can run side by side.
    fn arrange_on_device(&mut self) {
        self.profile = self.device.profile();
        if self.profile.max_unshared_bytes > 0 {
            self.arrange(Sharing::InPlace);
            if self.arena_len() as u64 * 4 <= self.profile.max_unshared_bytes {
                return;
            }
        }
        self.arrange(Sharing::Allowed);
    }

    /// Gives everything its place, as the device asks for temporary memory.
    fn arrange(&mut self, sharing: Sharing) {
        (self.programs, self.arena) = self.arranged(sharing, &self.profile);
        self.sharing = sharing;
        let mut constants: HashMap<usize, Constant> = HashMap::new();
        for step in self.programs.iter().flat_map(|program| &program.steps) {
            let own = step.operation.constants();
            constants.extend(own.into_iter().map(|constant| (constant.identity, constant)));
        }
        self.constants = constants.values().map(|constant| constant.bytes).sum();
    }

    /// The programs with everything in its place, and the length of the arena.
    fn arranged(&self, sharing: Sharing, profile: &DeviceProfile) -> (Vec<PlannedProgram>, usize) {
        let end = |buffer: &Buffer| buffer.place.offset + buffer.place.len;
        let persistent = self.buffers.iter().map(end).max().unwrap_or(0);
        let persistent = persistent.next_multiple_of(ALIGNMENT);
        let (mut programs, mut arena) = (Vec::new(), persistent);
        for program in &self.recorded {
            let (program, end) = arrange(program, &self.buffers, persistent, sharing, profile);
            arena = arena.max(end);
            programs.push(program);
        }
        (programs, arena)
    }

    /// The programs as they would be planned for a device with memory to spare, and the length of the arena.
    #[cfg(test)]
    pub(crate) fn programs_on(&self, profile: &DeviceProfile) -> (Vec<PlannedProgram>, usize) {
        self.arranged(Sharing::InPlace, profile)
    }

    /// The most memory that running needs, in bytes: the arena, what operations hold beside it, and what the
    /// libraries of the device take for themselves.
    pub fn peak_bytes(&self) -> u64 {
        self.arena_len() as u64 * 4 + self.constants + self.profile.workspace_bytes
    }

    /// The length of the arena in numbers of four bytes.
    pub fn arena_len(&self) -> usize {
        self.arena
    }

    /// Floating-point operations of one run of a program, products only.
    pub fn arithmetic(&self, program: &str) -> Result<u64> {
        Ok(self.program(program)?.1.steps.iter().map(Step::arithmetic).sum())
    }

    /// Whether the plan fits; if not, the error says what is needed, what there is, and what to
    /// `lower`. On a card, buffers that were kept apart share memory where they would not fit
    /// otherwise, and the parameters are there twice once a session keeps them.
    pub fn check_memory(&mut self, limit: MemoryLimit, lower: impl Into<Lower>) -> Result<()> {
        let lower = lower.into();
        if self.fits(limit, lower.clone()).is_err() && self.sharing != Sharing::Allowed {
            self.arrange(Sharing::Allowed);
        }
        self.fits(limit, lower)
    }

    fn fits(&self, limit: MemoryLimit, lower: Lower) -> Result<()> {
        let is_parameter = |buffer: &&Buffer| matches!(buffer.role, Role::Parameter(_));
        let parameters = self.buffers.iter().filter(is_parameter);
        let parameters: u64 = parameters.map(|buffer| 4 * buffer.place.len as u64).sum();
        let needed = self.peak_bytes() + self.profile.kept_copies * parameters;
        limit.check_on(&self.device, needed, || self.largest_buffers(), lower)
    }

    /// The fewest bytes that one run of a program can move: every operation reads its inputs and what
    /// it holds for itself once, and writes its outputs once.
    pub fn bytes_moved(&self, program: &str) -> Result<u64> {
        Ok(self.program(program)?.1.steps.iter().map(Step::bytes_moved).sum())
    }

    /// Every operation in the order of its run, with the shapes and places of what it touches.
    pub fn listing(&self) -> String {
        let mut text = String::new();
        for Buffer { name, shape, role, place } in &self.buffers {
            let _ = writeln!(text, "{name}: {shape} at {}, {}", place.offset, role.identity());
        }
        for program in &self.programs {
            let _ = writeln!(text, "{}:", program.name);
            for step in &program.steps {
                let _ = writeln!(text, "  {step}");
            }
            for (name, place, shape) in &program.outputs {
                let _ = writeln!(text, "  {name}: {shape} at {}", place.offset);
            }
        }
        text
    }

    /// A number that changes with anything that the programs compute, but not with where it lies.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    pub(crate) fn program(&self, name: &str) -> Result<(usize, &PlannedProgram)> {
        let found = self.programs.iter().enumerate().find(|(_, program)| program.name == name);
        found.ok_or_else(|| unknown("program", name, self.programs.iter().map(|p| &p.name)))
    }

    pub(crate) fn buffer(&self, name: &str) -> Result<&Buffer> {
        let found = self.buffers.iter().find(|buffer| buffer.name == name);
        found.ok_or_else(|| unknown("buffer", name, self.buffers.iter().map(|b| &b.name)))
    }

    /// The three largest buffers, which show what to make smaller.
    fn largest_buffers(&self) -> String {
        let mut all: Vec<(usize, String)> = Vec::new();
        for Buffer { name, shape, .. } in &self.buffers {
            all.push((shape.len(), format!("`{name}` ({shape})")));
        }
        for step in self.programs.iter().flat_map(|program| &program.steps) {
            let name = step.operation.name();
            for (place, shape) in step.outputs.iter().zip(&step.output_shapes) {
                let own = |place: &Place| self.buffers.iter().all(|buffer| buffer.place != *place);
                if place.as_ref().is_some_and(own) {
                    all.push((shape.len(), format!("the result of {name} ({shape})")));
                }
            }
            let bytes = in_units(step.scratch.len as u64 * 4);
            all.push((step.scratch.len, format!("temporary memory of {name} ({bytes})")));
        }
        all.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
        // The many alike of a deep program count as one.
        all.dedup();
        let largest: Vec<String> = all.into_iter().take(3).map(|(_, text)| text).collect();
        format!("the largest buffers are {}", largest.join(", "))
    }
}

impl Step {
    /// For each output, whether it is computed.
    pub(crate) fn wanted(&self) -> Vec<bool> {
        self.outputs.iter().map(Option::is_some).collect()
    }

    /// The fewest bytes that it can move.
    fn bytes_moved(&self) -> u64 {
        let places = self.inputs.iter().chain(self.outputs.iter().flatten());
        let numbers: usize = places.map(|place| place.len).sum();
        let constants = self.operation.constants();
        4 * numbers as u64 + constants.iter().map(|constant| constant.bytes).sum::<u64>()
    }

    /// The floating-point operations of its products.
    pub(crate) fn arithmetic(&self) -> u64 {
        self.operation.arithmetic(&self.input_shapes, &self.wanted())
    }
}

impl std::fmt::Display for Step {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let operand = |place: &Place, shape: &Shape| format!("{shape} at {}", place.offset);
        let inputs: Vec<String> =
            self.inputs.iter().zip(&self.input_shapes).map(|(p, s)| operand(p, s)).collect();
        let outputs: Vec<String> = self
            .outputs
            .iter()
            .zip(&self.output_shapes)
            .map(|(place, shape)| place.map_or("–".to_owned(), |place| operand(&place, shape)))
            .collect();
        write!(
            formatter,
            "[{}] = {} [{}]",
            outputs.join(", "),
            self.operation.identity(),
            inputs.join(", ")
        )
    }
}

/// No two programs may draw the same numbers.
fn check_streams(programs: &[Recorded]) -> Result<()> {
    for (at, program) in programs.iter().enumerate() {
        // The same name has the same prefix, and so, rarely, have two others: which matters where
        // both draw.
        let same = |other: &&Recorded| {
            let draw = program.recording.draws() && other.recording.draws();
            let alike = stream_prefix(&other.name) == stream_prefix(&program.name);
            other.name == program.name || draw && alike
        };
        if let Some(other) = programs[..at].iter().find(same) {
            let problem = format!("it would draw what program `{}` draws", other.name);
            let place = format!("rename `{}`", program.name);
            return Err(EngineError::Program { operation: "plan", place, problem });
        }
    }
    Ok(())
}

/// The named buffers of all programs, side by side.
fn shared_buffers(programs: &[Recorded]) -> Result<Vec<Buffer>> {
    let mut buffers: Vec<Buffer> = Vec::new();
    let mut end = 0;
    for Named { name, shape, role, .. } in programs.iter().flat_map(|p| &p.recording.named) {
        if let Some(known) = buffers.iter().find(|buffer| buffer.name == *name) {
            if (known.shape, known.role) != (*shape, *role) {
                let first = format!("{:?}, {}", known.role, known.shape);
                let second = format!("{role:?}, {shape}");
                return Err(EngineError::Shared { name: name.clone(), first, second });
            }
            continue;
        }
        let place = Place { offset: end, len: shape.len() };
        end += shape.len().next_multiple_of(ALIGNMENT);
        buffers.push(Buffer { name: name.clone(), shape: *shape, role: *role, place });
    }
    Ok(buffers)
}

pub(crate) fn unknown<'a>(
    kind: &'static str,
    name: &str,
    known: impl Iterator<Item = &'a String>,
) -> EngineError {
    let known: Vec<String> = known.map(|name| format!("`{name}`")).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    EngineError::Unknown { kind, name: name.to_owned(), known }
}
