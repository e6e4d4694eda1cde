//! One file a format.

mod feature_rows;
mod lines;
pub(crate) mod open;
mod row_counter;
