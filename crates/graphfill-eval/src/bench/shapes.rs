//! The sizes of the paper's data sets, and the settings that it trains them with.

use graphfill_methods::encoder::DEFAULT_DEPTH;
use graphfill_methods::svga::{EncoderKind, Model, Normalisation};

/// The size of a data set and its model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BenchShape {
    /// The data set.
    pub name: &'static str,
    /// Nodes.
    pub nodes: usize,
    /// Undirected edges.
    pub edges: usize,
    /// Columns of the table.
    pub features: usize,
    /// What is in the table.
    pub values: Values,
    /// The model.
    pub model: Model,
}

/// What is in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// So many ones a row.
    Ones(usize),
    /// So many numbers a row that are not zero.
    Numbers(usize),
    /// Numbers everywhere.
    Dense,
}

const UNIT: Model = Model {
    encoder: EncoderKind::Gcn,
    depth: DEFAULT_DEPTH,
    width: 256,
    normalisation: Normalisation::Unit,
    dropout: 0.5,
    decoder_bias: false,
    lambda: 0.1,
    beta: 0.1,
    learning_rate: 1e-3,
};

const PLAIN: Model =
    Model { normalisation: Normalisation::None, dropout: 0.0, decoder_bias: true, ..UNIT };

/// The eight data sets.
pub const SHAPES: [BenchShape; 8] = [
    shape("cora", [2_708, 5_429, 1_433], Values::Ones(18), Model { lambda: 1.0, ..UNIT }),
    shape("citeseer", [3_327, 4_732, 3_703], Values::Ones(32), UNIT),
    shape("photo", [7_650, 119_081, 745], Values::Ones(259), UNIT),
    shape("computers", [13_752, 245_861, 767], Values::Ones(267), UNIT),
    shape(
        "steam",
        [9_944, 266_981, 352],
        Values::Ones(11),
        Model { lambda: 1.0, learning_rate: 5e-3, ..PLAIN },
    ),
    shape(
        "pubmed",
        [19_717, 44_324, 500],
        Values::Numbers(50),
        Model { width: 512, lambda: 0.01, beta: 1.0, ..UNIT },
    ),
    shape(
        "coauthor",
        [18_333, 81_894, 6_805],
        Values::Numbers(60),
        Model { width: 512, lambda: 0.01, ..PLAIN },
    ),
    shape(
        "arxiv",
        [169_343, 1_157_799, 128],
        Values::Dense,
        Model { width: 512, beta: 1.0, dropout: 0.0, ..UNIT },
    ),
];

const fn shape(
    name: &'static str,
    [nodes, edges, features]: [usize; 3],
    values: Values,
    model: Model,
) -> BenchShape {
    BenchShape { name, nodes, edges, features, values, model }
}
