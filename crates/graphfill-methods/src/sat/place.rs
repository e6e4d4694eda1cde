//! The code of a node's place, by convolution or attention over identity inputs:
//!
//!   gcn   z = elu(Â dropout(elu(Â W₁)) W₂)                                     nodes × latent
//!   gat   z = elu(att(dropout(elu(att(W₁))) W₂))
//!
//! W₁: nodes × hidden, W₂: hidden × latent. att is attention with one head, some of whose weights are
//! dropped in training.

use graphfill_engine::{Initial, Matrix, Program};

use crate::encoder::NormalisedGraph;
use crate::word_parameter;

word_parameter! {
    /// How places are encoded.
    pub enum Backbone {
        /// By graph convolution.
        Gcn = "gcn",
        /// By graph attention.
        Gat = "gat",
    }
}

impl Backbone {
    /// z, in widths of `[hidden, latent]`.
    pub(super) fn encode<'p>(
        self,
        program: &'p Program,
        graph: &NormalisedGraph,
        [hidden, latent]: [usize; 2],
        dropout: f32,
    ) -> Matrix<'p> {
        let shape = [graph.nodes(), hidden];
        let embedding = program.parameter("place.embedding", shape, Initial::Glorot);
        let first = self.layer("place.first", graph, embedding, dropout).dropout(dropout);
        let weight = program.parameter("place.weight", [hidden, latent], Initial::Glorot);
        self.layer("place.second", graph, first.product(weight), dropout)
    }

    fn layer<'p>(
        self,
        name: &str,
        graph: &NormalisedGraph,
        rows: Matrix<'p>,
        dropout: f32,
    ) -> Matrix<'p> {
        let program = rows.program();
        let graph = graph.with_self_loops();
        let mixed = match self {
            Backbone::Gcn => program.sparse_product(graph, rows),
            Backbone::Gat => {
                let scores = ["source", "target"].map(|end| {
                    let vector = format!("{name}.{end}");
                    let vector = program.parameter(&vector, [1, rows.columns()], Initial::Glorot);
                    rows.head_scores(vector)
                });
                program.edge_attention_with_dropout(graph, rows, scores, 1, dropout)
            }
        };
        mixed.elu()
    }
}
