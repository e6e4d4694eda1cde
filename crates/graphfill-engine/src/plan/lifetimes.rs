//! How long each value lives: from the node that computes it to the last one that reads it.

use crate::program::{Recording, ValueId};

/// Positions in the order of the run, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Life {
    pub(super) from: usize,
    pub(super) until: usize,
}

impl Life {
    pub(super) fn overlaps(self, other: Life) -> bool {
        self.from <= other.until && other.from <= self.until
    }
}

/// For each value that is read or leaves the step, its life; buffers that stay have none.
pub(super) fn lifetimes(recording: &Recording, order: &[usize]) -> Vec<Option<Life>> {
    let mut born = vec![None; recording.values.len()];
    let mut lives = vec![None; recording.values.len()];
    let mut use_at = |born: &[Option<usize>], ValueId(value): ValueId, until: usize| {
        if let Some(from) = born[value] {
            lives[value] = Some(Life { from, until });
        }
    };
    for (position, &node) in order.iter().enumerate() {
        let node = &recording.nodes[node];
        node.inputs.iter().for_each(|&input| use_at(&born, input, position));
        node.outputs.iter().for_each(|output| born[output.0] = Some(position));
    }
    for &(_, output) in &recording.outputs {
        use_at(&born, output, order.len());
    }
    lives
}
