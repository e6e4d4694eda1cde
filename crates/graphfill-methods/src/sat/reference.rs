//! SAT's programs against their equations in double precision; see [`model`](super::model).

use graphfill_engine::{Plan, Program};

use super::model::{DISCRIMINATOR, GENERATOR, Known, Model};
use super::place::Backbone;
use crate::encoder::NormalisedGraph;
use crate::learning::{Network, Observed};
use crate::reference::{
    Dense, Kind, Learning, Matrices, SEED, Table, Updates, as_pairs, drawn, edges, elu, gathered,
    graph, linear, logistic, relu, sampled_pairs, sparse, with_self_loops,
};

const NODES: usize = 9;
/// Nodes 2 and 6 have no row.
const OBSERVED: [u32; 7] = [0, 1, 3, 4, 5, 7, 8];
const HIDDEN: usize = 5;
const LATENT: usize = 4;
const RATE: f32 = 0.01;
const CROSS: f32 = 3.0;

fn model(backbone: Backbone, dropout: f32, weight_decay: f32) -> Model {
    let network = Network { learning_rate: RATE, dropout, weight_decay, patience: 1 };
    Model { backbone, hidden: HIDDEN, latent: LATENT, cross: CROSS, network }
}

/// The edges between observed rows, by their places among them.
fn observed_edges() -> Vec<[u32; 2]> {
    let place = |node: u32| OBSERVED.iter().position(|&other| other == node).map(|at| at as u32);
    edges(NODES).iter().filter_map(|&[one, other]| Some([place(one)?, place(other)?])).collect()
}

fn columns(name: &str, features: usize) -> usize {
    match name {
        "features.weight" | "features.bias" => features,
        "row.first.weight" | "row.first.bias" | "decoder.weight" | "decoder.bias" => HIDDEN,
        "place.embedding" | "place.first.source" | "place.first.target" => HIDDEN,
        "judge.second.weight" | "judge.second.bias" => 1,
        _ => LATENT,
    }
}

/// The model in double precision. Masks of dropout are taken by their names.
struct Reference<'a> {
    backbone: Backbone,
    table: &'a Table,
    parameters: &'a Matrices,
    draws: &'a Matrices,
}

impl Reference<'_> {
    fn parameter(&self, name: &str) -> &Dense {
        &self.parameters[name]
    }

    fn dropped(&self, mask: &str, rows: &Dense) -> Dense {
        rows.times(&self.draws[mask])
    }

    /// z_x, of the observed rows.
    fn rows(&self) -> Dense {
        let hidden = relu(&linear(self.parameters, "row.first", &self.table.known_cells()));
        linear(self.parameters, "row.second", &self.dropped("row", &hidden))
    }

    /// z_a, of all nodes.
    fn places(&self) -> Dense {
        let first = elu(&self.mixed("place.first", self.parameter("place.embedding")));
        let second = self.dropped("place", &first).product(self.parameter("place.weight"));
        elu(&self.mixed("place.second", &second))
    }

    /// Means over a node and its neighbours: by Â, or by attention with one head.
    fn mixed(&self, layer: &str, rows: &Dense) -> Dense {
        let average = with_self_loops(NODES);
        if self.backbone == Backbone::Gcn {
            return average.product(rows);
        }
        let score = |end: &str, node: usize| -> f64 {
            let vector = self.parameter(&format!("{layer}.{end}"));
            vector.row(0).iter().zip(rows.row(node)).map(|(a, x)| a * x).sum()
        };
        Dense::new(NODES, rows.columns, |node, column| {
            let (mut sum, mut total) = (0.0, 0.0);
            for other in (0..NODES).filter(|&other| average.at(node, other) > 0.0) {
                let both = score("source", other) + score("target", node);
                let weight = if both < 0.0 { 0.2 * both } else { both }.exp();
                sum += weight * rows.at(other, column);
                total += weight;
            }
            sum / total
        })
    }

    /// F, the loss of the features that codes of observed rows are decoded to.
    fn features(&self, mask: &str, codes: &Dense) -> f64 {
        let hidden = relu(&linear(self.parameters, "decoder", codes));
        self.table.loss(&linear(self.parameters, "features", &self.dropped(mask, &hidden)))
    }

    /// E, the loss of edges against as many drawn pairs.
    fn edges(&self, mask: &str, codes: &Dense, edges: &[[u32; 2]], drawn: &[[u32; 2]]) -> f64 {
        let hidden = relu(&linear(self.parameters, "edges.first", codes));
        let ends = linear(self.parameters, "edges.second", &self.dropped(mask, &hidden));
        let scores = |pairs: &[[u32; 2]]| {
            Dense::new(pairs.len(), 1, |pair, _| {
                let [one, other] = pairs[pair].map(|end| ends.row(end as usize));
                one.iter().zip(other).map(|(a, b)| a * b).sum()
            })
        };
        0.5 * (logistic(&scores(edges), true) + logistic(&scores(drawn), false))
    }

    /// j, what the discriminator says of codes.
    fn judged(&self, mask: &str, codes: &Dense) -> Dense {
        let hidden = relu(&linear(self.parameters, "judge.first", codes));
        linear(self.parameters, "judge.second", &self.dropped(mask, &hidden))
    }

    /// 2 F(z_x) + E(z_a) + c · (2 F(z_a) + E(z_x)) − mean log σ(j(z_x)) − mean log σ(j(z_a))
    fn generator(&self) -> f64 {
        let (rows, places) = (self.rows(), self.places());
        let observed = gathered(&places, &OBSERVED);
        let of_nodes = as_pairs(&self.draws["pairs of nodes"], NODES);
        let of_rows = as_pairs(&self.draws["pairs of rows"], OBSERVED.len());
        2.0 * self.features("features of rows", &rows)
            + self.edges("edges of places", &places, &edges(NODES), &of_nodes)
            + f64::from(CROSS)
                * (2.0 * self.features("features of places", &observed)
                    + self.edges("edges of rows", &rows, &observed_edges(), &of_rows))
            + logistic(&self.judged("judged rows", &rows), true)
            + logistic(&self.judged("judged places", &observed), true)
    }

    /// −mean log σ(j(noise)) − ½ [ mean log σ(−j(z_x)) + mean log σ(−j(z_a)) ]
    fn discriminator(&self) -> f64 {
        let observed = gathered(&self.places(), &OBSERVED);
        logistic(&self.judged("judged noise", &self.draws["noise"]), true)
            + 0.5 * logistic(&self.judged("judged rows", &self.rows()), false)
            + 0.5 * logistic(&self.judged("judged places", &observed), false)
    }
}

