//! Estimates against exact conditional means and against cells that are really hidden.

use std::ops::Range;

use graphfill_engine::random::{Key, normals, uniforms};

use super::completion::{Penalised, complete};
use super::dense::{Cholesky, product};
use super::left_out::LeftOut;
use super::{Cells, RowGaussian};

fn draw(seed: u64, stream: u32, size: usize) -> Vec<f32> {
    let mut out = vec![0.0; size.next_multiple_of(64)];
    normals(Key::new(seed, stream, 0), 0, &mut out);
    out.truncate(size);
    out
}

/// Which cells are known: four of five.
fn holes(seed: u64, size: usize) -> Vec<bool> {
    let mut out = vec![0.0; size];
    uniforms(Key::new(seed, 99, 0), &mut out);
    out.into_iter().map(|draw| draw >= 0.2).collect()
}

/// A table drawn from a known Gaussian, with holes.
struct Table {
    rows: usize,
    columns: usize,
    values: Vec<f32>,
    known: Vec<bool>,
    context: Vec<f32>,
    blocks: Vec<Range<usize>>,
    is_number: Vec<bool>,
    slopes: Vec<f64>,
    covariance: Vec<f64>,
}

impl Table {
    /// x = gB + two common causes + noise, every column of variance about one.
    fn new(rows: usize, columns: usize, context_columns: usize) -> Self {
        let context = draw(1, 1, rows * context_columns);
        let slopes: Vec<f32> = draw(1, 2, columns * context_columns);
        let slope_size = 0.5 / (context_columns.max(1) as f32).sqrt();
        let slopes: Vec<f32> = slopes.into_iter().map(|slope| slope * slope_size).collect();
        let mut loadings = draw(1, 3, columns * 2);
        for loadings in loadings.chunks_exact_mut(2) {
            let size = loadings[0].hypot(loadings[1]);
            loadings.iter_mut().for_each(|loading| *loading *= 0.8 / size);
        }
        let (causes, noise) = (draw(1, 4, rows * 2), draw(1, 5, rows * columns));
        let mut values = vec![0.0; rows * columns];
        for row in 0..rows {
            for column in 0..columns {
                let along = |a: &[f32], b: &[f32], size: usize| -> f32 {
                    (0..size).map(|at| a[row * size + at] * b[column * size + at]).sum()
                };
                values[row * columns + column] = along(&context, &slopes, context_columns)
                    + along(&causes, &loadings, 2)
                    + 0.4 * noise[row * columns + column];
            }
        }
        let wide: Vec<f64> = loadings.iter().map(|&v| f64::from(v)).collect();
        let mut covariance = product(&wide, &wide, columns, columns);
        (0..columns).for_each(|at| covariance[at * columns + at] += 0.16);
        Table {
            rows,
            columns,
            values,
            known: holes(2, rows * columns),
            context,
            blocks: (0..columns).map(|at| at..at + 1).collect(),
            is_number: (0..columns).map(|at| at % 3 != 0).collect(),
            slopes: slopes.iter().map(|&v| f64::from(v)).collect(),
            covariance,
        }
    }

    fn cells(&self) -> Cells<'_> {
        Cells {
            rows: self.rows,
            columns: self.columns,
            values: &self.values,
            known: &self.known,
            blocks: &self.blocks,
            is_number: &self.is_number,
        }
    }

    fn fit(&self) -> RowGaussian {
        RowGaussian::fit(&self.cells(), &self.context, 7)
    }

    /// Everything that can be asked of a fitted Gaussian.
    fn everything(&self) -> Vec<f32> {
        let fitted = self.fit();
        let mut all = fitted.estimate(&self.cells(), &self.context);
        all.extend(fitted.estimate_blank(self.rows, &self.context));
        all.extend(fitted.estimate_blank_left_out(self.rows, &self.context));
        assert_eq!(all.len(), 3 * self.rows * self.columns);
        all
    }

    /// E[x | the known cells, g] by the parameters that the table was drawn from.
    fn exact(&self, row: usize, column: usize) -> f64 {
        let (p, q) = (self.columns, self.context.len() / self.rows);
        let mean = |column: usize| -> f64 {
            (0..q)
                .map(|at| f64::from(self.context[row * q + at]) * self.slopes[column * q + at])
                .sum()
        };
        let known: Vec<usize> =
            (0..p).filter(|&at| self.known[row * p + at] && at != column).collect();
        let entry = |one: usize, other: usize| self.covariance[one * p + other];
        let matrix: Vec<f64> = known
            .iter()
            .flat_map(|&one| known.iter().map(move |&other| entry(one, other)))
            .collect();
        let mut weights: Vec<f64> =
            known.iter().map(|&at| f64::from(self.values[row * p + at]) - mean(at)).collect();
        Cholesky::new(matrix, known.len()).solve(&mut weights);
        let reached: f64 =
            known.iter().zip(&weights).map(|(&at, weight)| entry(column, at) * weight).sum();
        mean(column) + reached
    }
}

