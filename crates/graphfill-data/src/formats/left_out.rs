//! The binary formats where the crate is built without them: every call says so.

use std::path::Path;

use crate::error::DataError;

fn left_out(path: &Path, format: &str) -> DataError {
    DataError::request(
        format!("{} is a {format} file, and this program was built without them", path.display()),
        "convert the file to CSV, or build with the feature of that name",
    )
}

#[cfg(not(feature = "npz"))]
pub(crate) mod npz {
    use std::path::Path;

    use super::left_out;
    use crate::dataset::Dataset;
    use crate::error::Result;
    use crate::formats::options::ReadOptions;
    use crate::graph::Graph;
    use crate::progress::Progress;
    use crate::table::NodeTable;

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Layout {
        Own,
        Splits,
    }

    pub(crate) fn layout(path: &Path) -> Result<Layout> {
        Err(left_out(path, "npz"))
    }

    pub(crate) fn read(path: &Path, _: &ReadOptions, _: &dyn Progress) -> Result<Dataset> {
        Err(left_out(path, "npz"))
    }

    pub(crate) fn write(_: &NodeTable, _: &Graph, path: &Path) -> Result<()> {
        Err(left_out(path, "npz"))
    }
}

#[cfg(not(feature = "parquet"))]
pub(crate) mod parquet {
    use std::path::Path;

    use super::left_out;
    use crate::atomic_file::AtomicFile;
    use crate::error::Result;
    use crate::formats::edge_collector::EdgeCollector;
    use crate::formats::edge_columns::EdgeColumns;
    use crate::formats::opened::OpenedFile;
    use crate::formats::options::ReadOptions;
    use crate::formats::raw_table::RawTable;
    use crate::formats::resolve::EdgeSample;
    use crate::graph::{Direction, Graph};
    use crate::ids::NodeIds;
    use crate::progress::Progress;
    use crate::table::NodeTable;

    pub(crate) fn column_names(file: &OpenedFile) -> Result<Vec<String>> {
        Err(left_out(file.path(), "parquet"))
    }

    pub(crate) fn read_nodes(
        file: OpenedFile,
        _: &ReadOptions,
        _: &dyn Progress,
    ) -> Result<RawTable> {
        Err(left_out(file.path(), "parquet"))
    }

    pub(crate) enum ParquetEdges {}

    impl ParquetEdges {
        pub(crate) fn open(file: OpenedFile) -> Result<Self> {
            Err(left_out(file.path(), "parquet"))
        }

        pub(crate) fn sample(&self) -> Result<EdgeSample> {
            match *self {}
        }

        pub(crate) fn read_into(
            self,
            _: &EdgeColumns,
            _: &ReadOptions,
            _: &mut EdgeCollector<'_>,
            _: &dyn Progress,
        ) -> Result<Option<Direction>> {
            match self {}
        }
    }

    pub(crate) fn write_tables(
        _: &NodeTable,
        path: &Path,
        _: &mut dyn FnMut() -> Option<NodeTable>,
    ) -> Result<AtomicFile> {
        Err(left_out(path, "parquet"))
    }

    pub(crate) fn write_nodes(_: &NodeTable, path: &Path) -> Result<AtomicFile> {
        Err(left_out(path, "parquet"))
    }

    pub(crate) fn write_edges(_: &Graph, _: &NodeIds, path: &Path) -> Result<AtomicFile> {
        Err(left_out(path, "parquet"))
    }
}
