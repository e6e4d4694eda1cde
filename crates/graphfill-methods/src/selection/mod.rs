//! Choosing parameters on validation cells: streaming scores, a panel at a time.

mod rows;
mod scorer;
mod top_ranked;

pub use rows::{ScoredCells, ValidationRows};
pub use scorer::{Detail, Scores};
pub use top_ranked::TopRanked;
