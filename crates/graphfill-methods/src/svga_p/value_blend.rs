//! The components of numbers blended by least squares, column by column.
//!
//!   o_c = Σ_j (φ·w_cj) P_cj          φ = (1, standardised ln(1 + k), 1 if k = 0), k known neighbours
//!
//! The weights of a column are held near a guess, which all columns share:
//!
//!   w_c = argmin over w of  mean (Σ_j (φ·w_j) P_cj − x_c)² + pull ‖w − w₀‖²
//!
//! with w₀ one component alone (the row's own estimate or the first, or the one with the smallest error over
//! the whole table), the weights that are best for all columns together, or the mean of all components. Which
//! guess, how strong a pull, and whether φ is more than 1, is cross-validated for the table: few rows say
//! too little about one column.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::blend::{CONTEXT, ENOUGH_ROWS, MAX_OWN, Parts, Rows};
use super::components::{DIRECTED_WAYS, VALUE_WAYS, is_value};
use super::least_squares::NormalEquations;

/// The pulls that are compared.
const PULLS: [f64; 6] = [1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0];
/// What keeps the weights of φ beyond 1 at zero.
const NO_CONTEXT: f64 = 1e6;
/// The pull towards the first component of the weights that all columns share.
const POOLED_PULL: f64 = 1e-3;
/// Folds of the cross-validation.
const FOLDS: usize = 5;
/// Columns on which guess and pull are compared.
const MAX_COLUMNS: usize = 64;
/// All components times φ.
const MAX_TERMS: usize = (VALUE_WAYS + DIRECTED_WAYS + MAX_OWN) * CONTEXT;
/// Columns whose equations one task sums up.
const BLOCK_COLUMNS: usize = 16;

/// The weights of a group, columns × components × φ.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ValueWeights(Vec<f64>);

impl ValueWeights {
    /// o of one row of the group, from its components, columns × components.
    pub(super) fn blend(&self, components: &[f64], context: [f64; CONTEXT], out: &mut [f32]) {
        let columns = out.len().max(1);
        let cells = components.chunks_exact((components.len() / columns).max(1));
        let weights = self.0.chunks_exact((self.0.len() / columns).max(1));
        for ((out, parts), weights) in out.iter_mut().zip(cells).zip(weights) {
            let terms = terms(parts, context);
            let sum: f64 = terms.iter().zip(weights).map(|(x, w)| x * w).sum();
            *out = sum as f32;
        }
    }
}

/// φ ⊗ the components of one cell.
fn terms(components: &[f64], context: [f64; CONTEXT]) -> [f64; MAX_TERMS] {
    let mut terms = [0.0; MAX_TERMS];
    for (part, component) in components.iter().enumerate() {
        for (at, context) in context.iter().enumerate() {
            terms[part * CONTEXT + at] = component * context;
        }
    }
    terms
}

/// One column's equations, in folds of the rows.
type Column = Vec<NormalEquations>;

/// The weights of all groups of values, in their order.
pub(super) fn fit_values(
    parts: &Parts<'_>,
    rows: Rows,
    context: &(dyn Fn(usize) -> [f64; CONTEXT] + Sync),
) -> Vec<ValueWeights> {
    let features = parts.features();
    let is_value = |group: &usize| is_value(&features.groups()[*group].kind);
    let groups: Vec<usize> = (0..features.groups().len()).filter(is_value).collect();
    let equations: Vec<Vec<Column>> =
        groups.iter().map(|&group| equations_of(parts, group, rows, context)).collect();
    let Some(&first) = groups.first() else { return Vec::new() };
    let usual = if parts.own.is_some() { parts.ways(first) } else { 0 };
    // The columns of a block have one scale, on which the larger ones count for more.
    let columns: Vec<(&Column, f64)> = equations
        .iter()
        .flat_map(|group| {
            let total: f64 = group.iter().map(|column| sum(column).squared_targets()).sum();
            let weight = group.len() as f64 / total.max(f64::MIN_POSITIVE);
            group.iter().map(move |column| (column, weight))
        })
        .collect();
    let table = Table::new(parts.count(first), usual, &columns);
    let setting = table.choose(&columns);
    let all = table.guess(setting.guess, None);
    let weights = |columns: &Vec<Column>| {
        let solve = |column: &Column| sum(column).solve(&table.pulls(setting), &all);
        let weights: Vec<Vec<f64>> = columns.par_iter().map(solve).collect();
        ValueWeights(weights.concat())
    };
    equations.iter().map(weights).collect()
}

