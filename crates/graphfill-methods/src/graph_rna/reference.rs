//! GraphRNA's program against its equations in double precision; see [`model`](super::model). Walks
//! are taken as they were drawn.

use graphfill_data::block::{BlockBuilder, BlockLayout};
use graphfill_data::{CellMask, Column, IdColumn, NodeIds, NodeTable};
use graphfill_engine::{Plan, Program};

use super::model::Model;
use super::places::Places;
use super::walks::{OwnAttributes, WalkConfig, Walks};
use crate::features::Features;
use crate::learning::Observed;
use crate::reference::{
    Dense, Kind, Learning, Matrices, SEED, Table, Updates, beside, drawn, gathered, graph, linear,
};

const NAME: &str = "training 0";
const NODES: usize = 9;
const ATTRIBUTES: usize = 4;
const HIDDEN: usize = 3;
const MANNER: WalkConfig =
    WalkConfig { alpha: 0.4, paths: 2, length: 3, own: OwnAttributes::Hidden };
/// Nothing is known of nodes 6 and 7.
const OBSERVED: [u32; 7] = [0, 1, 2, 3, 4, 5, 8];

/// The attributes of a node.
fn attributes(node: usize) -> Vec<usize> {
    (0..ATTRIBUTES).filter(|attribute| (node + 2 * attribute) % 5 < 2).collect()
}

fn table() -> NodeTable {
    let mut builder = BlockBuilder::new(ATTRIBUTES, BlockLayout::List);
    for node in 0..NODES {
        let mut cells: Vec<(u32, f64)> =
            attributes(node).into_iter().map(|attribute| (attribute as u32, 1.0)).collect();
        builder.push_row(&mut cells);
    }
    let tags = builder.finish(CellMask::none(NODES, ATTRIBUTES));
    let columns = vec![Column::block("tags", tags)];
    NodeTable::new(IdColumn::default(), NodeIds::numbered(NODES), columns, None).expect("a table")
}

/// F: known attributes in rows of length one, then the identity, then a row of zeros.
fn inputs() -> Dense {
    Dense::new(NODES + ATTRIBUTES + 1, ATTRIBUTES, |place, attribute| {
        if place >= NODES {
            return f64::from(u8::from(place - NODES == attribute));
        }
        let own = attributes(place);
        match OBSERVED.contains(&(place as u32)) && own.contains(&attribute) {
            true => 1.0 / (own.len() as f64).sqrt(),
            false => 0.0,
        }
    })
}

/// The states of gated recurrent units, rows of all times in the order of `steps`:
///
///   r = σ(x_r + h·W_r + b_r)   z = σ(x_z + h·W_z + b_z)   n = tanh(x_n + r ⊙ (h·W_n + b_n))
///   h ← (1 − z) ⊙ n + z ⊙ h
fn states(parameters: &Matrices, name: &str, steps: &Dense, backward: bool) -> Dense {
    let gates = linear(parameters, &format!("{name}.input"), steps);
    let walks = steps.rows / MANNER.length;
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let mut states = Dense::new(steps.rows, HIDDEN, |_, _| 0.0);
    let mut state = Dense::new(walks, HIDDEN, |_, _| 0.0);
    let mut times: Vec<usize> = (0..MANNER.length).collect();
    if backward {
        times.reverse();
    }
    for time in times {
        let own = linear(parameters, &format!("{name}.recurrent"), &state);
        state = Dense::new(walks, HIDDEN, |walk, k| {
            let x = |gate: usize| gates.at(time * walks + walk, gate * HIDDEN + k);
            let h = |gate: usize| own.at(walk, gate * HIDDEN + k);
            let (reset, update) = (sigmoid(x(0) + h(0)), sigmoid(x(1) + h(1)));
            let new = (x(2) + reset * h(2)).tanh();
            (1.0 - update) * new + update * state.at(walk, k)
        });
        for walk in 0..walks {
            (0..HIDDEN).for_each(|k| states.set(time * walks + walk, k, state.at(walk, k)));
        }
    }
    states
}

