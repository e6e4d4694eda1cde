//! Algorithm 2, SVGA-U: latents are drawn from N(U, βI + VVᵀ), column by column.
//!
//!   Z = U + √β M₁ + V M₂      U, V from two encoders, M₁: nodes × width and M₂: width × width normal
//!   loss = features(dropout(Z) W_x) + labels(dropout(Z) W_y) + λ/n · ½ [ tr(UᵀKU)/width + tr(KΣ) − log|Σ| ],  Σ = βI + VVᵀ

use graphfill_engine::{Matrix, Program, Recorded, Result};

use super::NormalisedGraph;
use super::model::{Known, Model};
use crate::encoder::Mode;

/// The parameters of the encoder of U begin with this.
pub(super) const MEAN: &str = "mean";

/// The parameters of the encoder of V begin with this.
const SPREAD: &str = "spread";

impl Model {
    /// One update of SVGA-U, with the outputs of [`Model::training`].
    pub fn unrestricted_training(
        &self,
        graph: &NormalisedGraph,
        known: &Known,
    ) -> Result<Recorded> {
        self.update_of(|program| self.unrestricted_loss(program, graph, known))
    }

    /// The loss alone, with its parts as outputs.
    pub fn unrestricted_loss<'p>(
        &self,
        program: &'p Program,
        graph: &NormalisedGraph,
        known: &Known,
    ) -> Matrix<'p> {
        let encode = |name| self.encoder().encode(program, graph, name, None, Mode::Training);
        let (mean, spread) = (encode(MEAN), encode(SPREAD));
        let own_noise = program.normal_noise([graph.nodes(), self.width]);
        let shared_noise = program.normal_noise([self.width, self.width]);
        let drawn = mean + own_noise.scale(self.beta.sqrt()) + spread.product(shared_noise);
        let latent = self.normalised(drawn);
        let known = self.known_loss(latent, known);
        let field = mean.field_divergence(spread, graph.similarity(), self.beta);
        program.output("field", field);
        let loss = known + field.scale(self.lambda / graph.nodes().max(1) as f32);
        program.output("loss", loss);
        loss
    }
}
