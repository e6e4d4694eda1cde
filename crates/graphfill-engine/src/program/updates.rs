//! Cycles among updates: operations that change buffers in place, each of which would have to run
//! after the others.
//!
//! A step reads the state from before it, so an update of a buffer runs after everything that reads
//! the buffer. Where one update changes `a` and reads `b`, and another changes `b` and reads `a`,
//! there is no such order.

use super::recording::{Node, Recording};
use super::{EngineError, Source};

impl Recording {
    /// The first input of `reader` that is a buffer which `node` updates: the index of the buffer.
    pub(crate) fn reads_update(&self, reader: &Node, node: &Node) -> Option<usize> {
        reader.inputs.iter().find_map(|input| match self.values[input.0].source {
            Source::Named(buffer) => {
                node.updates.iter().any(|&(_, updated)| updated == buffer).then_some(buffer)
            }
            _ => None,
        })
    }

    /// An error if the updates of this program cannot be put in order.
    pub(super) fn check_update_order(&self) -> Result<(), EngineError> {
        let updates: Vec<usize> =
            (0..self.nodes.len()).filter(|&node| !self.nodes[node].updates.is_empty()).collect();
        let mut done = vec![false; self.nodes.len()];
        for &update in &updates {
            let mut path = Vec::new();
            if let Some(repeated) = self.find_cycle(update, &updates, &mut done, &mut path) {
                return Err(self.cycle(&path, repeated));
            }
        }
        Ok(())
    }

    /// Follows each update to those that read what it changes, which run before it. A node that is
    /// reached again on its own path.
    fn find_cycle(
        &self,
        node: usize,
        updates: &[usize],
        done: &mut [bool],
        path: &mut Vec<usize>,
    ) -> Option<usize> {
        if done[node] {
            return None;
        }
        if path.contains(&node) {
            return Some(node);
        }
        path.push(node);
        for &reader in updates {
            let reads = self.reads_update(&self.nodes[reader], &self.nodes[node]).is_some();
            if reader != node && reads {
                let found = self.find_cycle(reader, updates, done, path);
                if found.is_some() {
                    return found;
                }
            }
        }
        path.pop();
        done[node] = true;
        None
    }

    fn cycle(&self, path: &[usize], repeated: usize) -> EngineError {
        let begin = path.iter().position(|&node| node == repeated).unwrap_or(0);
        let cycle = &path[begin..];
        // Each node of the cycle changes a buffer that the next one reads.
        let pairs = cycle.iter().zip(cycle.iter().cycle().skip(1));
        let clauses: Vec<String> = pairs
            .filter_map(|(&node, &reader)| {
                let (node, reader) = (&self.nodes[node], &self.nodes[reader]);
                let buffer = &self.named[self.reads_update(reader, node)?].name;
                let (changer, at) = (node.operation.name(), node.place);
                let (name, place) = (reader.operation.name(), reader.place);
                Some(format!("{changer} ({at}) updates `{buffer}`, which {name} ({place}) reads"))
            })
            .collect();
        let first = &self.nodes[repeated];
        EngineError::Program {
            operation: first.operation.name(),
            place: first.place.to_string(),
            problem: format!(
                "these updates form a cycle: {}; an update runs after every reader of what it \
                 changes. To break the cycle, let one of them read a copy (`.scale(1.0)`), or use \
                 two programs",
                clauses.join("; ")
            ),
        }
    }
}
