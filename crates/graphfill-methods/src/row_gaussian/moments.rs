//! Moments of a table with holes, by expectation maximisation.
//!
//! From completed rows X \[n × p\] and contexts G \[n × q\], both centred to Y and H, and from the
//! covariance C \[p × p\] that the completion leaves open,
//!
//! > Sxx = (YᵀY + C)/n,  Sxg = YᵀH/n,  Sgg = HᵀH/n.
//!
//! A penalty λg turns moments into parameters: B = (Sgg + λg I)⁻¹Sgx \[q × p\] and
//! Σ = Sxx − SxgB − BᵀSgx + BᵀSggB = Sxx − SxgB − λg BᵀB, since SggB = Sgx − λg B. What depends on
//! the completed rows is found anew in every round; Sgg is not.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::cells::Data;
use super::completion::{Penalised, complete};
use super::dense::{Cholesky, add_to_diagonal, dot, product, transposed};

/// Rows that are looked at.
pub(super) const MAX_ROWS: usize = 12_000;

/// λ of the completion.
const PENALTY: f64 = 0.003;

/// μ + gB for every column: B is kept transposed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Regression {
    /// \[p\]
    pub(super) offsets: Vec<f64>,
    /// \[p × q\]
    pub(super) slopes: Vec<f64>,
}

impl Regression {
    /// Means \[rows × p\] for contexts \[rows × q\].
    pub(super) fn means(&self, contexts: &[f64], rows: usize) -> Vec<f64> {
        let columns = self.offsets.len();
        let mut means = product(contexts, &self.slopes, rows, columns);
        for means in means.chunks_exact_mut(columns.max(1)) {
            for (mean, offset) in means.iter_mut().zip(&self.offsets) {
                *mean += offset;
            }
        }
        means
    }
}

/// x | g ~ N(μ + gB, Σ).
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Distribution {
    pub(super) regression: Regression,
    /// \[p × p\]
    pub(super) covariance: Vec<f64>,
}

/// Means and second moments of completed rows and their contexts.
#[derive(Debug, Clone)]
pub(super) struct Moments {
    mean: Vec<f64>,
    context_mean: Vec<f64>,
    own: Vec<f64>,
    cross: Vec<f64>,
    context: Vec<f64>,
}

impl Moments {
    /// The moments after so many rounds, from the first of the given rows.
    pub(super) fn fit(data: Data<'_>, rows: &[usize], context_penalty: f64, rounds: usize) -> Self {
        let (cells, columns) = (data.cells, data.cells.columns);
        let mut rows = rows[..rows.len().min(MAX_ROWS)].to_vec();
        cells.sort_by_pattern(&mut rows);
        let evidence = cells.evidence(&rows);
        let context_columns = data.scale.columns();
        let mut contexts = transposed(&data.contexts(&rows), rows.len());
        let context_mean = centre(&mut contexts, context_columns);
        let contexts_by_row = transposed(&contexts, context_columns);

        let mut completed = transposed(&evidence, rows.len());
        let mut moments = Moments {
            mean: vec![0.0; columns],
            context: scaled_product(&contexts, &contexts, context_columns, context_columns),
            cross: scaled_product(&completed, &contexts, columns, context_columns),
            context_mean,
            own: identity(columns),
        };
        let factor = moments.context_factor(context_penalty);
        let mut covariance = identity(columns);
        for _ in 0..rounds {
            let slopes = moments.slopes(&factor);
            let regression = Regression { offsets: moments.mean.clone(), slopes };
            let means = regression.means(&contexts_by_row, rows.len());
            let mut filled: Vec<f64> = evidence.iter().zip(&means).map(|(z, m)| z - m).collect();
            let penalised = Penalised::new(&covariance, columns, PENALTY);
            let remaining = complete(cells, &rows, &mut filled, &penalised);
            for (value, mean) in filled.iter_mut().zip(&means) {
                *value += mean;
            }
            completed = transposed(&filled, rows.len());
            moments.mean = centre(&mut completed, columns);
            moments.own = scaled_product(&completed, &completed, columns, columns);
            for (value, remaining) in moments.own.iter_mut().zip(&remaining) {
                *value += remaining / rows.len().max(1) as f64;
            }
            moments.cross = scaled_product(&completed, &contexts, columns, context_columns);
            covariance = moments.covariance(&moments.slopes(&factor), context_penalty);
        }
        moments
    }

    /// The parameters under a penalty λg.
    pub(super) fn distribution(&self, context_penalty: f64) -> Distribution {
        let slopes = self.slopes(&self.context_factor(context_penalty));
        let covariance = self.covariance(&slopes, context_penalty);
        let context_columns = self.context_mean.len();
        let offsets = self.mean.iter().enumerate().map(|(column, mean)| {
            let slopes = &slopes[column * context_columns..(column + 1) * context_columns];
            mean - dot(&self.context_mean, slopes)
        });
        Distribution { regression: Regression { offsets: offsets.collect(), slopes }, covariance }
    }

    /// Of Sgg + λg I.
    fn context_factor(&self, context_penalty: f64) -> Cholesky {
        let mut matrix = self.context.clone();
        add_to_diagonal(&mut matrix, self.context_mean.len(), context_penalty);
        Cholesky::new(matrix, self.context_mean.len())
    }

    /// Bᵀ \[p × q\].
    fn slopes(&self, factor: &Cholesky) -> Vec<f64> {
        let mut slopes = self.cross.clone();
        slopes.par_chunks_exact_mut(factor.size.max(1)).for_each(|slopes| factor.solve(slopes));
        slopes
    }

    /// Σ, symmetric to the last bit.
    fn covariance(&self, slopes: &[f64], context_penalty: f64) -> Vec<f64> {
        let columns = self.mean.len();
        let explained = product(&self.cross, slopes, columns, columns);
        let shrunk = product(slopes, slopes, columns, columns);
        let mut covariance = self.own.clone();
        for row in 0..columns {
            for column in 0..columns {
                let (at, mirrored) = (row * columns + column, column * columns + row);
                covariance[at] -= 0.5 * (explained[at] + explained[mirrored]);
                covariance[at] -= context_penalty * shrunk[at];
            }
        }
        covariance
    }
}

/// Takes the mean from every row of a matrix \[`rows` × size\] and gives the means.
fn centre(matrix: &mut [f64], rows: usize) -> Vec<f64> {
    let size = matrix.len().checked_div(rows).unwrap_or(0);
    let centre_one = |row: usize| {
        let values = &mut matrix[row * size..(row + 1) * size];
        let mean = values.iter().sum::<f64>() / size.max(1) as f64;
        values.iter_mut().for_each(|value| *value -= mean);
        mean
    };
    (0..rows).map(centre_one).collect()
}

/// ABᵀ/n for A \[`rows` × n\] and B \[`columns` × n\].
fn scaled_product(a: &[f64], b: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    let size = a.len().checked_div(rows).unwrap_or(0).max(1) as f64;
    product(a, b, rows, columns).into_iter().map(|value| value / size).collect()
}

fn identity(size: usize) -> Vec<f64> {
    let mut matrix = vec![0.0; size * size];
    add_to_diagonal(&mut matrix, size, 1.0);
    matrix
}
