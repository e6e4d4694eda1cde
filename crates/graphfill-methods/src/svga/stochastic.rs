//! Algorithm 2, SVGA-U: stochastic inference without the unified modelling of Algorithm 1, which
//! has one matrix for mean and covariance. Here two encoders give U and V, and each column of the
//! latents is drawn from a Gaussian over all nodes, N(u_k, Σ) with Σ = βI + VVᵀ.
//!
//!   U = encoder_μ(graph),  V = encoder_σ(graph)                            nodes × width
//!   Z = unit(U + √β M₁ + V M₂)      M₁: nodes × width and M₂: width × width, standard normal
//!   KL = ½ [ tr(UᵀKU) + width · (tr(KΣ) − log|Σ|) ]
//!   loss = features(dropout(Z) W_x) + labels(dropout(Z) W_y) + λ/n · KL
//!
//! K = I − S is singular, so that KL is the divergence from N(0, K⁻¹) up to a constant.
//!
//! # Differences from the paper
//! - Algorithm 2 minimises Σ l_x + Σ l_y + KL, sums over the observed nodes and no λ. Here l_x and
//!   l_y are means over observed cells and KL weighs λ/n, as in SVGA. Algorithm 2's balance between
//!   l_x and KL is that of λ = n / (number of observed cells) for squared errors; for 0/1 blocks,
//!   whose weights 1/(2p) and 1/(2(1 − p)) are the paper's α = 1 − p and 1 − α = p divided by
//!   2p(1 − p), it is λ = n / (2p(1 − p) · number of observed cells). p is the share of ones.
//! - The rank of V is the width of the latents.
//! - Z has unit rows and goes through dropout, as in SVGA. The divergence is that of the Gaussian
//!   before the rows are scaled.
//! - Estimates are decoded from unit(U), without noise.

use graphfill_engine::{Matrix, Program, Recorded, Result};

use super::NormalisedGraph;
use super::model::{Known, Model};
use crate::encoder::Mode;

/// The parameters of the encoder of U begin with this.
pub(super) const MEAN: &str = "mean";

/// The parameters of the encoder of V begin with this.
const COVARIANCE_FACTOR: &str = "covariance_factor";

impl Model {
    /// One update of SVGA-U, with the outputs of [`Model::training`].
    pub fn stochastic_training(&self, graph: &NormalisedGraph, known: &Known) -> Result<Recorded> {
        self.update_of(|program| self.stochastic_loss(program, graph, known))
    }

    /// The loss alone, with its parts as outputs.
    pub fn stochastic_loss<'p>(
        &self,
        program: &'p Program,
        graph: &NormalisedGraph,
        known: &Known,
    ) -> Matrix<'p> {
        let encode = |name| self.encoder().encode(program, graph, name, None, Mode::Training);
        let (mean, covariance_factor) = (encode(MEAN), encode(COVARIANCE_FACTOR));
        let own_noise = program.normal_noise([graph.nodes(), self.width]);
        let shared_noise = program.normal_noise([self.width, self.width]);
        let drawn =
            mean + own_noise.scale(self.beta.sqrt()) + covariance_factor.product(shared_noise);
        let latent = self.normalised(drawn);
        let known = self.known_loss(latent, known);
        let field = mean.field_divergence(covariance_factor, graph.similarity(), self.beta);
        program.output("gmrf", field);
        let loss = known + field.scale(self.lambda / graph.nodes().max(1) as f32);
        program.output("loss", loss);
        loss
    }
}
