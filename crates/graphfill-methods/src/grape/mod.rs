//! GRAPE: the table itself as a graph. Rows and features are its nodes, known cells its edges.
//!
//!   h_row = 1/features, h_feature = unit vector, e = the cell's score      before the first layer
//!   message = relu([h_source | e] P + b)                                   a cell, in either direction
//!   a = mean of a node's messages                                          nodes × width
//!   h ← relu([h | √cells · (a − mean of a over nodes)] Q + b)              rows and features alike
//!   e ← relu([e | h_row | h_feature] W + b)                                but in the last layer
//!   score = ⟨relu(h_row R + b), h_feature C⟩ + h_feature c + o             rows × features
//!
//! In each update a share of the known cells is hidden: they send no messages, and they alone are
//! judged, so that no cell is predicted from itself.
//!
//! As published: the nodes and their beginnings, messages, updates of nodes and cells, three layers,
//! width 64, 0.3 of the cells hidden, Adam.
//!
//! # Differences from the paper
//! - **Scores instead of values between 0 and 1**: cells enter as other models see them, numbers
//!   standardised (and held within ±4), and each column has its own loss. A category has an edge for
//!   every level, 1 or 0, which are hidden together.
//! - **A product of both sides at the end** instead of a network on each pair: the estimates of a whole
//!   table are then one product of matrices. C and c begin at zero and o is the column's mean, so that
//!   training begins where a column alone would end.
//! - **Means less what all nodes have in common**, times the root of a node's usual number of cells:
//!   among a hundred cells, one is a hundredth of a mean, and learning takes thousands of updates to
//!   see it. Q and b could do the same for fixed numbers.
//! - **A mean of k messages is their sum divided by √(k² + 0.01)**, which is finite for k = 0 and within
//!   half a percent of 1/k otherwise.
//! - **The gradient of all parameters is cut to length 1.**
//! - **It stops by validation** instead of after 20,000 updates, at a learning rate of 0.002.
//!
//! The edges of the given graph are not used: what a row says about itself is all that is known of
//! it. A row of which no cell is known is estimated as a row without messages, which is no estimate
//! worth the name; where a table lacks whole rows, the method says so before it starts.

mod edges;
mod method;
mod model;
#[cfg(test)]
mod reference;

pub use method::Grape;
