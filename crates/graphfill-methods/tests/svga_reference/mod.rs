//! One step of SVGA and of SVGA-U in double precision: dense matrices, graphs from their lists of
//! edges, gradients derived by hand. Nothing here is shared with the engine but what was drawn.

mod dense;
mod encoders;
mod graph;
mod layers;
mod loss;

use std::collections::BTreeMap;

pub(crate) use dense::Dense;
pub(crate) use encoders::EncoderInputs;
pub(crate) use graph::DenseGraph;
use layers::{Encoder, Latent, decode};
pub(crate) use loss::{Block, Kind};

/// Gradients by the names of the parameters.
pub(crate) type Gradients = BTreeMap<String, Dense>;

pub(crate) struct Setting {
    pub(crate) graph: DenseGraph,
    pub(crate) observed: Vec<u32>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) parameters: BTreeMap<String, Dense>,
    pub(crate) lambda: f64,
    pub(crate) beta: f64,
}

impl Setting {
    fn parameter(&self, name: &str) -> &Dense {
        &self.parameters[name]
    }

    /// λ/n.
    fn field_weight(&self) -> f64 {
        self.lambda / self.graph.field.rows as f64
    }
}

/// What was drawn in a step; without normalisation there are no directions.
pub(crate) struct Draws {
    /// nodes × width, of one encoder after the other: 0 or what is kept is scaled by.
    pub(crate) hidden: Vec<Dense>,
    /// nodes × width.
    pub(crate) directions: Option<Dense>,
    /// observed × width.
    pub(crate) latent: Dense,
}

/// What SVGA-U draws beside them.
pub(crate) struct Noise {
    /// M₁, nodes × width.
    pub(crate) own: Dense,
    /// M₂, width × width.
    pub(crate) shared: Dense,
}

pub(crate) struct Step {
    pub(crate) loss: f64,
    pub(crate) features: f64,
    pub(crate) field: f64,
    pub(crate) gradients: Gradients,
}

/// Z = unit(encoder), loss = features(Z) + λ/n · (tr(ZᵀKZ) − ½ log|I + ZᵀZ/β|), and
///
///   ∂field/∂Z = 2KZ − Z(I + ZᵀZ/β)⁻¹/β                               nodes × width
pub(crate) fn step(setting: &Setting, draws: &Draws) -> Step {
    let mut gradients = Gradients::new();
    let encoder = Encoder::run(setting, "encoder", &draws.hidden[0]);
    let latent = Latent::of(&encoder.output, draws.directions.as_ref());
    let (features, by_features) = decode(setting, &latent.rows, &draws.latent, &mut gradients);

    let rows = &latent.rows;
    let gram = rows.transposed().product(rows).scaled(1.0 / setting.beta);
    let (log_determinant, inverse) =
        gram.plus(&Dense::identity(gram.rows)).log_determinant_and_inverse();
    let field_rows = setting.graph.field.product(rows);
    let field = rows.times(&field_rows).values().iter().sum::<f64>() - 0.5 * log_determinant;
    let by_field = field_rows.scaled(2.0).plus(&rows.product(&inverse).scaled(-1.0 / setting.beta));

    let weight = setting.field_weight();
    let by_latent = by_features.plus(&by_field.scaled(weight));
    encoder.add_gradients(&latent.gradient(&by_latent), &mut gradients);
    Step { loss: features + weight * field, features, field, gradients }
}

/// Z = unit(U + √β M₁ + V M₂),  Σ = βI + VVᵀ (nodes × nodes),  loss = features(Z) + λ/n · field.
///
/// The field is the divergence of the latents' distribution from N(0, K⁻¹), where column k of the
/// latents is N(u_k, Σ). KL between Gaussians is ½ [ uᵀKu + tr(KΣ) − log|Σ| ] and a constant, which
/// is left out (K is singular: it is infinite); columns are independent, so that theirs add up.
///
///   ∂field/∂u_k = Ku_k,   ∂field/∂V = Σ_k (K − Σ⁻¹)V                 nodes × 1, nodes × width
pub(crate) fn unrestricted_step(setting: &Setting, draws: &Draws, noise: &Noise) -> Step {
    let mut gradients = Gradients::new();
    let mean = Encoder::run(setting, "mean", &draws.hidden[0]);
    let spread = Encoder::run(setting, "covariance_factor", &draws.hidden[1]);
    let (u, v) = (&mean.output, &spread.output);
    let raw = u.plus(&noise.own.scaled(setting.beta.sqrt())).plus(&v.product(&noise.shared));
    let latent = Latent::of(&raw, draws.directions.as_ref());
    let (features, by_features) = decode(setting, &latent.rows, &draws.latent, &mut gradients);
    let by_raw = latent.gradient(&by_features);

    let k = &setting.graph.field;
    let sigma = v.product(&v.transposed()).plus(&Dense::identity(v.rows).scaled(setting.beta));
    let (log_determinant, sigma_inverse) = sigma.log_determinant_and_inverse();
    let weight = setting.field_weight();
    let mut field = 0.0;
    let mut field_by_mean = Dense::new(u.rows, u.columns, |_, _| 0.0);
    let mut field_by_spread = Dense::new(v.rows, v.columns, |_, _| 0.0);
    for column in 0..u.columns {
        let mean = Dense::new(u.rows, 1, |node, _| u.at(node, column));
        let k_mean = k.product(&mean);
        let distance = mean.transposed().product(&k_mean).at(0, 0);
        field += 0.5 * (distance + k.product(&sigma).trace() - log_determinant);
        (0..u.rows).for_each(|node| field_by_mean.set(node, column, k_mean.at(node, 0)));
        let by_sigma = k.zip(&sigma_inverse, |k, inverse| k - inverse);
        field_by_spread = field_by_spread.plus(&by_sigma.product(v));
    }
    let by_mean = by_raw.plus(&field_by_mean.scaled(weight));
    let by_spread =
        by_raw.product(&noise.shared.transposed()).plus(&field_by_spread.scaled(weight));
    mean.add_gradients(&by_mean, &mut gradients);
    spread.add_gradients(&by_spread, &mut gradients);
    Step { loss: features + weight * field, features, field, gradients }
}