fn assert_near_the_exact_means(table: &Table, allowed: f64) {
    let estimates = table.fit().estimate(&table.cells(), &table.context);
    for known in [true, false] {
        let (mut error, mut count) = (0.0, 0);
        for row in 0..table.rows {
            for column in 0..table.columns {
                let at = row * table.columns + column;
                if table.known[at] == known {
                    error += (f64::from(estimates[at]) - table.exact(row, column)).powi(2);
                    count += 1;
                }
            }
        }
        let error = (error / f64::from(count)).sqrt();
        assert!(error < allowed, "known: {known}, root mean squared distance {error}");
    }
}

#[test]
fn many_rows_recover_the_gaussian() {
    assert_near_the_exact_means(&Table::new(4000, 8, 5), 0.04);
}

#[test]
fn few_rows_recover_the_gaussian_by_folds() {
    assert_near_the_exact_means(&Table::new(700, 8, 5), 0.09);
}

#[test]
fn a_gaussian_without_context_is_recovered() {
    assert_near_the_exact_means(&Table::new(4000, 6, 0), 0.04);
}

#[test]
fn leaving_out_is_hiding() {
    let table = Table::new(1, 9, 0);
    let blocks = [0..1, 1..2, 2..3, 3..6, 6..9];
    let values: Vec<f64> = draw(3, 1, 9).into_iter().map(f64::from).collect();
    for unknown in [&[][..], &[1], &[0, 2], &[3, 4, 5], &[0, 1, 3, 4, 5], &[0, 1, 6, 7, 8]] {
        let pattern: Vec<bool> = (0..9).map(|at| !unknown.contains(&at)).collect();
        for penalty in [0.001, 0.1] {
            let penalised = Penalised::new(&table.covariance, 9, penalty);
            let masked = |pattern: &[bool]| -> Vec<f64> {
                values.iter().zip(pattern).map(|(&v, &k)| if k { v } else { 0.0 }).collect()
            };
            let mut all = LeftOut::new(&penalised);
            all.look_at(&pattern, &masked(&pattern));
            let mut hidden = LeftOut::new(&penalised);
            for block in &blocks {
                let rest: Vec<bool> =
                    (0..9).map(|at| pattern[at] && !block.contains(&at)).collect();
                hidden.look_at(&rest, &masked(&rest));
                all.without(block, |column, distance| {
                    let (fast, slow) = (values[column] - distance, hidden.unknown(column));
                    assert!((fast - slow).abs() < 1e-9, "{unknown:?} {column}: {fast} {slow}");
                });
            }
        }
    }
}

#[test]
fn estimates_of_known_cells_are_those_of_hidden_ones() {
    let mut table = Table::new(1300, 7, 3);
    table.blocks = vec![0..1, 1..2, 2..5, 5..6, 6..7];
    for row in table.known.chunks_exact_mut(7) {
        row[3] = row[2];
        row[4] = row[2];
    }
    let fitted = table.fit();
    let estimates = fitted.estimate(&table.cells(), &table.context);
    let original = table.known.clone();
    for block in table.blocks.clone() {
        for row in 0..table.rows {
            table.known[row * 7 + block.start..row * 7 + block.end].fill(false);
        }
        let hidden = fitted.estimate(&table.cells(), &table.context);
        for row in 0..table.rows {
            // A row of which nothing is left is estimated in another way.
            if !table.known[row * 7..(row + 1) * 7].contains(&true) {
                continue;
            }
            for at in row * 7 + block.start..row * 7 + block.end {
                assert!((estimates[at] - hidden[at]).abs() < 1e-5, "row {row}, block {block:?}");
            }
        }
        table.known.clone_from(&original);
    }
}

