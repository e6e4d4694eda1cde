//! Least squares held near a guess:  min over w of  mean (f·w − x)² + Σ_k pull_k (w_k − guess_k)²
//!
//!   (FᵀF / n + diag(pull)) w = Fᵀx / n + pull ∘ guess          F: n × count
//!
//! The squared error of any w follows from the sums, so that pulls and guesses can be compared by
//! cross-validation without another look at the rows.

/// FᵀF, Fᵀx and Σ x², summed up row by row.
#[derive(Debug, Clone)]
pub(super) struct NormalEquations {
    count: usize,
    squares: Vec<f64>,
    products: Vec<f64>,
    targets: f64,
    rows: f64,
}

impl NormalEquations {
    pub(super) fn new(count: usize) -> Self {
        let (squares, products) = (vec![0.0; count * count], vec![0.0; count]);
        NormalEquations { count, squares, products, targets: 0.0, rows: 0.0 }
    }

    /// One more row f with its x.
    pub(super) fn add(&mut self, row: &[f64], target: f64) {
        for (at, value) in row.iter().enumerate() {
            let squares = &mut self.squares[at * self.count..at * self.count + at + 1];
            for (sum, other) in squares.iter_mut().zip(row) {
                *sum += value * other;
            }
            self.products[at] += value * target;
        }
        self.targets += target * target;
        self.rows += 1.0;
    }

    /// The rows of others, too.
    pub(super) fn merge(&mut self, others: &NormalEquations) {
        self.squares.iter_mut().zip(&others.squares).for_each(|(sum, other)| *sum += other);
        self.products.iter_mut().zip(&others.products).for_each(|(sum, other)| *sum += other);
        self.targets += others.targets;
        self.rows += others.rows;
    }

    /// These rows without some of them.
    pub(super) fn without(&self, some: &NormalEquations) -> NormalEquations {
        let mut rest = self.clone();
        rest.squares.iter_mut().zip(&some.squares).for_each(|(sum, own)| *sum -= own);
        rest.products.iter_mut().zip(&some.products).for_each(|(sum, own)| *sum -= own);
        rest.targets -= some.targets;
        rest.rows -= some.rows;
        rest
    }

    /// Σ (f·w − x)² = wᵀFᵀF w − 2 wᵀFᵀx + Σ x².
    pub(super) fn squared_error(&self, w: &[f64]) -> f64 {
        let mut sum = self.targets;
        for (at, &own) in w.iter().enumerate() {
            sum += own * (self.squares[at * self.count + at] * own - 2.0 * self.products[at]);
            let others = self.squares[at * self.count..].iter().zip(&w[..at]);
            sum += 2.0 * own * others.map(|(square, other)| square * other).sum::<f64>();
        }
        sum
    }

    /// Σ x².
    pub(super) fn squared_targets(&self) -> f64 {
        self.targets
    }

    /// w, by a Cholesky factorisation: with positive pulls there always is one.
    pub(super) fn solve(&self, pulls: &[f64], guess: &[f64]) -> Vec<f64> {
        let count = self.count;
        let share = 1.0 / self.rows.max(1.0);
        let mut lower = vec![0.0; count * count];
        for row in 0..count {
            for column in 0..=row {
                let mut sum = self.squares[row * count + column] * share;
                if row == column {
                    sum += pulls[row];
                }
                for at in 0..column {
                    sum -= lower[row * count + at] * lower[column * count + at];
                }
                lower[row * count + column] = match row == column {
                    true => sum.max(f64::MIN_POSITIVE).sqrt(),
                    false => sum / lower[column * count + column],
                };
            }
        }
        let mut solution: Vec<f64> = self
            .products
            .iter()
            .zip(pulls.iter().zip(guess))
            .map(|(sum, (pull, guess))| sum * share + pull * guess)
            .collect();
        for row in 0..count {
            for at in 0..row {
                solution[row] -= lower[row * count + at] * solution[at];
            }
            solution[row] /= lower[row * count + row];
        }
        for row in (0..count).rev() {
            for at in row + 1..count {
                solution[row] -= lower[at * count + row] * solution[at];
            }
            solution[row] /= lower[row * count + row];
        }
        solution
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_line_and_stays_near_the_guess_without_data() {
        let mut equations = NormalEquations::new(2);
        let near = |found: &[f64], wanted: [f64; 2]| {
            found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 1e-6)
        };
        assert!(near(&equations.solve(&[0.5; 2], &[3.0, -1.0]), [3.0, -1.0]));
        for x in 0..10 {
            equations.add(&[1.0, f64::from(x)], 2.0 + 0.5 * f64::from(x));
        }
        let line = equations.solve(&[1e-9; 2], &[0.0, 0.0]);
        assert!(near(&line, [2.0, 0.5]), "{line:?}");
        let off: f64 = (0..10).map(|x| (3.0 - 0.5 * f64::from(x) - 2.0).powi(2)).sum();
        assert!((equations.squared_error(&[3.0, 0.0]) - off).abs() < 1e-9);
    }
}
