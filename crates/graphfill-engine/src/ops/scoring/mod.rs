//! How good scores are: what a validation tells of them, as a few numbers that are computed where the
//! scores are. None of these operations has a gradient.

mod errors;
mod exact_product;
mod ranking;

pub use errors::{Averaged, TrueColumns, TrueValues, ValueOfScore};
pub use ranking::{Ranking, RankingMeasure, shuffled_column};
