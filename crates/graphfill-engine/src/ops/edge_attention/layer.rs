//! A whole layer of graph attention: a linear map, the scores of both ends of edges, the attention.

use std::sync::Arc;

use crate::{Initial, Matrix, Program, SparseMatrix};

impl Program {
    /// Graph attention: `features` times `NAME.weight`, `width` columns for each head, then weighted
    /// means of that over the neighbours of each row of the graph. How much an edge weighs follows
    /// from the scores of its ends, of which `NAME.source` and `NAME.target` have a vector for each
    /// head. All parameters begin as Glorot says. The rows of the features are both the rows and the
    /// columns of the graph; the result is as many rows × heads·width.
    #[track_caller]
    pub fn graph_attention<'p>(
        &'p self,
        name: &str,
        graph: &Arc<SparseMatrix>,
        features: Matrix<'p>,
        heads: usize,
        width: usize,
    ) -> Matrix<'p> {
        let weight = [features.columns(), heads * width];
        let weight = self.parameter(&format!("{name}.weight"), weight, Initial::Glorot);
        let vectors = [heads, width];
        let source = self.parameter(&format!("{name}.source"), vectors, Initial::Glorot);
        let target = self.parameter(&format!("{name}.target"), vectors, Initial::Glorot);
        let mapped = features.product(weight);
        let (source, target) = (mapped.head_scores(source), mapped.head_scores(target));
        self.edge_attention(graph, mapped, source, target, heads)
    }
}
