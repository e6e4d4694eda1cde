//! Two encoders with one latent space (Chen and others, "Learning on attribute-missing graphs",
//! 2022): one reads words, the other the graph; what either makes is decoded to words and to edges,
//! and a discriminator that is trained in turn draws both to normal noise. Nodes without words have
//! them decoded from the graph.

use std::sync::Arc;

use graphfill_engine::{Initial, Label, Likelihood, Matrix, Program, Session, SparseMatrix};

use crate::community::{Community, NODES, WORDS, adam, all_nodes, loss_now, session, told_apart};

const HIDDEN: usize = 16;
const LATENT: usize = 8;
const CROSS: f32 = 10.0;

struct Data {
    graph: Arc<SparseMatrix>,
    edges: Arc<[[u32; 2]]>,
    /// The edges among known nodes, by their place among them.
    known_edges: Arc<[[u32; 2]]>,
    /// Nodes whose words are known, the words, and what they are compared with.
    known: Vec<u32>,
    table: Arc<SparseMatrix>,
    cells: Arc<Likelihood>,
}

/// What either encoder made: of known nodes from words, of all nodes from the graph.
struct Latents<'p> {
    words: Matrix<'p>,
    graph: Matrix<'p>,
}

impl Data {
    fn new() -> Self {
        let community = Community::new();
        let known: Vec<u32> = all_nodes().into_iter().filter(|node| node % 4 != 3).collect();
        let edges = community.edges();
        let place = |node: u32| known.binary_search(&node).ok().map(|place| place as u32);
        let both = |&[from, to]: &[u32; 2]| Some([place(from)?, place(to)?]);
        Data {
            graph: community.normalised(),
            known_edges: edges.iter().filter_map(both).collect(),
            edges,
            table: community.table(&known),
            cells: community.cells(&known),
            known,
        }
    }

    fn encode<'p>(&self, program: &'p Program, dropout: f32) -> Latents<'p> {
        let weight = program.parameter("words.weight", [WORDS, HIDDEN], Initial::Glorot);
        let words = program.sparse_product(&self.table, weight).relu().dropout(dropout);
        let places = program.parameter("graph.weight", [NODES, HIDDEN], Initial::Glorot);
        let graph = program.sparse_product(&self.graph, places).relu().dropout(dropout);
        let graph = program.sparse_product(&self.graph, graph.linear("graph.latent", LATENT));
        Latents { words: words.linear("words.latent", LATENT), graph }
    }

    /// The generator's loss without its part against the discriminator.
    fn reconstruction<'p>(&self, latents: &Latents<'p>) -> Matrix<'p> {
        let known = latents.graph.gather_rows(&self.known);
        let own =
            decode_words(latents.words).loss(&self.cells) + edge_loss(latents.graph, &self.edges);
        let cross =
            decode_words(known).loss(&self.cells) + edge_loss(latents.words, &self.known_edges);
        own + cross.scale(CROSS)
    }

    fn session(&self) -> Session {
        let generator = Program::new("generator");
        let latents = self.encode(&generator, 0.1);
        let reconstruction = self.reconstruction(&latents);
        let loss = reconstruction + fooling(&latents, Label::One);
        generator.output("reconstruction", reconstruction);
        minimise(&generator, loss, |name| !name.starts_with("discriminator"));

        let discriminator = Program::new("discriminator");
        let latents = self.encode(&discriminator, 0.1);
        let noise = discriminator.normal_noise([NODES, LATENT]);
        let loss = judge(noise).binary_loss(Label::One) + fooling(&latents, Label::Zero).scale(0.5);
        minimise(&discriminator, loss, |name| name.starts_with("discriminator"));

        let prediction = Program::new("prediction");
        let latents = self.encode(&prediction, 0.0);
        prediction.output("scores", decode_words(latents.graph));
        prediction.output("loss", self.reconstruction(&latents));
        session(vec![generator, discriminator, prediction])
    }
}

