//! SVGA's step against one in double precision that was derived by hand: the loss, its parts, and
//! the gradient of every parameter. And training as a whole: it is the same from any number of
//! threads and across a checkpoint, and it learns. Encoders of all kinds have their own tests.

#[path = "../../graphfill-engine/tests/device/mod.rs"]
mod device;
mod svga_encoders;
mod svga_problem;
mod svga_reference;
mod svga_training;

use std::collections::BTreeMap;
use std::sync::Arc;

use graphfill_engine::{Likelihood, Matrix, Plan, Program, Recorded, Session, Targets};
use graphfill_methods::svga::{Model, Normalisation, TRAINING};
use svga_problem::{
    Edges, ISOLATED, Numbers, TRAINED, Variant, known, listed, observed_nodes, words,
};
use svga_reference::{
    Block, Dense, DenseGraph, Draws, Kind, Noise, Setting, Step, step, unrestricted_step,
};

const NODES: usize = 60;
const COLUMNS: usize = 50;
const SEED: u64 = 23;

/// What the engine may be off by: of a loss, relative to it; of a gradient, at its worst cell,
/// relative to the largest cell of that parameter's gradient.
const TOLERANCE: f64 = 1e-5;

/// What the table holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Table {
    /// Words as a list of ones.
    Binary,
    /// Words cell by cell, some not observed.
    BinaryWithGaps,
    /// Numbers, some not observed.
    Continuous,
    /// Words as one distribution a row.
    Multinomial,
    /// 20 words with weight 2 beside 30 numbers with weight 0.5.
    Mixed,
}

#[derive(Debug, Clone, Copy)]
struct Configuration {
    variant: Variant,
    table: Table,
    model: Model,
    weighted: bool,
    /// Whether the last node's latents are zeros before they are scaled to length one.
    silent_node: bool,
}

impl Configuration {
    const fn new(variant: Variant, table: Table, model: Model) -> Self {
        Configuration { variant, table, model, weighted: false, silent_node: false }
    }

    fn encoders(&self) -> &'static [&'static str] {
        match self.variant {
            Variant::Restricted => &["encoder"],
            Variant::Stochastic => &["mean", "covariance_factor"],
        }
    }
}

/// Numbers, a tenth of them not observed.
fn numbers_with_gaps(rows: usize, columns: usize) -> Vec<f32> {
    let mut numbers = Numbers::new(31);
    let mut cell = || {
        let value = 3.0 * numbers.uniform() - 1.0;
        if numbers.uniform() < 0.1 { f32::NAN } else { value }
    };
    (0..rows * columns).map(|_| cell()).collect()
}

/// The table for the engine and for the reference.
fn table(table: Table, rows: usize) -> (Arc<Likelihood>, Vec<Block>) {
    let block = |kind: Kind, weight: f64, columns: usize, values: &[f32]| Block {
        kind,
        weight,
        observed: Dense::of_singles(columns, values),
    };
    let likelihood = Likelihood::new(rows);
    let (likelihood, blocks) = match table {
        Table::Binary => {
            let ones = words(rows, COLUMNS);
            let targets = listed(COLUMNS, &ones);
            let blocks = vec![block(Kind::Binary, 1.0, COLUMNS, &ones)];
            (likelihood.balanced_bernoulli(targets, 1.0), blocks)
        }
        Table::BinaryWithGaps => {
            let gaps = numbers_with_gaps(rows, COLUMNS);
            let ones = words(rows, COLUMNS).into_iter().zip(gaps);
            let ones: Vec<f32> =
                ones.map(|(one, gap)| if gap.is_nan() { gap } else { one }).collect();
            let blocks = vec![block(Kind::Binary, 1.0, COLUMNS, &ones)];
            (likelihood.balanced_bernoulli(Targets::dense([rows, COLUMNS], ones), 1.0), blocks)
        }
        Table::Continuous => {
            let numbers = numbers_with_gaps(rows, COLUMNS);
            let blocks = vec![block(Kind::Continuous, 1.0, COLUMNS, &numbers)];
            (likelihood.squared_error(Targets::dense([rows, COLUMNS], numbers), 1.0), blocks)
        }
        Table::Multinomial => {
            let ones = words(rows, COLUMNS);
            let targets = listed(COLUMNS, &ones);
            let blocks = vec![block(Kind::Multinomial, 1.0, COLUMNS, &ones)];
            (likelihood.multinomial(targets, 1.0), blocks)
        }
        Table::Mixed => {
            let (ones, numbers) = (words(rows, 20), numbers_with_gaps(rows, 30));
            let targets = listed(20, &ones);
            let blocks = vec![
                block(Kind::Binary, 2.0, 20, &ones),
                block(Kind::Continuous, 0.5, 30, &numbers),
            ];
            let likelihood = likelihood
                .balanced_bernoulli(targets, 2.0)
                .and_then(|words| words.squared_error(Targets::dense([rows, 30], numbers), 0.5));
            (likelihood, blocks)
        }
    };
    (Arc::new(likelihood.expect("a likelihood")), blocks)
}

