//! Dense matrices in double precision, written for the eye: every operation is its definition.

#[derive(Debug, Clone)]
pub(crate) struct Dense {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    values: Vec<f64>,
}

impl Dense {
    pub(crate) fn new(rows: usize, columns: usize, cell: impl Fn(usize, usize) -> f64) -> Self {
        let at = |index: usize| cell(index / columns, index % columns);
        Dense { rows, columns, values: (0..rows * columns).map(at).collect() }
    }

    pub(crate) fn of_singles(columns: usize, values: &[f32]) -> Self {
        let rows = values.len() / columns;
        Dense { rows, columns, values: values.iter().map(|&value| f64::from(value)).collect() }
    }

    pub(crate) fn identity(size: usize) -> Self {
        Dense::new(size, size, |row, column| if row == column { 1.0 } else { 0.0 })
    }

    pub(crate) fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.columns + column]
    }

    pub(crate) fn set(&mut self, row: usize, column: usize, value: f64) {
        self.values[row * self.columns + column] = value;
    }

    pub(crate) fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(crate) fn map(&self, function: impl Fn(f64) -> f64) -> Dense {
        Dense::new(self.rows, self.columns, |row, column| function(self.at(row, column)))
    }

    pub(crate) fn zip(&self, other: &Dense, function: impl Fn(f64, f64) -> f64) -> Dense {
        assert_eq!((self.rows, self.columns), (other.rows, other.columns));
        Dense::new(self.rows, self.columns, |row, column| {
            function(self.at(row, column), other.at(row, column))
        })
    }

    pub(crate) fn plus(&self, other: &Dense) -> Dense {
        self.zip(other, |one, other| one + other)
    }

    /// Cell by cell.
    pub(crate) fn times(&self, other: &Dense) -> Dense {
        self.zip(other, |one, other| one * other)
    }

    pub(crate) fn scaled(&self, factor: f64) -> Dense {
        self.map(|value| value * factor)
    }

    /// The same row added to every row.
    pub(crate) fn plus_row(&self, row: &Dense) -> Dense {
        assert_eq!((1, self.columns), (row.rows, row.columns));
        Dense::new(self.rows, self.columns, |at, column| self.at(at, column) + row.at(0, column))
    }

    pub(crate) fn product(&self, other: &Dense) -> Dense {
        assert_eq!(self.columns, other.rows);
        Dense::new(self.rows, other.columns, |row, column| {
            (0..self.columns).map(|inner| self.at(row, inner) * other.at(inner, column)).sum()
        })
    }

    pub(crate) fn transposed(&self) -> Dense {
        Dense::new(self.columns, self.rows, |row, column| self.at(column, row))
    }

    /// 1 × columns.
    pub(crate) fn column_sums(&self) -> Dense {
        Dense::new(1, self.columns, |_, column| {
            (0..self.rows).map(|row| self.at(row, column)).sum()
        })
    }

    pub(crate) fn trace(&self) -> f64 {
        (0..self.rows).map(|at| self.at(at, at)).sum()
    }

    /// log|A| and A⁻¹ of a positive definite A by elimination (Gauss and Jordan).
    pub(crate) fn log_determinant_and_inverse(&self) -> (f64, Dense) {
        let size = self.rows;
        let mut rest = self.clone();
        let mut inverse = Dense::identity(size);
        let mut log_determinant = 0.0;
        for pivot in 0..size {
            let divisor = rest.at(pivot, pivot);
            assert!(divisor > 0.0, "positive definite");
            log_determinant += divisor.ln();
            for matrix in [&mut rest, &mut inverse] {
                (0..size).for_each(|k| matrix.set(pivot, k, matrix.at(pivot, k) / divisor));
            }
            for row in (0..size).filter(|&row| row != pivot) {
                let factor = rest.at(row, pivot);
                for matrix in [&mut rest, &mut inverse] {
                    for k in 0..size {
                        matrix.set(row, k, matrix.at(row, k) - factor * matrix.at(pivot, k));
                    }
                }
            }
        }
        (log_determinant, inverse)
    }
}
