//! The matrices that propagation multiplies with, computed when first needed.
//!
//!   A   adjacency (weights where the graph has them)                      nodes × nodes
//!   S = D^-½ A D^-½, rows of isolated nodes zero                          nodes × nodes
//!
//! and on directed graphs A_a and S_a ([`super::direction`]), of every share a that is asked for.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use graphfill_data::UndirectedGraph;
use graphfill_engine::cpu::{Store, sparse_product};
use graphfill_engine::{Device, MemoryLimit, SparseView};

use super::direction::DirectedWeights;
use super::programs::Programs;
use super::{IN_SHARE, Loaded};
use crate::error::Result;
use crate::features::Panel;
use crate::method::Task;
use crate::parameters::Parameters;

/// A graph, the matrices made of it, and where they are multiplied.
pub struct Operators<'a> {
    graph: &'a UndirectedGraph,
    symmetric: OnceLock<Vec<f32>>,
    /// Of the shares that were asked for.
    directed: Mutex<Vec<Arc<DirectedWeights>>>,
    /// Without them, rounds run on the CPU.
    programs: Option<Programs<'a>>,
    loads: AtomicU64,
}

impl<'a> Operators<'a> {
    /// The matrices of a graph, on the CPU.
    pub fn new(graph: &'a UndirectedGraph) -> Self {
        Operators {
            graph,
            symmetric: OnceLock::new(),
            directed: Mutex::default(),
            programs: None,
            loads: AtomicU64::new(0),
        }
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

    /// The matrices for the share of in-arcs among some parameters: A_a and S_a on a directed graph, A and S
    /// on others and where no share is set.
    pub fn along(&self, parameters: &Parameters) -> Along<'_> {
        let weights = parameters.get(IN_SHARE).and_then(|in_share| {
            let mut known = self.directed.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = known.iter().find(|known| known.in_share == in_share) {
                return Some(Arc::clone(known));
            }
            let made = Arc::new(DirectedWeights::new(self.graph, in_share)?);
            known.push(Arc::clone(&made));
            Some(made)
        });
        Along { operators: self, weights }
    }

    /// A panel in front of these matrices.
    pub fn load<'b>(&'b self, panel: &'b Panel) -> Loaded<'b> {
        let number = self.loads.fetch_add(1, Ordering::Relaxed);
        Loaded { operators: self, panel, rows: None, number }
    }

    /// A · X for a panel of this width, wherever that is computed.
    pub fn adjacency_product(&self, panel: &[f32], width: usize) -> Result<Vec<f32>> {
        Along { operators: self, weights: None }.adjacency_product(panel, width)
    }

    pub(super) fn programs(&self) -> Option<&Programs<'a>> {
        self.programs.as_ref()
    }

    fn view<'b>(&'b self, values: Option<&'b [f32]>) -> SparseView<'b> {
        let graph = self.graph;
        SparseView::new(graph.indptr(), graph.all_neighbours(), values, graph.nodes())
    }
}

/// The matrices for one share of in-arcs: see [`Operators::along`].
pub struct Along<'o> {
    operators: &'o Operators<'o>,
    /// None: both directions alike.
    weights: Option<Arc<DirectedWeights>>,
}

impl Along<'_> {
    /// Whether only neighbours in one direction count.
    pub fn is_one_way(&self) -> bool {
        self.weights.as_ref().is_some_and(|weights| [0.0, 1.0].contains(&weights.in_share))
    }

    /// A_a.
    pub fn adjacency(&self) -> SparseView<'_> {
        match &self.weights {
            Some(weights) => self.operators.view(Some(&weights.adjacency)),
            None => self.operators.adjacency(),
        }
    }

    /// S_a = D_row^-½ A_a D_col^-½.
    pub fn symmetric(&self) -> SparseView<'_> {
        match &self.weights {
            Some(weights) => self.operators.view(Some(weights.symmetric(self.operators.graph))),
            None => self.operators.symmetric(),
        }
    }

    /// A_a · X for a panel of this width, wherever that is computed.
    pub fn adjacency_product(&self, panel: &[f32], width: usize) -> Result<Vec<f32>> {
        if let Some(programs) = &self.operators.programs
            && let Some(product) = programs.adjacency_product(self.weights(), panel, width)?
        {
            return Ok(product);
        }
        let mut product = vec![0.0f32; panel.len()];
        sparse_product(self.adjacency(), panel, width, &mut product, &Store);
        Ok(product)
    }

    /// What programs multiply with.
    pub(crate) fn weights(&self) -> Option<&DirectedWeights> {
        self.weights.as_deref()
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