fn session(program: Recorded) -> Session {
    device::session(Plan::new(vec![program]).expect("a plan"), SEED)
}

/// A session of the loss and all gradients, named by their parameters, with `gradient of ` before.
fn engine_step(configuration: &Configuration, likelihood: &Arc<Likelihood>) -> Session {
    let Configuration { variant, model, .. } = configuration;
    let graph = Edges::random(NODES, configuration.weighted).graph();
    let observed = observed_nodes(NODES);
    let program = Program::new(TRAINING);
    let loss = match variant {
        Variant::Restricted => model.loss(&program, &graph, &known(&observed, likelihood)),
        Variant::Stochastic => {
            model.stochastic_loss(&program, &graph, &known(&observed, likelihood))
        }
    };
    let names = program.parameters();
    let borrowed: Vec<&str> = names.iter().map(String::as_str).collect();
    for (name, gradient) in names.iter().zip(program.differentiate(loss, &borrowed)) {
        program.output(&format!("gradient of {name}"), gradient);
    }
    session(program.finish().expect("a program"))
}

/// Biases begin as zeros, which would hide mistakes about them; here they begin as something else.
/// Except for a silent node: its embedding is far below zero and nothing is added after.
fn disturb(session: &mut Session, configuration: &Configuration) {
    let width = configuration.model.width;
    let mut numbers = Numbers::new(41);
    for encoder in configuration.encoders() {
        let mut bias = || (0..width).map(|_| 0.4 * numbers.uniform() - 0.2).collect::<Vec<_>>();
        session.write(&format!("{encoder}.first_bias"), &bias()).expect("a bias");
        if configuration.silent_node {
            let name = format!("{encoder}.embedding");
            let mut embedding = session.buffer(&name).expect("an embedding");
            embedding[(NODES - 1) * width..].fill(-1.0);
            session.write(&name, &embedding).expect("an embedding");
        } else {
            session.write(&format!("{encoder}.second_bias"), &bias()).expect("a bias");
        }
    }
}

/// What the engine draws in the step after `steps_before`: a program of the same name in which the
/// random operations are recorded in the same order draws the same.
fn draws(configuration: &Configuration, steps_before: usize) -> (Draws, Option<Noise>) {
    let Model { width, normalisation, dropout, .. } = configuration.model;
    let unrestricted = configuration.variant == Variant::Stochastic;
    let program = Program::new(TRAINING);
    let named = |name: &str, drawn: Matrix<'_>| program.output(name, drawn);
    for encoder in configuration.encoders() {
        named(encoder, program.constant([NODES, width], 1.0).dropout(0.5));
    }
    if unrestricted {
        named("own noise", program.normal_noise([NODES, width]));
        named("shared noise", program.normal_noise([width, width]));
    }
    if normalisation == Normalisation::Unit {
        named("directions", program.constant([NODES, width], 0.0).normalise_rows());
    }
    let observed = observed_nodes(NODES).len();
    named("latent", program.constant([observed, width], 1.0).dropout(dropout));
    let mut session = session(program.finish().expect("a program"));
    (0..=steps_before).for_each(|_| session.run(TRAINING).expect("a run"));
    let read = |name: &str| {
        let drawn = session.read(TRAINING, name).expect("an output");
        Dense::of_singles(width, &drawn)
    };
    let drawn = Draws {
        hidden: configuration.encoders().iter().map(|encoder| read(encoder)).collect(),
        directions: (normalisation == Normalisation::Unit).then(|| read("directions")),
        latent: read("latent"),
    };
    let noise = || Noise { own: read("own noise"), shared: read("shared noise") };
    (drawn, unrestricted.then(noise))
}

