//! Turns the ids of edges into rows of the node table, whatever the file format.

use std::path::Path;

use crate::edge_list::EdgeList;
use crate::error::{DataError, Place, Result};
use crate::formats::new_nodes::{EdgeEnd, NewNodes};
use crate::formats::options::UnknownNodes;
use crate::hint::{Hint, Setting};
use crate::ids::{IdIndex, NodeIds};

/// Arcs as they are read, and the nodes that only edges know.
pub(crate) struct EdgeCollector<'a> {
    index: Option<IdIndex<'a>>,
    known: u32,
    policy: UnknownNodes,
    list: EdgeList,
    added: NewNodes,
    skipped: u64,
    weighted: Option<bool>,
}

/// What was read.
pub(crate) struct CollectedEdges {
    pub(crate) list: EdgeList,
    pub(crate) added: NodeIds,
    pub(crate) skipped: u64,
}

impl<'a> EdgeCollector<'a> {
    /// Edges between the nodes of a table; without one every id is a new node.
    pub(crate) fn new(index: Option<IdIndex<'a>>, known: usize, policy: UnknownNodes) -> Self {
        let policy = if index.is_some() { policy } else { UnknownNodes::Add };
        EdgeCollector {
            index,
            known: known as u32,
            policy,
            list: EdgeList::unweighted(),
            added: NewNodes::default(),
            skipped: 0,
            weighted: None,
        }
    }

    /// Says, once a file, whether its arcs have weights.
    pub(crate) fn begin_file(&mut self, path: &Path, weighted: bool) -> Result<()> {
        match self.weighted {
            None => {
                self.weighted = Some(weighted);
                if weighted {
                    self.list = EdgeList::weighted();
                }
                Ok(())
            }
            Some(before) if before == weighted => Ok(()),
            Some(_) => Err(DataError::malformed(
                Place::file(path),
                "some edge files have weights and some have none",
                "give weights in all of them, or pass --weight none",
            )),
        }
    }

    /// Whether the node table knows this id.
    pub(crate) fn knows(&self, id: &str) -> bool {
        self.row_of(EdgeEnd::Text(id)).is_some()
    }

    /// Whether the ids are those of a node table.
    pub(crate) fn has_table(&self) -> bool {
        self.index.is_some()
    }

    /// The row of an id, as it is spelt or else without the spaces around it.
    fn row_of(&self, end: EdgeEnd<'_>) -> Option<u32> {
        let index = self.index.as_ref()?;
        match end {
            EdgeEnd::Text(id) => index.row_of_text(id).or_else(|| index.row_of_text(id.trim())),
            EdgeEnd::Integer(id) => index.row_of_integer(id),
        }
    }

    /// An arc between two ids.
    pub(crate) fn push(
        &mut self,
        path: &Path,
        line: u64,
        (source, target): (EdgeEnd<'_>, EdgeEnd<'_>),
        weight: Option<f64>,
    ) -> Result<()> {
        let weight = match weight {
            Some(weight) if !is_weight(weight) => {
                return Err(DataError::malformed(
                    Place::line(path, line),
                    format!("the edge has the weight {weight}"),
                    "weights are numbers from 0 to 3e38; pass --weight none to leave them out",
                ));
            }
            Some(weight) => weight as f32,
            None => 1.0,
        };
        let rows = (self.row_of(source), self.row_of(target));
        let (source, target) = match (rows, self.policy) {
            ((Some(source), Some(target)), _) => (source, target),
            (_, UnknownNodes::Skip) => {
                self.skipped += 1;
                return Ok(());
            }
            (_, UnknownNodes::Error) => {
                let unknown = if rows.0.is_none() { source } else { target };
                let id = unknown.to_string().trim().to_owned();
                return Err(DataError::UnknownNode {
                    place: Place::line(path, line),
                    id,
                    hint: Hint::new(
                        "add the node to the table, leave such edges out, or add a row for it",
                    )
                    .with(Setting::UnknownNodes),
                });
            }
            (_, UnknownNodes::Add) => (
                rows.0.unwrap_or_else(|| self.add(source)),
                rows.1.unwrap_or_else(|| self.add(target)),
            ),
        };
        self.list.push(source, target, weight);
        Ok(())
    }

    fn add(&mut self, end: EdgeEnd<'_>) -> u32 {
        self.known
            + self.added.number(match end {
                EdgeEnd::Text(id) => EdgeEnd::Text(id.trim()),
                EdgeEnd::Integer(_) => end,
            })
    }

    pub(crate) fn finish(self) -> CollectedEdges {
        CollectedEdges { list: self.list, added: self.added.into_ids(), skipped: self.skipped }
    }
}

/// Whether single precision, in which weights are kept, holds the number as a weight.
pub(crate) fn is_weight(weight: f64) -> bool {
    (weight as f32).is_finite() && weight >= 0.0
}
