//! The sizes of the paper's data sets, and the models that were published for them.

use graphfill_methods::encoder::DEFAULT_DEPTH;
use graphfill_methods::svga::{EncoderKind, Model, Normalisation};

use crate::protocols::published_parameters;

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
    /// Ones, this many per row.
    Ones(usize),
    /// Numbers, this many per row that are not zero.
    Numbers(usize),
    /// Numbers everywhere.
    Dense,
}

/// Nodes, edges and columns of the paper's eight data sets, and what is in their tables.
const SIZES: [(&str, [usize; 3], Values); 8] = [
    ("cora", [2_708, 5_429, 1_433], Values::Ones(18)),
    ("citeseer", [3_327, 4_732, 3_703], Values::Ones(32)),
    ("photo", [7_650, 119_081, 745], Values::Ones(259)),
    ("computers", [13_752, 245_861, 767], Values::Ones(267)),
    ("steam", [9_944, 266_981, 352], Values::Ones(11)),
    ("pubmed", [19_717, 44_324, 500], Values::Numbers(50)),
    ("coauthor", [18_333, 81_894, 6_805], Values::Numbers(60)),
    ("arxiv", [169_343, 1_157_799, 128], Values::Dense),
];

/// The sizes of the paper's eight data sets, with the published models.
pub fn shapes() -> Vec<BenchShape> {
    let shape = |(name, [nodes, edges, features], values): (_, [usize; 3], _)| BenchShape {
        name,
        nodes,
        edges,
        features,
        values,
        model: published_model(name),
    };
    SIZES.map(shape).into()
}

/// SVGA as it was published for a data set; for a data set of the caller's own, as for Cora.
pub(crate) fn published_model(dataset: &str) -> Model {
    let is_published = SIZES.iter().any(|(name, ..)| *name == dataset);
    let own = published_parameters(if is_published { dataset } else { "cora" }, "svga");
    let number = |name: &str| own.get(name).unwrap_or_default();
    Model {
        encoder: EncoderKind::Gcn,
        depth: DEFAULT_DEPTH,
        width: number("hidden") as usize,
        normalisation: match own.word("normalisation") {
            Some("none") => Normalisation::None,
            _ => Normalisation::Unit,
        },
        dropout: number("dropout") as f32,
        decoder_bias: own.word("bias") == Some("yes"),
        lambda: number("lambda") as f32,
        beta: number("beta") as f32,
        learning_rate: number("learning_rate") as f32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_have_the_published_parameters() {
        for shape in shapes() {
            shape.model.check().expect("a model");
            let own = published_parameters(shape.name, "svga");
            for name in ["hidden", "dropout", "lambda", "beta", "learning_rate"] {
                assert!(own.get(name).is_some(), "{}: {name}", shape.name);
            }
            assert!(own.has("normalisation") && own.has("bias"), "{}", shape.name);
        }
        assert_eq!(published_model("photo").lambda, 1.0);
        assert_eq!(published_model("town"), published_model("cora"));
    }
}
