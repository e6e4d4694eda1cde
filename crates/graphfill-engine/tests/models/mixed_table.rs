//! A table of numbers, categories and booleans with holes, told from a graph by one decoder that
//! starts from an offset whose weight it learns.

use std::sync::Arc;

use graphfill_engine::{
    Decoder, Initial, Likelihood, MISSING_CATEGORY, Matrix, Program, SparseMatrix, Targets,
};

use crate::community::{
    Community, NODES, Numbers, adam, community, loss_now, minimise, session, train,
};

const NUMBERS: usize = 3;
const LEVELS: usize = 3;
const BOOLEANS: usize = 4;
const COLUMNS: usize = NUMBERS + LEVELS + BOOLEANS;
const HIDDEN: usize = 8;

/// What was observed, and the truth: the category of each node, and its booleans.
struct Table {
    likelihood: Arc<Likelihood>,
    categories: Vec<u32>,
    booleans: Vec<f32>,
}

fn table() -> Table {
    let mut numbers = Numbers::new(9);
    let sign = |node: usize| if community(node) == 0 { 1.0 } else { -1.0 };
    let holes = |values: &[f32], numbers: &mut Numbers| -> Vec<f32> {
        let hole = |&value: &f32| if numbers.next() < 0.2 { f32::NAN } else { value };
        values.iter().map(hole).collect()
    };
    let number = |at: usize| sign(at / NUMBERS) * (1 + at % NUMBERS) as f32;
    let values: Vec<f32> = (0..NODES * NUMBERS).map(number).collect();
    let values = Targets::dense([NODES, NUMBERS], holes(&values, &mut numbers));
    let boolean = |at: usize| ((at / BOOLEANS / (NODES / 2) + at) % 2) as f32;
    let booleans: Vec<f32> = (0..NODES * BOOLEANS).map(boolean).collect();
    let targets = Targets::dense([NODES, BOOLEANS], holes(&booleans, &mut numbers));
    let categories: Vec<u32> = (0..NODES).map(|node| 2 * community(node) as u32).collect();
    let known = |&category: &u32| if numbers.next() < 0.2 { MISSING_CATEGORY } else { category };
    let observed = categories.iter().map(known).collect();
    let likelihood = Likelihood::new(NODES)
        .squared_error(values, 0.5)
        .and_then(|blocks| blocks.categorical(LEVELS, observed, 2.0))
        .and_then(|blocks| blocks.balanced_bernoulli(targets, 1.0))
        .expect("a table");
    Table { likelihood: Arc::new(likelihood), categories, booleans }
}

fn encode<'p>(program: &'p Program, graph: &Arc<SparseMatrix>, dropout: f32) -> Matrix<'p> {
    let places = program.parameter("places", [NODES, HIDDEN], Initial::Glorot);
    program.sparse_product(graph, places).tanh().dropout(dropout).linear("latent", HIDDEN).elu()
}

fn decoder(program: &Program) -> (Matrix<'_>, Matrix<'_>, Matrix<'_>, Matrix<'_>) {
    let weight = program.parameter("decoder.weight", [HIDDEN, COLUMNS], Initial::Glorot);
    let bias = program.parameter("decoder.bias", [1, COLUMNS], Initial::ZEROS);
    let offset = program.input("offset", [NODES, COLUMNS]);
    let scale = program.parameter("decoder.scale", [1, 1], Initial::Constant(0.1));
    (weight, bias, offset, scale)
}

#[test]
fn a_mixed_table_is_learnt() {
    let graph = Community::new().normalised();
    let Table { likelihood, categories, booleans } = table();
    let training = Program::new("training");
    let (weight, bias, offset, scale) = decoder(&training);
    let whole = Decoder { weight, bias: Some(bias), offsets: vec![(offset, scale)] };
    let loss = encode(&training, &graph, 0.1).decoder_loss(whole, &likelihood);
    minimise(&training, loss, &adam(0.03), None);
    // The scores that the decoder's loss never shows, and their loss by itself.
    let prediction = Program::new("prediction");
    let (weight, bias, offset, scale) = decoder(&prediction);
    let whole = Decoder { weight, bias: Some(bias), offsets: vec![(offset, scale)] };
    let latent = encode(&prediction, &graph, 0.0);
    let scores = latent.product(weight).add_bias(bias) + offset.scale_by(scale);
    prediction.output("scores", scores);
    prediction.output("loss", scores.loss(&likelihood));
    prediction.output("decoder_loss", latent.decoder_loss(whole, &likelihood));

    let mut session = session(vec![training, prediction]);
    // The first number is nearly known beforehand; nothing else is.
    let offset = |at: usize| match (at % COLUMNS, community(at / COLUMNS)) {
        (0, 0) => 1.0,
        (0, _) => -1.0,
        _ => 0.0,
    };
    let offset: Vec<f32> = (0..NODES * COLUMNS).map(offset).collect();
    session.write("offset", &offset).expect("an offset");
    train(&mut session, "training", 150, 0.3);
    let scale = session.buffer("decoder.scale").expect("a scale")[0];
    assert!(scale > 0.2, "the offset helps: {scale}");
    let loss = loss_now(&mut session, "prediction");
    let same = session.scalar("prediction", "decoder_loss").expect("a loss");
    assert!((loss - same).abs() < 1e-5 * loss.max(1.0), "{loss} and {same}");
    let scores = session.read("prediction", "scores").expect("scores");
    for (node, row) in scores.chunks_exact(COLUMNS).enumerate() {
        let (category, own) = (&row[NUMBERS..NUMBERS + LEVELS], categories[node] as usize);
        assert!(category.iter().all(|&score| score <= category[own]), "node {node}");
        let truth = &booleans[node * BOOLEANS..][..BOOLEANS];
        for (&score, &truth) in row[NUMBERS + LEVELS..].iter().zip(truth) {
            assert_eq!(score > 0.0, truth > 0.5, "node {node}");
        }
    }
}
