//! What tells how large the error of an estimated number may be, before it is known.
//!
//! Values are standardised by column: z = (x − mean) / sd of the observed cells. The **roughness** of an
//! observed cell is how far it is from the mean of its observed neighbours,
//!
//!   v_ij = |z_ij − mean of z_kj over observed neighbours k| / mean of it over the column,
//!
//! and, as errors are large where neighbours are unlike, it is spread over the graph: with V the
//! roughness (0 where there is none), M whether there is one, and P the mean over neighbours,
//!
//!   num ← V + 0.9 P num,   den ← M + 0.9 P den      ten times, from num = V, den = M.
//!
//! | input | |
//! |---|---|
//! | 0 | log roughness around the cell: (num + 0.3) / (den + 0.3) |
//! | 1 | the same, over all columns |
//! | 2 | log roughness of the row's own observed cells |
//! | 3 | log(1 + observed neighbours) |
//! | 4 | share of the row that is observed |
//! | 5, 6 | asinh of the standardised estimate, and its size |
//! | 7 | log spread of the observed neighbours |

use graphfill_data::{CellMask, UndirectedGraph};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::surroundings::{ObservedCells, Surroundings};
use crate::features::{Features, GroupKind};

/// The number of inputs.
pub(super) const INPUTS: usize = 8;
/// Roughness is left out of tables with more columns of numbers than this.
const MAX_ROUGH_COLUMNS: usize = 512;
const ROUNDS: usize = 10;
const DECAY: f32 = 0.9;

/// One column of numbers: a single column, or one of a numeric block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NumberColumn {
    pub(super) group: usize,
    pub(super) feature: usize,
    cell: usize,
}

/// All columns of numbers of a table.
pub(super) fn number_columns(features: &Features<'_>) -> Vec<NumberColumn> {
    let groups = features.groups().iter().enumerate();
    let numbers = groups.filter(|(_, group)| {
        matches!(group.kind, GroupKind::Number | GroupKind::Count | GroupKind::NumericBlock)
    });
    numbers
        .flat_map(|(at, group)| {
            let column =
                move |feature| NumberColumn { group: at, feature, cell: group.cell_of(feature) };
            group.features.clone().map(column)
        })
        .collect()
}

/// How a column is standardised.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Standard {
    mean: f64,
    sd: f64,
    /// The mean roughness of its cells.
    roughness: f64,
}

/// An estimated cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct EstimatedNumber {
    pub(super) row: u32,
    pub(super) estimate: f64,
    pub(super) surroundings: Surroundings,
    pub(super) inputs: [f32; INPUTS],
}

/// What is observed in one column, and around each node.
struct ObservedColumn {
    standard: Standard,
    /// Roughness, and whether there is one: V and M.
    rough: Vec<f32>,
    is_rough: Vec<f32>,
    /// The two, spread over the graph; empty in tables with too many columns.
    spread: Vec<f32>,
    is_spread: Vec<f32>,
}

/// The inputs of the estimated cells of every column of numbers, and how the columns are standardised.
/// `cells` are rows and estimates in the features' units; `standards` are those of the table that a model
/// was calibrated on.
pub(super) fn inputs_of(
    features: &Features<'_>,
    graph: &UndirectedGraph,
    unknown: &CellMask,
    columns: &[NumberColumn],
    cells: Vec<Vec<(u32, f64)>>,
    standards: Option<&[Standard]>,
) -> (Vec<Vec<EstimatedNumber>>, Vec<Standard>) {
    let observed = ObservedCells::new(features, graph, unknown);
    let with_roughness = columns.len() <= MAX_ROUGH_COLUMNS;
    let mut found = Vec::new();
    let mut sums = vec![[0.0f32; 4]; features.rows()];
    let mut estimated = Vec::new();
    let batch = rayon::current_num_threads().max(1);
    let mut cells = cells.into_iter();
    for (at, some) in columns.chunks(batch).enumerate() {
        let own: Vec<Vec<(u32, f64)>> = cells.by_ref().take(some.len()).collect();
        let work: Vec<(ObservedColumn, Vec<EstimatedNumber>)> = some
            .par_iter()
            .zip(own)
            .enumerate()
            .map(|(position, (column, cells))| {
                let known = standards.map(|standards| standards[at * batch + position]);
                let with_cell = observed.of_cell(column.cell);
                let z = standardised(features, *column, &with_cell.has_cell, known);
                let own = ObservedColumn::new(graph, &z, with_roughness);
                let cell = |(row, estimate): (u32, f64)| {
                    let surroundings = observed.around(row as usize, &with_cell);
                    let inputs = own.inputs(graph, &z, row as usize, estimate, &surroundings);
                    EstimatedNumber { row, estimate, surroundings, inputs }
                };
                let cells = cells.into_iter().map(cell).collect();
                (own, cells)
            })
            .collect();
        for (column, cells) in work {
            if with_roughness {
                for (row, sums) in sums.iter_mut().enumerate() {
                    sums[0] += column.spread[row];
                    sums[1] += column.is_spread[row];
                    sums[2] += column.rough[row];
                    sums[3] += column.is_rough[row];
                }
            }
            found.push(column.standard);
            estimated.push(cells);
        }
    }
    if with_roughness {
        for cell in estimated.iter_mut().flatten() {
            let [spread, is_spread, rough, is_rough] = sums[cell.row as usize];
            cell.inputs[1] = ((spread + 0.3) / (is_spread + 0.3)).ln();
            cell.inputs[2] = (0.05 + (rough + 1.0) / (is_rough + 1.0)).ln();
        }
    }
    (estimated, found)
}

