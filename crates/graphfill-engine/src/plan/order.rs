//! Which nodes run, and in which order.
//!
//! A node runs if something that leaves the step depends on it: an output or an update. They run in
//! the order of their recording, except that an update of a buffer moves to the earliest place where
//! it may stand: behind the nodes that it depends on and behind every reader of the buffer, which
//! all see the value from before the step. The sooner a gradient is used up, the sooner its memory
//! is free.

use crate::program::{Recording, Source, ValueId};

/// The nodes that run, in their order.
pub(super) fn order(recording: &Recording) -> Vec<usize> {
    let live = live_nodes(recording);
    let mut order: Vec<((usize, bool), usize)> = (0..recording.nodes.len())
        .filter(|&node| live[node])
        .map(|node| (rank(recording, &live, node), node))
        .collect();
    order.sort();
    order.into_iter().map(|(_, node)| node).collect()
}

/// Where a node stands, and whether it stands behind the node of that number.
fn rank(recording: &Recording, live: &[bool], index: usize) -> (usize, bool) {
    let node = &recording.nodes[index];
    if node.updates.is_empty() {
        return (index, false);
    }
    let changed = |value: &ValueId| match recording.values[value.0].source {
        Source::Named(buffer) => node.updates.iter().any(|&(_, updated)| updated == buffer),
        _ => false,
    };
    let producers = node.inputs.iter().filter_map(|input| match recording.values[input.0].source {
        Source::Node(producer) => Some(producer),
        _ => None,
    });
    let readers = (0..recording.nodes.len()).filter(|&other| {
        other != index && live[other] && recording.nodes[other].inputs.iter().any(changed)
    });
    (producers.chain(readers).max().unwrap_or(0), true)
}

fn live_nodes(recording: &Recording) -> Vec<bool> {
    let mut live = vec![false; recording.nodes.len()];
    let mut wanted = vec![false; recording.values.len()];
    for (_, value) in &recording.outputs {
        wanted[value.0] = true;
    }
    for (index, node) in recording.nodes.iter().enumerate().rev() {
        live[index] =
            !node.updates.is_empty() || node.outputs.iter().any(|output| wanted[output.0]);
        if live[index] {
            node.inputs.iter().for_each(|input| wanted[input.0] = true);
        }
    }
    live
}
