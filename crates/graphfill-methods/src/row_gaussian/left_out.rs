//! Predictions of known cells as if they were unknown, without hiding one after the other.
//!
//! With Λ = (Σₒₒ + λI)⁻¹ over the known cells o of a row and w = Λrₒ, the prediction of a block b is
//!
//! > zᵦ − (Λᵦᵦ)⁻¹wᵦ,
//!
//! and that of an unknown cell u is μᵤ + gBᵤ + Σᵤₒw. Λ is never formed: it is FFᵀ, or, where few
//! cells m are unknown, Pₒₒ − FFᵀ with P = (Σ + λI)⁻¹ and F = (L⁻¹Pₘₒ)ᵀ, Pₘₘ = LLᵀ.

use std::ops::Range;

use super::completion::{Penalised, columns_where, part};
use super::dense::{Cholesky, dot};

/// Λ for the pattern of one row after the other.
pub(super) struct LeftOut<'a> {
    penalised: &'a Penalised,
    pattern: Vec<bool>,
    known: Vec<usize>,
    by_precision: bool,
    width: usize,
    /// F \[p × width\]; only the rows of known cells mean anything.
    factor: Vec<f64>,
    /// w \[p\], zero where nothing is known.
    weights: Vec<f64>,
}

impl<'a> LeftOut<'a> {
    /// Before the first row.
    pub(super) fn new(penalised: &'a Penalised) -> Self {
        LeftOut {
            penalised,
            pattern: Vec::new(),
            known: Vec::new(),
            by_precision: false,
            width: 0,
            factor: Vec::new(),
            weights: vec![0.0; penalised.size],
        }
    }

    /// Goes to a row with these residuals \[p\], which are zero where nothing is known.
    pub(super) fn look_at(&mut self, pattern: &[bool], residuals: &[f64]) {
        if self.pattern != pattern {
            self.factorise(pattern);
        }
        let width = self.width;
        let mut gathered = vec![0.0; width];
        for &column in &self.known {
            for (sum, value) in gathered.iter_mut().zip(row(&self.factor, width, column)) {
                *sum += residuals[column] * value;
            }
        }
        self.weights.fill(0.0);
        for &column in &self.known {
            let product = dot(row(&self.factor, width, column), &gathered);
            self.weights[column] = if self.by_precision {
                let size = self.penalised.size;
                dot(row(&self.penalised.precision, size, column), residuals) - product
            } else {
                product
            };
        }
    }

    fn factorise(&mut self, pattern: &[bool]) {
        let size = self.penalised.size;
        pattern.clone_into(&mut self.pattern);
        self.known = columns_where(pattern, true);
        let unknown = columns_where(pattern, false);
        let (o, m) = (self.known.len(), unknown.len());
        self.by_precision = m * m * (m + 3 * o) < 2 * o * o * o;
        self.width = if self.by_precision { m } else { o };
        self.factor.clear();
        self.factor.resize(size * self.width, 0.0);
        let (matrix, at) = if self.by_precision {
            (&self.penalised.precision, &unknown)
        } else {
            (&self.penalised.covariance, &self.known)
        };
        let factor = Cholesky::new(part(matrix, size, at), self.width);
        for (position, &column) in self.known.iter().enumerate() {
            let row = &mut self.factor[column * self.width..(column + 1) * self.width];
            if self.by_precision {
                for (value, &other) in row.iter_mut().zip(&unknown) {
                    *value = matrix[column * size + other];
                }
                factor.forward(row, 0);
            } else {
                row[position] = 1.0;
                factor.forward(row, position);
            }
        }
    }

    /// Σᵤₒw, what the known cells of the row add to the mean of an unknown one.
    pub(super) fn unknown(&self, column: usize) -> f64 {
        dot(row(&self.penalised.covariance, self.penalised.size, column), &self.weights)
    }

    /// Hands every known cell of a block and its (Λᵦᵦ)⁻¹wᵦ, how far its value lies from its
    /// prediction without the block.
    pub(super) fn without(&self, block: &Range<usize>, mut take: impl FnMut(usize, f64)) {
        let is_known = |&column: &usize| self.pattern[column];
        if block.clone().filter(is_known).nth(1).is_none() {
            for column in block.clone().filter(is_known) {
                take(column, self.weights[column] / self.entry(column, column));
            }
            return;
        }
        let columns: Vec<usize> = block.clone().filter(is_known).collect();
        let mut matrix = vec![0.0; columns.len() * columns.len()];
        for (at, &one) in columns.iter().enumerate() {
            for (other, &two) in columns[..=at].iter().enumerate() {
                matrix[at * columns.len() + other] = self.entry(one, two);
            }
        }
        let mut distances: Vec<f64> = columns.iter().map(|&column| self.weights[column]).collect();
        Cholesky::new(matrix, columns.len()).solve(&mut distances);
        for (&column, distance) in columns.iter().zip(distances) {
            take(column, distance);
        }
    }

    /// Of Λ.
    fn entry(&self, one: usize, two: usize) -> f64 {
        let product = dot(row(&self.factor, self.width, one), row(&self.factor, self.width, two));
        if self.by_precision {
            self.penalised.precision[one * self.penalised.size + two] - product
        } else {
            product
        }
    }
}

fn row(matrix: &[f64], width: usize, at: usize) -> &[f64] {
    &matrix[at * width..(at + 1) * width]
}
