//! Attributed walks (AttriWalk): several from each of some nodes, drawn by counting.
//!
//! A walk is one column, a time one run of rows: the place of walk w at time t is
//! `places[t · walks + w]`, and the walks of one node stand side by side.

use std::sync::Arc;

use graphfill_engine::SparseMatrix;
use graphfill_engine::random::{Key, uniforms};
use rayon::prelude::*;

use super::places::Places;
use crate::word_parameter;

/// How walks are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WalkConfig {
    /// The probability of a step along an edge where there is a choice.
    pub(super) alpha: f32,
    /// Walks from each node.
    pub(super) paths: usize,
    /// Places of a walk, its beginning among them.
    pub(super) length: usize,
    /// Whether a walk sees the attributes of the node where it begins.
    pub(super) own: OwnAttributes,
}

word_parameter! {
    /// Whether a walk sees the attributes of the node where it begins.
    pub enum OwnAttributes {
        /// As those of all other nodes.
        Seen = "seen",
        /// No: where it begins is padding, and no step leads between it and an attribute.
        Hidden = "hidden",
    }
}

/// Walks from some nodes.
#[derive(Debug)]
pub(super) struct Walks {
    /// Place by place, all walks of the first time first.
    pub(super) places: Vec<u32>,
    nodes: usize,
    config: WalkConfig,
}

/// The stream of walks.
const STREAM: u32 = 0x5741_4C4B;

impl Walks {
    /// Walks from `nodes`; sets of different numbers are different.
    pub(super) fn draw(
        places: &Places,
        nodes: &[u32],
        config: WalkConfig,
        seed: u64,
        set: u64,
    ) -> Self {
        let WalkConfig { alpha, paths, length, own } = config;
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
        Walks { places: all, nodes: nodes.len(), config }
    }

    /// Row i of its product is the mean over the first `times` of node i's walks.
    pub(super) fn means(&self, times: usize) -> Arc<SparseMatrix> {
        let WalkConfig { paths, .. } = self.config;
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

#[cfg(test)]
mod tests {
    use arrow_array::StringArray;
    use graphfill_data::{
        CellMask, Column, Direction, EdgeList, IdColumn, Kind, NodeIds, NodeTable,
    };

    use super::*;
    use crate::features::Features;

    const CONFIG: WalkConfig =
        WalkConfig { alpha: 0.5, paths: 6, length: 7, own: OwnAttributes::Seen };

    /// A ring of eight, of three colours; nothing is known of node 7, and node 8 is alone.
    fn places() -> (Places, Vec<Option<u32>>) {
        let names = ["red", "green", "blue"];
        let colours: StringArray = (0..9).map(|row| Some(names[row % 3])).collect();
        let column = Column::new("colour", Kind::Category, Arc::new(colours));
        let table = NodeTable::new(IdColumn::default(), NodeIds::numbered(9), vec![column], None);
        let table = table.expect("nine rows");
        let features = Features::of(&table);
        let mut edges = EdgeList::unweighted();
        (0..8).for_each(|node| edges.push(node, (node + 1) % 8, 1.0));
        let graph = edges.into_graph(9, Direction::Undirected).expect("valid arcs");
        let graph = graph.undirected();
        let unknown = CellMask::of_rows(9, 1, [7, 8]);
        let level = |row: usize| features.level(0, row).filter(|_| row < 7).map(|level| 9 + level);
        let levels = (0..9).map(level).collect();
        (Places::new(&graph, &features, &unknown).0, levels)
    }

    fn walks_of(config: WalkConfig, nodes: &[u32]) -> Vec<Vec<u32>> {
        let walks = Walks::draw(&places().0, nodes, config, 5, 2);
        let count = nodes.len() * config.paths;
        let walk = |at: usize| walks.places.iter().skip(at).step_by(count).copied().collect();
        (0..count).map(walk).collect()
    }

    #[test]
    fn every_step_follows_a_link() {
        let (_, levels) = places();
        let nodes: Vec<u32> = (0..9).collect();
        let mut to_attributes = 0;
        for (at, walk) in walks_of(CONFIG, &nodes).iter().enumerate() {
            assert_eq!(walk[0], nodes[at / CONFIG.paths]);
            for pair in walk.windows(2) {
                let (from, to) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
                let is_edge = to < 8 && (to - from == 1 || to - from == 7);
                let is_owned = to >= 9 && levels[from as usize] == Some(to);
                assert!(is_edge || is_owned || pair == [8, 8], "{pair:?}");
                to_attributes += usize::from(is_owned);
            }
        }
        assert!(to_attributes > 30, "{to_attributes}");
    }

    #[test]
    fn a_hidden_beginning_tells_nothing_of_itself() {
        // Long ones: neighbours have other colours, and the way back by one's own is not short.
        let config = WalkConfig { paths: 20, length: 60, own: OwnAttributes::Hidden, ..CONFIG };
        let blank = places().0.blank();
        for walk in walks_of(config, &[0, 1, 2, 3]) {
            assert_eq!(walk[0], blank);
            for pair in walk.windows(2).filter(|pair| pair.contains(&blank)) {
                let other = if pair[0] == blank { pair[1] } else { pair[0] };
                assert!(other < 8, "an attribute stands beside the hidden node: {walk:?}");
            }
        }
    }

    /// The same walks whoever else is drawn; others in another set.
    #[test]
    fn a_node_has_walks_of_its_own() {
        let alone = walks_of(CONFIG, &[3]);
        assert_eq!(alone, walks_of(CONFIG, &[1, 3])[CONFIG.paths..]);
        let other = Walks::draw(&places().0, &[3], CONFIG, 5, 3);
        assert_ne!(Walks::draw(&places().0, &[3], CONFIG, 5, 2).places, other.places);
    }

    #[test]
    fn means_are_over_the_walks_of_a_node() {
        let walks = Walks::draw(&places().0, &[1, 3], CONFIG, 5, 2);
        let view = walks.means(1);
        let beginnings: Vec<u32> = (0..CONFIG.paths as u32).collect();
        assert_eq!(view.view().columns(0), beginnings);
        assert_eq!(walks.means(CONFIG.length).view().columns(1).len(), 42);
    }
}