/// Z: means over all places of a node's walks, beside means over where they begin.
fn latent(parameters: &Matrices, walks: &[u32], mask: &Dense) -> Dense {
    let places = linear(parameters, "places", &inputs()).map(f64::tanh);
    let steps = gathered(&places, walks).times(mask);
    let states = beside(
        &states(parameters, "forward", &steps, false),
        &states(parameters, "backward", &steps, true),
    );
    let count = OBSERVED.len() * MANNER.paths;
    let mean = |node: usize, column: usize, times: usize| -> f64 {
        let mut sum = 0.0;
        for time in 0..times {
            for path in 0..MANNER.paths {
                sum += states.at(time * count + node * MANNER.paths + path, column);
            }
        }
        sum / (times * MANNER.paths) as f64
    };
    Dense::new(OBSERVED.len(), 4 * HIDDEN, |node, column| match column < 2 * HIDDEN {
        true => mean(node, column, MANNER.length).tanh(),
        false => mean(node, column - 2 * HIDDEN, 1).tanh(),
    })
}

fn columns(name: &str, features: usize) -> usize {
    match name.split('.').next() {
        Some("features") => features,
        Some("places") => 2 * HIDDEN,
        _ => 3 * HIDDEN,
    }
}

/// Places of nodes, attributes and the blank one; both directions; both means; dropout of steps and
/// of latents; losses of all kinds; gradients shortened to length 0.6.
#[test]
fn updates_follow_the_equations() {
    let (node_table, graph) = (table(), graph(NODES));
    let features = Features::of(&node_table);
    let unknown = CellMask::of_rows(NODES, ATTRIBUTES, [6, 7]);
    let (places, engine_inputs) = Places::new(&graph, &features, &unknown);
    let walks = Walks::draw(&places, &OBSERVED, MANNER, 5, 0);
    let blank = (NODES + ATTRIBUTES) as u32;
    let is_node = |&place: &u32| (place as usize) < NODES;
    let passes = |is: &dyn Fn(&u32) -> bool| walks.places.iter().any(is);
    assert!(passes(&|place| *place == blank) && passes(&is_node));
    assert!(passes(&|place| !is_node(place) && *place != blank), "some walk has an attribute");

    let table = Table::mixed(OBSERVED.len(), Kind::BalancedBernoulli);
    let known = Observed { rows: OBSERVED.to_vec(), likelihood: table.likelihood() };
    for dropout in [0.0f32, 0.4] {
        let model = Model { hidden: HIDDEN, length: MANNER.length, dropout, learning_rate: 0.01 };
        let program = model.training(NAME, &engine_inputs, &walks, &known).expect("a program");
        let plan = Plan::new(vec![program]).expect("a plan");
        let mut session = crate::device::session(plan, SEED);
        Updates::disturb(&mut session);
        let draws: Vec<Matrices> = (0..3)
            .map(|step| {
                let steps = walks.places.len();
                let record = |program: &Program| {
                    let steps = program.constant([steps, 2 * HIDDEN], 1.0).dropout(dropout);
                    program.output("steps", steps);
                    let shape = [OBSERVED.len(), 4 * HIDDEN];
                    program.output("latent", program.constant(shape, 1.0).dropout(dropout));
                };
                drawn(NAME, step, record, &[("steps", 2 * HIDDEN), ("latent", 4 * HIDDEN)])
            })
            .collect();
        let width = table.columns();
        let updates = Updates {
            program: NAME,
            columns: &|name| columns(name, width),
            is_learned: &|_| true,
            learning: Learning { clip: Some(0.6), ..Learning::rate(0.01) },
        };
        updates.check(&mut session, |parameters, update| {
            let latent = latent(parameters, &walks.places, &draws[update]["steps"]);
            let dropped = latent.times(&draws[update]["latent"]);
            table.loss(&linear(parameters, "features", &dropped))
        });
    }
}
