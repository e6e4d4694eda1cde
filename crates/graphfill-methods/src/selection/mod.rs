//! Choosing parameters on validation cells: streaming scores, a panel at a time.

mod hits;
mod rows;
mod scorer;
mod top_ranked;

pub(crate) use rows::truth_of;
pub use rows::{ScoredCells, ValidationRows};
pub(crate) use scorer::{DEPTHS, depth_in_block};
pub use scorer::{Detail, Scores};
pub use top_ranked::TopRanked;
