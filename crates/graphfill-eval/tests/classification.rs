//! Classifiers on estimates: what they must tell, what they cannot, and which figure is honest.

use graphfill_data::{DataError, Direction, EdgeList, Progress, UndirectedGraph};
use graphfill_engine::random::{Key, normals, uniforms};
use graphfill_eval::classification::{Classification, ClassificationOptions, Estimated, classify};
use graphfill_methods::{MethodError, Result};

const NODES: usize = 120;
const COLUMNS: usize = 6;

/// Normal noise, and `shift` up or down by class.
fn features(classes: &[Option<u32>], shift: f32) -> Vec<f32> {
    let mut features = vec![0.0; NODES * COLUMNS];
    normals(Key::new(1, 1, 0), 0, &mut features);
    for (row, class) in features.chunks_exact_mut(COLUMNS).zip(classes) {
        let sign = if class.unwrap_or(0) == 0 { -1.0 } else { 1.0 };
        row.iter_mut().for_each(|value| *value += shift * sign);
    }
    features
}

/// Edges among random pairs; where they know classes, only within one.
fn graph(know: Option<&[Option<u32>]>) -> UndirectedGraph {
    let mut draws = vec![0.0; 12 * NODES];
    uniforms(Key::new(2, 1, 0), &mut draws);
    let mut edges = EdgeList::unweighted();
    for pair in draws.chunks_exact(2) {
        let [one, other] = [pair[0], pair[1]].map(|draw| (draw * NODES as f32) as usize);
        if know.is_none_or(|classes| classes[one] == classes[other]) {
            edges.push(one as u32, other as u32, 1.0);
        }
    }
    edges.into_graph(NODES, Direction::Undirected).expect("valid arcs").undirected()
}

fn alternating() -> Vec<Option<u32>> {
    (0..NODES as u32).map(|node| Some(node % 2)).collect()
}

fn classified(
    features: &[f32],
    labels: &[Option<u32>],
    graph: &UndirectedGraph,
    options: &ClassificationOptions<'_>,
) -> Result<Classification> {
    let nodes: Vec<u32> = (0..NODES as u32).collect();
    classify(&Estimated { nodes: &nodes, features, labels, classes: 2 }, graph, options)
}

fn options() -> ClassificationOptions<'static> {
    ClassificationOptions { epochs: 200, learning_rate: 5e-3, ..ClassificationOptions::default() }
}

#[test]
fn two_clusters_are_told_apart_by_both() {
    let mut labels = alternating();
    // Those without a label are asked about by nobody.
    labels[3] = None;
    labels[4] = None;
    let found = classified(&features(&labels, 2.0), &labels, &graph(None), &options());
    let Classification { mlp, gcn } = found.expect("figures");
    assert_eq!((mlp.best_epoch, mlp.inner_validation), (1.0, 1.0));
    assert!(gcn.best_epoch > 0.6, "averages over other classes blur: {gcn:?}");
    let told = graph(Some(&labels));
    let gcn = classified(&features(&labels, 2.0), &labels, &told, &options()).expect("figures").gcn;
    assert_eq!((gcn.best_epoch, gcn.inner_validation), (1.0, 1.0));
}

#[test]
fn where_nothing_is_to_be_known_only_the_best_epoch_is_above_chance() {
    let mut labels = vec![0.0; NODES];
    uniforms(Key::new(3, 1, 0), &mut labels);
    let labels: Vec<Option<u32>> = labels.iter().map(|&draw| Some(u32::from(draw < 0.5))).collect();
    let features = features(&labels, 0.0);
    let (mut honest, mut published) = (Vec::new(), Vec::new());
    for seed in 0..4 {
        let options = ClassificationOptions { seed, ..options() };
        let found = classified(&features, &labels, &graph(None), &options).expect("figures");
        for accuracies in [found.mlp, found.gcn] {
            honest.push(accuracies.inner_validation);
            published.push(accuracies.best_epoch);
        }
    }
    let (honest, published) = (graphfill_eval::mean(&honest), graphfill_eval::mean(&published));
    assert!((0.42..0.58).contains(&honest), "inner validation finds {honest}");
    assert!(published > honest + 0.05, "the best epoch finds {published}, the honest one {honest}");
}

#[test]
fn what_only_the_graph_tells_is_for_the_convolution() {
    let labels = alternating();
    let found = classified(&features(&labels, 0.3), &labels, &graph(Some(&labels)), &options());
    let Classification { mlp, gcn } = found.expect("figures");
    assert!(gcn.inner_validation > mlp.inner_validation + 0.1, "{gcn:?} after {mlp:?}");
}

#[test]
fn the_same_seed_gives_the_same_figures_and_scale_does_not_matter() {
    let labels = alternating();
    let features = features(&labels, 0.3);
    let run = |features: &[f32], seed: u64| {
        let options = ClassificationOptions { seed, epochs: 40, ..options() };
        classified(features, &labels, &graph(None), &options).expect("figures")
    };
    let first = run(&features, 7);
    assert_eq!(run(&features, 7), first);
    assert_ne!(run(&features, 8), first);
    let larger: Vec<f32> = features.iter().map(|value| value * 1024.0).collect();
    assert_eq!(run(&larger, 7), first);
}

#[test]
fn it_stops_when_asked_and_refuses_what_does_not_fit() {
    struct Impatient;
    impl Progress for Impatient {
        fn begin(&self, _stage: &str, _total: Option<u64>) {}
        fn advance(&self, _units: u64) {}
        fn is_cancelled(&self) -> bool {
            true
        }
    }
    let labels = alternating();
    let features = features(&labels, 0.3);
    let impatient = ClassificationOptions { progress: &Impatient, ..options() };
    let stopped = classified(&features, &labels, &graph(None), &impatient);
    assert!(matches!(stopped, Err(MethodError::Data(DataError::Cancelled))));
    let refused = |features: &[f32], labels: &[Option<u32>], options: ClassificationOptions<'_>| {
        classified(features, labels, &graph(None), &options).expect_err("no sense").to_string()
    };
    assert!(refused(&features[1..], &labels, options()).contains("719 numbers"));
    assert!(refused(&features, &vec![Some(2); NODES], options()).contains("class 2"));
    let one = ClassificationOptions { folds: 1, ..options() };
    assert!(refused(&features, &labels, one).contains("two folds"));
    let mut broken = features.clone();
    broken[8] = f32::NAN;
    assert!(refused(&broken, &labels, options()).contains("node 1"));
}
