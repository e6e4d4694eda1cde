//! Error and coverage of hidden numbers by hops to the nearest observed cell, and by degree.

use graphfill_methods::uncertainty::{CheckedColumn, CheckedNumber};

use super::super::data::GroupError;
use super::columns::deviation;
use super::{Checked, FillSource};

/// What is summed up over the cells of a group.
#[derive(Clone, Default)]
struct Sums {
    cells: usize,
    squares: f64,
    covered: usize,
    with_interval: usize,
}

/// Groups by hops, and by degree.
pub(super) fn errors(
    source: &FillSource<'_>,
    checked: &Checked<'_>,
) -> (Vec<GroupError>, Vec<GroupError>) {
    let hops = ["1 hop", "2 hops", "3 hops", "4 or more", "no path"];
    let degrees = ["0", "1", "2 to 3", "4 to 7", "8 to 15", "16 or more"];
    let mut by_hops = vec![Sums::default(); hops.len()];
    let mut by_degree = vec![Sums::default(); degrees.len()];
    for (group, column) in checked.check.columns.iter().enumerate() {
        let CheckedColumn::Numbers(features) = column else { continue };
        for (feature, cells) in features.iter().enumerate() {
            let sd = deviation(source.features, group, feature);
            for cell in cells {
                let around = &cell.cell.surroundings;
                let hops = around.hops.map_or(4, |hops| (hops.clamp(1, 4) - 1) as usize);
                by_hops[hops].add(cell, sd, checked.level);
                let degree = match around.degree {
                    0 => 0,
                    degree => (degree.ilog2() as usize + 1).min(5),
                };
                by_degree[degree].add(cell, sd, checked.level);
            }
        }
    }
    (named(&hops, by_hops), named(&degrees, by_degree))
}

impl Sums {
    fn add(&mut self, cell: &CheckedNumber, sd: f64, level: usize) {
        self.cells += 1;
        self.squares += (cell.cell.error() / sd).powi(2);
        if let Some(covered) = cell.covered(level) {
            self.with_interval += 1;
            self.covered += usize::from(covered);
        }
    }
}

fn named(names: &[&str], sums: Vec<Sums>) -> Vec<GroupError> {
    let named = names.iter().zip(sums).filter(|(_, sums)| sums.cells > 0);
    named
        .map(|(name, sums)| GroupError {
            label: (*name).to_owned(),
            cells: sums.cells,
            error: (sums.squares / sums.cells as f64).sqrt(),
            coverage: (sums.with_interval > 0)
                .then(|| sums.covered as f64 / sums.with_interval as f64),
        })
        .collect()
}
