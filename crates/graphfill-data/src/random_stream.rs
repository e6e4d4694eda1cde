//! Random numbers by seed: every purpose has a stream of its own, so that drawing more for one
//! never changes another, and two purposes with one seed share nothing.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// What random numbers are drawn for. The numbers are part of what a seed means: keep them.
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

/// The stream of a seed for a purpose, from its beginning.
pub(crate) fn open(seed: u64, purpose: Purpose) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(purpose as u64);
    random
}