/// Minimises a loss by the parameters whose names are chosen.
fn minimise<'p>(program: &'p Program, loss: Matrix<'p>, chosen: impl Fn(&str) -> bool) {
    program.output("loss", loss);
    let names = program.parameters();
    let names: Vec<&str> = names.iter().map(String::as_str).filter(|name| chosen(name)).collect();
    program.minimise(loss, &adam(0.01), None, &names);
}

fn decode_words(latent: Matrix<'_>) -> Matrix<'_> {
    latent.linear("to_words.first", HIDDEN).relu().linear("to_words.second", WORDS)
}

/// Edges against as many pairs that are drawn.
fn edge_loss<'p>(latent: Matrix<'p>, edges: &Arc<[[u32; 2]]>) -> Matrix<'p> {
    let ends = latent.linear("to_edges.first", HIDDEN).relu().linear("to_edges.second", HIDDEN);
    let known = ends.pair_scores(ends, edges).binary_loss(Label::One);
    let drawn = ends.sampled_pair_scores(ends, edges.len()).binary_loss(Label::Zero);
    (known + drawn).scale(0.5)
}

/// How far rows look like noise.
fn judge(rows: Matrix<'_>) -> Matrix<'_> {
    let hidden = rows.linear("discriminator.first", LATENT).relu();
    hidden.linear("discriminator.second", 1)
}

/// The loss of both latents if the discriminator should give them this label.
fn fooling<'p>(latents: &Latents<'p>, label: Label) -> Matrix<'p> {
    judge(latents.words).binary_loss(label) + judge(latents.graph).binary_loss(label)
}

/// The parameters that a step of a program changes.
fn changed(session: &mut Session, program: &str) -> Vec<String> {
    let names: Vec<String> = session.parameters().map(str::to_owned).collect();
    let read = |session: &Session| -> Vec<Vec<f32>> {
        names.iter().map(|name| session.buffer(name).expect("a parameter")).collect()
    };
    let before = read(session);
    session.run(program).expect("finite numbers");
    let after = read(session);
    let pairs = names.iter().zip(before.iter().zip(&after));
    pairs.filter(|(_, (before, after))| before != after).map(|(name, _)| name.clone()).collect()
}

#[test]
fn a_shared_latent_space_is_learnt() {
    let data = Data::new();
    let mut session = data.session();
    let first = loss_now(&mut session, "prediction");
    for _ in 0..75 {
        for program in ["generator", "generator", "discriminator"] {
            session.run(program).expect("finite numbers");
        }
    }
    let discriminator = session.scalar("discriminator", "loss").expect("a loss");
    assert!((0.01..10.0).contains(&discriminator), "{discriminator}");
    session.run("generator").expect("finite numbers");
    let [reconstruction, loss] =
        ["reconstruction", "loss"].map(|name| session.scalar("generator", name).expect("a loss"));
    assert!(reconstruction < 0.7 * first && loss > reconstruction, "{reconstruction}, {first}");
    let last = loss_now(&mut session, "prediction");
    assert!(last < 0.7 * first, "the loss of predictions was {first} and is {last}");
    let scores = session.read("prediction", "scores").expect("scores");
    let row = |node: u32| scores[node as usize * WORDS..][..WORDS].to_vec();
    let unknown: Vec<u32> =
        all_nodes().into_iter().filter(|node| !data.known.contains(node)).collect();
    let of_unknown: Vec<f32> = unknown.iter().flat_map(|&node| row(node)).collect();
    assert!(told_apart(&of_unknown, &unknown) >= 0.9, "nodes without words");
    assert!(told_apart(&scores, &all_nodes()) >= 0.9, "all nodes");
}

#[test]
fn each_program_changes_its_own_parameters() {
    let mut session = Data::new().session();
    let all = session.parameters().count();
    let of_discriminator = |name: &String| name.starts_with("discriminator");
    let by_generator = changed(&mut session, "generator");
    assert!(!by_generator.iter().any(of_discriminator), "{by_generator:?}");
    let by_discriminator = changed(&mut session, "discriminator");
    assert!(by_discriminator.iter().all(of_discriminator), "{by_discriminator:?}");
    assert_eq!(by_generator.len() + by_discriminator.len(), all);
    assert_eq!(changed(&mut session, "prediction"), Vec::<String>::new());
}
