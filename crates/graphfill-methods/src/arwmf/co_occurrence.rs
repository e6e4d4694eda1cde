//! How often walks of a window have two places in common, in closed form:
//!
//!   M = log max( vol / (b T) · D^-½ (S + S² + … + S^T) D^-½, 1 )       (nodes + features)²
//!
//! vol is the sum of all degrees, T the window, b the number of negative samples. S^r D^-½ is made for
//! 64 columns at a time, so that nothing but M itself is dense.

use graphfill_data::Progress;
use graphfill_engine::cpu::{Store, sparse_product};
use rayon::prelude::*;

use super::joint_graph::JointGraph;
use crate::error::Result;

/// Columns that are made at a time.
const PANEL: usize = 64;

/// The memory of M and of what it is made with.
pub(super) fn bytes(size: usize) -> u64 {
    let (size, panel) = (size as u64, PANEL as u64);
    size.saturating_mul(size.saturating_add(3 * panel)).saturating_mul(size_of::<f32>() as u64)
}

/// Writes M, row after row.
pub fn co_occurrence(
    graph: &JointGraph,
    window: usize,
    negatives: f64,
    progress: &dyn Progress,
    matrix: &mut [f32],
) -> Result<()> {
    let size = graph.size();
    let factor = (graph.volume() / (negatives * window as f64)) as f32;
    let roots = graph.inverse_roots();
    let similarity = graph.similarity();
    let [mut power, mut next, mut sum] = [(); 3].map(|()| vec![0.0f32; size * PANEL]);
    for first in (0..size).step_by(PANEL) {
        let columns = PANEL.min(size - first);
        power.fill(0.0);
        sum.fill(0.0);
        for column in 0..columns {
            power[(first + column) * PANEL + column] = 1.0;
        }
        for _ in 0..window {
            sparse_product(similarity, &power, PANEL, &mut next, &Store);
            std::mem::swap(&mut power, &mut next);
            sum.par_chunks_mut(PANEL).zip(power.par_chunks(PANEL)).for_each(|(sum, power)| {
                sum.iter_mut().zip(power).for_each(|(sum, power)| *sum += power);
            });
        }
        let rows = matrix.par_chunks_mut(size).zip(sum.par_chunks(PANEL)).zip(roots);
        rows.for_each(|((out, sum), root)| {
            let out = &mut out[first..first + columns];
            for ((out, sum), other) in out.iter_mut().zip(sum).zip(&roots[first..]) {
                *out = (factor * root * sum * other).max(1.0).ln();
            }
        });
        progress.check()?;
    }
    Ok(())
}

/// M for `times` as many negative samples: log max(x / t, 1) = max(log max(x, 1) − log t, 0) where t ≥ 1.
pub(super) fn fewer(matrix: &mut [f32], times: f64) {
    let shift = times.ln() as f32;
    matrix.par_iter_mut().for_each(|entry| *entry = (*entry - shift).max(0.0));
}
