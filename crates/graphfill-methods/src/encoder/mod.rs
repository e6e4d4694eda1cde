//! The encoders: what turns a graph, and what its nodes bring, into Z before normalisation.
//!
//!   gcn     H₁ = Â W₁ + B + b₁            H_{k+1} = Â h W + b                h = dropout(relu(H_k))
//!   sage    H₁ = W₁ + Ā W₁' + B + b₁      H_{k+1} = h W + (Ā h) W' + b       h = dropout(relu(H_k))
//!   gat     H₁ = att(W₁) + B + b₁         H_{k+1} = att(h W) + b             h = dropout(elu(H_k))
//!   sgc     Z = Âᴸ (W₁ + B) + b₁
//!   linear  Z = W₁ + B + b₁
//!
//! The inputs are the identity, so that W₁ and W₁' have a row for every node, and B, what nodes bring
//! beside it: all nodes × width. The other weights are width × width, biases 1 × width. Z is the
//! last H, without an activation; L is the depth.

mod gat;
mod gcn;
mod kind;
mod layers;
mod linear;
mod normalised_graph;
mod sage;
mod sgc;

use graphfill_engine::{EngineError, Matrix, Program, Result, Shape};

pub use kind::EncoderKind;
use layers::Layers;
pub use normalised_graph::NormalisedGraph;

/// The number of layers where nobody says another.
pub const DEFAULT_DEPTH: usize = 2;

/// More layers than anybody has a use for: rows are long equal by then.
const MAX_LAYERS: usize = 100;

/// Whether rows also reach Z past the graph, which would smooth away what nodes bring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnPath {
    /// Only as the kind has it: `sage` and `linear` have such a path anyway.
    None,
    /// The last layer adds its inputs times a weight of their own, as in Â H W + H W_self. The
    /// inputs of a single layer are the identity, whose weight has a row for every node; those of
    /// `sgc` are W₁ + B. Nothing changes for `sage` and `linear`.
    Added,
}

/// Whether every node has a learned row of its own at the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identity {
    /// It has.
    Used,
    /// It has not, and all that is known about a node is what it brings.
    Unused,
}

/// What a program is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Learning, with dropout.
    Training,
    /// Using what was learned, without.
    Prediction,
}

/// An encoder's sizes and settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Encoder {
    /// Which one.
    pub kind: EncoderKind,
    /// L, the number of layers, or of averages for `sgc`. For `linear`, which has none to count, it
    /// stays [`DEFAULT_DEPTH`].
    pub depth: usize,
    /// The width of hidden and latent rows.
    pub width: usize,
    /// The dropout between layers.
    pub hidden_dropout: f32,
    /// Whether rows also reach Z past the graph.
    pub own_path: OwnPath,
    /// Whether every node has a learned row of its own.
    pub identity: Identity,
}

impl Encoder {
    /// Whether the settings make sense.
    pub fn check(&self) -> Result<()> {
        self.problem().map_or(Ok(()), |problem| Err(wrong("settings", problem)))
    }

    /// Z before normalisation, nodes × width. What nodes bring `beside` the identity is nodes ×
    /// width already, and is added before the first activation. Parameters are called `NAME.…`;
    /// programs of one plan that say the same name share them.
    ///
    /// Settings that make no sense are told when the program is finished.
    pub fn encode<'p>(
        &self,
        program: &'p Program,
        graph: &NormalisedGraph,
        name: &str,
        beside: Option<Matrix<'p>>,
        mode: Mode,
    ) -> Matrix<'p> {
        let shape = Shape::new(graph.nodes(), self.width);
        if let Some(problem) = self.problem().or_else(|| self.problem_beside(shape, beside)) {
            program.fail("graph encoder", problem);
            return program.constant(shape, 0.0);
        }
        let layers = Layers { encoder: self, program, graph, name, beside, mode };
        match self.kind {
            EncoderKind::Gcn => gcn::record(&layers),
            EncoderKind::Sage => sage::record(&layers),
            EncoderKind::Gat => gat::record(&layers),
            EncoderKind::Sgc => sgc::record(&layers),
            EncoderKind::Linear => linear::record(&layers),
        }
    }

    fn problem(&self) -> Option<String> {
        let Encoder { kind, depth, width, hidden_dropout, identity, .. } = *self;
        if width == 0 {
            return Some("the width is 0, not at least 1".to_owned());
        }
        if !(1..=MAX_LAYERS).contains(&depth) {
            return Some(format!("the depth is {depth}, not from 1 to {MAX_LAYERS}"));
        }
        if !(0.0..1.0).contains(&hidden_dropout) {
            return Some(format!("the hidden dropout is {hidden_dropout}, not in 0 ≤ rate < 1"));
        }
        match kind {
            EncoderKind::Gat if width % gat::HEADS != 0 => Some(format!(
                "the width is {width}, which the {} heads of {kind} cannot share evenly; give a \
                 multiple of {0}",
                gat::HEADS
            )),
            EncoderKind::Linear if depth != DEFAULT_DEPTH => Some(format!(
                "the depth is {depth}, but {kind} has no layers to count; leave it at \
                 {DEFAULT_DEPTH}"
            )),
            EncoderKind::Gcn | EncoderKind::Sage | EncoderKind::Gat
                if depth == 1 && identity == Identity::Unused =>
            {
                Some(format!(
                    "the depth is 1, and without the identity the first layer of {kind} does not \
                     see the graph; give at least 2"
                ))
            }
            _ => None,
        }
    }

    fn problem_beside(&self, expected: Shape, beside: Option<Matrix<'_>>) -> Option<String> {
        match beside.map(Matrix::shape) {
            None if self.identity == Identity::Unused => {
                Some("without the identity, nodes must bring something beside it".to_owned())
            }
            Some(found) if found != expected => {
                Some(format!("what nodes bring is {found}, not {expected}, nodes by width"))
            }
            _ => None,
        }
    }
}

/// What is wrong with what an encoder is made of: its settings, its graph.
fn wrong(place: &str, problem: String) -> EngineError {
    EngineError::Program { operation: "graph encoder", place: place.to_owned(), problem }
}
