//! The metrics, one function each.

mod classification;
mod errors;
mod ranking;

pub use classification::{accuracy, balanced_accuracy};
pub use errors::{ColumnSums, mean_absolute_error, r2, r2_by_column, root_mean_squared_error};
pub use ranking::{ndcg, recall};
