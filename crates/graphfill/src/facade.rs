//! Three calls for the common job: read files, fill, write.

use std::path::Path;
use std::sync::Arc;

use graphfill_data::formats::{ReadOptions, write_nodes};
use graphfill_data::{DataError, Dataset, NoProgress, Note};
use graphfill_datasets::Source;
use graphfill_methods::fill::{Filled, fill};
use graphfill_methods::{Choice, Context, Method, MethodError, Model, Registry};

/// Reads a table of nodes and the edges between them. Formats, ids and column types are inferred;
/// [`Data::notes`] says what was guessed.
pub fn read(nodes: impl AsRef<Path>, edges: impl AsRef<Path>) -> Result<Data, DataError> {
    read_with(nodes, edges, &ReadOptions::default())
}

/// Reads a table of nodes and the edges between them, with options.
pub fn read_with(
    nodes: impl AsRef<Path>,
    edges: impl AsRef<Path>,
    options: &ReadOptions,
) -> Result<Data, DataError> {
    let source = Source::detect(nodes.as_ref(), Some(edges.as_ref()))?;
    Ok(Data { dataset: source.read(options, &NoProgress)? })
}

/// A graph with a table of its nodes.
#[derive(Debug, Clone)]
pub struct Data {
    dataset: Dataset,
}

impl Data {
    /// A graph and a table from elsewhere.
    pub fn new(dataset: Dataset) -> Self {
        Data { dataset }
    }

    /// The graph and the table.
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// What the reader guessed.
    pub fn notes(&self) -> &[Note] {
        &self.dataset.notes
    }

    /// Estimates every missing cell with `auto`, seed 0, on the CPU.
    pub fn fill(self) -> Result<FilledData, MethodError> {
        let auto = Registry::with_defaults().find("auto")?;
        self.fill_with(&auto, &Context::default())
    }

    /// Estimates every missing cell with a method and a context.
    pub fn fill_with(
        self,
        method: &Arc<dyn Method>,
        context: &Context<'_>,
    ) -> Result<FilledData, MethodError> {
        let graph = self.dataset.graph.undirected();
        let (filled, model) = fill(method, &self.dataset.table, &graph, context)?;
        let Filled { table, estimated, choices, .. } = filled;
        let dataset = Dataset { table, ..self.dataset };
        Ok(FilledData { dataset, estimated, choices, model })
    }
}

/// A graph with a complete table.
pub struct FilledData {
    dataset: Dataset,
    estimated: usize,
    choices: Vec<Choice>,
    model: Option<Model>,
}

impl FilledData {
    /// The graph and the completed table.
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// How many cells were estimated.
    pub fn estimated(&self) -> usize {
        self.estimated
    }

    /// The method of each column, and why it was chosen.
    pub fn choices(&self) -> &[Choice] {
        &self.choices
    }

    /// The fitted model; none where nothing was missing.
    pub fn model(&self) -> Option<&Model> {
        self.model.as_ref()
    }

    /// Writes the completed table, in the format of the name's extension.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), DataError> {
        write_nodes(&self.dataset, path.as_ref())
    }
}
