//! The binary block: tags that come in themes, and nodes that lean to some themes.
//!
//!   P(theme | node) ∝ exp(LEANING · direction of the theme · latent),   P(tag | theme) ∝ 1 / rank
//!
//! A node draws tags until it has as many as it should; the cost is that of its tags, however
//! many there are to choose from.

use rand::{Rng, RngExt};

use super::GeneratorConfig;
use super::draws::{accumulate_exponentials, choose, poisson};
use super::latents::{Latents, along, direction};
use crate::block::{BlockBuilder, BlockLayout};
use crate::cell_mask::CellMask;
use crate::column::Column;
use crate::random_stream::{self, Purpose};

/// How strongly a node leans to its themes.
const LEANING: f64 = 2.0;
/// The share of tags that have nothing to do with the node's themes.
const WHIM: f64 = 0.1;
/// How often a tag is drawn by theme, for each that a node should have, before any will do.
const TRIES: usize = 4;

const THEMES: usize = 10;
/// One theme a column; the best loved tags first, so that a short list has something of each.
const TAGS: [[&str; THEMES]; 6] = [
    [
        "cycling",
        "chess",
        "cooking",
        "painting",
        "guitar",
        "hiking",
        "coding",
        "gardening",
        "history",
        "yoga",
    ],
    [
        "running",
        "board_games",
        "baking",
        "photography",
        "choir",
        "camping",
        "robotics",
        "carpentry",
        "poetry",
        "meditation",
    ],
    [
        "football",
        "puzzles",
        "coffee",
        "theatre",
        "piano",
        "birdwatching",
        "astronomy",
        "pottery",
        "novels",
        "dancing",
    ],
    [
        "swimming",
        "video_games",
        "wine",
        "cinema",
        "jazz",
        "fishing",
        "electronics",
        "knitting",
        "politics",
        "pilates",
    ],
    [
        "tennis",
        "bridge",
        "barbecue",
        "sculpture",
        "opera",
        "sailing",
        "drones",
        "beekeeping",
        "languages",
        "martial_arts",
    ],
    [
        "rowing",
        "trivia",
        "cheese",
        "museums",
        "vinyl",
        "climbing",
        "podcasts",
        "antiques",
        "genealogy",
        "volunteering",
    ],
];

/// The name of a tag.
fn tag_name(tag: usize) -> String {
    let row = TAGS.get(tag / THEMES);
    row.map_or_else(|| format!("topic_{}", tag + 1), |row| row[tag % THEMES].to_owned())
}

/// The block `interests`.
pub(super) fn draw(config: &GeneratorConfig, latents: &Latents) -> Column {
    let topics = config.topics;
    let mut random = random_stream::open(config.seed, Purpose::Topics);
    let themes: Vec<_> = (0..THEMES.min(topics)).map(|_| direction(&mut random)).collect();
    let popularity = popularity(topics.div_ceil(themes.len()));

    let names = (0..topics).map(tag_name).collect();
    let mut block = BlockBuilder::new(topics, BlockLayout::Columns(names));
    let mut tags = Vec::new();
    for latent in latents.iter() {
        let mut leanings = [0.0; THEMES];
        let leanings = &mut leanings[..themes.len()];
        for (leaning, theme) in leanings.iter_mut().zip(&themes) {
            *leaning = LEANING * along(theme, &latent);
        }
        accumulate_exponentials(leanings);
        tags.clear();
        draw_tags(config, leanings, &popularity, &mut random, &mut tags);
        block.push_row(&mut tags);
    }
    Column::block("interests", block.finish(CellMask::none(config.nodes, topics)))
}

/// The running sums of 1 / rank, flattened a little at the front.
fn popularity(ranks: usize) -> Vec<f64> {
    let mut sum = 0.0;
    let weights = (0..ranks).map(|rank| 1.0 / (rank as f64 + 2.0));
    weights
        .map(|weight| {
            sum += weight;
            sum
        })
        .collect()
}

/// Appends the different tags of a node, each with the value one.
fn draw_tags(
    config: &GeneratorConfig,
    leanings: &[f64],
    popularity: &[f64],
    random: &mut impl Rng,
    tags: &mut Vec<(u32, f64)>,
) {
    let topics = config.topics;
    let wanted = poisson(config.words_per_node, random) as usize;
    // Never all of them: finding the last few by chance would take long.
    let wanted = wanted.min(topics.div_ceil(2) + topics / 4);
    let mut tries = TRIES * wanted;
    while tags.len() < wanted {
        let by_theme = tries > 0 && random.random::<f64>() >= WHIM;
        tries = tries.saturating_sub(1);
        let tag = if by_theme {
            let theme = choose(leanings, random);
            let of_theme = (topics - theme).div_ceil(leanings.len());
            theme + leanings.len() * choose(&popularity[..of_theme], random)
        } else {
            random.random_range(0..topics)
        };
        if tags.iter().all(|&(other, _)| other != tag as u32) {
            tags.push((tag as u32, 1.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn tags_have_names_of_their_own() {
        let names: BTreeSet<String> = (0..200).map(tag_name).collect();
        assert_eq!(names.len(), 200);
        assert_eq!((tag_name(0), tag_name(1)), ("cycling".to_owned(), "chess".to_owned()));
        assert_eq!((tag_name(59), tag_name(60)), ("volunteering".into(), "topic_61".into()));
    }
}
