//! The registry of the paper's eight data sets: sizes, formats, files, licences, citations.

use graphfill_data::{BlockKind, DataError, Result, did_you_mean};

use crate::entries::ENTRIES;

/// What is known about a data set before any of its files is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DatasetInfo {
    /// The name by which it is found, and the name of its folder.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// Number of nodes.
    pub nodes: usize,
    /// Number of edges of the simple undirected graph, without self-loops and repeated edges.
    pub edges: usize,
    /// Number of edges as the paper counts them; more than [`edges`](Self::edges) where it counts
    /// repeated edges of the source files.
    pub paper_edges: usize,
    /// Number of feature columns.
    pub features: usize,
    /// What the features are; the paper's "continuous" is [`BlockKind::Numeric`].
    pub kind: BlockKind,
    /// Number of classes of the labels; none where nodes have no labels.
    pub classes: Option<usize>,
    /// The format of its files.
    pub format: SourceFormat,
    /// The files to download.
    pub files: &'static [RemoteFile],
    /// What the publisher says about the terms of use.
    pub licence: &'static str,
    /// What to cite when results on it are published.
    pub citation: &'static str,
}

impl DatasetInfo {
    /// Whether the content of every file is known by a checksum.
    pub fn is_verified(&self) -> bool {
        self.files.iter().all(RemoteFile::is_verified)
    }
}

/// The format of the files of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceFormat {
    /// `ind.NAME.*`: pickles of CSR matrices and neighbour lists.
    Planetoid,
    /// One `.npz` archive with two CSR matrices and the labels.
    GnnBenchmark,
    /// Two tables with the separator `|`: purchases, and the tags of products.
    Steam,
    /// Gzipped CSV files of the Open Graph Benchmark.
    OpenGraphBenchmark,
}

impl SourceFormat {
    /// A short name without spaces.
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
#[non_exhaustive]
pub struct RemoteFile {
    /// Its name, on the server and in the data set's folder.
    pub name: &'static str,
    /// The URL of its folder on the server, without a slash at the end.
    pub folder_url: &'static str,
    /// The git blob id of its content in hexadecimal, as `git hash-object` prints it.
    pub git_blob_id: Option<&'static str>,
    /// The SHA-256 of its content in hexadecimal.
    pub sha256: Option<&'static str>,
    /// For an archive: the files to extract. The archive itself is then not kept.
    pub members: &'static [&'static str],
}

impl RemoteFile {
    /// Its URL.
    pub fn url(&self) -> String {
        format!("{}/{}", self.folder_url, self.name)
    }

    /// Whether its content is known by a checksum.
    pub fn is_verified(&self) -> bool {
        self.git_blob_id.is_some() || self.sha256.is_some()
    }

    /// The files that it leaves in the data set's folder: itself, or the extracted ones.
    pub fn kept_names(&self) -> &[&'static str] {
        if self.members.is_empty() { std::slice::from_ref(&self.name) } else { self.members }
    }
}

/// Every data set, in the order of the paper.
pub fn all() -> &'static [DatasetInfo] {
    &ENTRIES
}

/// The data set with this name; case does not matter.
///
/// # Errors
/// [`DataError::Request`] if there is none; the error lists the names and suggests one.
pub fn find(name: &str) -> Result<&'static DatasetInfo> {
    all().iter().find(|info| info.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let known: Vec<_> = all().iter().map(|info| info.name).collect();
        let suggestion = suggest(name, &known)
            .map_or_else(String::new, |near| format!("; did you mean '{near}'?"));
        let advice = format!("the data sets are {}", known.join(", "));
        DataError::request(format!("there is no data set '{name}'{suggestion}"), advice)
    })
}

/// The known name inside a longer one ("ogbn-arxiv", "amazon_photo"), or else the nearest one.
fn suggest<'a>(given: &str, known: &[&'a str]) -> Option<&'a str> {
    let lower = given.to_lowercase();
    let inside = known.iter().copied().find(|name| lower.contains(name));
    inside.or_else(|| did_you_mean(given, known.iter().copied()))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_and_counts_are_those_of_the_paper() {
        let names: Vec<_> = all().iter().map(|info| info.name).collect();
        assert_eq!(
            names,
            ["cora", "citeseer", "photo", "computers", "steam", "pubmed", "coauthor", "arxiv"]
        );
        let cora = find("Cora").expect("case does not matter");
        assert_eq!((cora.nodes, cora.edges, cora.paper_edges), (2708, 5278, 5429));
        assert!(all().iter().all(|info| info.edges <= info.paper_edges));
    }

    #[test]
    fn files_are_pinned_and_have_safe_names_and_urls() {
        for info in all() {
            let expected = match info.format {
                SourceFormat::Planetoid => 8,
                SourceFormat::Steam => 2,
                SourceFormat::GnnBenchmark | SourceFormat::OpenGraphBenchmark => 1,
            };
            assert_eq!(info.files.len(), expected, "{}", info.name);
            assert_eq!(info.is_verified(), info.name != "arxiv", "{}", info.name);
            let ids: HashSet<_> = info.files.iter().map(|file| file.git_blob_id).collect();
            assert_eq!(ids.len(), expected, "{}: every id is distinct", info.name);
            for file in info.files {
                assert!(file.url().starts_with("https://"), "{}", file.url());
                assert!(!file.url().contains("/master/"), "{}", file.url());
                let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
                assert!(file.git_blob_id.is_none_or(|id| id.len() == 40 && is_hex(id)));
                assert!(file.sha256.is_none_or(|sum| sum.len() == 64 && is_hex(sum)));
                let safe = |name: &&str| !name.contains("..") && !name.starts_with('/');
                assert!(file.kept_names().iter().all(safe), "{}", file.name);
            }
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let message = |name| find(name).expect_err("there is no such data set").to_string();
        for (given, near) in
            [("pubmedd", "pubmed"), ("CiteSer", "citeseer"), ("ogbn-arxiv", "arxiv")]
        {
            let message = message(given);
            assert!(message.contains(&format!("did you mean '{near}'?")), "{message}");
            assert!(message.contains("cora, citeseer, photo"), "{message}");
        }
        assert!(!message("karate").contains("did you mean"));
    }
}
