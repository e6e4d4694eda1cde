//! Estimates of every cell by a fitted Gaussian.

use rayon::prelude::*;

use super::cells::{Cells, Data};
use super::choice::residuals;
use super::completion::Penalised;
use super::left_out::LeftOut;
use super::{FOLDS, Fit, Penalties, RowGaussian, row_order};

const PORTION: usize = 64;

/// Which cells of the rows are estimated.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    known: bool,
    unknown: bool,
}

impl Wanted {
    fn has(self, known: bool) -> bool {
        if known { self.known } else { self.unknown }
    }
}

impl RowGaussian {
    /// Rows × columns. An unknown cell is estimated from the known cells of its row and the context;
    /// where nothing of the row is known, as by [`estimate_blank`](Self::estimate_blank). A known
    /// cell is estimated as if it, with its block, were unknown; where there are folds, by what was
    /// learned from other rows. The latter holds for the table that was fitted, row by row.
    pub fn estimate(&self, cells: &Cells<'_>, context: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; cells.rows * cells.columns];
        let data = Data { cells, context, scale: &self.scale };
        let all = (0..cells.rows).collect();
        let has_folds = !self.folds.is_empty();
        let wanted = Wanted { known: !has_folds, unknown: true };
        self.estimate_rows(data, &self.full, all, wanted, &mut out);
        if has_folds {
            let order = row_order(cells.rows, self.seed);
            for (fold, fit) in self.folds.iter().enumerate() {
                let rows = order.iter().copied().skip(fold).step_by(FOLDS).collect();
                let wanted = Wanted { known: true, unknown: false };
                self.estimate_rows(data, fit, rows, wanted, &mut out);
            }
        }
        out
    }

    /// Rows × columns: μ + gB, as if nothing of the rows were known.
    pub fn estimate_blank(&self, rows: usize, context: &[f32]) -> Vec<f32> {
        let all: Vec<usize> = (0..rows).collect();
        let contexts = self.scale.standardised(context, &all);
        self.full.blank.means(&contexts, rows).into_iter().map(|mean| mean as f32).collect()
    }

    /// As [`estimate_blank`](Self::estimate_blank); where there are folds, by what was learned from
    /// other rows. It holds for the table that was fitted, row by row.
    pub fn estimate_blank_left_out(&self, rows: usize, context: &[f32]) -> Vec<f32> {
        if self.folds.is_empty() {
            return self.estimate_blank(rows, context);
        }
        let columns = self.penalties.len();
        let mut out = vec![0.0; rows * columns];
        let order = row_order(rows, self.seed);
        for (fold, fit) in self.folds.iter().enumerate() {
            let rows: Vec<usize> = order.iter().copied().skip(fold).step_by(FOLDS).collect();
            let means = fit.blank.means(&self.scale.standardised(context, &rows), rows.len());
            for (means, row) in means.chunks_exact(columns.max(1)).zip(rows) {
                for (out, &mean) in out[row * columns..(row + 1) * columns].iter_mut().zip(means) {
                    *out = mean as f32;
                }
            }
        }
        out
    }

    /// Estimates the wanted cells of some rows by one fit.
    fn estimate_rows(
        &self,
        data: Data<'_>,
        fit: &Fit,
        mut rows: Vec<usize>,
        wanted: Wanted,
        out: &mut [f32],
    ) {
        let (cells, columns) = (data.cells, data.cells.columns);
        cells.sort_by_pattern(&mut rows);
        let penalised = self.distinct_penalties().into_iter().map(|penalties| {
            let covariance = &fit.distributions[penalties.distribution].covariance;
            (penalties, Penalised::new(covariance, columns, penalties.penalty))
        });
        let penalised: Vec<(Penalties, Penalised)> = penalised.collect();
        let estimates: Vec<Vec<f64>> = rows
            .par_chunks(PORTION)
            .map(|rows| self.estimate_portion(data, fit, rows, wanted, &penalised))
            .collect();
        for (estimates, rows) in estimates.iter().zip(rows.chunks(PORTION)) {
            for (estimates, &row) in estimates.chunks_exact(columns.max(1)).zip(rows) {
                let out = &mut out[row * columns..(row + 1) * columns];
                for (column, &known) in cells.known_in(row).iter().enumerate() {
                    if wanted.has(known) {
                        out[column] = estimates[column] as f32;
                    }
                }
            }
        }
    }

    /// \[rows × p\], with only the wanted cells set.
    fn estimate_portion(
        &self,
        data: Data<'_>,
        fit: &Fit,
        rows: &[usize],
        wanted: Wanted,
        penalised: &[(Penalties, Penalised)],
    ) -> Vec<f64> {
        let (cells, columns) = (data.cells, data.cells.columns);
        let evidence = cells.evidence(rows);
        let contexts = data.contexts(rows);
        let mut out = fit.blank.means(&contexts, rows.len());
        let mut means: (Option<usize>, Vec<f64>) = (None, Vec::new());
        for (penalties, penalised) in penalised {
            let distribution = penalties.distribution;
            if means.0 != Some(distribution) {
                let regression = &fit.distributions[distribution].regression;
                means = (Some(distribution), regression.means(&contexts, rows.len()));
            }
            let mut left_out = LeftOut::new(penalised);
            for (at, &row) in rows.iter().enumerate() {
                let pattern = cells.known_in(row);
                if !pattern.contains(&true) {
                    continue;
                }
                let place = at * columns..(at + 1) * columns;
                let (evidence, means) = (&evidence[place.clone()], &means.1[place.clone()]);
                left_out.look_at(pattern, &residuals(pattern, evidence, means));
                let out = &mut out[place];
                for block in cells.blocks {
                    if self.penalties[block.start] != *penalties {
                        continue;
                    }
                    if wanted.known {
                        left_out.without(block, |column, distance| {
                            out[column] = evidence[column] - distance;
                        });
                    }
                    for column in block.clone().filter(|&column| !pattern[column]) {
                        out[column] = means[column] + left_out.unknown(column);
                    }
                }
            }
        }
        out
    }

    /// What any column has chosen, those of one distribution side by side.
    fn distinct_penalties(&self) -> Vec<Penalties> {
        let mut distinct = self.penalties.clone();
        distinct.sort_unstable_by(|one, other| {
            let by_distribution = one.distribution.cmp(&other.distribution);
            by_distribution.then(one.penalty.total_cmp(&other.penalty))
        });
        distinct.dedup();
        distinct
    }
}
