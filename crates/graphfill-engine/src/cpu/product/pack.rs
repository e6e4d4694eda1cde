//! The right matrix in the order in which it is read: block of depth, panel of columns, depth,
//! column. Columns that fill the last panel up are zeros.

use std::ops::Range;

use rayon::prelude::*;

use super::{DEPTH, Dense, PANEL};

/// Some depth of a right matrix, packed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PackedRight<'a> {
    values: &'a [f32],
    pub(super) depth: usize,
    pub(super) columns: usize,
}

impl<'a> PackedRight<'a> {
    /// One panel of one block of depth: `depth` rows of [`PANEL`] numbers.
    #[inline(always)]
    pub(super) fn panel(&self, block: Range<usize>, panel: usize) -> &'a [[f32; PANEL]] {
        let padded = self.columns.next_multiple_of(PANEL);
        let begin = block.start * padded + panel * block.len() * PANEL;
        self.values[begin..begin + block.len() * PANEL].as_chunks().0
    }
}

/// Numbers that a matrix of this depth takes when it is packed.
pub(crate) fn packed_len(depth: usize, columns: usize) -> usize {
    depth * columns.next_multiple_of(PANEL)
}

/// Packs the rows `depth` of the right matrix.
pub(crate) fn pack_right<'a>(
    right: Dense<'_>,
    depth: Range<usize>,
    scratch: &'a mut [f32],
) -> PackedRight<'a> {
    let padded = right.columns.next_multiple_of(PANEL);
    let values = &mut scratch[..depth.len() * padded];
    values.par_chunks_mut((DEPTH * padded).max(1)).enumerate().for_each(|(block, out)| {
        let begin = depth.start + block * DEPTH;
        let rows = begin..depth.end.min(begin + DEPTH);
        let panels = out.par_chunks_mut(rows.len() * PANEL).enumerate();
        panels.for_each(|(panel, out)| pack_panel(right, rows.clone(), panel * PANEL, out));
    });
    PackedRight { values, depth: depth.len(), columns: right.columns }
}

fn pack_panel(right: Dense<'_>, rows: Range<usize>, first: usize, out: &mut [f32]) {
    let width = PANEL.min(right.columns - first);
    let (out, _) = out.as_chunks_mut::<PANEL>();
    if right.transposed {
        for lane in 0..width {
            let begin = (first + lane) * right.stride;
            let column = &right.values[begin + rows.start..begin + rows.end];
            for (out, &value) in out.iter_mut().zip(column) {
                out[lane] = value;
            }
        }
        out.iter_mut().for_each(|row| row[width..].fill(0.0));
    } else if width == PANEL {
        // Copies of a known length need no call.
        for (row, out) in rows.zip(out) {
            let begin = row * right.stride + first;
            out.copy_from_slice(&right.values[begin..begin + PANEL]);
        }
    } else {
        for (row, out) in rows.zip(out) {
            let begin = row * right.stride + first;
            out[..width].copy_from_slice(&right.values[begin..begin + width]);
            out[width..].fill(0.0);
        }
    }
}