#[test]
fn completion_is_the_conditional_mean_and_covariance() {
    let table = Table::new(6, 8, 0);
    let mut known = holes(5, 48);
    known[..16].copy_from_slice(&[[true; 8], [false; 8]].concat());
    known[16..22].fill(false);
    let cells = Cells { known: &known, ..table.cells() };
    let penalised = Penalised::new(&table.covariance, 8, 0.003);
    let rows: Vec<usize> = (0..6).collect();
    let evidence = cells.evidence(&rows);
    let mut filled = evidence.clone();
    let remaining = complete(&cells, &rows, &mut filled, &penalised);
    let mut expected = vec![0.0; 64];
    for row in rows {
        let pattern = cells.known_in(row);
        let mut left_out = LeftOut::new(&penalised);
        for one in (0..8).filter(|&column| !pattern[column]) {
            left_out.look_at(pattern, &evidence[row * 8..(row + 1) * 8]);
            assert!((filled[row * 8 + one] - left_out.unknown(one)).abs() < 1e-10);
            // What the known cells would say if they lay as they covary with the unknown one.
            let covariances: Vec<f64> = (0..8)
                .map(|at| if pattern[at] { table.covariance[one * 8 + at] } else { 0.0 })
                .collect();
            left_out.look_at(pattern, &covariances);
            for other in (0..8).filter(|&column| !pattern[column]) {
                let covariance = table.covariance[one * 8 + other] - left_out.unknown(other);
                expected[one * 8 + other] += covariance;
            }
        }
    }
    for (found, expected) in remaining.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-10, "{found} {expected}");
    }
}

#[test]
fn odd_tables_give_finite_estimates() {
    let check = |name: &str, table: &Table| {
        assert!(table.everything().iter().all(|value| value.is_finite()), "{name}");
    };
    check("one column", &Table::new(50, 1, 2));
    check("one column, no context", &Table::new(50, 1, 0));
    check("one row", &Table::new(1, 4, 3));
    check("three rows", &Table::new(3, 4, 3));
    check("no rows", &Table { context: Vec::new(), ..Table::new(0, 4, 0) });
    check("no columns", &Table::new(5, 0, 2));
    check("more columns than rows", &Table::new(20, 30, 60));

    let mut table = Table::new(400, 5, 3);
    table.known.fill(true);
    check("complete", &table);
    table.known.fill(false);
    check("nothing known", &table);

    let mut table = Table::new(400, 5, 3);
    for row in 0..400 {
        table.values[row * 5 + 1] = 0.0;
        table.values[row * 5 + 3] = table.values[row * 5 + 2];
        table.known[row * 5 + 4] = false;
        table.context[row * 3 + 1] = 2.5;
    }
    table.known[..50].fill(false);
    table.values[7] = f32::NAN;
    table.values[8] = f32::INFINITY;
    table.values[60] = 1e9;
    check("constant, repeated and unknown columns, rows of which nothing is known", &table);
    let fitted = table.fit();
    let estimates = fitted.estimate(&table.cells(), &table.context);
    assert_eq!(estimates[..50], fitted.estimate_blank(400, &table.context)[..50]);
    assert!((0..400).all(|row| estimates[row * 5 + 1].abs() < 1e-3), "a constant stays constant");
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    for table in [Table::new(500, 11, 7), Table::new(1300, 9, 4)] {
        let bits = |threads: usize| -> Vec<u32> {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.expect("threads");
            pool.install(|| table.everything().into_iter().map(f32::to_bits).collect())
        };
        assert_eq!(bits(1), bits(2));
    }
}

#[test]
fn a_stored_gaussian_estimates_the_same() {
    let table = Table::new(300, 5, 2);
    let fitted = table.fit();
    let text = serde_json::to_string(&fitted).expect("numbers can be written");
    let read: RowGaussian = serde_json::from_str(&text).expect("what was written can be read");
    let estimates = fitted.estimate(&table.cells(), &table.context);
    let again = read.estimate(&table.cells(), &table.context);
    assert!(estimates.iter().zip(&again).all(|(one, other)| (one - other).abs() < 1e-6));
}