/// The reference at the parameters of a session, with what is drawn after so many steps.
fn reference_step(
    configuration: &Configuration,
    blocks: Vec<Block>,
    session: &Session,
    steps_before: usize,
) -> Step {
    let model = &configuration.model;
    let parameter = |name: &str| {
        let values = session.buffer(name).expect("a parameter");
        let columns = if name.starts_with("features") { COLUMNS } else { model.width };
        (name.to_owned(), Dense::of_singles(columns, &values))
    };
    let setting = Setting {
        graph: DenseGraph::new(&Edges::random(NODES, configuration.weighted)),
        observed: observed_nodes(NODES),
        blocks,
        parameters: session.parameters().map(parameter).collect(),
        lambda: f64::from(model.lambda),
        beta: f64::from(model.beta),
    };
    match draws(configuration, steps_before) {
        (draws, None) => step(&setting, &draws),
        (draws, Some(noise)) => unrestricted_step(&setting, &draws, &noise),
    }
}

/// The relative error of everything, in the second step.
fn errors(configuration: &Configuration) -> BTreeMap<String, f64> {
    let (likelihood, blocks) = table(configuration.table, observed_nodes(NODES).len());
    let mut session = engine_step(configuration, &likelihood);
    disturb(&mut session, configuration);
    (0..2).for_each(|_| session.run(TRAINING).expect("a step"));
    let expected = reference_step(configuration, blocks, &session, 1);
    let mut errors = BTreeMap::new();
    let mut compare = |name: &str, expected: &[f64]| {
        let found = session.read(TRAINING, name).expect("an output");
        assert_eq!(found.len(), expected.len(), "{name}");
        let pairs = found.iter().zip(expected);
        let off = pairs.map(|(&found, expected)| (f64::from(found) - expected).abs());
        let largest = expected.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        assert!(largest > 0.0, "there is something to compare `{name}` with");
        // Not `max`, which would pass over NaN.
        let worst = off.fold(0.0, |most: f64, off| if off <= most { most } else { off });
        errors.insert(name.to_owned(), worst / largest);
    };
    compare("loss", &[expected.loss]);
    compare("features", &[expected.features]);
    if configuration.model.lambda > 0.0 {
        compare("gmrf", &[expected.field]);
    }
    // Of every parameter that there is, not only of those that the model names.
    for (name, gradient) in &expected.gradients {
        compare(&format!("gradient of {name}"), gradient.values());
    }
    errors
}

fn assert_agrees(configuration: &Configuration) {
    let errors = errors(configuration);
    let fine = errors.values().all(|&error| error <= TOLERANCE * device::coarseness());
    assert!(fine, "{configuration:#?}\n{errors:#?}");
}

/// Every combination of settings, with each kind of table.
fn assert_agrees_everywhere(variant: Variant, table: Table) {
    for choice in 0..32 {
        let chosen = |bit: u32| choice >> bit & 1 == 1;
        let model = Model {
            width: if chosen(0) { 24 } else { 17 },
            normalisation: if chosen(1) { Normalisation::Unit } else { Normalisation::None },
            dropout: if chosen(2) { 0.5 } else { 0.0 },
            decoder_bias: chosen(3),
            lambda: if chosen(4) { 1.5 } else { 0.0 },
            ..TRAINED
        };
        assert_agrees(&Configuration::new(variant, table, model));
    }
}

