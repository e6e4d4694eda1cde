//! A variational autoencoder of words (Kingma and Welling, 2014):
//!
//!   z = mean + e^(v/2) ⊙ noise,  loss = words told from z + weight · KL(N(mean, eᵛ) ‖ N(0, 1))

use graphfill_engine::{Matrix, Program};

use crate::community::{
    Community, NODES, WORDS, adam, all_nodes, loss_now, minimise, session, told_apart, train,
};

const HIDDEN: usize = 16;
const LATENT: usize = 4;

/// Mean and logarithm of the variance.
fn encode(program: &Program) -> [Matrix<'_>; 2] {
    let hidden = program.input("words", [NODES, WORDS]).linear("encode", HIDDEN).relu();
    ["mean", "log_variance"].map(|name| hidden.linear(name, LATENT))
}

fn decode(latent: Matrix<'_>) -> Matrix<'_> {
    latent.linear("decode", HIDDEN).relu().linear("scores", WORDS)
}

#[test]
fn a_variational_autoencoder_learns() {
    let graph = Community::new();
    let cells = graph.cells(&all_nodes());
    let training = Program::new("training");
    let [mean, log_variance] = encode(&training);
    let noise = training.normal_noise([NODES, LATENT]);
    let latent = mean + log_variance.scale(0.5).exp().multiply(noise);
    let divergence = mean.gaussian_kl(log_variance);
    let loss = decode(latent).loss(&cells) + divergence.scale(0.02);
    training.output("divergence", divergence);
    minimise(&training, loss, &adam(0.01), None);
    let prediction = Program::new("prediction");
    let scores = decode(encode(&prediction)[0]);
    prediction.output("scores", scores);
    prediction.output("loss", scores.loss(&cells));

    let mut session = session(vec![training, prediction]);
    session.write("words", &graph.dense_words()).expect("words");
    let before = loss_now(&mut session, "prediction");
    train(&mut session, "training", 150, 0.7);
    let divergence = session.scalar("training", "divergence").expect("a divergence");
    assert!((0.1..20.0).contains(&divergence), "{divergence}");
    let after = loss_now(&mut session, "prediction");
    assert!(after < 0.6 * before, "the loss of predictions was {before} and is {after}");
    let scores = session.read("prediction", "scores").expect("scores");
    assert_eq!(told_apart(&scores, &all_nodes()), 1.0);
}
