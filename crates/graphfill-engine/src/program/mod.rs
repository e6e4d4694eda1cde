//! A program: matrix-level operations recorded once, to be run thousands of times.
//!
//! [`Program`] is the recorder, [`Matrix`] a handle on something recorded. Every operation has a
//! method beside its definition in [`crate::ops`] that records it. [`Program::differentiate`]
//! appends the operations that compute gradients; [`Program::finish`] checks everything and hands
//! the recording over to be planned.

mod backward;
mod continued;
#[cfg(test)]
mod identities;
mod initial;
mod matrix;
mod operation;
mod recording;
mod updates;

use std::cell::RefCell;
use std::fmt::Write as _;
use std::panic::Location;
use std::sync::Arc;

pub use backward::Backward;
use continued::Before;
pub use initial::Initial;
pub use matrix::Matrix;
pub use operation::{Constant, Mismatch, Operation};
pub(crate) use operation::{MOST_INPUTS, MOST_OUTPUTS};
pub(crate) use recording::{EXTRA, Named, Node, Recording, Role, Source, ValueId};

use crate::Shape;
use crate::error::{EngineError, Result};
use crate::fingerprint::Fingerprint;

/// A recorder of operations over named buffers.
#[derive(Debug)]
pub struct Program {
    name: String,
    recording: RefCell<Recording>,
    before: Before,
}

/// A recorded program without mistakes, ready to be planned.
#[derive(Debug)]
pub struct Recorded {
    pub(crate) name: String,
    pub(crate) recording: Recording,
}

/// What tells the random streams of one program from those of another.
pub(crate) fn stream_prefix(name: &str) -> u32 {
    Fingerprint::of(name) as u32 & 0xffff
}

impl Recorded {
    /// Everything that was recorded, one operation per line, by its
    /// [`identity`](Operation::identity). The fingerprint of a plan is made of this text.
    pub fn describe(&self) -> String {
        let Recording { nodes, named, outputs, .. } = &self.recording;
        let mut text = format!("{}:\n", self.name);
        for Named { name, shape, role, value } in named {
            let _ = writeln!(text, "  %{} = {name}: {shape}, {}", value.0, role.identity());
        }
        for node in nodes {
            let list = |values: &[ValueId]| {
                values.iter().map(|value| format!("%{}", value.0)).collect::<Vec<_>>().join(", ")
            };
            let (outputs, inputs) = (list(&node.outputs), list(&node.inputs));
            let _ = writeln!(text, "  {outputs} = {} ({inputs})", node.operation.identity());
        }
        for (name, value) in outputs {
            let _ = writeln!(text, "  {name} = %{}", value.0);
        }
        text
    }
}

impl Program {
    /// An empty program. Its name must differ from those that share a plan with it.
    pub fn new(name: &str) -> Self {
        Program { name: name.to_owned(), recording: RefCell::default(), before: Before::default() }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A buffer that is learnt. Programs in one plan share it by its name.
    #[track_caller]
    pub fn parameter(&self, name: &str, shape: impl Into<Shape>, initial: Initial) -> Matrix<'_> {
        self.named(name, shape.into(), Role::Parameter(initial))
    }