#[test]
fn binary_steps_agree() {
    assert_agrees_everywhere(Variant::Restricted, Table::Binary);
    assert_agrees_everywhere(Variant::Stochastic, Table::Binary);
}

#[test]
fn continuous_steps_agree() {
    assert_agrees_everywhere(Variant::Restricted, Table::Continuous);
    assert_agrees_everywhere(Variant::Stochastic, Table::Continuous);
}

#[test]
fn multinomial_steps_agree() {
    assert_agrees_everywhere(Variant::Restricted, Table::Multinomial);
    assert_agrees_everywhere(Variant::Stochastic, Table::Multinomial);
}

#[test]
fn steps_agree_on_weighted_graphs_and_tables_with_gaps_and_blocks() {
    for variant in [Variant::Restricted, Variant::Stochastic] {
        for table in [Table::BinaryWithGaps, Table::Mixed] {
            let plain = Configuration::new(variant, table, TRAINED);
            assert_agrees(&Configuration { weighted: true, ..plain });
        }
    }
}

#[test]
fn steps_agree_for_latents_more_and_less_free_of_the_field() {
    for variant in [Variant::Restricted, Variant::Stochastic] {
        for (lambda, beta) in [(0.1, 0.01), (10.0, 0.01), (10.0, 1.0)] {
            let model = Model { lambda, beta, ..TRAINED };
            assert_agrees(&Configuration::new(variant, Table::Binary, model));
        }
    }
}

/// An isolated node of whose hidden row nothing is left gets a random direction and no gradient.
#[test]
fn steps_agree_where_a_latent_row_is_zero() {
    let plain = Configuration::new(Variant::Restricted, Table::Binary, TRAINED);
    let configuration = Configuration { silent_node: true, ..plain };
    assert!(ISOLATED > 0 && observed_nodes(NODES).contains(&(NODES as u32 - 1)));
    assert_agrees(&configuration);
    let (likelihood, _) = table(Table::Binary, observed_nodes(NODES).len());
    let mut session = engine_step(&configuration, &likelihood);
    disturb(&mut session, &configuration);
    session.run(TRAINING).expect("a step");
    let gradient = session.read(TRAINING, "gradient of encoder.embedding").expect("a gradient");
    assert!(gradient[(NODES - 1) * TRAINED.width..].iter().all(|&value| value == 0.0));
}

/// Adam's first step is  −rate · g / (|g| + ε): the rate against the sign of the gradient.
#[test]
fn the_update_follows_every_gradient() {
    for variant in [Variant::Restricted, Variant::Stochastic] {
        let configuration = Configuration::new(variant, Table::Binary, TRAINED);
        let observed = observed_nodes(NODES);
        let (likelihood, blocks) = table(Table::Binary, observed.len());
        let graph = Edges::random(NODES, false).graph();
        let program = variant.training(&TRAINED, &graph, &observed, &likelihood);
        let mut session = session(program.expect("a program"));
        disturb(&mut session, &configuration);
        let expected = reference_step(&configuration, blocks, &session, 0);
        let read = |session: &Session, name: &str| session.buffer(name).expect("a parameter");
        let names: Vec<&String> = expected.gradients.keys().collect();
        let before: Vec<Vec<f32>> = names.iter().map(|name| read(&session, name)).collect();
        session.run(TRAINING).expect("an update");
        for (name, before) in names.into_iter().zip(before) {
            let gradient = expected.gradients[name].values();
            let largest = gradient.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
            for ((after, before), &gradient) in
                read(&session, name).iter().zip(before).zip(gradient)
            {
                // What is next to nothing beside the others may be off by more than itself.
                if gradient.abs() > 1e-3 * largest {
                    let moved = f64::from(after - before) / f64::from(TRAINED.learning_rate);
                    let expected = -gradient / (gradient.abs() + 1e-8);
                    assert!((moved - expected).abs() < 1e-3, "{name}: {moved}, not {expected}");
                }
            }
        }
    }
}
