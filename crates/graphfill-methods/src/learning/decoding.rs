//! Where a model's decoder is among its programs, by name. With it, scores are computed where the model
//! is trained:
//!
//!   scores = Z[rows] W + b + Σ_p s_p ∘ O_p[rows]                            rows × some features

use std::ops::Range;

use graphfill_engine::{Matrix, Program, Shape};

/// The parts of a trained model, which [`Learner::trained`](super::Learner::trained) reads, in its
/// programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoding {
    /// The program that predicts: its output `latent` is Z, nodes × width, and draws nothing.
    pub prediction: &'static str,
    /// W, a parameter of width × features.
    pub weight: &'static str,
    /// b.
    pub bias: Bias,
    /// s, a parameter for each offset: one number, or one a feature.
    pub factors: Vec<&'static str>,
}

/// What is added to every row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bias {
    /// Nothing.
    None,
    /// A parameter of 1 × features.
    Row(&'static str),
    /// The same, times the last column of Z, which W has no row for.
    ByNode(&'static str),
}

/// A [`Decoding`] of some features in a program that goes on from the one that predicts.
#[derive(Debug, Clone)]
pub(super) struct Decoder<'p> {
    latent: Matrix<'p>,
    weight: Matrix<'p>,
    bias: Option<Matrix<'p>>,
    /// Whether the bias is multiplied with the last column of Z.
    bias_by_node: bool,
    factors: Vec<Matrix<'p>>,
}

impl Decoding {
    /// The decoder of some features.
    pub(super) fn of<'p>(&self, program: &'p Program, features: &Range<usize>) -> Decoder<'p> {
        let columns = |name: &str| {
            let whole = program.shared(name);
            let is_all = *features == (0..whole.columns()) || whole.shape() == Shape::SCALAR;
            if is_all { whole } else { whole.slice_columns(features.clone()) }
        };
        let (bias, bias_by_node) = match self.bias {
            Bias::None => (None, false),
            Bias::Row(name) => (Some(columns(name)), false),
            Bias::ByNode(name) => (Some(columns(name)), true),
        };
        Decoder {
            latent: program.result("latent"),
            weight: columns(self.weight),
            bias,
            bias_by_node,
            factors: self.factors.iter().map(|name| columns(name)).collect(),
        }
    }
}

impl<'p> Decoder<'p> {
    /// The scores of some rows, given O of the same rows and features.
    pub(super) fn scores(&self, rows: &[u32], offsets: &[Matrix<'p>]) -> Matrix<'p> {
        let latent = self.latent.gather_rows(rows);
        let mut scores = match self.bias {
            None => latent.exact_product(self.weight),
            Some(bias) if self.bias_by_node => {
                let width = self.weight.rows();
                let own = latent.slice_columns(0..width).exact_product(self.weight);
                own + latent.slice_columns(width..width + 1).exact_product(bias)
            }
            Some(bias) => latent.exact_product(self.weight).add_bias(bias),
        };
        for (&offset, &factor) in offsets.iter().zip(&self.factors) {
            let scaled = match factor.shape() == Shape::SCALAR {
                true => offset.scale_by(factor),
                false => offset.scale_columns(factor),
            };
            scores = scores + scaled;
        }
        scores
    }
}
