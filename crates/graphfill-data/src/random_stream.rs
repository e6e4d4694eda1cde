//! Random numbers by seed. Each purpose has its own stream, so drawing more numbers for one purpose
//! does not change another, and two purposes with the same seed are independent.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// What random numbers are drawn for. Changing a discriminant changes the results of every seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    RandomSplit = 1,
    StratifiedSplit = 2,
    HiddenCells = 3,
    TestCells = 4,
    ValidationCells = 5,
    Communities = 6,
    Degrees = 7,
    Edges = 8,
    Latents = 9,
    Columns = 10,
    Topics = 11,
    MissingRows = 12,
    MissingCells = 13,
    ValidationRows = 14,
}

/// The random stream of a seed for a purpose, from its start.
pub(crate) fn open(seed: u64, purpose: Purpose) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(purpose as u64);
    random
}
