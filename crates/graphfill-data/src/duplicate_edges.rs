//! What repeated edges mean: the weight of an edge that several arcs describe.

use std::str::FromStr;

/// How the weights of all arcs between two nodes, in both directions, become the weight of one
/// undirected edge. An arc without a weight counts 1.
///
/// With the default an edge list means the same graph whether it lists each edge once or in both
/// directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum DuplicateEdges {
    /// The largest weight.
    #[default]
    Max,
    /// The sum of the weights. An unweighted graph becomes a weighted one: the weight of an edge is
    /// the number of its arcs.
    Sum,
    /// The mean of the weights.
    Mean,
}

impl DuplicateEdges {
    /// Every policy, in the order of the documentation.
    pub const ALL: [DuplicateEdges; 3] =
        [DuplicateEdges::Max, DuplicateEdges::Sum, DuplicateEdges::Mean];

    /// Its name: `max`, `sum` or `mean`.
    pub fn as_str(self) -> &'static str {
        match self {
            DuplicateEdges::Max => "max",
            DuplicateEdges::Sum => "sum",
            DuplicateEdges::Mean => "mean",
        }
    }

    /// The weight of an edge whose arcs have these weights, ascending.
    pub(crate) fn combine(self, ascending: &[f32]) -> f32 {
        let sum = || ascending.iter().copied().map(f64::from).sum::<f64>();
        match self {
            DuplicateEdges::Max => ascending.last().copied().unwrap_or(0.0),
            // A sum of finite weights stays finite.
            DuplicateEdges::Sum => sum().min(f64::from(f32::MAX)) as f32,
            DuplicateEdges::Mean => (sum() / ascending.len().max(1) as f64) as f32,
        }
    }
}

impl FromStr for DuplicateEdges {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = DuplicateEdges::ALL.into_iter().find(|policy| policy.as_str() == text);
        found.ok_or_else(|| format!("'{text}' is none of max, sum, mean"))
    }
}
