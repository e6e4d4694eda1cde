//! The mean of each column:  out[j] = Σ_i x[i, j] / rows

use rayon::prelude::*;

/// Rows whose sum is taken at once: fixed, so that the mean doesn't depend on the threads.
const ROWS_A_SUM: usize = 1 << 12;

/// The mean of each column over all rows, in double precision; zeros where there is no row, and
/// nothing where there is no column.
pub fn column_means(values: &[f32], width: usize) -> Vec<f32> {
    if width == 0 {
        return Vec::new();
    }
    let partial: Vec<Vec<f64>> = values
        .par_chunks(ROWS_A_SUM * width)
        .map(|rows| {
            let mut sums = vec![0.0f64; width];
            for row in rows.chunks_exact(width) {
                for (sum, value) in sums.iter_mut().zip(row) {
                    *sum += f64::from(*value);
                }
            }
            sums
        })
        .collect();
    let rows = (values.len() / width).max(1) as f64;
    let mut means = vec![0.0f64; width];
    for sums in partial {
        for (mean, sum) in means.iter_mut().zip(sums) {
            *mean += sum;
        }
    }
    means.iter().map(|sum| (sum / rows) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_of_columns() {
        assert_eq!(column_means(&[1.0, 10.0, 3.0, 30.0], 2), [2.0, 20.0]);
        assert_eq!(column_means(&[], 3), [0.0; 3]);
    }

    #[test]
    fn no_columns_have_no_means() {
        assert!(column_means(&[], 0).is_empty());
    }
}
