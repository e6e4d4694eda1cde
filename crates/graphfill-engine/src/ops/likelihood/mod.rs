//! Losses over observed cells: how far scores are from what was observed, and the derivative.
//!
//!   loss = Σ over blocks  weight_b / count_b · Σ over the block's observed cells  w · loss_b(score, target)
//!
//! with w = 1, or a weight that a program computes for each cell and in each step. A block that
//! judges whole rows (multinomial, categorical) takes that of the first of its columns.
//!
//! A [`Likelihood`] says for each block of columns which loss it has and what was observed. A table
//! of words is one binary block; a table of mixed columns has one block a column. The kernels work
//! on some rows of scores at a time and leave the derivative in place of the scores, so that
//! [`loss`] can walk a matrix of scores, and [`decoder_loss`] a product that never exists as a whole.

mod bernoulli;
mod categorical;
mod cells;
mod decoder_kernels;
mod decoder_loss;
mod decoder_rows;
mod kernel_sums;
mod kernel_tables;
mod kernels;
mod loss;
mod multinomial;
mod offsets;
mod squared_error;
mod targets;
#[cfg(test)]
mod tests;
mod weights;

use pulp::{Arch, NullaryFnOnce};

pub use decoder_loss::Decoder;
pub use targets::{MISSING_CATEGORY, Targets};

use crate::fingerprint::Fingerprint;
use crate::{EngineError, Result, Shape};
use bernoulli::Bernoulli;
use categorical::Categorical;
use multinomial::Multinomial;
use squared_error::SquaredError;
use weights::{Unweighted, Weights};

/// What was observed, and how scores are compared with it.
#[derive(Debug)]
pub struct Likelihood {
    rows: usize,
    columns: usize,
    blocks: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    first: usize,
    width: usize,
    /// weight / count: what a cell's loss is multiplied by.
    scale: f32,
    kind: Kind,
}

impl Block {
    fn identity(&self) -> String {
        let Block { first, width, scale, kind } = self;
        let kind = match kind {
            Kind::Bernoulli(Bernoulli { targets, on, off }) => {
                format!("bernoulli({}, on={on}, off={off})", targets.identity())
            }
            Kind::SquaredError(SquaredError(targets)) => {
                format!("squared_error({})", targets.identity())
            }
            Kind::Multinomial(multinomial) => {
                format!("multinomial({})", multinomial.targets.identity())
            }
            Kind::Categorical(categorical) => categorical.identity(),
        };
        format!("columns {first} and {width} on, scale={scale}, {kind}")
    }
}

#[derive(Debug)]
enum Kind {
    Bernoulli(Bernoulli),
    SquaredError(SquaredError),
    Multinomial(Multinomial),
    Categorical(Categorical),
}

impl Likelihood {
    /// Of so many rows, and no columns yet. Blocks are added from left to right.
    pub fn new(rows: usize) -> Self {
        Likelihood { rows, columns: 0, blocks: Vec::new() }
    }

    /// Cells that are 0 or 1, as log-odds. With p the share of ones, a one weighs 1/(2p) and a zero
    /// 1/(2(1 − p)), so that both kinds together weigh the same; the mean over observed cells.
    pub fn balanced_bernoulli(self, targets: Targets, weight: f32) -> Result<Self> {
        let observed = self.checked("balanced Bernoulli", &targets)?;
        targets.check_values("balanced Bernoulli", 0.0, 1.0)?;
        let bernoulli = Bernoulli::balanced(targets, observed);
        self.with(bernoulli.width(), observed, weight, Kind::Bernoulli(bernoulli))
    }

    /// Cells that are 0 or 1, as log-odds: the mean cross-entropy over observed cells.
    pub fn bernoulli(self, targets: Targets, weight: f32) -> Result<Self> {
        let observed = self.checked("Bernoulli", &targets)?;
        targets.check_values("Bernoulli", 0.0, 1.0)?;
        let bernoulli = Bernoulli::plain(targets);
        self.with(bernoulli.width(), observed, weight, Kind::Bernoulli(bernoulli))
    }

    /// Numbers: the mean squared difference over observed cells.
    pub fn squared_error(self, targets: Targets, weight: f32) -> Result<Self> {
        let observed = self.checked("squared error", &targets)?;
        targets.check_values("squared error", f32::MIN, f32::MAX)?;
        let width = targets.shape().columns;
        self.with(width, observed, weight, Kind::SquaredError(SquaredError(targets)))
    }

    /// Which of the columns each row has, as one distribution over all of them:
    /// −Σ_k (x_k / |x|) · ln softmax(scores)_k, the mean over rows that have any.
    pub fn multinomial(self, targets: Targets, weight: f32) -> Result<Self> {
        self.checked("multinomial", &targets)?;
        targets.check_values("multinomial", 0.0, f32::MAX)?;
        let width = targets.shape().columns;
        let multinomial = Multinomial::new(targets);
        let rows = multinomial.rows_with_any();
        self.with(width, rows, weight, Kind::Multinomial(multinomial))
    }

