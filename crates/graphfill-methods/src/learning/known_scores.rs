//! The known cells of some rows as inputs of a network: scores, a one in the column of a category's
//! level, and zero where nothing is known.                                    rows × features

use graphfill_data::CellMask;

use super::scales::Scales;
use crate::features::Features;

/// The scores of what is not `unknown` in some rows.
pub fn known_scores(
    features: &Features<'_>,
    unknown: &CellMask,
    scales: &Scales,
    rows: &[u32],
) -> Vec<f32> {
    let width = features.width();
    let mut scores = vec![0.0; rows.len() * width];
    for (&row, scores) in rows.iter().zip(scores.chunks_exact_mut(width.max(1))) {
        let row = row as usize;
        for (group, about) in features.groups().iter().enumerate() {
            for (column, feature) in about.features.clone().enumerate() {
                if !unknown.contains(row, about.cell_of(feature)) {
                    let value = features.value(group, row, feature);
                    scores[feature] = scales.score(group, column, value);
                }
            }
        }
    }
    scores
}
