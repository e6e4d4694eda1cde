//! The penalties λ and λg of every column, chosen by predictions of known cells left out.
//!
//! With eⱼₖ = log(MSE + 10⁻⁴) of column j (a block counts as one) under the pair k of penalties,
//! column j takes the k with the smallest eⱼₖ plus the mean of e₋ₖ over all columns of its sort,
//! numbers or zeros and ones: few rows say little about one column, so all are heard. Rows of which
//! nothing is known need λg alone; it is the one with the smallest MSE of μ + gB.

use rayon::prelude::*;

use super::cells::{Cells, Data};
use super::completion::Penalised;
use super::left_out::LeftOut;
use super::moments::Moments;

/// λ: what is added to the diagonal of Σ.
pub(super) const PENALTIES: [f64; 3] = [0.001, 0.01, 0.1];
/// λg: what is added to the diagonal of Sgg.
pub(super) const CONTEXT_PENALTIES: [f64; 5] = [0.003, 0.03, 0.3, 3.0, 30.0];
/// Rows on which the choice is made.
pub(super) const MAX_ROWS: usize = 2500;

const PORTION: usize = 64;
const SMALLEST_ERROR: f64 = 1e-4;

/// What was chosen, for every block.
pub(super) struct Choices {
    /// Which of [`CONTEXT_PENALTIES`] and which of [`PENALTIES`].
    pub(super) penalties: Vec<(usize, usize)>,
    /// Which of [`CONTEXT_PENALTIES`] where nothing of a row is known.
    pub(super) blank: Vec<usize>,
}

/// Squared errors by pair of penalties and block.
struct Errors {
    known: Vec<Vec<f64>>,
    blank: Vec<Vec<f64>>,
    cells: Vec<f64>,
}

impl Choices {
    /// Chooses on sets of rows, each predicted by moments of (mostly) other rows.
    pub(super) fn new(data: Data<'_>, sets: &[(&Moments, Vec<usize>)]) -> Self {
        let blocks = data.cells.blocks;
        let errors = Errors::measure(data, sets);
        let seen: Vec<usize> = (0..blocks.len()).filter(|&at| errors.cells[at] > 0.0).collect();
        let error = |pair: usize, block: usize| {
            (errors.known[pair][block] / errors.cells[block] + SMALLEST_ERROR).ln()
        };
        let is_number = |block: usize| data.cells.is_number[blocks[block].start];
        let of_sort = |pair: usize, numbers: bool| {
            let alike = || seen.iter().filter(|&&block| is_number(block) == numbers);
            let sum: f64 = alike().map(|&block| error(pair, block)).sum();
            sum / alike().count().max(1) as f64
        };
        let means: Vec<[f64; 2]> = (0..errors.known.len())
            .map(|pair| [of_sort(pair, false), of_sort(pair, true)])
            .collect();
        let choose = |block: usize| {
            let best = smallest((0..means.len()).map(|pair| {
                let own = if errors.cells[block] > 0.0 { error(pair, block) } else { 0.0 };
                own + means[pair][usize::from(is_number(block))]
            }));
            (best / PENALTIES.len(), best % PENALTIES.len())
        };
        Choices {
            penalties: (0..blocks.len()).map(choose).collect(),
            blank: (0..blocks.len())
                .map(|block| smallest(errors.blank.iter().map(|errors| errors[block])))
                .collect(),
        }
    }
}

/// Where the smallest number stands, the first of equals.
fn smallest(numbers: impl Iterator<Item = f64>) -> usize {
    numbers.enumerate().min_by(|one, other| one.1.total_cmp(&other.1)).map_or(0, |(at, _)| at)
}

impl Errors {
    fn measure(data: Data<'_>, sets: &[(&Moments, Vec<usize>)]) -> Self {
        let cells = data.cells;
        let zeros = vec![0.0; cells.blocks.len()];
        let mut errors = Errors {
            known: vec![zeros.clone(); PENALTIES.len() * CONTEXT_PENALTIES.len()],
            blank: vec![zeros.clone(); CONTEXT_PENALTIES.len()],
            cells: zeros,
        };
        for (moments, rows) in sets {
            let mut rows = rows.clone();
            cells.sort_by_pattern(&mut rows);
            let evidence = cells.evidence(&rows);
            let contexts = data.contexts(&rows);
            for &row in &rows {
                for_known(cells, row, |block, _| errors.cells[block] += 1.0);
            }
            for (at, &context_penalty) in CONTEXT_PENALTIES.iter().enumerate() {
                let distribution = moments.distribution(context_penalty);
                let means = distribution.regression.means(&contexts, rows.len());
                for (means, &row) in means.chunks_exact(cells.columns.max(1)).zip(&rows) {
                    for_known(cells, row, |block, column| {
                        let error = cells.value(row, column) - means[column];
                        errors.blank[at][block] += error * error;
                    });
                }
                for (other, &penalty) in PENALTIES.iter().enumerate() {
                    let penalised =
                        Penalised::new(&distribution.covariance, cells.columns, penalty);
                    let measured = left_out_errors(cells, &rows, &evidence, &means, &penalised);
                    let sums = &mut errors.known[at * PENALTIES.len() + other];
                    sums.iter_mut().zip(measured).for_each(|(sum, error)| *sum += error);
                }
            }
        }
        errors
    }
}

/// Hands the known cells of a row: block and column.
fn for_known(cells: &Cells<'_>, row: usize, mut take: impl FnMut(usize, usize)) {
    let known = cells.known_in(row);
    for (at, block) in cells.blocks.iter().enumerate() {
        block.clone().filter(|&column| known[column]).for_each(|column| take(at, column));
    }
}

/// Sums of squared errors by block, from evidence and means \[rows × p\].
fn left_out_errors(
    cells: &Cells<'_>,
    rows: &[usize],
    evidence: &[f64],
    means: &[f64],
    penalised: &Penalised,
) -> Vec<f64> {
    let columns = cells.columns;
    let sums: Vec<Vec<f64>> = rows
        .par_chunks(PORTION)
        .enumerate()
        .map(|(portion, rows)| {
            let mut sums = vec![0.0; cells.blocks.len()];
            let mut left_out = LeftOut::new(penalised);
            for (at, &row) in rows.iter().enumerate() {
                let from = (portion * PORTION + at) * columns;
                let evidence = &evidence[from..from + columns];
                let pattern = cells.known_in(row);
                let residuals = residuals(pattern, evidence, &means[from..from + columns]);
                left_out.look_at(pattern, &residuals);
                for (sum, block) in sums.iter_mut().zip(cells.blocks) {
                    left_out.without(block, |column, distance| {
                        let error = evidence[column] - distance - cells.value(row, column);
                        *sum += error * error;
                    });
                }
            }
            sums
        })
        .collect();
    let mut total = vec![0.0; cells.blocks.len()];
    for sums in &sums {
        total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
    }
    total
}

/// Evidence less mean where something is known, else zero.
pub(super) fn residuals(pattern: &[bool], evidence: &[f64], means: &[f64]) -> Vec<f64> {
    let residual = |((&known, z), mean): ((&bool, &f64), &f64)| if known { z - mean } else { 0.0 };
    pattern.iter().zip(evidence).zip(means).map(residual).collect()
}
