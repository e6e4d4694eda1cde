//! Attributed walks (AttriWalk): several from each of some nodes, drawn by counting.
//!
//! A walk is one column, a time one run of rows: the place of walk w at time t is
//! `places[t · walks + w]`, and the walks of one node stand side by side.

use std::sync::Arc;

use graphfill_engine::SparseMatrix;
use graphfill_engine::random::{Key, uniforms};
use rayon::prelude::*;

use super::places::Places;

/// How walks are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Manner {
    /// The probability of a step along an edge where there is a choice.
    pub(super) alpha: f32,
    /// Walks from each node.
    pub(super) paths: usize,
    /// Places of a walk, its beginning among them.
    pub(super) length: usize,
    /// Whether a walk sees the attributes of the node where it begins.
    pub(super) own: OwnAttributes,
}

/// Whether a walk sees the attributes of the node where it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OwnAttributes {
    /// As those of all other nodes.
    Seen,
    /// No: where it begins is a blank place, and no step leads from there to an attribute.
    Hidden,
}

/// Walks from some nodes.
#[derive(Debug)]
pub(super) struct Walks {
    /// Place by place, all walks of the first time first.
    pub(super) places: Vec<u32>,
    nodes: usize,
    manner: Manner,
}

/// The stream of walks.
const STREAM: u32 = 0x5741_4C4B;

impl Walks {
    /// Walks from `nodes`; sets of different numbers are different.
    pub(super) fn draw(
        places: &Places,
        nodes: &[u32],
        manner: Manner,
        seed: u64,
        set: u64,
    ) -> Self {
        let Manner { alpha, paths, length, own } = manner;
        let walk = |(at, &node): (usize, &u32)| {
            // Every node has draws of its own, whoever else is in the set.
            let key = Key::new(seed, STREAM, (set << 32) | u64::from(node));
            let mut numbers = vec![0.0f32; 2 * paths * length];
            uniforms(key, &mut numbers);
            let (secret, shown) = match own {
                OwnAttributes::Seen => (places.blank(), node),
                OwnAttributes::Hidden => (node, places.blank()),
            };
            let mut passed = Vec::with_capacity(paths * length);
            for path in numbers.chunks_exact(2 * length) {
                let mut place = node;
                for pair in path.chunks_exact(2) {
                    passed.push(if place == node { shown } else { place });
                    place = places.next(place, secret, alpha, [pair[0], pair[1]]);
                }
            }
            (at, passed)
        };
        let walks: Vec<(usize, Vec<u32>)> = nodes.par_iter().enumerate().map(walk).collect();
        let count = nodes.len() * paths;
        let mut all = vec![0u32; count * length];
        for (at, passed) in walks {
            for (path, passed) in passed.chunks_exact(length).enumerate() {
                for (time, &place) in passed.iter().enumerate() {
                    all[time * count + at * paths + path] = place;
                }
            }
        }
        Walks { places: all, nodes: nodes.len(), manner }
    }

    /// Row i of its product is the mean over the first `times` of node i's walks.
    pub(super) fn means(&self, times: usize) -> Arc<SparseMatrix> {
        let Manner { paths, .. } = self.manner;
        let (walks, each) = (self.nodes * paths, times * paths);
        let rows = 0..self.nodes;
        let columns = rows.flat_map(|node| {
            (0..times).flat_map(move |time| (0..paths).map(move |path| (time, node * paths + path)))
        });
        let columns = columns.map(|(time, walk)| (time * walks + walk) as u32).collect();
        let offsets = (0..=self.nodes).map(|node| node * each).collect();
        let values = vec![1.0 / each as f32; self.nodes * each];
        Arc::new(SparseMatrix::new(offsets, columns, Some(values), self.places.len()))
    }
}
