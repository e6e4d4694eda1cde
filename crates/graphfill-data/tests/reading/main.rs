//! Tables as people have them: what is read, what is guessed and said, and what is refused.

mod columns;
mod extremes;
mod headers;
mod missing;
mod outputs;
mod styles;
mod texts;

use std::path::PathBuf;

use graphfill_data::formats::{self, Input, ReadOptions};
use graphfill_data::{DataError, Dataset, Kind, NoProgress};

/// A folder with a node file and an edge file.
struct Files {
    folder: tempfile::TempDir,
    nodes: &'static str,
    edges: &'static str,
}

impl Files {
    fn new(nodes: impl AsRef<[u8]>, edges: impl AsRef<[u8]>) -> Self {
        Files::named("nodes.csv", nodes, "edges.csv", edges)
    }

    fn named(
        nodes: &'static str,
        node_text: impl AsRef<[u8]>,
        edges: &'static str,
        edge_text: impl AsRef<[u8]>,
    ) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(nodes), node_text).expect("written");
        std::fs::write(folder.path().join(edges), edge_text).expect("written");
        Files { folder, nodes, edges }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn try_read(&self, options: &ReadOptions) -> Result<Dataset, DataError> {
        let (nodes, edges) = (self.path(self.nodes), self.path(self.edges));
        Input::detect(&nodes, Some(&edges))?.read(options, &NoProgress)
    }

    fn read(&self) -> Dataset {
        self.try_read(&ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
    }

    fn error(&self) -> String {
        match self.try_read(&ReadOptions::default()) {
            Ok(dataset) => panic!("read as {:?}", dataset.found),
            Err(error) => format!("{error}\n{:?}", error.hint()),
        }
    }

    /// What the table would look like as text in the file `name`.
    fn written(&self, dataset: &Dataset, name: &str) -> Vec<u8> {
        let path = self.path(name);
        formats::write_nodes(dataset, &path).expect("written");
        std::fs::read(path).expect("read")
    }
}

/// A table of nodes `a`, `b`, … with one further column of these cells.
fn column_of(cells: &[&str]) -> String {
    let mut text = String::from("id;v\n");
    for (row, cell) in cells.iter().enumerate() {
        text.push_str(&format!("n{row};{cell}\n"));
    }
    text
}

/// Edges that connect so many nodes of [`column_of`] in a ring.
fn ring(nodes: usize) -> String {
    let edges = (0..nodes).map(|at| format!("n{at},n{}\n", (at + 1) % nodes));
    format!("source,target\n{}", edges.collect::<String>())
}

fn kind(dataset: &Dataset, column: &str) -> Kind {
    dataset.table.column(column).expect("the column").kind().clone()
}

fn notes(dataset: &Dataset) -> String {
    dataset.notes.iter().map(|note| format!("{note} {:?}\n", note.hint.settings)).collect()
}
