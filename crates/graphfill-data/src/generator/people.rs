//! The people of a town: what a customer table might say about them.
//!
//! Every column follows one or two latent coordinates and some chance of its own, and leans on
//! the columns before it: pay follows the occupation, membership the pay, visits the membership.

use std::sync::Arc;

use arrow_array::{BooleanArray, Float64Array, Int64Array, StringArray};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::GeneratorConfig;
use super::columns::{column, rounded};
use super::communities::Communities;
use super::draws::{accumulate_exponentials, choose, happens, normal, poisson};
use super::latents::{Latents, WIDTH, along, direction};
use crate::column::Column;
use crate::kind::{DeclaredKind, Kind, Unused};
use crate::portable;
use crate::random_stream::{self, Purpose};

const DISTRICTS: [&str; 20] = [
    "Harbour",
    "Old Town",
    "Northgate",
    "Riverside",
    "Millfield",
    "Station",
    "Castle Hill",
    "Eastbrook",
    "Orchard",
    "Market",
    "Southbank",
    "Lakeside",
    "Westend",
    "Garden",
    "Foundry",
    "Chapel",
    "Parkside",
    "Meadow",
    "Quarry",
    "Bridge",
];
/// A town has a few quarters even where it is one community.
const MIN_DISTRICTS: usize = 4;
/// The share of people who live where their community does.
const AT_HOME: f64 = 0.8;

/// Occupations by name, with the logarithm of their pay against the average.
const OCCUPATIONS: [(&str, f64); 12] = [
    ("student", -0.8),
    ("retired", -0.3),
    ("teacher", 0.05),
    ("nurse", 0.0),
    ("engineer", 0.45),
    ("clerk", -0.1),
    ("shopkeeper", -0.05),
    ("driver", -0.15),
    ("lawyer", 0.6),
    ("artist", -0.35),
    ("builder", 0.0),
    ("scientist", 0.35),
];
const STUDENT: usize = 0;
const RETIRED: usize = 1;
/// How strongly an occupation follows the latents.
const CALLING: f64 = 2.4;

/// The logarithm of the average pay.
const PAY: f64 = 10.3;

const OPENINGS: [&str; 12] = [
    "joined at the spring fair",
    "moved here from the coast",
    "prefers letters to calls",
    "asks for the quiet table",
    "knows the librarian well",
    "comes with two children",
    "plays in the town band",
    "away most of the summer",
    "cycles in from the hills",
    "helped at the street party",
    "met through a neighbour",
    "always early, never late",
];

struct Person {
    age: i64,
    income: f64,
    member: bool,
    district: usize,
    occupation: usize,
    visits: i64,
    opening: usize,
}

/// The columns of a person each node.
pub(super) fn draw(
    config: &GeneratorConfig,
    communities: &Communities,
    latents: &Latents,
) -> Vec<Column> {
    let mut random = random_stream::open(config.seed, Purpose::Columns);
    let callings: Vec<_> = OCCUPATIONS.iter().map(|_| direction(&mut random)).collect();
    let districts = communities.count().clamp(MIN_DISTRICTS, DISTRICTS.len());
    let people: Vec<Person> = (0..config.nodes)
        .map(|node| {
            let latent = latents.of(node);
            let home = communities.codes[node] as usize % districts;
            person(&latent, home, districts, &callings, &mut random)
        })
        .collect();
    into_columns(&people)
}

fn person(
    latent: &[f64; WIDTH],
    home: usize,
    districts: usize,
    callings: &[[f64; WIDTH]],
    random: &mut ChaCha8Rng,
) -> Person {
    // Reflected rather than cut off at 18, so that the young don't pile up there.
    let years = 26.0 + 16.0 * (0.8 * latent[0] + 0.6 * normal(random));
    let age = (18.0 + years.abs()).round().min(97.0);

    let occupation = occupation(latent, age, callings, random);
    let own_pay = 0.45 * (0.9 * latent[1] + 0.45 * normal(random));
    let pay = OCCUPATIONS[occupation].1 + own_pay + 0.004 * (age - 44.0);
    let income = rounded(portable::exp(PAY + pay), 2);

    let member = happens(-0.3 + 2.0 * latent[2] + 0.8 * pay, random);
    let rate = 0.5 + 0.7 * latent[3] + if member { 0.9 } else { 0.0 };
    let visits = poisson(portable::exp(rate), random);

    let district =
        if random.random::<f64>() < AT_HOME { home } else { random.random_range(0..districts) };
    let opening = random.random_range(0..OPENINGS.len());
    Person {
        age: age as i64,
        income,
        member,
        district,
        occupation,
        visits: i64::from(visits),
        opening,
    }
}

/// Drawn by calling and age: the young study, the old have retired.
fn occupation(
    latent: &[f64; WIDTH],
    age: f64,
    callings: &[[f64; WIDTH]],
    random: &mut ChaCha8Rng,
) -> usize {
    let mut weights = [0.0; OCCUPATIONS.len()];
    for (weight, calling) in weights.iter_mut().zip(callings) {
        *weight = CALLING * along(calling, latent);
    }
    weights[STUDENT] += 0.7 * (24.0 - age).clamp(-12.0, 6.0);
    weights[RETIRED] += 0.8 * (age - 64.0).clamp(-10.0, 12.0);
    accumulate_exponentials(&mut weights);
    choose(&weights, random)
}

fn into_columns(people: &[Person]) -> Vec<Column> {
    let ages = Int64Array::from_iter_values(people.iter().map(|person| person.age));
    let incomes = Float64Array::from_iter_values(people.iter().map(|person| person.income));
    let members: BooleanArray = people.iter().map(|person| Some(person.member)).collect();
    let districts = people.iter().map(|person| DISTRICTS[person.district]);
    let occupations = people.iter().map(|person| OCCUPATIONS[person.occupation].0);
    let visits = Int64Array::from_iter_values(people.iter().map(|person| person.visits));
    // The number of the card makes every note another one.
    let notes = people
        .iter()
        .enumerate()
        .map(|(row, person)| format!("{}, card {}", OPENINGS[person.opening], 100_000 + row));
    let free_text = Kind::Unused(Unused::FreeText { distinct: people.len() });
    vec![
        column("age", DeclaredKind::Count, Arc::new(ages)),
        column("income", DeclaredKind::Number, Arc::new(incomes)),
        column("member", DeclaredKind::Boolean, Arc::new(members)),
        category("district", StringArray::from_iter_values(districts)),
        category("occupation", StringArray::from_iter_values(occupations)),
        column("visits", DeclaredKind::Count, Arc::new(visits)),
        Column::new("note", free_text, Arc::new(StringArray::from_iter_values(notes))),
    ]
}

fn category(name: &str, cells: StringArray) -> Column {
    column(name, DeclaredKind::Category, Arc::new(cells))
}