    /// A buffer that the caller fills before a run, and that keeps its content until refilled.
    /// Programs in one plan share it by its name.
    #[track_caller]
    pub fn input(&self, name: &str, shape: impl Into<Shape>) -> Matrix<'_> {
        self.named(name, shape.into(), Role::Input)
    }

    /// A buffer that programs keep for themselves between their steps; zeros at first. Programs in
    /// one plan share it by its name.
    #[track_caller]
    pub fn state(&self, name: &str, shape: impl Into<Shape>) -> Matrix<'_> {
        self.named(name, shape.into(), Role::State)
    }

    /// Makes a matrix readable under a name after each run, until the next run of any program.
    #[track_caller]
    pub fn output(&self, name: &str, matrix: Matrix<'_>) {
        self.check_own("output", &[matrix]);
        // A copy of a buffer that stays: an update in the same step would change it.
        let stays = matches!(self.recording.borrow().source(matrix.value), Source::Named(_));
        let matrix = if stays { matrix.scale(1.0) } else { matrix };
        let problem = self.recording.borrow_mut().add_output(name, matrix.value);
        if let Err(problem) = problem {
            self.fail("output", problem);
        }
    }

    /// Records an operation; its first output.
    #[track_caller]
    pub fn record<'p>(
        &'p self,
        operation: impl Operation + 'static,
        inputs: &[Matrix<'p>],
    ) -> Matrix<'p> {
        self.record_all(operation, inputs)[0]
    }

    /// Records an operation; all its outputs. Those that nobody uses are never computed.
    #[track_caller]
    pub fn record_all<'p>(
        &'p self,
        operation: impl Operation + 'static,
        inputs: &[Matrix<'p>],
    ) -> Vec<Matrix<'p>> {
        let (name, place) = (operation.name(), Location::caller());
        self.check_own(name, inputs);
        assert!(inputs.len() <= MOST_INPUTS, "{name} has {} inputs", inputs.len());
        let shapes: Vec<Shape> = inputs.iter().map(|matrix| matrix.shape).collect();
        let mut shapes = operation.shapes(&shapes).unwrap_or_else(|mismatch| {
            self.recording.borrow_mut().fail(mismatch.at(name, place));
            // Anything: a program with an error is never planned.
            vec![Shape::SCALAR; MOST_OUTPUTS]
        });
        for shape in &mut shapes {
            *shape = self.countable(name, *shape);
        }
        let mut recording = self.recording.borrow_mut();
        let inputs = inputs.iter().map(|matrix| matrix.value).collect();
        let values = recording.add_node(Arc::new(operation), inputs, &shapes, place);
        let matrix = |(&value, &shape)| Matrix { program: self, value, shape };
        values.iter().zip(&shapes).map(matrix).collect()
    }

    /// Records an operation that changes buffers: its first inputs, in which it leaves its outputs.
    #[track_caller]
    pub(crate) fn record_update(
        &self,
        operation: impl Operation + 'static,
        changed: &[Matrix<'_>],
        read: &[Matrix<'_>],
    ) {
        let name = operation.name();
        let inputs: Vec<_> = changed.iter().chain(read).copied().collect();
        let outputs = self.record_all(operation, &inputs);
        for (output, buffer) in outputs.iter().zip(changed) {
            let added = self.recording.borrow_mut().add_update(output.value, buffer.value);
            if let Err(problem) = added {
                self.fail(name, problem);
            }
        }
    }

    /// A number that no other random operation of this program has; see [`crate::random`].
    #[track_caller]
    pub(crate) fn new_stream(&self) -> u32 {
        let next = self.recording.borrow_mut().next_stream();
        if next.is_none() {
            self.fail("program", "it has more than 65,535 random operations".to_owned());
        }
        (stream_prefix(&self.name) << 16) | next.unwrap_or_default()
    }

    /// The names of the parameters that were recorded so far.
    pub fn parameters(&self) -> Vec<String> {
        let recording = self.recording.borrow();
        let parameters =
            recording.named.iter().filter(|named| matches!(named.role, Role::Parameter(_)));
        parameters.map(|named| named.name.clone()).collect()
    }

    /// The program without its recorder, or the first mistake that was made in recording it. It is a
    /// mistake, too, if updates form a cycle, each reading what the next one changes.
    pub fn finish(self) -> Result<Recorded> {
        let mut recording = self.recording.into_inner();
        if let Some(error) = recording.take_error() {
            return Err(error);
        }
        recording.check_update_order()?;
        Ok(Recorded { name: self.name, recording })
    }

    /// The shape, or a mistake and another shape if a matrix of it is larger than any memory.
    #[track_caller]
    fn countable(&self, operation: &'static str, shape: Shape) -> Shape {
        if shape.is_countable() {
            return shape;
        }
        self.fail(operation, format!("{shape} is larger than any memory; make it smaller"));
        Shape::SCALAR
    }

    #[track_caller]
    fn named(&self, name: &str, shape: Shape, role: Role) -> Matrix<'_> {
        let shape = self.countable("buffer", shape);
        let added = self.recording.borrow_mut().add_named(name, shape, role);
        // No closure: it would hide the caller's line from the message.
        let value = match added {
            Ok(value) => value,
            Err(problem) => {
                self.fail("buffer", problem);
                self.recording.borrow_mut().add_value(shape)
            }
        };
        Matrix { program: self, value, shape }
    }

    /// A matrix of one program means nothing in another.
    #[track_caller]
    fn check_own(&self, operation: &'static str, inputs: &[Matrix<'_>]) {
        if let Some(stranger) = inputs.iter().find(|input| !std::ptr::eq(input.program, self)) {
            let (own, other) = (&self.name, &stranger.program.name);
            self.fail(operation, format!("a matrix of `{other}` was used in `{own}`"));
        }
    }

    /// Keeps the first mistake for [`Program::finish`], as that of the calling line. For whoever
    /// records a part of a model, and finds that it cannot be what was asked for.
    #[track_caller]
    pub fn fail(&self, operation: &'static str, problem: String) {
        let place = Location::caller().to_string();
        let error = EngineError::Program { operation, place, problem };
        self.recording.borrow_mut().fail(error);
    }
}