    /// One of `levels` categories a row, [`MISSING_CATEGORY`] where it is not known:
    /// −ln softmax(scores)_category, the mean over known rows.
    pub fn categorical(self, levels: usize, categories: Vec<u32>, weight: f32) -> Result<Self> {
        let found = Shape::new(categories.len(), levels);
        self.check_rows("categorical", found)?;
        let outside =
            |&&category: &&u32| category as usize >= levels && category != MISSING_CATEGORY;
        if let Some(category) = categories.iter().find(outside) {
            let problem = format!("category {category} was observed; there are {levels}");
            return Err(problem_of("categorical", problem));
        }
        let categorical = Categorical(categories);
        let known = categorical.known();
        self.with(levels, known, weight, Kind::Categorical(categorical))
    }

    /// The shape of the scores that it judges.
    pub fn shape(&self) -> Shape {
        Shape::new(self.rows, self.columns)
    }

    /// In the identity of an operation: what was observed, by fingerprints.
    fn identity(&self) -> String {
        let blocks: Vec<String> = self.blocks.iter().map(Block::identity).collect();
        format!("{}: {}", self.shape(), blocks.join("; "))
    }

    /// The memory that its targets take.
    pub fn bytes(&self) -> u64 {
        let bytes = |block: &Block| match &block.kind {
            Kind::Bernoulli(bernoulli) => bernoulli.targets.bytes(),
            Kind::SquaredError(SquaredError(targets)) => targets.bytes(),
            Kind::Multinomial(multinomial) => multinomial.bytes(),
            Kind::Categorical(Categorical(categories)) => size_of_val(&categories[..]) as u64,
        };
        self.blocks.iter().map(bytes).sum()
    }

    /// The loss of the rows from `first` on, on this thread; their scores become the derivative.
    /// `weights` has one of each of these scores.
    fn judge(&self, first: usize, scores: &mut [f32], weights: impl Weights) -> f64 {
        let mut loss = 0.0;
        for block in &self.blocks {
            let rows = Rows { first, row_len: self.columns, scores, weights, block };
            let sum = match &block.kind {
                Kind::Bernoulli(kind) => rows.judge(kind),
                Kind::SquaredError(kind) => rows.judge(kind),
                Kind::Multinomial(kind) => rows.judge(kind),
                Kind::Categorical(kind) => rows.judge(kind),
            };
            loss += sum * f64::from(block.scale);
        }
        loss
    }

    fn with(mut self, width: usize, count: usize, weight: f32, kind: Kind) -> Result<Self> {
        if !weight.is_finite() || weight <= 0.0 {
            return Err(problem_of("weight", format!("{weight} was given, not a positive number")));
        }
        let scale = weight / count.max(1) as f32;
        self.blocks.push(Block { first: self.columns, width, scale, kind });
        self.columns += width;
        Ok(self)
    }

    /// How many cells the targets have observed, which must be of as many rows.
    fn checked(&self, name: &'static str, targets: &Targets) -> Result<usize> {
        self.check_rows(name, targets.shape())?;
        Ok(targets.observed())
    }

    fn check_rows(&self, operation: &'static str, found: Shape) -> Result<()> {
        if found.rows == self.rows {
            return Ok(());
        }
        let expected = self.rows;
        Err(problem_of(operation, format!("targets are {found}; the scores have {expected} rows")))
    }
}

fn problem_of(operation: &'static str, problem: String) -> EngineError {
    EngineError::Program { operation, place: "targets".to_owned(), problem }
}

/// One block of some rows.
struct Rows<'a, W> {
    first: usize,
    row_len: usize,
    scores: &'a mut [f32],
    weights: W,
    block: &'a Block,
}

impl<W: Weights> Rows<'_, W> {
    /// Every kind is compiled by itself: all of them in one function would be in each other's way.
    fn judge(self, kind: &impl JudgeRow) -> f64 {
        Arch::new().dispatch(JudgeRows { rows: self, kind })
    }
}

struct JudgeRows<'a, W, K> {
    rows: Rows<'a, W>,
    kind: &'a K,
}

impl<W: Weights, K: JudgeRow> NullaryFnOnce for JudgeRows<'_, W, K> {
    type Output = f64;

    // A loop, not an iterator: closures would not be compiled for the machine's vectors.
    #[inline(always)]
    fn call(self) -> f64 {
        let Rows { first, row_len, scores, weights, block } = self.rows;
        let mut sum = 0.0;
        for (at, row) in scores.chunks_exact_mut(row_len).enumerate() {
            let scores = &mut row[block.first..block.first + block.width];
            let weights = weights.part(at * row_len + block.first, block.width);
            sum += self.kind.judge(first + at, scores, weights, block.scale);
        }
        sum
    }
}

/// One row of a block: its weighted loss, unscaled; the scores become `scale` times the derivative. Mark it
/// `#[inline(always)]`.
trait JudgeRow {
    fn judge(&self, row: usize, scores: &mut [f32], weights: impl Weights, scale: f32) -> f64;
}

/// What tells two lists of numbers apart in the fingerprint of a program.
fn fingerprint_of(words: impl Iterator<Item = u64>) -> u64 {
    let mut fingerprint = Fingerprint::default();
    fingerprint.add_all(words);
    fingerprint.value()
}
