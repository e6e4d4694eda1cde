//! The columns of a generated table: people, plain numbers, and the binary block `interests`.
//!
//! People: each column depends on one or two latent coordinates, on noise, and on the columns
//! before it (income on the occupation, membership on the income, visits on the membership).
//!
//! Interests: P(theme | node) ∝ exp(2 · direction of the theme · latent), P(tag | theme) ∝ 1 / rank.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray};
use rand::{Rng, RngExt};

use super::GeneratorConfig;
use super::latents::{Latent, along, direction, normal};
use crate::block::{BlockBuilder, BlockLayout};
use crate::cell_mask::CellMask;
use crate::column::Column;
use crate::infer::typed_column;
use crate::kind::{DeclaredKind, Kind, Unused};
use crate::random_stream::{self, Purpose};

const DISTRICTS: &str = "Harbour,Old Town,Northgate,Riverside,Millfield,Station,Castle Hill,\
    Eastbrook,Orchard,Market,Southbank,Lakeside,Westend,Garden,Foundry,Chapel,Parkside,Meadow,\
    Quarry,Bridge";
const MIN_DISTRICTS: usize = 4;
/// The fraction of people who live in the district of their community.
const AT_HOME: f64 = 0.8;

const OCCUPATIONS: &str = "student,retired,teacher,nurse,engineer,clerk,shopkeeper,driver,lawyer,artist,builder,scientist";
const STUDENT: usize = 0;
const RETIRED: usize = 1;
/// The logarithm of the pay of each occupation relative to the mean.
const PAY: [f64; 12] = [-0.8, -0.3, 0.05, 0.0, 0.45, -0.1, -0.05, -0.15, 0.6, -0.35, 0.0, 0.35];

const NOTES: &str = "joined at the spring fair;moved here from the coast;prefers letters to calls;\
    asks for the quiet table;knows the librarian well;comes with two children;\
    plays in the town band;away most of the summer;cycles in from the hills;\
    helped at the street party;met through a neighbour;always early, never late";

const THEMES: usize = 10;
/// The most popular tag of each theme, then the second of each, and so on.
const TAGS: &str = "cycling,chess,cooking,painting,guitar,hiking,coding,gardening,history,yoga,\
    running,board_games,baking,photography,choir,camping,robotics,carpentry,poetry,meditation,\
    football,puzzles,coffee,theatre,piano,birdwatching,astronomy,pottery,novels,dancing,\
    swimming,video_games,wine,cinema,jazz,fishing,electronics,knitting,politics,pilates,\
    tennis,bridge,barbecue,sculpture,opera,sailing,drones,beekeeping,languages,martial_arts,\
    rowing,trivia,cheese,museums,vinyl,climbing,podcasts,antiques,genealogy,volunteering";
/// The fraction of tags that are drawn without regard to the themes of a node.
const RANDOM_TAGS: f64 = 0.1;
/// How many tags are drawn by theme per tag wanted; further ones are drawn uniformly.
const TRIES: usize = 4;

/// The columns of [`super::ColumnSet::Mixed`].
pub(super) fn people(
    config: &GeneratorConfig,
    communities: &[u32],
    latents: &[Latent],
) -> Vec<Column> {
    let names =
        |list: &'static str, separator| -> Vec<&'static str> { list.split(separator).collect() };
    let (district_names, occupation_names) = (names(DISTRICTS, ','), names(OCCUPATIONS, ','));
    let note_names = names(NOTES, ';');
    let mut random = random_stream::open(config.seed, Purpose::Columns);
    let preferences = PAY.map(|_| direction(&mut random));
    let district_count = config.communities.clamp(MIN_DISTRICTS, district_names.len());
    let (mut ages, mut incomes, mut members) = (Vec::new(), Vec::new(), Vec::new());
    let (mut districts, mut occupations) = (Vec::new(), Vec::new());
    let (mut visits, mut notes) = (Vec::new(), Vec::new());
    for (row, latent) in latents.iter().enumerate() {
        let [z0, z1, z2, z3, ..] = latent.map(f64::from);
        // Reflected at 18 rather than cut off, so that no age is too frequent.
        let years = 26.0 + 16.0 * (0.8 * z0 + 0.6 * normal(&mut random));
        let age = (18.0 + years.abs()).round().min(97.0);
        ages.push(age as i64);

        let mut scores = preferences.map(|preference| 2.4 * along(&preference, latent));
        scores[STUDENT] += 0.7 * (24.0 - age).clamp(-12.0, 6.0);
        scores[RETIRED] += 0.8 * (age - 64.0).clamp(-10.0, 12.0);
        let occupation = choose(&running_sums(scores.map(libm::exp)), &mut random);
        occupations.push(occupation_names[occupation]);

        let own = 0.45 * (0.9 * z1 + 0.45 * normal(&mut random));
        let pay = PAY[occupation] + own + 0.004 * (age - 44.0);
        incomes.push(rounded(libm::exp(10.3 + pay), 100.0));

        let score = -0.3 + 2.0 * z2 + 0.8 * pay;
        let member = random.random::<f64>() * (1.0 + libm::exp(-score)) < 1.0;
        members.push(member);
        let rate = 0.5 + 0.7 * z3 + if member { 0.9 } else { 0.0 };
        visits.push(i64::from(poisson(libm::exp(rate), &mut random)));

        let at_home = random.random::<f64>() < AT_HOME;
        let home = communities[row] as usize % district_count;
        let district = if at_home { home } else { random.random_range(0..district_count) };
        districts.push(district_names[district]);
        // The card number makes every note different.
        let note = note_names[random.random_range(0..note_names.len())];
        notes.push(format!("{note}, card {}", 100_000 + row));
    }
    let free_text = Kind::Unused(Unused::FreeText { distinct: notes.len() });
    vec![
        column("age", DeclaredKind::Count, Arc::new(Int64Array::from(ages))),
        column("income", DeclaredKind::Number, Arc::new(Float64Array::from(incomes))),
        column("member", DeclaredKind::Boolean, Arc::new(BooleanArray::from(members))),
        column("district", DeclaredKind::Category, Arc::new(StringArray::from(districts))),
        column("occupation", DeclaredKind::Category, Arc::new(StringArray::from(occupations))),
        column("visits", DeclaredKind::Count, Arc::new(Int64Array::from(visits))),
        Column::new("note", free_text, Arc::new(StringArray::from(notes))),
    ]
}

