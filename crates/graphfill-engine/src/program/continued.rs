//! A program that goes on where another one ends: a validation that begins with a prediction.

use super::{Matrix, Named, Program, Recorded, Role, ValueId};
use crate::Shape;

/// What a program knows of those that were recorded before it.
#[derive(Debug, Default)]
pub(crate) struct Before {
    /// The outputs of the program that it goes on from.
    results: Vec<(String, ValueId)>,
    /// The buffers that the programs share.
    buffers: Vec<(String, Shape, Role)>,
}

impl Recorded {
    /// A program that begins with everything that this one computes, but gives and changes nothing.
    /// `buffers` are those of all programs that it is going to share a plan with.
    pub(crate) fn continued(&self, name: &str, buffers: Vec<(String, Shape, Role)>) -> Program {
        let mut recording = self.recording.copied();
        recording.nodes.iter_mut().for_each(|node| node.updates.clear());
        let results = std::mem::take(&mut recording.outputs);
        let before = Before { results, buffers };
        Program { name: name.to_owned(), recording: recording.into(), before }
    }
}

impl Program {
    /// An output of the program that this one goes on from; see
    /// [`Plan::continued`](crate::Plan::continued).
    #[track_caller]
    pub fn result(&self, name: &str) -> Matrix<'_> {
        let found = self.before.results.iter().find(|(known, _)| known == name);
        let Some(&(_, value)) = found else {
            return self.missing("result", name);
        };
        let shape = self.recording.borrow().values[value.0].shape;
        Matrix { program: self, value, shape }
    }

    /// A parameter or an input that other programs of the plan have, by its name alone; see
    /// [`Plan::continued`](crate::Plan::continued).
    #[track_caller]
    pub fn shared(&self, name: &str) -> Matrix<'_> {
        let found = self.before.buffers.iter().find(|(known, ..)| known == name);
        match found {
            Some(&(_, shape, role)) => self.named(name, shape, role),
            None => self.missing("shared", name),
        }
    }

    #[track_caller]
    fn missing(&self, operation: &'static str, name: &str) -> Matrix<'_> {
        self.fail(operation, format!("there is nothing named `{name}` in the programs before it"));
        let value = self.recording.borrow_mut().add_value(Shape::SCALAR);
        Matrix { program: self, value, shape: Shape::SCALAR }
    }
}

impl Recorded {
    /// Why it cannot stand beside programs with these buffers as one that only looks.
    pub(crate) fn changes(&self, is_known: impl Fn(&str) -> bool) -> Option<String> {
        let new = |named: &&Named| named.role != Role::Input && !is_known(&named.name);
        if let Some(Named { name, .. }) = self.recording.named.iter().find(new) {
            return Some(format!("it has `{name}`, which no other program has"));
        }
        let changed = self.recording.nodes.iter().find_map(|node| node.updates.first());
        changed.map(|&(_, buffer)| format!("it changes `{}`", self.recording.named[buffer].name))
    }
}
