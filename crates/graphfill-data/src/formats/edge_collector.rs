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
    ends: u64,
    matched: u64,
    rounded_weights: bool,
    weighted: Option<bool>,
}

/// What was read.
pub(crate) struct CollectedEdges {
    pub(crate) list: EdgeList,
    pub(crate) added: NodeIds,
    /// Edges that were left out because they name a node without a row.
    pub(crate) skipped: u64,
    /// The ends of all edges, and how many of them have a row.
    pub(crate) ends: u64,
    pub(crate) matched: u64,
    /// Whether single precision does not hold a weight with all its digits.
    pub(crate) rounded_weights: bool,
}

/// The weight of an edge as a file has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weight {
    pub(crate) value: f64,
    /// Whether it has so many digits that single precision may round it.
    pub(crate) may_round: bool,
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
            ends: 0,
            matched: 0,
            rounded_weights: false,
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
                Hint::new("give weights in all of them, or read none").with(Setting::Weight(None)),
            )),
        }
    }

    /// The row of an id, as it is spelt or else without the spaces around it.
    fn row_of(&self, end: EdgeEnd<'_>) -> Option<u32> {
        let index = self.index.as_ref()?;
        match end {
            EdgeEnd::Text(id) => index.row_of_text(id).or_else(|| index.row_of_text(id.trim())),
            EdgeEnd::Integer(id) => index.row_of_integer(id),
        }
    }

    /// Adds an arc between two ids.
    pub(crate) fn push(
        &mut self,
        path: &Path,
        line: u64,
        (source, target): (EdgeEnd<'_>, EdgeEnd<'_>),
        weight: Option<Weight>,
    ) -> Result<()> {
        let weight = match weight {
            Some(Weight { value, .. }) if !is_weight(value) => {
                let hint = Hint::new("weights are numbers from 0 to 3e38; or read no weights");
                return Err(DataError::malformed(
                    Place::line(path, line),
                    format!("the edge has the weight {value}"),
                    hint.with(Setting::Weight(None)),
                ));
            }
            Some(Weight { value, may_round }) => {
                if may_round && !self.rounded_weights {
                    self.rounded_weights = (value as f32).to_string().parse() != Ok(value);
                }
                value as f32
            }
            None => 1.0,
        };
        let rows = (self.row_of(source), self.row_of(target));
        self.ends += 2;
        self.matched += u64::from(rows.0.is_some()) + u64::from(rows.1.is_some());
        let (source, target) = match (rows, self.policy) {
            ((Some(source), Some(target)), _) => (source, target),
            (_, UnknownNodes::Skip) => {
                self.skipped += 1;
                return Ok(());
            }
            (_, UnknownNodes::Error) => {
                let unknown = if rows.0.is_none() { source } else { target };
                let id = unknown.to_string().trim().to_owned();
                let hint = self.hint_for(&id);
                return Err(DataError::UnknownNode { place: Place::line(path, line), id, hint });
            }
            (_, UnknownNodes::Add) => (
                rows.0.unwrap_or_else(|| self.add(source)),
                rows.1.unwrap_or_else(|| self.add(target)),
            ),
        };
        self.list.push(source, target, weight);
        Ok(())
    }

    /// What to do about an unknown id: a node whose id is the same but for its spelling, if there is one.
    fn hint_for(&self, id: &str) -> Hint {
        let same = self.index.as_ref().and_then(|index| index.same_but_for_spelling(id));
        let advice = match same {
            Some(known) => {
                format!("did you mean '{known}'? Write ids in the same way in both tables")
            }
            None => {
                "add the node to the table, leave such edges out, or have a row added for it".into()
            }
        };
        Hint::new(advice).with(Setting::UnknownNodes)
    }

    fn add(&mut self, end: EdgeEnd<'_>) -> u32 {
        self.known
            + self.added.number(match end {
                EdgeEnd::Text(id) => EdgeEnd::Text(id.trim()),
                EdgeEnd::Integer(_) => end,
            })
    }

    pub(crate) fn finish(self) -> CollectedEdges {
        CollectedEdges {
            list: self.list,
            added: self.added.into_ids(),
            skipped: self.skipped,
            ends: self.ends,
            matched: self.matched,
            rounded_weights: self.rounded_weights,
        }
    }
}

/// Whether single precision, in which weights are kept, holds the number as a weight.
pub(crate) fn is_weight(weight: f64) -> bool {
    (weight as f32).is_finite() && weight >= 0.0
}
