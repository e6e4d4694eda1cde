//! The paper's eight data sets: what they are, where they come from, where they are kept.
//!
//! [`all`] and [`find`] describe them, a [`Cache`] says where their files lie, [`get`] fetches
//! the files that are not there yet. Reading them is the work of the file formats.

mod archive;
mod blob_id;
mod cache;
mod download;
mod entries;
mod exchange;
mod file_download;
mod mirror;
mod names;
mod part_file;
#[cfg(test)]
mod tests;
mod transfer;

pub use blob_id::git_blob_id;
pub use cache::{Cache, cache_folder};
pub use download::{Fetched, FileOutcome, GetOutcome, get};
pub use mirror::Mirror;

use crate::error::{DataError, Result};
use crate::kind::BlockKind;

/// What is known about a data set before any of its files is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatasetInfo {
    /// Its name on the command line, and the name of its folder.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// Nodes.
    pub nodes: usize,
    /// Edges of the simple undirected graph: no self-loops, no repeated edges.
    pub edges: usize,
    /// Edges as the paper counts them; more than [`edges`](Self::edges) where it counts repeated
    /// edges of the source files.
    pub paper_edges: usize,
    /// Columns of the feature block.
    pub features: usize,
    /// What the features are; the paper's "continuous" is [`BlockKind::Numeric`].
    pub kind: BlockKind,
    /// Classes of the labels; none where the nodes have no labels that differ.
    pub classes: Option<usize>,
    /// How its files are laid out.
    pub format: SourceFormat,
    /// The files to fetch.
    pub files: &'static [RemoteFile],
    /// What the publisher says about the terms of use.
    pub licence: &'static str,
    /// What to cite when results on it are published.
    pub citation: &'static str,
}

/// How the files of a data set are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceFormat {
    /// `ind.NAME.*`: pickles of sparse matrices and of neighbour lists.
    Planetoid,
    /// One npz archive with the arrays of two sparse matrices and the labels.
    GnnBenchmark,
    /// Two tables separated by `|`: who bought what, and the tags of the products.
    Steam,
    /// Gzipped tables of the Open Graph Benchmark.
    OpenGraphBenchmark,
}

impl SourceFormat {
    /// One word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            SourceFormat::Planetoid => "planetoid",
            SourceFormat::GnnBenchmark => "gnn-benchmark",
            SourceFormat::Steam => "steam",
            SourceFormat::OpenGraphBenchmark => "ogb",
        }
    }
}

/// A file of a data set, as its publisher offers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemoteFile {
    /// Its name, there and here.
    pub name: &'static str,
    /// The address of the folder that has it, without a slash at the end.
    pub folder_url: &'static str,
    /// The git blob id of its content; none where the publisher's bytes are not pinned.
    pub git_blob_id: Option<&'static str>,
    /// For an archive: what is taken out of it. The archive itself is then not kept.
    pub members: &'static [&'static str],
}

impl RemoteFile {
    /// Its full address.
    pub fn url(&self) -> String {
        format!("{}/{}", self.folder_url, self.name)
    }

    /// The files that it leaves in the data set's folder: itself, or what is taken out of it.
    pub fn kept_names(&self) -> &[&'static str] {
        if self.members.is_empty() { std::slice::from_ref(&self.name) } else { self.members }
    }
}

/// Every data set, in the order of the paper.
pub fn all() -> &'static [DatasetInfo] {
    &entries::ENTRIES
}

/// The data set of that name, whatever its case.
///
/// # Errors
/// [`DataError::Request`] where there is none; the message lists the names and suggests one.
pub fn find(name: &str) -> Result<&'static DatasetInfo> {
    all().iter().find(|info| info.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let known: Vec<_> = all().iter().map(|info| info.name).collect();
        let suggestion = names::nearest(name, &known)
            .map(|nearest| format!("; did you mean '{nearest}'?"))
            .unwrap_or_default();
        DataError::request(
            format!(
                "there is no data set '{name}'{suggestion}\n  the data sets are {}",
                known.join(", ")
            ),
            "",
        )
    })
}
