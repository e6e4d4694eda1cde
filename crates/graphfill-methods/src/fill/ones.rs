//! How many ones a missing row of a binary block should have: as many as its observed neighbours
//! on average, or as all observed rows where it has none.

use graphfill_data::{Block, UndirectedGraph};

/// The number of ones for each row.
pub(super) fn expected_ones(block: &Block, graph: &UndirectedGraph) -> Vec<usize> {
    let missing = block.missing();
    let observed = |row: usize| missing.is_clear(row);
    let ones = |row: usize| block.columns(row).len();
    let all: Vec<usize> = (0..block.rows()).filter(|&row| observed(row)).map(ones).collect();
    let overall = all.iter().sum::<usize>() as f64 / all.len().max(1) as f64;
    (0..block.rows())
        .map(|row| {
            let neighbours = graph.neighbours(row).iter().map(|&other| other as usize);
            let around: Vec<usize> =
                neighbours.filter(|&other| observed(other)).map(ones).collect();
            let expected = match around.len() {
                0 => overall,
                count => around.iter().sum::<usize>() as f64 / count as f64,
            };
            expected.round() as usize
        })
        .collect()
}
