//! What is peculiar to the VAE and to the best of three graph networks.

use graphfill_data::{CellMask, NodeTable};
use graphfill_methods::features::Features;
use graphfill_methods::{CheckpointOptions, Context, Fitted, Method, ParamOverrides, Task};

use crate::support::{Dense, method_with, small_models, updates_of};
use crate::tables::{block, graph, mixed, table, village};

const ROWS: usize = 80;
const NETWORKS: [&str; 3] = ["gcn", "sage", "gat"];

fn estimates(fitted: &dyn Fitted, task: &Task<'_>) -> Vec<f64> {
    let width = task.features.width();
    let mut dense = Dense { width, values: vec![0.0; task.features.rows() * width] };
    fitted.estimate(task, &mut dense).expect("estimates");
    dense.values
}

/// A village of which every fifth row is unknown, and every tenth is validated on.
fn with_village(context: &Context<'_>, check: impl FnOnce(&Task<'_>)) {
    let table = mixed(ROWS, |row, _| row, |_, _| false);
    let features = Features::of(&table);
    let graph = village(ROWS).undirected();
    let rows = |chosen: fn(&usize) -> bool| {
        CellMask::of_rows(ROWS, features.cells(), (0..ROWS).filter(chosen))
    };
    let unknown = rows(|row| row % 5 == 0);
    let validation = [rows(|row| row % 10 == 3)];
    let task = Task::new(&graph, &features, &unknown, context);
    check(&Task { validation: &validation, ranking_depth: 3, ..task });
}

/// A small model of a network.
fn small(name: &str) -> std::sync::Arc<dyn Method> {
    method_with(name, &small_models())
}

#[test]
fn the_best_network_is_the_one_that_validates_best() {
    with_village(&updates_of(40), |task| {
        let fit = |name: &str| small(name).fit_task(task).expect("fitted");
        let scores = NETWORKS.map(|name| fit(name).validation_score().expect("a score"));
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let at = scores.iter().position(|&score| score == most).expect("the best");
        let best = fit("gnn");
        assert_eq!(best.validation_score(), Some(most));
        let choice = &best.choices()[0];
        assert_eq!(
            (&choice.method[..], choice.parameters.word("network")),
            ("gnn", Some(NETWORKS[at]))
        );
        let reason = choice.reason.as_deref().expect("a reason");
        assert!(NETWORKS.iter().all(|name| reason.contains(name)), "{reason}");
        assert_eq!(estimates(best.as_ref(), task), estimates(fit(NETWORKS[at]).as_ref(), task));
        let history = best.history().expect("a history");
        assert!(history.lines.iter().any(|line| history.models[line.model].contains("(gat)")));
    });
}

#[test]
fn a_network_that_is_fixed_is_the_only_one_trained() {
    with_village(&updates_of(10), |task| {
        let mut fixed = small_models();
        fixed.set("gnn", "network", "sage");
        let gnn = method_with("gnn", &fixed).fit_task(task).expect("fitted");
        let sage = small("sage").fit_task(task).expect("fitted");
        assert_eq!(estimates(gnn.as_ref(), task), estimates(sage.as_ref(), task));
    });
}

#[test]
fn the_checkpoint_becomes_the_best_network() {
    let place = tempfile::tempdir().expect("a folder");
    let path = place.path().join("town.model");
    let checkpoint = Some(CheckpointOptions { path: path.clone(), every: 10 });
    let context = Context { checkpoint, ..updates_of(20) };
    with_village(&context, |task| {
        let gnn = small("gnn");
        let fitted = gnn.fit_task(task).expect("fitted");
        let first = estimates(fitted.as_ref(), task);
        let files = std::fs::read_dir(place.path()).expect("a folder").count();
        assert_eq!((files, path.exists()), (1, true), "one file is left");
        let again = estimates(gnn.fit_task(task).expect("fitted").as_ref(), task);
        assert!(first == again, "a finished search is taken up");
        let state = fitted.state().expect("a state");
        let restored = gnn.restore(task, &state).expect("restored");
        assert!(first == estimates(restored.as_ref(), task), "the model was saved");
    });
}

/// 0 and 1 are observed; 2 knows 0, 3 knows 1, 4 knows both, 5 knows 2, 6 knows nobody.
fn estimates_of_seven(no_observed_neighbours: &str) -> (usize, Vec<f64>) {
    let (rows, width) = (7, 6);
    let words = |row: usize| if row == 0 { vec![0, 1, 2] } else { vec![3, 4] };
    let table: NodeTable = table(vec![block(rows, width, words, CellMask::none(rows, width))]);
    let features = Features::of(&table);
    let graph = graph(rows, [(0, 2), (1, 3), (0, 4), (1, 4), (2, 5)]).undirected();
    let unknown = CellMask::of_rows(rows, width, 2..rows);
    let mut fixed = ParamOverrides::default();
    fixed.set("vae", "hidden", 16.0);
    fixed.set("vae", "latent", 4.0);
    fixed.set("vae", "kl_weight", 0.0);
    fixed.set("vae", "no_observed_neighbours", no_observed_neighbours);
    let context = Context::default();
    let task = Task::new(&graph, &features, &unknown, &context);
    let fitted = method_with("vae", &fixed).fit_task(&task).expect("fitted");
    (width, estimates(fitted.as_ref(), &task))
}

#[test]
fn the_vae_decodes_the_mean_of_observed_neighbours() {
    for no_observed_neighbours in ["prior", "zeros"] {
        let (width, values) = estimates_of_seven(no_observed_neighbours);
        let row = |node: usize| &values[node * width..(node + 1) * width];
        assert!(row(0) != row(1), "the two that are observed differ");
        assert_eq!(row(2), row(0), "its one observed neighbour's");
        assert_eq!(row(3), row(1), "its one observed neighbour's");
        assert!(row(4) != row(0) && row(4) != row(1), "between the two");
        assert_eq!(row(5), row(6), "a neighbour that is not observed is none");
        let is_zero = row(6).iter().all(|&score| score == 0.0);
        assert_eq!(is_zero, no_observed_neighbours == "zeros", "else what the prior decodes to");
    }
}
