//! The small files of a Planetoid set: the positions of test rows, the labels, the neighbour lists.

use std::path::Path;

use graphfill_data::{DataError, EdgeList, Labels, Place, Progress, Result};

use super::{ONE_SOURCE, check_same, part};
use crate::lines::each_line;
use crate::pickle::{self, CsrMatrix, Heap, Problem, Value};

/// Where the features and the label of a node are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Row {
    /// This row of `allx` and `ally`.
    First(usize),
    /// This row of `tx` and `ty`.
    Test(usize),
    /// Nowhere.
    Absent,
}

/// The row of each node, from `test.index`: line `i` is the node of row `i` of `tx`.
#[derive(Debug)]
pub(super) struct Positions {
    first_rows: usize,
    /// The row in `tx` of each node after those of `allx`.
    test_rows: Vec<Option<usize>>,
}

impl Positions {
    /// Reads `test.index`. `rows` are the numbers of rows of `allx` and `tx`. A position is accepted
    /// up to the number of nodes that the graph has, so that it cannot ask for billions of nodes.
    pub(super) fn read(
        path: &Path,
        rows: [usize; 2],
        nodes_of_graph: usize,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let [first_rows, rows_of_test] = rows;
        let max = first_rows.saturating_add(rows_of_test).saturating_add(nodes_of_graph);
        let wrong = |line: u64, found: String| {
            let advice =
                format!("each line is the position of one row of tx, once, from {first_rows} on");
            DataError::malformed(Place::line(path, line), found, advice)
        };
        let mut test_rows = Vec::new();
        let mut listed = 0;
        each_line(path, progress, |line, text| {
            let Ok(position) = text.trim().parse::<usize>() else {
                let start: String = text.chars().take(40).collect();
                return Err(wrong(line, format!("'{}' is no position", start.escape_debug())));
            };
            let Some(behind) = position.checked_sub(first_rows) else {
                return Err(wrong(line, format!("position {position} is a row of allx")));
            };
            if position >= max {
                let found = format!("position {position} is beyond the {max} possible nodes");
                return Err(wrong(line, found));
            }
            if behind >= test_rows.len() {
                test_rows.resize(behind + 1, None);
            }
            if test_rows[behind].replace(listed).is_some() {
                return Err(wrong(line, format!("position {position} is listed twice")));
            }
            listed += 1;
            Ok(())
        })?;
        if listed != rows_of_test {
            let found = format!("it lists {listed} positions, but tx has {rows_of_test} rows");
            return Err(DataError::malformed(Place::file(path), found, ONE_SOURCE));
        }
        Ok(Positions { first_rows, test_rows })
    }

    /// The number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.first_rows + self.test_rows.len()
    }

    /// Where the features and the label of a node are.
    pub(super) fn row(&self, node: usize) -> Row {
        match node.checked_sub(self.first_rows) {
            None => Row::First(node),
            Some(behind) => self.test_rows[behind].map_or(Row::Absent, Row::Test),
        }
    }

    /// A note about nodes without a row.
    pub(super) fn note(&self) -> Option<String> {
        let absent = self.test_rows.iter().filter(|row| row.is_none()).count();
        let note = "nodes without a row in the files, left with zero features and no label";
        (absent > 0).then(|| format!("{note}: {absent}"))
    }
}

/// Reads the one-hot rows of `ally` and `ty`; a row of zeros is a node without a label.
pub(super) fn labels(
    prefix: &Path,
    [first, test]: [&CsrMatrix; 2],
    positions: &Positions,
    limit: u64,
) -> Result<Option<Labels>> {
    let (first_path, test_path) = (part(prefix, "ally"), part(prefix, "ty"));
    let (first_width, first_classes) = one_hot(&first_path, limit)?;
    let (test_width, test_classes) = one_hot(&test_path, limit)?;
    let rows = (first_classes.len(), test_classes.len());
    check_same("rows", (&part(prefix, "allx"), first.rows()), (&first_path, rows.0))?;
    check_same("rows", (&part(prefix, "tx"), test.rows()), (&test_path, rows.1))?;
    check_same("classes", (&first_path, first_width), (&test_path, test_width))?;
    let class = |node| match positions.row(node) {
        Row::First(row) => first_classes[row],
        Row::Test(row) => test_classes[row],
        Row::Absent => -1,
    };
    let numbers: Vec<i64> = (0..positions.nodes()).map(class).collect();
    Ok(Labels::from_numbers("y", &numbers))
}

/// The number of classes in a file, and the class of each of its rows (−1: none).
fn one_hot(path: &Path, limit: u64) -> Result<(usize, Vec<i64>)> {
    let bytes = pickle::read_bytes(path, limit)?;
    let in_file = |problem: Problem| problem.in_file(path);
    let pickle = pickle::parse(&bytes, limit).map_err(in_file)?;
    let array = pickle.heap.array(pickle.root).map_err(in_file)?;
    let &[rows, width] = array.shape() else {
        let found = format!("an array of shape {:?}", array.shape());
        let expected = "one row per node, one column per class";
        return Err(in_file(Problem::unexpected(expected, &found)));
    };
    // Rows without columns take no bytes, so their number is not checked by the data.
    if width == 0 && rows > 0 {
        return Err(in_file(Problem::unexpected("classes", "rows of no classes")));
    }
    let cells = array.floats(&pickle.heap, limit).map_err(in_file)?;
    Ok((width, cells.chunks_exact(width.max(1)).map(argmax).collect()))
}

/// The position of the first largest cell; −1 if every cell is zero.
fn argmax(row: &[f64]) -> i64 {
    let mut best: Option<(i64, f64)> = None;
    for (class, &value) in (0..).zip(row) {
        if best.is_none_or(|(_, largest)| value > largest) {
            best = Some((class, value));
        }
    }
    let any = row.iter().any(|&value| value != 0.0);
    best.filter(|_| any).map_or(-1, |(class, _)| class)
}

/// The arcs of the dict `graph`: each node with the list of its neighbours.
pub(super) fn arcs(
    path: &Path,
    heap: &Heap<'_>,
    neighbours: &[(Value, Value)],
    nodes: usize,
    file_length: usize,
) -> Result<EdgeList> {
    let wrong =
        |found: String, advice: &str| DataError::malformed(Place::file(path), found, advice);
    let in_file = |problem: Problem| problem.in_file(path);
    let node = |value: Value, role: &dyn Fn(i64) -> String| {
        let number = heap.integer(value).map_err(in_file)?;
        let inside = u32::try_from(number).ok().filter(|&number| (number as usize) < nodes);
        inside.ok_or_else(|| {
            let last = nodes.saturating_sub(1);
            wrong(format!("{}, but the nodes are 0 to {last}", role(number)), ONE_SOURCE)
        })
    };
    let mut arcs = EdgeList::unweighted();
    let mut seen = vec![false; nodes];
    for &(key, list) in neighbours {
        let source = node(key, &|number| format!("it has node {number}"))?;
        if std::mem::replace(&mut seen[source as usize], true) {
            let found = format!("node {source} has two lists of neighbours");
            return Err(wrong(found, "give each node one list"));
        }
        for &target in heap.items(list).map_err(in_file)? {
            let role = |number| format!("node {source} has neighbour {number}");
            arcs.push(source, node(target, &role)?, 1.0);
        }
        // One list may be shared by many nodes; written out, an arc takes at least a byte.
        if arcs.len() > file_length {
            let found = "the lists of neighbours are longer than the file: many nodes share one";
            return Err(wrong(found.into(), "write each node's neighbours as a list of its own"));
        }
    }
    Ok(arcs)
}