/// What the generator draws, in its order.
fn generator_draws(step: usize, dropout: f32) -> Matrices {
    let rows = OBSERVED.len();
    let record = |program: &Program| {
        let mask = |name: &str, shape: [usize; 2]| {
            program.output(name, program.constant(shape, 1.0).dropout(dropout));
        };
        mask("row", [rows, HIDDEN]);
        mask("place", [NODES, HIDDEN]);
        mask("features of places", [rows, HIDDEN]);
        mask("features of rows", [rows, HIDDEN]);
        mask("edges of places", [NODES, LATENT]);
        program.output("pairs of nodes", sampled_pairs(program, NODES, edges(NODES).len()));
        mask("edges of rows", [rows, LATENT]);
        program.output("pairs of rows", sampled_pairs(program, rows, observed_edges().len()));
        mask("judged rows", [rows, LATENT]);
        mask("judged places", [rows, LATENT]);
    };
    let wanted = [
        ("row", HIDDEN),
        ("place", HIDDEN),
        ("features of places", HIDDEN),
        ("features of rows", HIDDEN),
        ("edges of places", LATENT),
        ("pairs of nodes", 1),
        ("edges of rows", LATENT),
        ("pairs of rows", 1),
        ("judged rows", LATENT),
        ("judged places", LATENT),
    ];
    drawn(GENERATOR, step, record, &wanted)
}

/// What the discriminator draws, in its order.
fn discriminator_draws(step: usize, dropout: f32) -> Matrices {
    let rows = OBSERVED.len();
    let record = |program: &Program| {
        let mask = |name: &str, shape: [usize; 2]| {
            program.output(name, program.constant(shape, 1.0).dropout(dropout));
        };
        mask("row", [rows, HIDDEN]);
        mask("place", [NODES, HIDDEN]);
        program.output("noise", program.normal_noise([rows, LATENT]));
        mask("judged rows", [rows, LATENT]);
        mask("judged places", [rows, LATENT]);
        mask("judged noise", [rows, LATENT]);
    };
    let wanted = [
        ("row", HIDDEN),
        ("place", HIDDEN),
        ("noise", LATENT),
        ("judged rows", LATENT),
        ("judged places", LATENT),
        ("judged noise", LATENT),
    ];
    drawn(DISCRIMINATOR, step, record, &wanted)
}

/// Three updates of one of the programs.
fn check(backbone: Backbone, program: &str, dropout: f32, weight_decay: f32) {
    let table = Table::mixed(OBSERVED.len(), Kind::BalancedBernoulli);
    let features = Observed { rows: OBSERVED.to_vec(), likelihood: table.likelihood() };
    let graph = NormalisedGraph::new(&graph(NODES)).expect("a graph");
    let known = Known {
        graph: &graph,
        features: &features,
        rows: sparse(&table.known_cells()),
        edges: edges(NODES).into(),
        observed_edges: observed_edges().into(),
    };
    let model = model(backbone, dropout, weight_decay);
    let programs = vec![
        model.generator(&known).expect("a program"),
        model.discriminator(&known).expect("a program"),
    ];
    let mut session = crate::device::session(Plan::new(programs).expect("a plan"), SEED);
    Updates::disturb(&mut session);
    let width = table.columns();
    let is_judge = |name: &str| name.starts_with("judge");
    let updates = Updates {
        program,
        columns: &|name| columns(name, width),
        is_learned: &|name| is_judge(name) == (program == DISCRIMINATOR),
        learning: Learning {
            coupled_decay: f64::from(weight_decay),
            ..Learning::rate(f64::from(RATE))
        },
    };
    let draws: Vec<Matrices> = (0..3)
        .map(|step| match program == GENERATOR {
            true => generator_draws(step, dropout),
            false => discriminator_draws(step, dropout),
        })
        .collect();
    updates.check(&mut session, |parameters, update| {
        let reference = Reference { backbone, table: &table, parameters, draws: &draws[update] };
        if program == GENERATOR { reference.generator() } else { reference.discriminator() }
    });
}

/// All terms of the generator's loss: both features, both edges with drawn pairs, both judgements;
/// with dropout everywhere and weight decay.
#[test]
fn the_generator_follows_its_equation() {
    check(Backbone::Gcn, GENERATOR, 0.4, 0.0);
    check(Backbone::Gcn, GENERATOR, 0.0, 0.05);
}

/// The same with attention between nodes.
#[test]
fn the_generator_with_attention_follows_its_equation() {
    check(Backbone::Gat, GENERATOR, 0.0, 0.0);
}

/// Noise against both kinds of codes, and nothing but the discriminator is learned.
#[test]
fn the_discriminator_follows_its_equation() {
    check(Backbone::Gcn, DISCRIMINATOR, 0.4, 0.0);
    check(Backbone::Gat, DISCRIMINATOR, 0.0, 0.05);
}
