//! What a program is made of: nodes (operations) that connect values (matrices).

use std::panic::Location;
use std::sync::Arc;

use super::{Initial, Operation};
use crate::Shape;
use crate::error::EngineError;
use crate::store::METADATA;

/// How the names of what is saved beside a session's buffers begin.
pub(crate) const EXTRA: &str = "extra:";

/// The index of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ValueId(pub(crate) usize);

/// What a named buffer is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Role {
    /// Learnt, saved, and set to something at first.
    Parameter(Initial),
    /// Filled by the caller.
    Input,
    /// Kept by an optimiser, saved, zeros at first.
    State,
}

impl Role {
    /// What fingerprints of programs know of it.
    pub(crate) fn identity(self) -> String {
        match self {
            Role::Parameter(initial) => format!("parameter, {}", initial.identity()),
            Role::Input => "input".to_owned(),
            Role::State => "state".to_owned(),
        }
    }
}

/// A buffer that outlives a step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) shape: Shape,
    pub(crate) role: Role,
    pub(crate) value: ValueId,
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// The named buffer of that index.
    Named(usize),
    /// An output of the node of that index.
    Node(usize),
    /// Nowhere: something was recorded wrongly.
    Nowhere,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Value {
    pub(crate) shape: Shape,
    pub(crate) source: Source,
}

#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) operation: Arc<dyn Operation>,
    pub(crate) inputs: Vec<ValueId>,
    pub(crate) outputs: Vec<ValueId>,
    /// Outputs that are left in a named buffer: `(output, buffer)`.
    pub(crate) updates: Vec<(ValueId, usize)>,
    pub(crate) place: &'static Location<'static>,
}

/// The nodes in the order of their recording: a node's inputs come before it.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    pub(crate) nodes: Vec<Node>,
    pub(crate) values: Vec<Value>,
    pub(crate) named: Vec<Named>,
    pub(crate) outputs: Vec<(String, ValueId)>,
    streams: u32,
    error: Option<EngineError>,
}

impl Recording {
    /// The same nodes and buffers, to be added to. Operations are shared.
    pub(super) fn copied(&self) -> Self {
        let Recording { nodes, values, named, outputs, streams, .. } = self;
        Recording {
            nodes: nodes.clone(),
            values: values.clone(),
            named: named.clone(),
            outputs: outputs.clone(),
            streams: *streams,
            error: None,
        }
    }

    pub(super) fn add_value(&mut self, shape: Shape) -> ValueId {
        self.values.push(Value { shape, source: Source::Nowhere });
        ValueId(self.values.len() - 1)
    }

    /// The buffer of that name, which is made if it is new.
    pub(super) fn add_named(
        &mut self,
        name: &str,
        shape: Shape,
        role: Role,
    ) -> Result<ValueId, String> {
        if let Some(known) = self.named.iter().find(|named| named.name == name) {
            if (known.shape, known.role) == (shape, role) {
                return Ok(known.value);
            }
            let (first, before) = (known.role, known.shape);
            return Err(format!(
                "`{name}` is {first:?}, {before}, and was asked for as {role:?}, {shape}"
            ));
        }
        if name.starts_with(EXTRA) || name == METADATA {
            return Err(format!(
                "`{name}` means something else in checkpoints; rename it so that it does not begin \
                 with `{EXTRA}` and is not `{METADATA}`"
            ));
        }
        let value = self.add_value(shape);
        self.values[value.0].source = Source::Named(self.named.len());
        self.named.push(Named { name: name.to_owned(), shape, role, value });
        Ok(value)
    }

    pub(super) fn add_node(
        &mut self,
        operation: Arc<dyn Operation>,
        inputs: Vec<ValueId>,
        shapes: &[Shape],
        place: &'static Location<'static>,
    ) -> Vec<ValueId> {
        let node = self.nodes.len();
        let outputs: Vec<ValueId> = shapes.iter().map(|&shape| self.add_value(shape)).collect();
        for output in &outputs {
            self.values[output.0].source = Source::Node(node);
        }
        let updates = Vec::new();
        self.nodes.push(Node { operation, inputs, outputs: outputs.clone(), updates, place });
        outputs
    }

    /// The output stays in the buffer that `changed` is.
    pub(super) fn add_update(&mut self, output: ValueId, changed: ValueId) -> Result<(), String> {
        let (from, to) = (self.values[output.0].source, self.values[changed.0].source);
        let (Source::Node(node), Source::Named(buffer)) = (from, to) else {
            return Err(
                "only a parameter can be updated, not the result of an operation".to_owned()
            );
        };
        let Named { name, role, .. } = &self.named[buffer];
        if *role == Role::Input {
            return Err(format!("`{name}` is an input; only parameters can be updated"));
        }
        let mut updates = self.nodes.iter().flat_map(|node| &node.updates);
        if updates.any(|&(_, updated)| updated == buffer) {
            return Err(format!(
                "`{name}` is updated twice in one program; name it once, or use two programs"
            ));
        }
        self.nodes[node].updates.push((output, buffer));
        Ok(())
    }

    pub(super) fn source(&self, value: ValueId) -> Source {
        self.values.get(value.0).map_or(Source::Nowhere, |value| value.source)
    }

    pub(super) fn add_output(&mut self, name: &str, value: ValueId) -> Result<(), String> {
        if self.outputs.iter().any(|(known, _)| known == name) {
            return Err(format!("there is already an output named `{name}`"));
        }
        self.outputs.push((name.to_owned(), value));
        Ok(())
    }

    /// A number from 1 on, or none when there are no more.
    pub(super) fn next_stream(&mut self) -> Option<u32> {
        self.streams += 1;
        (self.streams <= 0xffff).then_some(self.streams)
    }

    /// Whether anything in it is random.
    pub(crate) fn draws(&self) -> bool {
        self.streams > 0
    }

    pub(super) fn fail(&mut self, error: EngineError) {
        self.error.get_or_insert(error);
    }

    pub(super) fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    pub(super) fn take_error(&mut self) -> Option<EngineError> {
        self.error.take()
    }
}
