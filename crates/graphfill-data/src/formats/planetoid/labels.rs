//! The classes: one-hot rows of `ally` and `ty`; a row of zeros is a node without a label.

use std::path::Path;

use crate::error::Result;
use crate::formats::pickle::{CsrMatrix, Problem};
use crate::labels::Labels;

use super::positions::{Positions, Row};
use super::{Files, check_same, parse, read_bytes};

pub(super) fn read(
    files: &Files<'_>,
    first: &CsrMatrix,
    test: &CsrMatrix,
    positions: &Positions,
) -> Result<Option<Labels>> {
    let (first_path, test_path) = (files.part("ally"), files.part("ty"));
    let first_classes = OneHot::read(&first_path)?;
    let test_classes = OneHot::read(&test_path)?;
    let same_rows = |path: &Path, classes: &OneHot, end, matrix: &CsrMatrix| {
        check_same("rows", (&files.part(end), matrix.rows()), (path, classes.codes.len()))
    };
    same_rows(&first_path, &first_classes, "allx", first)?;
    same_rows(&test_path, &test_classes, "tx", test)?;
    check_same("classes", (&first_path, first_classes.width), (&test_path, test_classes.width))?;
    let class = |node| match positions.row(node) {
        Row::First(row) => first_classes.codes[row],
        Row::Test(row) => test_classes.codes[row],
        Row::Absent => None,
    };
    // Labels::from_numbers takes a negative number for "none".
    let number = |node| class(node).map_or(-1, |class| class as i64);
    let numbers: Vec<i64> = (0..positions.nodes()).map(number).collect();
    Ok(Labels::from_numbers("y", &numbers))
}

/// The class of each row of a file.
struct OneHot {
    width: usize,
    codes: Vec<Option<usize>>,
}

impl OneHot {
    fn read(path: &Path) -> Result<Self> {
        let bytes = read_bytes(path)?;
        let pickle = parse(path, &bytes)?;
        let in_file = |problem: Problem| problem.in_file(path);
        let array = pickle.heap.array(pickle.root).map_err(in_file)?;
        let &[rows, width] = array.shape() else {
            let found = format!("an array of shape {:?}", array.shape());
            return Err(in_file(Problem::unexpected("one row a node, one column a class", &found)));
        };
        let cells = array.floats(&pickle.heap).map_err(in_file)?;
        // Rows of no columns take no bytes, so their number is not to be believed.
        if width == 0 && rows > 0 {
            return Err(in_file(Problem::unexpected("classes", "rows of no classes")));
        }
        let codes = cells.chunks_exact(width.max(1)).map(largest).collect();
        Ok(OneHot { width, codes })
    }
}

/// The first of the largest cells; none where every cell is zero.
fn largest(row: &[f64]) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (class, &value) in row.iter().enumerate() {
        if best.is_none_or(|(_, most)| value > most) {
            best = Some((class, value));
        }
    }
    best.filter(|_| row.iter().any(|&value| value != 0.0)).map(|(class, _)| class)
}