/// A column's values in its standard units, NaN where they are not observed.
struct Standardised {
    values: Vec<f32>,
    mean: f64,
    sd: f64,
    /// The mean roughness, where it is known already.
    roughness: Option<f64>,
}

fn standardised(
    features: &Features<'_>,
    column: NumberColumn,
    observed: &[bool],
    known: Option<Standard>,
) -> Standardised {
    let value = |row: usize| match observed[row] {
        true => features.value(column.group, row, column.feature),
        false => f64::NAN,
    };
    let values: Vec<f64> = (0..observed.len()).map(value).collect();
    let (mean, sd) = match known {
        Some(standard) => (standard.mean, standard.sd),
        None => {
            let known = || values.iter().filter(|value| !value.is_nan());
            let count = known().count().max(1) as f64;
            let mean = known().sum::<f64>() / count;
            let square = known().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
            (mean, if square > 0.0 { square.sqrt() } else { 1.0 })
        }
    };
    let values = values.iter().map(|value| ((value - mean) / sd) as f32).collect();
    Standardised { values, mean, sd, roughness: known.map(|standard| standard.roughness) }
}

/// The mean and standard deviation of the observed neighbours; none where there are none.
fn around(graph: &UndirectedGraph, z: &[f32], row: usize) -> Option<(f32, f32)> {
    let values = || graph.neighbours(row).iter().map(|&other| z[other as usize]);
    let known = || values().filter(|value| !value.is_nan());
    let count = known().count() as f32;
    if count == 0.0 {
        return None;
    }
    let mean = known().sum::<f32>() / count;
    Some((mean, (known().map(|value| (value - mean).powi(2)).sum::<f32>() / count).sqrt()))
}

impl ObservedColumn {
    fn new(graph: &UndirectedGraph, z: &Standardised, with_roughness: bool) -> Self {
        let (mean, sd) = (z.mean, z.sd);
        if !with_roughness {
            let standard = Standard { mean, sd, roughness: 1.0 };
            let none = Vec::new;
            return ObservedColumn {
                standard,
                rough: none(),
                is_rough: none(),
                spread: none(),
                is_spread: none(),
            };
        }
        let distance = |(row, value): (usize, &f32)| match value.is_nan() {
            true => f32::NAN,
            false => {
                around(graph, &z.values, row).map_or(f32::NAN, |(mean, _)| (value - mean).abs())
            }
        };
        let distances: Vec<f32> = z.values.iter().enumerate().map(distance).collect();
        let roughness = z.roughness.unwrap_or_else(|| {
            let known = || distances.iter().filter(|distance| !distance.is_nan());
            let mean = known().map(|&distance| f64::from(distance)).sum::<f64>();
            let mean = mean / known().count().max(1) as f64;
            if mean > 0.0 { mean } else { 1.0 }
        });
        let rough = |distance: &f32| {
            if distance.is_nan() { 0.0 } else { distance / roughness as f32 }
        };
        let is_rough = |distance: &f32| f32::from(u8::from(!distance.is_nan()));
        let (rough, is_rough): (Vec<f32>, Vec<f32>) =
            (distances.iter().map(rough).collect(), distances.iter().map(is_rough).collect());
        let (spread, is_spread) = (spread(graph, &rough), spread(graph, &is_rough));
        let standard = Standard { mean, sd, roughness };
        ObservedColumn { standard, rough, is_rough, spread, is_spread }
    }

    fn inputs(
        &self,
        graph: &UndirectedGraph,
        z: &Standardised,
        row: usize,
        estimate: f64,
        surroundings: &Surroundings,
    ) -> [f32; INPUTS] {
        let rough = match self.spread.get(row) {
            Some(spread) => ((spread + 0.3) / (self.is_spread[row] + 0.3)).ln(),
            None => 0.0,
        };
        let size = ((estimate - z.mean) / z.sd).asinh() as f32;
        let neighbours = around(graph, &z.values, row).map_or(0.0, |(_, sd)| sd);
        [
            rough,
            0.0,
            0.0,
            (surroundings.neighbours as f32).ln_1p(),
            surroundings.row_share,
            size,
            size.abs(),
            (0.1 + neighbours).ln(),
        ]
    }
}

/// Spreads values over the graph: s ← v + 0.9 P s, with P the mean over neighbours.
fn spread(graph: &UndirectedGraph, values: &[f32]) -> Vec<f32> {
    let mut spread = values.to_vec();
    for _ in 0..ROUNDS {
        let next = |(row, value): (usize, &f32)| {
            let neighbours = graph.neighbours(row);
            let sum: f32 = neighbours.iter().map(|&other| spread[other as usize]).sum();
            value + DECAY * sum / neighbours.len().max(1) as f32
        };
        spread = values.iter().enumerate().map(next).collect();
    }
    spread
}
