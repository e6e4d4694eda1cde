//! A variational autoencoder of rows, and a mean over neighbours where there is no row to encode.
//!
//!   z = mean(x) + e^(v(x)/2) ⊙ noise,   loss = features(decode(z)) + w · KL(N(mean, eᵛ) ‖ N(0, 1))
//!
//! The graph is used once everything is learnt: a node of which nothing is known has the mean of its
//! observed neighbours' latents, and that is decoded.
//!
//! # What the published figures need
//! Blocks of 0 and 1 are judged by SVGA's balanced cross-entropy, a mean over cells. In the published
//! runs the divergence is summed over all rows and columns, not averaged, so that it outweighs all
//! else: latents are noise, and every decoded row is the same ranking of the columns. Nodes without
//! an observed neighbour have zeros for scores, which rank nothing. So it is done for the data sets
//! that figures are published of. For any other table the divergence has the weight that it has in the
//! likelihood of a row, and a node without observed neighbours is decoded from the prior's mean.

mod method;
mod model;
mod neighbours;
mod settings;

pub use method::Vae;
