//! SAT: a row and a node's place in the graph are encoded into one latent space, and either code is
//! decoded to features and to edges. A node of which nothing is known is decoded from its place.
//!
//!   loss = features(row) + edges(place) + c · (features(place) + edges(row)) + fooling(row, place)
//!
//! A discriminator is trained in turn to tell codes from normal noise, and `fooling` is what is lost
//! when it can: both kinds of codes are drawn to the same distribution.
//!
//! # What the paper leaves open
//! Ones and zeros of 0/1 blocks weigh the same, as in SVGA, but the whole counts twice: in the published
//! runs a zero weighs 1 and a one as much as there are zeros for each one. Edges are compared with as
//! many pairs that are drawn anew in each step, not once. Attention has one head, and drops weights of
//! edges as hidden numbers are dropped. On the data sets that figures are published of, weights are
//! drawn to zero with 5e-4. Every estimate, also of a single missing cell, is decoded from the node's
//! place.

mod method;
mod model;
mod place;
mod settings;

pub use method::Sat;