/// The equations of every column of a group, from its known cells.
fn equations_of(
    parts: &Parts<'_>,
    group: usize,
    which: Rows,
    context: &(dyn Fn(usize) -> [f64; CONTEXT] + Sync),
) -> Vec<Column> {
    let features = parts.features();
    let about = &features.groups()[group];
    let count = parts.count(group);
    let rows: Vec<usize> =
        (0..features.rows()).filter(|&row| !parts.unknown.is_whole(row)).collect();
    let step = rows.len().div_ceil(ENOUGH_ROWS).max(1);
    let mut columns =
        vec![vec![NormalEquations::new(count * CONTEXT); FOLDS]; about.features.len()];
    let mut components = Vec::new();
    for (at, row) in rows.into_iter().step_by(step).enumerate() {
        parts.row(group, row, which, None, &mut components);
        let context = context(row);
        let blocks = columns.par_chunks_mut(BLOCK_COLUMNS).enumerate();
        blocks.with_min_len(4).for_each(|(block, columns)| {
            for (inside, column) in columns.iter_mut().enumerate() {
                let position = block * BLOCK_COLUMNS + inside;
                let feature = about.features.start + position;
                if parts.unknown.contains(row, about.cell_of(feature)) {
                    continue;
                }
                let value = features.value(group, row, feature);
                let target = f64::from(parts.likelihoods.logit(group, position, value));
                let terms = terms(&components[position * count..(position + 1) * count], context);
                column[at % FOLDS].add(&terms[..count * CONTEXT], target);
            }
        });
    }
    columns
}

fn sum(column: &[NormalEquations]) -> NormalEquations {
    let mut all = column[0].clone();
    column[1..].iter().for_each(|fold| all.merge(fold));
    all
}

/// What the weights are held near.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guess {
    /// The row's own estimate where there is one, else the first component.
    Usual,
    /// The component with the smallest error.
    Best,
    /// The weights that are best for all columns together.
    Pooled,
    /// The mean of all components.
    Mean,
}

const GUESSES: [Guess; 4] = [Guess::Usual, Guess::Best, Guess::Pooled, Guess::Mean];

#[derive(Debug, Clone, Copy, PartialEq)]
struct Setting {
    guess: Guess,
    pull: f64,
    has_context: bool,
}

/// The equations of all columns together.
struct Table {
    /// Components.
    count: usize,
    usual: usize,
    /// All columns pooled, in folds and as a whole.
    folds: Vec<NormalEquations>,
    all: NormalEquations,
}

impl Table {
    fn new(count: usize, usual: usize, columns: &[(&Column, f64)]) -> Self {
        let mut folds = vec![NormalEquations::new(count * CONTEXT); FOLDS];
        for (column, _) in columns {
            folds.iter_mut().zip(column.iter()).for_each(|(fold, own)| fold.merge(own));
        }
        let all = sum(&folds);
        Table { count, usual, folds, all }
    }

    fn pulls(&self, setting: Setting) -> Vec<f64> {
        let pull = |term: usize| match term % CONTEXT > 0 && !setting.has_context {
            true => NO_CONTEXT,
            false => setting.pull,
        };
        (0..self.count * CONTEXT).map(pull).collect()
    }

