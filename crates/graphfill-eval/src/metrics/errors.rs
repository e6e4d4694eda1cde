//! Errors of numeric estimates.

/// √(mean of (x̂ − x)²)
pub fn root_mean_squared_error(estimates: &[f64], truth: &[f64]) -> f64 {
    let squares = estimates.iter().zip(truth).map(|(e, t)| (e - t).powi(2));
    (squares.sum::<f64>() / truth.len() as f64).sqrt()
}

/// mean of |x̂ − x|
pub fn mean_absolute_error(estimates: &[f64], truth: &[f64]) -> f64 {
    let errors = estimates.iter().zip(truth).map(|(e, t)| (e - t).abs());
    errors.sum::<f64>() / truth.len() as f64
}

/// What R² needs to know of a column, gathered cell by cell.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ColumnSums {
    count: u64,
    mean: f64,
    /// Σ (x − x̄)²
    spread: f64,
    /// Σ (x̂ − x)²
    error: f64,
}

impl ColumnSums {
    /// Adds a cell.
    pub fn add(&mut self, estimate: f64, truth: f64) {
        // Welford's update: stable where a sum of squares would cancel.
        self.count += 1;
        let before = truth - self.mean;
        self.mean += before / self.count as f64;
        self.spread += before * (truth - self.mean);
        self.error += (estimate - truth).powi(2);
    }

    /// The number of cells.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// √(Σ (x̂ − x)² / n)
    pub fn rmse(&self) -> f64 {
        (self.error / self.count as f64).sqrt()
    }

    /// √(Σ (x − x̄)² / n)
    pub fn deviation(&self) -> f64 {
        (self.spread / self.count as f64).sqrt()
    }
}

/// All cells pooled:   1 − Σ (x̂ − x)² / Σ (x − x̄_column)².   The published figures are of this.
pub fn r2(columns: &[ColumnSums]) -> f64 {
    let error: f64 = columns.iter().map(|column| column.error).sum();
    let spread: f64 = columns.iter().map(|column| column.spread).sum();
    1.0 - error / spread
}

/// The mean of R² over columns, as the paper's formula has it; constant columns are left out.
pub fn r2_by_column(columns: &[ColumnSums]) -> f64 {
    let varying: Vec<f64> = columns
        .iter()
        .filter(|column| column.spread > 0.0)
        .map(|column| 1.0 - column.error / column.spread)
        .collect();
    varying.iter().sum::<f64>() / varying.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_by_hand() {
        let (estimates, truth) = ([1.0, 2.0, 6.0], [1.0, 4.0, 4.0]);
        assert!(
            (root_mean_squared_error(&estimates, &truth) - (8.0f64 / 3.0).sqrt()).abs() < 1e-15
        );
        assert!((mean_absolute_error(&estimates, &truth) - 4.0 / 3.0).abs() < 1e-15);
        let mut first = ColumnSums::default();
        for (estimate, truth) in estimates.iter().zip(&truth) {
            first.add(*estimate, *truth);
        }
        // x̄ = 3, Σ(x − x̄)² = 6, Σ(x̂ − x)² = 8
        assert!((r2(&[first]) - (1.0 - 8.0 / 6.0)).abs() < 1e-12);
        let mut second = ColumnSums::default();
        second.add(10.0, 10.0);
        second.add(22.0, 20.0);
        // Σ(x − x̄)² = 50, Σ(x̂ − x)² = 4
        assert!((r2(&[first, second]) - (1.0 - 12.0 / 56.0)).abs() < 1e-12);
        let by_column = (1.0 - 8.0 / 6.0 + 1.0 - 4.0 / 50.0) / 2.0;
        assert!((r2_by_column(&[first, second]) - by_column).abs() < 1e-12);
        let mut constant = ColumnSums::default();
        constant.add(1.0, 5.0);
        assert!((r2_by_column(&[first, second, constant]) - by_column).abs() < 1e-12);
    }
}
