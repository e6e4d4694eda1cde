//! What a CUDA card is told of the blocks of a likelihood: tables of columns and of blocks, as the
//! kernels lay them out, and the targets that these point to.

use super::squared_error::SquaredError;
use super::{Block, Kind, Targets};
use crate::cuda::{Address, Call};

/// A block and its number.
pub(super) type Numbered<'a> = (usize, &'a Block);

/// The targets of a block whose cells are judged one by one.
pub(super) fn cell_targets(block: &Block) -> Option<&Targets> {
    match &block.kind {
        Kind::Bernoulli(bernoulli) => Some(&bernoulli.targets),
        Kind::SquaredError(SquaredError(targets)) => Some(targets),
        Kind::Multinomial(_) | Kind::Categorical(_) => None,
    }
}

pub(super) fn width(blocks: &[Numbered<'_>]) -> usize {
    blocks.iter().map(|(_, block)| block.width).sum()
}

/// How the cells of a block are judged: the kind by its number, and what ones and zeros weigh.
pub(super) struct Judging {
    pub(super) kind: u32,
    pub(super) on: f32,
    pub(super) off: f32,
}

impl Judging {
    /// The kinds by number.
    pub(super) const BERNOULLI: u32 = 0;
    pub(super) const SQUARED_ERROR: u32 = 1;

    pub(super) fn of(block: &Block) -> Self {
        match &block.kind {
            Kind::Bernoulli(bernoulli) => {
                Judging { kind: Self::BERNOULLI, on: bernoulli.on, off: bernoulli.off }
            }
            _ => Judging { kind: Self::SQUARED_ERROR, on: 0.0, off: 0.0 },
        }
    }
}

/// `Column` of the kernels for each column of some blocks.
pub(super) fn column_table(cells: &[Numbered<'_>]) -> Vec<[u32; 8]> {
    let column = |block: &Block, at: usize| {
        let Judging { kind, on, off } = Judging::of(block);
        let column = (block.first + at) as u32;
        [column, kind, block.scale.to_bits(), on.to_bits(), off.to_bits(), 0, 0, 0]
    };
    let columns =
        |&(_, block): &Numbered<'_>| (0..block.width).map(|at| column(block, at)).collect();
    cells.iter().flat_map::<Vec<_>, _>(columns).collect()
}

/// The targets of some blocks side by side, row after row.
pub(super) fn dense_targets(cells: &[Numbered<'_>], width: usize) -> Vec<f32> {
    let mut first = 0;
    let mut targets = Vec::new();
    for (_, block) in cells {
        let Some(Targets::Dense { values, .. }) = cell_targets(block) else { continue };
        if cells.len() == 1 {
            return values.clone();
        }
        targets.resize(values.len() / block.width * width, 0.0);
        for (to, from) in targets.chunks_mut(width).zip(values.chunks(block.width)) {
            to[first..first + block.width].copy_from_slice(from);
        }
        first += block.width;
    }
    targets
}

/// `RowBlock` of the kernels for each of some blocks.
pub(super) fn row_table(
    of: usize,
    name: &str,
    blocks: &[Numbered<'_>],
    call: &mut Call<'_>,
) -> Result<Address, String> {
    let mut table = Vec::new();
    for &(number, block) in blocks {
        let part = |what: &str| format!("block {number}.{what}");
        let told: [Option<Address>; 4] = match &block.kind {
            Kind::Multinomial(multinomial) => {
                let shares = call.constant(of, &part("shares"), || multinomial.shares.clone())?;
                match &multinomial.targets {
                    Targets::Sparse(rows) => {
                        let rows = call.sparse(of, &format!("block {number}"), rows.view())?;
                        [Some(rows.offsets), Some(rows.columns), rows.values, Some(shares)]
                    }
                    Targets::Dense { values, .. } => {
                        let cells = call.constant(of, &part("targets"), || values.clone())?;
                        [None, None, Some(cells), Some(shares)]
                    }
                }
            }
            Kind::Categorical(categorical) => {
                let categories = || categorical.0.clone();
                let categories = call.constant(of, &part("categories"), categories)?;
                [None, Some(categories), None, None]
            }
            Kind::Bernoulli(_) | Kind::SquaredError(_) => [None; 4],
        };
        let [offsets, entries, values, shares] =
            told.map(|address| address.map_or(0, |address| address.0));
        let (first, width) = (block.first as u64, block.width as u64);
        let scale = u64::from(block.scale.to_bits());
        table.push([offsets, entries, values, shares, first, width, scale]);
    }
    call.constant(of, name, || table.clone())
}