    /// w₀, from all rows or from those outside a fold.
    fn guess(&self, guess: Guess, without: Option<usize>) -> Vec<f64> {
        let rest;
        let equations = match without {
            Some(fold) => {
                rest = self.all.without(&self.folds[fold]);
                &rest
            }
            None => &self.all,
        };
        let at_terms = |weight: &dyn Fn(usize) -> f64| -> Vec<f64> {
            let term = |at: usize| if at % CONTEXT == 0 { weight(at / CONTEXT) } else { 0.0 };
            (0..self.count * CONTEXT).map(term).collect()
        };
        let alone = |part: usize| at_terms(&|other: usize| if other == part { 1.0 } else { 0.0 });
        match guess {
            Guess::Usual => alone(self.usual),
            Guess::Best => {
                let error = |part: &usize| equations.squared_error(&alone(*part));
                let best = (0..self.count)
                    .min_by(|one, other| error(one).total_cmp(&error(other)))
                    .unwrap_or(self.usual);
                alone(best)
            }
            Guess::Pooled => {
                let pull = Setting { guess, pull: POOLED_PULL, has_context: false };
                equations.solve(&self.pulls(pull), &alone(self.usual))
            }
            Guess::Mean => at_terms(&|_| 1.0 / self.count as f64),
        }
    }

    /// The setting with the smallest cross-validated error over some of the columns, each of which has a
    /// weight.
    fn choose(&self, columns: &[(&Column, f64)]) -> Setting {
        let step = columns.len().div_ceil(MAX_COLUMNS).max(1);
        let columns = columns.iter().step_by(step);
        let columns: Vec<(&Column, NormalEquations, f64)> =
            columns.map(|&(column, weight)| (column, sum(column), weight)).collect();
        let settings = GUESSES.iter().flat_map(|&guess| {
            let pulls = PULLS.iter();
            pulls.flat_map(move |&pull| {
                [false, true].map(|has_context| Setting { guess, pull, has_context })
            })
        });
        let guesses: Vec<Vec<Vec<f64>>> = GUESSES
            .iter()
            .map(|&guess| (0..FOLDS).map(|fold| self.guess(guess, Some(fold))).collect())
            .collect();
        let error = |setting: Setting| -> f64 {
            let pulls = self.pulls(setting);
            let guesses =
                &guesses[GUESSES.iter().position(|&own| own == setting.guess).unwrap_or(0)];
            let of_column = |(column, all, weight): &(&Column, NormalEquations, f64)| -> f64 {
                let errors = column.iter().zip(guesses).map(|(fold, guess)| {
                    fold.squared_error(&all.without(fold).solve(&pulls, guess))
                });
                weight * errors.sum::<f64>()
            };
            let errors: Vec<f64> = columns.par_iter().map(of_column).collect();
            errors.iter().sum()
        };
        let mut best =
            (f64::INFINITY, Setting { guess: Guess::Usual, pull: 10.0, has_context: false });
        for setting in settings {
            let error = error(setting);
            if error < best.0 {
                best = (error, setting);
            }
        }
        best.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns that follow the second of three components, with noise in some.
    fn column(rows: usize, slope: f64, noise: f64, seed: usize) -> Column {
        let mut folds = vec![NormalEquations::new(3 * CONTEXT); FOLDS];
        for row in 0..rows {
            let wave = |step: usize| ((row * step + seed) % 23) as f64 / 11.0 - 1.0;
            let parts = [wave(5), wave(7), wave(11)];
            let terms = terms(&parts, [1.0, wave(3), 0.0]);
            let target = slope * parts[1] + noise * wave(13);
            folds[row % FOLDS].add(&terms[..3 * CONTEXT], target);
        }
        folds
    }

    fn weights(columns: &[Column]) -> Vec<Vec<f64>> {
        let all: Vec<(&Column, f64)> = columns.iter().map(|column| (column, 1.0)).collect();
        let table = Table::new(3, 0, &all);
        let setting = table.choose(&all);
        let guess = table.guess(setting.guess, None);
        columns.iter().map(|own| sum(own).solve(&table.pulls(setting), &guess)).collect()
    }

    #[test]
    fn few_rows_take_the_best_component_and_many_their_own_weights() {
        let few: Vec<Column> = (0..4).map(|seed| column(12, 1.0, 0.5, seed)).collect();
        for weights in weights(&few) {
            assert!((weights[CONTEXT] - 1.0).abs() < 0.35, "{weights:?}");
        }
        let many = [column(2000, 1.0, 0.1, 0), column(2000, -2.0, 0.1, 5)];
        let found = weights(&many);
        assert!((found[0][CONTEXT] - 1.0).abs() < 0.05, "{found:?}");
        assert!((found[1][CONTEXT] + 2.0).abs() < 0.05, "{found:?}");
    }
}
