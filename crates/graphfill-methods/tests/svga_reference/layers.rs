//! The parts that SVGA and SVGA-U share, each with its gradient.

use super::loss::loss;
use super::{Dense, Gradients, Setting};

/// One encoder:
///
///   P = ÂW₁ + b₁,  H = relu(P) ⊙ mask,  Y = ÂHW₂ + b₂            each nodes × width
pub(crate) struct Encoder<'a> {
    setting: &'a Setting,
    name: &'static str,
    mask: &'a Dense,
    before_relu: Dense,
    hidden: Dense,
    /// Y.
    pub(crate) output: Dense,
}

impl<'a> Encoder<'a> {
    pub(crate) fn run(setting: &'a Setting, name: &'static str, mask: &'a Dense) -> Self {
        let average = &setting.graph.with_self_loops;
        let [embedding, first_bias, weight, second_bias] =
            PARTS.map(|part| setting.parameter(&format!("{name}.{part}")));
        let before_relu = average.product(embedding).plus_row(first_bias);
        let hidden = before_relu.map(|value| value.max(0.0)).times(mask);
        let output = average.product(&hidden.product(weight)).plus_row(second_bias);
        Encoder { setting, name, mask, before_relu, hidden, output }
    }

    /// Of ∂Y. With Q = Âᵀ∂Y:
    ///
    ///   ∂b₂ = Σ_i ∂Y_i,  ∂W₂ = HᵀQ,  ∂P = QW₂ᵀ ⊙ mask ⊙ [P > 0],  ∂b₁ = Σ_i ∂P_i,  ∂W₁ = Âᵀ∂P
    pub(crate) fn add_gradients(&self, by_output: &Dense, gradients: &mut Gradients) {
        let average_transposed = self.setting.graph.with_self_loops.transposed();
        let weight = self.setting.parameter(&format!("{}.weight", self.name));
        let back = average_transposed.product(by_output);
        let passes = self.before_relu.map(|value| if value > 0.0 { 1.0 } else { 0.0 });
        let by_hidden = back.product(&weight.transposed());
        let by_before_relu = by_hidden.times(self.mask).times(&passes);
        let found = [
            average_transposed.product(&by_before_relu),
            by_before_relu.column_sums(),
            self.hidden.transposed().product(&back),
            by_output.column_sums(),
        ];
        for (part, gradient) in PARTS.into_iter().zip(found) {
            gradients.insert(format!("{}.{part}", self.name), gradient);
        }
    }
}

const PARTS: [&str; 4] = ["embedding", "first_bias", "weight", "second_bias"];

/// Rows of unit length, Z_i = Y_i / ‖Y_i‖; a row of zeros is one of the given directions instead.
/// Without normalisation Z = Y.
pub(crate) struct Latent {
    /// Z.
    pub(crate) rows: Dense,
    /// ‖Y_i‖; none without normalisation.
    lengths: Option<Vec<f64>>,
}

impl Latent {
    pub(crate) fn of(raw: &Dense, directions: Option<&Dense>) -> Self {
        let Some(directions) = directions else {
            return Latent { rows: raw.clone(), lengths: None };
        };
        let length = |row: usize| raw.row(row).iter().map(|y| y * y).sum::<f64>().sqrt();
        let lengths: Vec<f64> = (0..raw.rows).map(length).collect();
        let rows = Dense::new(raw.rows, raw.columns, |row, k| match lengths[row] {
            0.0 => directions.at(row, k),
            length => raw.at(row, k) / length,
        });
        Latent { rows, lengths: Some(lengths) }
    }

    /// ∂Y_i = (∂Z_i − Z_i ⟨Z_i, ∂Z_i⟩) / ‖Y_i‖, and nothing for a row of zeros.
    pub(crate) fn gradient(&self, by_rows: &Dense) -> Dense {
        let Some(lengths) = &self.lengths else { return by_rows.clone() };
        Dense::new(by_rows.rows, by_rows.columns, |row, k| {
            let both = self.rows.row(row).iter().zip(by_rows.row(row));
            let along: f64 = both.map(|(z, by)| z * by).sum();
            match lengths[row] {
                0.0 => 0.0,
                length => (by_rows.at(row, k) - self.rows.at(row, k) * along) / length,
            }
        })
    }
}

/// The loss of the observed rows, decoded:
///
///   X = Z[observed] ⊙ mask,  scores = XW_x + b_x             observed × width, observed × columns
///   ∂W_x = XᵀG,  ∂b_x = Σ_i G_i,  ∂Z[observed] = GW_xᵀ ⊙ mask,  with G the slope of the loss
///
/// The loss and ∂Z.
pub(crate) fn decode(
    setting: &Setting,
    latent: &Dense,
    mask: &Dense,
    gradients: &mut Gradients,
) -> (f64, Dense) {
    let weight = setting.parameter("features.weight");
    let chosen = Dense::new(setting.observed.len(), latent.columns, |row, k| {
        latent.at(setting.observed[row] as usize, k) * mask.at(row, k)
    });
    let mut scores = chosen.product(weight);
    if let Some(bias) = setting.parameters.get("features.bias") {
        scores = scores.plus_row(bias);
    }
    let (value, slope) = loss(&setting.blocks, &scores);
    if setting.parameters.contains_key("features.bias") {
        gradients.insert("features.bias".to_owned(), slope.column_sums());
    }
    gradients.insert("features.weight".to_owned(), chosen.transposed().product(&slope));
    let by_chosen = slope.product(&weight.transposed()).times(mask);
    let mut by_latent = Dense::new(latent.rows, latent.columns, |_, _| 0.0);
    for (row, &node) in setting.observed.iter().enumerate() {
        for k in 0..latent.columns {
            by_latent.set(node as usize, k, by_latent.at(node as usize, k) + by_chosen.at(row, k));
        }
    }
    (value, by_latent)
}
