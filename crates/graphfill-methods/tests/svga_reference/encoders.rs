//! The encoders in double precision, forward only, each as its definition:
//!
//!   gcn     H₁ = ÂW₁ + B + b₁             H = ÂhW + b              h = relu(H) ⊙ mask
//!   sage    H₁ = W₁ + ĀW₁' + B + b₁       H = hW + ĀhW' + b        h = relu(H) ⊙ mask
//!   gat     H₁ = att(W₁) + B + b₁         H = att(hW) + b          h = elu(H) ⊙ mask
//!   sgc     Â⋯Â(W₁ + B) + b₁
//!   linear  W₁ + B + b₁
//!
//! The last layer may add hW_self, sgc (W₁ + B)W_self, and a single layer of gcn or gat IW_self.

use std::collections::BTreeMap;

use graphfill_methods::encoder::{Encoder, EncoderKind, Identity, OwnPath};

use super::{Dense, DenseGraph};

pub(crate) struct EncoderInputs<'a> {
    pub(crate) encoder: &'a Encoder,
    pub(crate) name: &'a str,
    pub(crate) graph: &'a DenseGraph,
    pub(crate) parameters: &'a BTreeMap<String, Dense>,
    /// B.
    pub(crate) beside: Option<&'a Dense>,
    /// nodes × width for every hidden layer: 0 or what is kept is scaled by.
    pub(crate) masks: &'a [Dense],
}

impl EncoderInputs<'_> {
    fn parameter(&self, part: &str) -> &Dense {
        &self.parameters[&format!("{}.{part}", self.name)]
    }

    fn identity(&self) -> bool {
        self.encoder.identity == Identity::Used
    }

    fn own_path(&self) -> bool {
        self.encoder.own_path == OwnPath::Added
    }

    /// `part` of a layer behind the first.
    fn of_layer(&self, layer: usize, part: &str) -> &Dense {
        match (layer, part) {
            (2, "bias") => self.parameter("second_bias"),
            (2, part) => self.parameter(part),
            _ => self.parameter(&format!("layer_{layer}.{part}")),
        }
    }

    /// Z.
    pub(crate) fn encode(&self) -> Dense {
        let Encoder { kind, depth, width, .. } = *self.encoder;
        let nothing = Dense::new(self.graph.means.rows, width, |_, _| 0.0);
        let beside = self.beside.unwrap_or(&nothing);
        let average = &self.graph.with_self_loops;
        let embedded = match kind {
            _ if !self.identity() => nothing.clone(),
            EncoderKind::Gcn => average.product(self.parameter("embedding")),
            EncoderKind::Sage => {
                let neighbours = self.graph.means.product(self.parameter("neighbour_embedding"));
                self.parameter("embedding").plus(&neighbours)
            }
            EncoderKind::Gat => self.attend(1, self.parameter("embedding")),
            EncoderKind::Sgc | EncoderKind::Linear => self.parameter("embedding").clone(),
        };
        let inputs = embedded.plus(beside);
        let bias = self.parameter("first_bias");
        match kind {
            EncoderKind::Linear => inputs.plus_row(bias),
            EncoderKind::Sgc => {
                let averaged = (0..depth).fold(inputs.clone(), |rows, _| average.product(&rows));
                let own = if self.own_path() {
                    inputs.product(self.parameter("own_weight"))
                } else {
                    nothing
                };
                averaged.plus(&own).plus_row(bias)
            }
            _ => {
                let single = depth == 1 && self.own_path() && self.identity();
                let own = if single && kind != EncoderKind::Sage {
                    self.parameter("own_embedding").clone()
                } else {
                    nothing
                };
                let first = inputs.plus(&own).plus_row(bias);
                (2..=depth).fold(first, |hidden, layer| self.layer(layer, &hidden))
            }
        }
    }

    /// A layer behind the first.
    fn layer(&self, layer: usize, before: &Dense) -> Dense {
        let kind = self.encoder.kind;
        let activation = |x: f64| match kind {
            EncoderKind::Gat if x < 0.0 => x.exp_m1(),
            EncoderKind::Gat => x,
            _ => x.max(0.0),
        };
        let hidden = before.map(activation).times(&self.masks[layer - 2]);
        let mut out = match kind {
            EncoderKind::Gcn => {
                self.graph.with_self_loops.product(&hidden).product(self.of_layer(layer, "weight"))
            }
            EncoderKind::Sage => {
                let neighbours = self.graph.means.product(&hidden);
                hidden
                    .product(self.of_layer(layer, "weight"))
                    .plus(&neighbours.product(self.of_layer(layer, "neighbour_weight")))
            }
            _ => {
                let weight = self.parameter(&format!("layer_{layer}.weight"));
                self.attend(layer, &hidden.product(weight))
            }
        };
        if self.own_path() && layer == self.encoder.depth && kind != EncoderKind::Sage {
            out = out.plus(&hidden.product(self.parameter("own_weight")));
        }
        out.plus_row(self.of_layer(layer, "bias"))
    }

    /// 8 heads: weighted means over a node and its neighbours.
    fn attend(&self, layer: usize, mapped: &Dense) -> Dense {
        let [source, target] =
            ["source", "target"].map(|part| self.parameter(&format!("layer_{layer}.{part}")));
        let (heads, width) = (source.rows, source.columns);
        assert_eq!((heads, heads * width), (8, mapped.columns));
        let score = |vectors: &Dense, node: usize, head: usize| -> f64 {
            (0..width).map(|k| vectors.at(head, k) * mapped.at(node, head * width + k)).sum()
        };
        let average = &self.graph.with_self_loops;
        Dense::new(mapped.rows, mapped.columns, |node, column| {
            let head = column / width;
            let (mut sum, mut total) = (0.0, 0.0);
            for other in (0..mapped.rows).filter(|&other| average.at(node, other) > 0.0) {
                let both = score(source, other, head) + score(target, node, head);
                let weight = (if both < 0.0 { 0.2 * both } else { both }).exp();
                sum += weight * mapped.at(other, column);
                total += weight;
            }
            sum / total
        })
    }
}
