//! The known cells of some rows as inputs of a network: logits of numbers, a one in the column of a
//! category's level, and zero where nothing is known.                                    rows × features

use graphfill_data::CellMask;
use graphfill_engine::SparseMatrix;

use super::likelihood::Likelihoods;
use crate::features::Features;

/// The logits of what is not `unknown` in some rows; zeros are not stored.
pub fn known_rows(
    features: &Features<'_>,
    unknown: &CellMask,
    likelihoods: &Likelihoods,
    rows: &[u32],
) -> SparseMatrix {
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for &row in rows {
        let row = row as usize;
        for (group, about) in features.groups().iter().enumerate() {
            let first = about.features.start;
            let mut add = |feature: usize, value: f64| {
                let logit = likelihoods.logit(group, feature - first, value);
                if !unknown.contains(row, about.cell_of(feature)) && logit != 0.0 {
                    columns.push(feature as u32);
                    values.push(logit);
                }
            };
            match features.block(group) {
                // Zeros of a block are not even looked at, unless they are something else as logits.
                Some(block) if likelihoods.group(group).zeros_stay() => {
                    block.cells(row).for_each(|(at, value)| add(first + at as usize, value));
                }
                _ => about
                    .features
                    .clone()
                    .for_each(|feature| add(feature, features.value(group, row, feature))),
            }
        }
        offsets.push(columns.len());
    }
    SparseMatrix::new(offsets, columns, Some(values), features.width())
}
