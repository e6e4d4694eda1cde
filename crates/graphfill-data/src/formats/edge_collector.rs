//! Turns the ids of edges into rows of the node table, whatever the file format.

use hashbrown::HashMap;
use std::path::Path;

use crate::edge_list::EdgeList;
use crate::error::{DataError, Place, Result};
use crate::formats::options::UnknownNodes;
use crate::ids::IdIndex;

/// Arcs as they are read, and the nodes that only edges know.
pub(crate) struct EdgeCollector<'a> {
    index: Option<IdIndex<'a>>,
    known: u32,
    policy: UnknownNodes,
    list: EdgeList,
    added: Vec<String>,
    row_of_added: HashMap<String, u32>,
    skipped: u64,
    weighted: Option<bool>,
}

/// What was read.
pub(crate) struct CollectedEdges {
    pub(crate) list: EdgeList,
    pub(crate) added: Vec<String>,
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
            added: Vec::new(),
            row_of_added: HashMap::new(),
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

    /// Whether the node table or an earlier edge knows this id.
    pub(crate) fn knows(&self, id: &str) -> bool {
        self.row_of(id).is_some()
    }

    /// The row of an id, as it is spelt or else without the spaces around it.
    fn row_of(&self, id: &str) -> Option<u32> {
        let index = self.index.as_ref()?;
        index.row_of_text(id).or_else(|| index.row_of_text(id.trim()))
    }

    /// Whether the ids are those of a node table.
    pub(crate) fn has_table(&self) -> bool {
        self.index.is_some()
    }

    /// An arc between two ids spelt as text.
    pub(crate) fn push_text(
        &mut self,
        path: &Path,
        line: u64,
        (source, target): (&str, &str),
        weight: Option<f64>,
    ) -> Result<()> {
        let ends = (self.row_of(source), self.row_of(target));
        let names = || (source.trim().to_owned(), target.trim().to_owned());
        self.push(path, line, ends, names, weight)
    }

    /// An arc between two whole-number ids.
    pub(crate) fn push_integers(
        &mut self,
        path: &Path,
        line: u64,
        (source, target): (i64, i64),
        weight: Option<f64>,
    ) -> Result<()> {
        let find = |id: i64| self.index.as_ref().and_then(|index| index.row_of_integer(id));
        let ends = (find(source), find(target));
        self.push(path, line, ends, || (source.to_string(), target.to_string()), weight)
    }

    fn push(
        &mut self,
        path: &Path,
        line: u64,
        ends: (Option<u32>, Option<u32>),
        names: impl Fn() -> (String, String),
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
        let (source, target) = match ends {
            (Some(source), Some(target)) => (source, target),
            (source, target) => {
                let (source_id, target_id) = names();
                match self.policy {
                    UnknownNodes::Skip => {
                        self.skipped += 1;
                        return Ok(());
                    }
                    UnknownNodes::Error => {
                        let id = if source.is_none() { source_id } else { target_id };
                        return Err(DataError::UnknownNode { place: Place::line(path, line), id });
                    }
                    UnknownNodes::Add => (
                        source.unwrap_or_else(|| self.add(source_id)),
                        target.unwrap_or_else(|| self.add(target_id)),
                    ),
                }
            }
        };
        self.list.push(source, target, weight);
        Ok(())
    }

    fn add(&mut self, id: String) -> u32 {
        if let Some(&row) = self.row_of_added.get(&id) {
            return row;
        }
        let row = self.known + self.added.len() as u32;
        self.row_of_added.insert(id.clone(), row);
        self.added.push(id);
        row
    }

    pub(crate) fn finish(self) -> CollectedEdges {
        CollectedEdges { list: self.list, added: self.added, skipped: self.skipped }
    }
}

/// Whether single precision, in which weights are kept, holds the number as a weight.
pub(crate) fn is_weight(weight: f64) -> bool {
    (weight as f32).is_finite() && weight >= 0.0
}
