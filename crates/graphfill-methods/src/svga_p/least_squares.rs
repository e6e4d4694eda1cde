//! Least squares held near a guess:  min over w of  mean (f·w − x)² + pull ‖w − guess‖²
//!
//!   (FᵀF / n + pull I) w = Fᵀx / n + pull · guess          F: n × count

/// FᵀF and Fᵀx, summed up row by row.
pub(super) struct NormalEquations {
    count: usize,
    squares: Vec<f64>,
    products: Vec<f64>,
    rows: f64,
}

impl NormalEquations {
    pub(super) fn new(count: usize) -> Self {
        let (squares, products) = (vec![0.0; count * count], vec![0.0; count]);
        NormalEquations { count, squares, products, rows: 0.0 }
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
        self.rows += 1.0;
    }

    /// The rows of others, too.
    pub(super) fn merge(&mut self, others: &NormalEquations) {
        self.squares.iter_mut().zip(&others.squares).for_each(|(sum, other)| *sum += other);
        self.products.iter_mut().zip(&others.products).for_each(|(sum, other)| *sum += other);
        self.rows += others.rows;
    }

    /// w, by a Cholesky factorisation: with a positive pull there always is one.
    pub(super) fn solve(&self, pull: f64, guess: &[f64]) -> Vec<f64> {
        let count = self.count;
        let share = 1.0 / self.rows.max(1.0);
        let mut lower = vec![0.0; count * count];
        for row in 0..count {
            for column in 0..=row {
                let mut sum = self.squares[row * count + column] * share;
                if row == column {
                    sum += pull;
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
            .zip(guess)
            .map(|(sum, guess)| sum * share + pull * guess)
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
        assert!(near(&equations.solve(0.5, &[3.0, -1.0]), [3.0, -1.0]));
        for x in 0..10 {
            equations.add(&[1.0, f64::from(x)], 2.0 + 0.5 * f64::from(x));
        }
        let line = equations.solve(1e-9, &[0.0, 0.0]);
        assert!(near(&line, [2.0, 0.5]), "{line:?}");
    }
}
