//! Which row of which file each node takes: `test.index` names a position for each test row.

use std::path::{Path, PathBuf};

use crate::error::{DataError, Place, Result};
use crate::formats::lines::each_line;
use crate::progress::Progress;

/// Where a node's row stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Row {
    /// In `allx` and `ally`.
    First(usize),
    /// In `tx` and `ty`.
    Test(usize),
    /// Nowhere.
    Absent,
}

/// The rows of all nodes.
#[derive(Debug)]
pub(super) struct Positions {
    first_rows: usize,
    /// The test row of each node behind those of `allx`.
    test_rows: Vec<Option<usize>>,
}

impl Positions {
    /// Reads `test.index`. Positions without a row are believed only as far as the graph knows
    /// as many nodes, so that a wrong number cannot ask for billions of them.
    pub(super) fn read(
        path: &Path,
        first_rows: usize,
        test_rows: usize,
        nodes_of_graph: usize,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let index = TestIndex { path: path.to_path_buf(), first_rows };
        let most = first_rows.saturating_add(test_rows).saturating_add(nodes_of_graph);
        let mut rows = Vec::new();
        let mut named = 0;
        each_line(path, progress, |line, text| {
            let position = index.position(line, text, most)?;
            let behind = position - first_rows;
            if behind >= rows.len() {
                rows.resize(behind + 1, None);
            }
            if rows[behind].replace(named).is_some() {
                return Err(index.wrong(line, format!("position {position} stands a second time")));
            }
            named += 1;
            Ok(())
        })?;
        if named != test_rows {
            return Err(DataError::malformed(
                Place::file(path),
                format!("it names {named} positions, but tx has {test_rows} rows"),
                "take all files from the same source; they belong together",
            ));
        }
        Ok(Positions { first_rows, test_rows: rows })
    }

    /// The number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.first_rows + self.test_rows.len()
    }

    /// Where the row of a node stands.
    pub(super) fn row(&self, node: usize) -> Row {
        match node.checked_sub(self.first_rows) {
            None => Row::First(node),
            Some(behind) => self.test_rows[behind].map_or(Row::Absent, Row::Test),
        }
    }

    /// What to tell about positions without a row.
    pub(super) fn note(&self) -> Option<String> {
        let absent = self.test_rows.iter().filter(|row| row.is_none()).count();
        let note = "nodes without a row in the files, left with zero features and no label";
        (absent > 0).then(|| format!("{note}: {absent}"))
    }
}

struct TestIndex {
    path: PathBuf,
    first_rows: usize,
}

impl TestIndex {
    fn position(&self, line: u64, text: &str, most: usize) -> Result<usize> {
        let Ok(position) = text.trim().parse::<usize>() else {
            let start: String = text.chars().take(40).collect();
            return Err(self.wrong(line, format!("'{start}' is no position")));
        };
        if position < self.first_rows {
            let found = format!("position {position} belongs to a row of allx");
            return Err(self.wrong(line, found));
        }
        if position >= most {
            let found = format!("position {position} is beyond the {most} nodes that can exist");
            return Err(self.wrong(line, found));
        }
        Ok(position)
    }

    fn wrong(&self, line: u64, found: String) -> DataError {
        let remedy = format!(
            "each line names the position of one row of tx, once, from {} on",
            self.first_rows
        );
        DataError::malformed(Place::line(&self.path, line), found, remedy)
    }
}
