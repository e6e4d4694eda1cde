//! The graph: a dict from each node to the list of its neighbours.

use std::path::Path;

use crate::edge_list::EdgeList;
use crate::error::{DataError, Place, Result};
use crate::formats::pickle::{Heap, Problem, Value};
use crate::formats::row_counter::RowCounter;
use crate::progress::Progress;

/// The arcs as the dict gives them.
pub(super) fn collect(
    path: &Path,
    heap: &Heap<'_>,
    neighbours: &[(Value, Value)],
    nodes: usize,
    file_length: usize,
    progress: &dyn Progress,
) -> Result<EdgeList> {
    let total = neighbours.len() as u64;
    let mut counter = RowCounter::begin(progress, "placing the edges", Some(total));
    let mut arcs = EdgeList::unweighted();
    let mut seen = vec![false; nodes];
    let in_file = |problem: Problem| problem.in_file(path);
    for &(key, list) in neighbours {
        let source = heap.integer(key).map_err(in_file)?;
        let source = node_number(path, source, source, nodes)?;
        if std::mem::replace(&mut seen[source as usize], true) {
            let found = format!("node {source} has two lists of neighbours");
            return Err(DataError::malformed(Place::file(path), found, "give each node one list"));
        }
        for &target in heap.items(list).map_err(in_file)? {
            let target = heap.integer(target).map_err(in_file)?;
            arcs.push(source, node_number(path, source.into(), target, nodes)?, 1.0);
        }
        // One list may stand for many nodes; written out, an arc takes at least a byte.
        if arcs.len() > file_length {
            let found = "the lists of neighbours are longer than the file: many nodes share one";
            let remedy = "write each node's neighbours as a list of its own";
            return Err(DataError::malformed(Place::file(path), found, remedy));
        }
        counter.row()?;
    }
    counter.end()?;
    Ok(arcs)
}

fn node_number(path: &Path, source: i64, number: i64, nodes: usize) -> Result<u32> {
    let inside = usize::try_from(number).is_ok_and(|number| number < nodes);
    u32::try_from(number).ok().filter(|_| inside).ok_or_else(|| {
        let found = if source == number {
            format!("it has node {number}, but the nodes are 0 to {}", nodes.saturating_sub(1))
        } else {
            format!(
                "node {source} has neighbour {number}, but the nodes are 0 to {}",
                nodes.saturating_sub(1)
            )
        };
        let remedy = "take all files from the same source; the rows of allx and the positions of \
                      test.index say which nodes there are";
        DataError::malformed(Place::file(path), found, remedy)
    })
}