/// The columns `x1`, `x2`, …, each along its own direction of the latent space.
pub(super) fn numbers(config: &GeneratorConfig, count: usize, latents: &[Latent]) -> Vec<Column> {
    let mut random = random_stream::open(config.seed, Purpose::Columns);
    let draw = |number: usize| {
        let towards = direction(&mut random);
        let length = towards.iter().map(|part| part * part).sum::<f64>().sqrt().max(1e-6);
        let mean = 5.0 * normal(&mut random);
        let spread = 0.5 + normal(&mut random).abs();
        let cells = latents.iter().map(|latent| {
            let common = along(&towards, latent) / length;
            rounded(mean + spread * (0.8 * common + 0.6 * normal(&mut random)), 1000.0)
        });
        let cells = Float64Array::from_iter_values(cells);
        column(&format!("x{number}"), DeclaredKind::Number, Arc::new(cells))
    };
    (1..=count).map(draw).collect()
}

/// The binary block `interests`.
pub(super) fn interests(config: &GeneratorConfig, latents: &[Latent]) -> Column {
    let topics = config.topics;
    let mut random = random_stream::open(config.seed, Purpose::Topics);
    let themes: Vec<_> = (0..THEMES.min(topics)).map(|_| direction(&mut random)).collect();
    let ranks = topics.div_ceil(themes.len());
    let popularity = running_sums((0..ranks).map(|rank| 1.0 / (rank as f64 + 2.0)));
    let mut names: Vec<String> = TAGS.split(',').take(topics).map(str::to_owned).collect();
    names.extend((names.len()..topics).map(|tag| format!("topic_{}", tag + 1)));

    let mut block = BlockBuilder::new(topics, BlockLayout::Columns(names));
    let mut tags: Vec<(u32, f64)> = Vec::new();
    for latent in latents {
        let scores = themes.iter().map(|theme| libm::exp(2.0 * along(theme, latent)));
        let scores = running_sums(scores);
        // Never all of them: drawing the last few at random would take long.
        let wanted = poisson(config.words_per_node, &mut random) as usize;
        let wanted = wanted.min(topics.div_ceil(2) + topics / 4);
        let mut tries = TRIES * wanted;
        tags.clear();
        while tags.len() < wanted {
            let by_theme = tries > 0 && random.random::<f64>() >= RANDOM_TAGS;
            tries = tries.saturating_sub(1);
            let tag = if by_theme {
                let theme = choose(&scores, &mut random);
                let of_theme = (topics - theme).div_ceil(themes.len());
                theme + themes.len() * choose(&popularity[..of_theme], &mut random)
            } else {
                random.random_range(0..topics)
            };
            if tags.iter().all(|&(other, _)| other != tag as u32) {
                tags.push((tag as u32, 1.0));
            }
        }
        block.push_row(&mut tags);
    }
    Column::block("interests", block.finish(CellMask::none(latents.len(), topics)))
}

/// A column of this kind; unused where all cells are the same.
fn column(name: &str, kind: DeclaredKind, cells: ArrayRef) -> Column {
    typed_column(name, cells, Some(kind)).expect("drawn cells are of the kind they are drawn for")
}

fn rounded(value: f64, units_per_one: f64) -> f64 {
    (value * units_per_one).round() / units_per_one
}

fn running_sums(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut sum = 0.0;
    let add = |value| {
        sum += value;
        sum
    };
    values.into_iter().map(add).collect()
}

/// A random position, drawn by weights whose running sums are given.
fn choose(running_sums: &[f64], random: &mut impl Rng) -> usize {
    let Some(&total) = running_sums.last() else { return 0 };
    let aim = random.random::<f64>() * total;
    running_sums.partition_point(|&sum| sum <= aim).min(running_sums.len() - 1)
}

/// A Poisson number: how many uniform factors keep the product above e^(−mean); a rounded normal
/// number for a large mean.
fn poisson(mean: f64, random: &mut impl Rng) -> u32 {
    if mean > 30.0 {
        return (mean + mean.sqrt() * normal(random)).round().max(0.0) as u32;
    }
    let floor = libm::exp(-mean);
    let mut product = random.random::<f64>();
    let mut count = 0;
    while product > floor {
        product *= random.random::<f64>();
        count += 1;
    }
    count
}
