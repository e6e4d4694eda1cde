//! How many ones a missing row of a binary block should have: as many as its observed neighbours
//! on average, or as all observed rows where it has none.

use graphfill_data::{Block, UndirectedGraph};

/// The number of ones for each missing row; zero for the others. `usual` is taken where no row is observed.
pub(super) fn expected_ones(block: &Block, graph: &UndirectedGraph, usual: f64) -> Vec<usize> {
    let missing = block.missing();
    let observed = |row: usize| !missing.is_whole(row);
    // A row with holes counts as if they held ones as often as the rest of it.
    let ones = |row: usize| {
        let seen = block.width() - missing.cells(row).len();
        block.columns(row).len() as f64 * block.width() as f64 / seen as f64
    };
    let all: Vec<f64> = (0..block.rows()).filter(|&row| observed(row)).map(ones).collect();
    let overall = match all.len() {
        0 => usual,
        rows => all.iter().sum::<f64>() / rows as f64,
    };
    (0..block.rows())
        .map(|row| {
            if observed(row) {
                return 0;
            }
            let neighbours = graph.neighbours(row).iter().map(|&other| other as usize);
            let around: Vec<f64> = neighbours.filter(|&other| observed(other)).map(ones).collect();
            let expected = match around.len() {
                0 => overall,
                count => around.iter().sum::<f64>() / count as f64,
            };
            expected.round() as usize
        })
        .collect()
}
