//! The likeliest class of every node, from latents and the decoder of labels:
//!
//!   class_i = argmax over classes of (Z W_y + b_y)_i          Z: nodes × width, W_y: width × classes

use graphfill_engine::cpu::multiply;

/// The likeliest class of each of `nodes` rows.
pub fn likeliest_classes(
    latent: &[f32],
    nodes: usize,
    weight: &[f32],
    bias: &[f32],
    classes: usize,
) -> Vec<u32> {
    let mut scores = vec![0.0; nodes * classes];
    let width = latent.len() / nodes.max(1);
    multiply(latent, nodes, width, weight, classes, &mut scores);
    let likeliest = |row: &[f32]| {
        let scores = row.iter().zip(bias).map(|(score, bias)| score + bias).enumerate();
        scores.max_by(|one, other| one.1.total_cmp(&other.1)).map_or(0, |(class, _)| class as u32)
    };
    scores.chunks_exact(classes.max(1)).map(likeliest).collect()
}
