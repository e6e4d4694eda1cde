//! The matrices that propagation multiplies with, computed when first needed.
//!
//!   A   adjacency (weights where the graph has them)                      nodes × nodes
//!   S = D^-½ A D^-½, rows of isolated nodes zero                          nodes × nodes

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use graphfill_data::UndirectedGraph;
use graphfill_engine::cpu::{Store, sparse_product};
use graphfill_engine::{Device, MemoryLimit, SparseView};

use super::Loaded;
use super::programs::Programs;
use crate::error::Result;
use crate::features::Panel;
use crate::method::Task;

/// A graph, the matrices made of it, and where they are multiplied.
pub struct Operators<'a> {
    graph: &'a UndirectedGraph,
    symmetric: OnceLock<Vec<f32>>,
    /// Without them, rounds run on the CPU.
    programs: Option<Programs<'a>>,
    loads: AtomicU64,
}

impl<'a> Operators<'a> {
    /// The matrices of a graph, on the CPU.
    pub fn new(graph: &'a UndirectedGraph) -> Self {
        Operators { graph, symmetric: OnceLock::new(), programs: None, loads: AtomicU64::new(0) }
    }

    /// The matrices of a task's graph, on its device as long as there is the memory for it.
    pub fn of(task: &Task<'a>) -> Self {
        Operators::on(task.graph, &task.context.device).within(task.context.memory_limit())
    }

    /// The matrices of a graph, on a device.
    pub fn on(graph: &'a UndirectedGraph, device: &Device) -> Self {
        if device.is_cuda() { Operators::as_programs(graph, device) } else { Operators::new(graph) }
    }

    /// The matrices of a graph, multiplied by programs, be it on the CPU.
    pub(super) fn as_programs(graph: &'a UndirectedGraph, device: &Device) -> Self {
        Operators { programs: Some(Programs::new(graph, device)), ..Operators::new(graph) }
    }

    /// Where rounds on a device need more memory than this, or than it has, they run on the CPU
    /// instead of failing.
    #[must_use]
    pub fn within(self, limit: MemoryLimit) -> Self {
        let programs = self.programs.map(|programs| programs.within(limit));
        Operators { programs, ..self }
    }

    /// Subsets of rows: of a panel that is loaded with one ([`Loaded::with_rows`]), a GPU downloads
    /// these rows alone after each round. On the CPU all rows are there anyway.
    #[must_use]
    pub fn with_row_subsets(self, row_subsets: Vec<Vec<u32>>) -> Self {
        let programs = self.programs.map(|programs| programs.with_row_subsets(row_subsets));
        Operators { programs, ..self }
    }

    /// The graph itself.
    pub fn graph(&self) -> &'a UndirectedGraph {
        self.graph
    }

    /// A.
    pub fn adjacency(&self) -> SparseView<'_> {
        self.view(self.graph.all_weights())
    }

    /// S = D^-½ A D^-½.
    pub fn symmetric(&self) -> SparseView<'_> {
        let values = self.symmetric.get_or_init(|| symmetric_values(self.graph));
        self.view(Some(values))
    }

    /// A panel in front of these matrices.
    pub fn load<'b>(&'b self, panel: &'b Panel) -> Loaded<'b> {
        let number = self.loads.fetch_add(1, Ordering::Relaxed);
        Loaded { operators: self, panel, rows: None, number }
    }

    /// A · X for a panel of this width, wherever that is computed.
    pub fn adjacency_product(&self, panel: &[f32], width: usize) -> Result<Vec<f32>> {
        if let Some(programs) = &self.programs
            && let Some(product) = programs.adjacency_product(panel, width)?
        {
            return Ok(product);
        }
        let mut product = vec![0.0f32; panel.len()];
        sparse_product(self.adjacency(), panel, width, &mut product, &Store);
        Ok(product)
    }

    pub(super) fn programs(&self) -> Option<&Programs<'a>> {
        self.programs.as_ref()
    }

    fn view<'b>(&'b self, values: Option<&'b [f32]>) -> SparseView<'b> {
        let graph = self.graph;
        SparseView::new(graph.indptr(), graph.all_neighbours(), values, graph.nodes())
    }
}

pub(super) fn symmetric_values(graph: &UndirectedGraph) -> Vec<f32> {
    let degree = |node: usize| match graph.weights(node) {
        Some(weights) => weights.iter().map(|&weight| f64::from(weight)).sum(),
        None => graph.degree(node) as f64,
    };
    let inverse_root = |node: usize| {
        let degree: f64 = degree(node);
        if degree > 0.0 { 1.0 / degree.sqrt() } else { 0.0 }
    };
    let scale: Vec<f64> = (0..graph.nodes()).map(inverse_root).collect();
    let mut values = Vec::with_capacity(graph.all_neighbours().len());
    for node in 0..graph.nodes() {
        let weights = graph.weights(node);
        for (slot, &other) in graph.neighbours(node).iter().enumerate() {
            let weight = weights.map_or(1.0, |weights| f64::from(weights[slot]));
            values.push((scale[node] * weight * scale[other as usize]) as f32);
        }
    }
    values
}
