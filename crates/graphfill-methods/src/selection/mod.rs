//! Choosing parameters on validation cells: streaming scores, a panel at a time.

mod scorer;
mod top_ranked;

pub use scorer::{Detail, RankingRows, ScoredCells, Scores};
pub use top_ranked::TopRanked;
