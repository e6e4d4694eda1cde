//! Which nodes run, and in which order.
//!
//! A node runs if something that leaves the step depends on it: an output or an update. They run in
//! the order of their recording, except that an update of a buffer moves to the earliest place where
//! it may stand: behind the nodes that it depends on and behind every reader of the buffer, which
//! all see the value from before the step. Such a reader may be an update itself, which then comes
//! first; [`Program::finish`](crate::Program::finish) refuses cycles. The sooner a gradient is used up, the sooner its memory
//! is free.

use crate::program::{Recording, Source};

/// The nodes that run, in their order.
pub(super) fn order(recording: &Recording) -> Vec<usize> {
    let live = live_nodes(recording);
    let mut ranks = vec![None; recording.nodes.len()];
    let mut order: Vec<usize> = (0..recording.nodes.len()).filter(|&node| live[node]).collect();
    for &node in &order {
        rank(recording, &live, node, &mut ranks);
    }
    order.sort_by_key(|&node| (ranks[node], node));
    order
}

/// Where a node stands: behind the node of that number, and behind so many updates that stand there
/// as well.
type Rank = (usize, usize);

/// The rank of a node, which is computed once. Updates form no cycles.
fn rank(recording: &Recording, live: &[bool], index: usize, ranks: &mut [Option<Rank>]) -> Rank {
    if let Some(known) = ranks[index] {
        return known;
    }
    let node = &recording.nodes[index];
    let mut own = (index, 0);
    if !node.updates.is_empty() {
        let producers =
            node.inputs.iter().filter_map(|input| match recording.values[input.0].source {
                Source::Node(producer) => Some(producer),
                _ => None,
            });
        let is_reader =
            |other: &usize| recording.reads_update(&recording.nodes[*other], node).is_some();
        let others = (0..recording.nodes.len()).filter(|&other| other != index && live[other]);
        own = (0, 1);
        for before in producers.chain(others.filter(is_reader)).collect::<Vec<_>>() {
            let (place, depth) = rank(recording, live, before, ranks);
            own = own.max((place, depth + 1));
        }
    }
    ranks[index] = Some(own);
    own
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
