//! A variational autoencoder of rows, and a mean over neighbours where there is no row to encode.
//!
//!   z = mean(x) + e^(v(x)/2) ⊙ noise,   loss = features(decode(z)) + w · KL(N(mean, eᵛ) ‖ N(0, 1))
//!
//! The graph is used once everything is learned: a node of which nothing is known has the mean of its
//! observed neighbours' latents, and that is decoded.
//!
//! # Differences from the paper
//! The autoencoder is that of Kingma and Welling (2014); means over neighbours and widths are those of
//! the comparison in the paper of SVGA, which leaves the rest open. Missing cells of observed rows enter
//! as zeros, and numbers are standardised; the paper has neither. Training stops by validation.
//!
//! # What the published figures need
//! Blocks of 0 and 1 are judged by SVGA's balanced cross-entropy, a mean over cells. In the published
//! runs the divergence is summed over all rows and columns, not averaged, so that it outweighs all
//! else: latents are noise, and every decoded row is the same ranking of the columns. Nodes without
//! an observed neighbour have zeros for scores, which rank nothing. `kl_reduction=sum`, `kl_weight=1` and
//! `no_observed_neighbours=zeros` do the same. By default the divergence has the weight that it has in
//! the likelihood of a row, and a node without observed neighbours is decoded from the prior's mean.

mod method;
mod model;
mod neighbours;

pub use method::Vae;
