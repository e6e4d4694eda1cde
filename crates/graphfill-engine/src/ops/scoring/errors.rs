//! How far scores are from values, in the columns' own scale:
//!
//!   x̂ = value of the score, less the column's offset     x = true value, less the same offset
//!   out = √(Σ (x̂ − x)²)  over all known cells of some columns, or
//!   out = Σ_rows √(mean over the row's known cells of (x̂ − x)²)                1 × groups of columns
//!
//! Differences and sums are in double precision.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::cpu::{Call, doubles};
use crate::cuda;
use crate::fingerprint::Fingerprint;
use crate::program::{Constant, Mismatch, Operation};
use crate::{Matrix, Shape};

const KERNELS: cuda::Source =
    cuda::Source::new("errors.cu", include_str!("errors.cu")).with(&[DEFINES]);
const DEFINES: &[cuda::Define] = &[
    cuda::Define::count("WIDE", WIDE),
    cuda::Define::count("LINEAR", LINEAR as usize),
    cuda::Define::count("EXPONENTIAL", EXPONENTIAL as usize),
    cuda::Define::count("PROBABILITY", PROBABILITY as usize),
    cuda::Define::count("SHARES", SHARES as usize),
];
const ADD_ERRORS: cuda::Kernel = KERNELS.kernel("add_errors");
const SUM_ERRORS: cuda::Kernel = KERNELS.kernel("sum_errors");

/// Groups of as many columns have a warp per row, narrower ones a thread.
const WIDE: usize = 16;

/// How kernels tell apart the ways in which scores become values.
const LINEAR: u32 = 0;
const EXPONENTIAL: u32 = 1;
const PROBABILITY: u32 = 2;
const SHARES: u32 = 3;

/// How a score becomes a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValueOfScore {
    /// unit · score
    Linear {
        /// What a score of one is.
        unit: f64,
    },
    /// e^(mean + deviation · score) − 1, with an exponent from 0 to `most`.
    Exponential {
        /// The exponent where the score is 0.
        mean: f64,
        /// By how much a score of one is more.
        deviation: f64,
        /// The largest exponent.
        most: f64,
    },
    /// 1 / (1 + e^−score)
    Probability,
    /// e^score / Σ e^score over the columns of the group.
    Shares,
}

/// What is averaged before a root is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Averaged {
    /// All cells: √(Σ (x̂ − x)²), to be divided by the root of their number.
    Cells,
    /// Those of a row: Σ_rows √(mean (x̂ − x)²), to be divided by the number of rows with any.
    Rows,
}

/// Columns that are compared as a group.
#[derive(Debug, Clone, PartialEq)]
pub struct TrueColumns {
    /// Which.
    pub columns: Range<usize>,
    /// How scores become values.
    pub value: ValueOfScore,
    /// What is averaged.
    pub averaged: Averaged,
}

impl TrueColumns {
    /// In the identity of an operation.
    fn identity(&self) -> String {
        let TrueColumns { columns: Range { start, end }, value, averaged } = self;
        let value = match value {
            ValueOfScore::Linear { unit } => format!("linear {unit}"),
            ValueOfScore::Exponential { mean, deviation, most } => {
                format!("exponential {mean}, {deviation}, {most}")
            }
            ValueOfScore::Probability => "probability".to_owned(),
            ValueOfScore::Shares => "shares".to_owned(),
        };
        let averaged = match averaged {
            Averaged::Cells => "cells",
            Averaged::Rows => "rows",
        };
        format!("columns({start}..{end}, {value}, per {averaged})")
    }
}

/// What is true of some cells.
pub struct TrueValues {
    shape: Shape,
    /// Less the offset of their column; NaN where nothing is compared.
    values: Vec<f32>,
    groups: Vec<TrueColumns>,
}

impl TrueValues {
    /// The values of rows × columns, NaN where nothing is compared, and their groups.
    ///
    /// # Panics
    /// If there are more or fewer values than cells, or a group has columns outside.
    pub fn new(shape: impl Into<Shape>, values: Vec<f32>, groups: Vec<TrueColumns>) -> Self {
        let shape = shape.into();
        assert_eq!(values.len(), shape.len(), "a value for every cell");
        let inside = |group: &TrueColumns| group.columns.end <= shape.columns;
        assert!(groups.iter().all(inside), "columns lie inside");
        TrueValues { shape, values, groups }
    }

    fn bytes(&self) -> u64 {
        (size_of_val(&self.values[..]) + size_of_val(&self.groups[..])) as u64
    }

    /// In the identity of an operation.
    fn identity(&self) -> String {
        let mut values = Fingerprint::default();
        values.add_all(self.values.iter().map(|value| u64::from(value.to_bits())));
        let groups: Vec<String> = self.groups.iter().map(TrueColumns::identity).collect();
        format!("{}, {:016x}, {}", self.shape, values.value(), groups.join(", "))
    }

    /// The error of one group.
    fn compare(&self, group: &TrueColumns, scores: &[f32]) -> f64 {
        let TrueColumns { columns, value, averaged } = group;
        let mut sum = 0.0;
        for row in 0..self.shape.rows {
            let begin = row * self.shape.columns;
            let cells = begin + columns.start..begin + columns.end;
            let (scores, truth) = (&scores[cells.clone()], &self.values[cells]);
            let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let total: f32 = match value {
                ValueOfScore::Shares => scores.iter().map(|score| (score - largest).exp()).sum(),
                _ => 1.0,
            };
            let (mut squares, mut count) = (0.0, 0.0);
            for (&score, &truth) in scores.iter().zip(truth).filter(|(_, truth)| !truth.is_nan()) {
                let estimate = match *value {
                    ValueOfScore::Linear { unit } => (f64::from(score) * unit) as f32,
                    ValueOfScore::Exponential { mean, deviation, most } => {
                        let exponent = mean + deviation * f64::from(score);
                        exponent.clamp(0.0, most).exp_m1() as f32
                    }
                    ValueOfScore::Probability => 1.0 / (1.0 + (-score).exp()),
                    ValueOfScore::Shares => (score - largest).exp() / total,
                };
                squares += (f64::from(estimate) - f64::from(truth)).powi(2);
                count += 1.0;
            }
            sum += match averaged {
                Averaged::Cells => squares,
                Averaged::Rows => (squares / f64::max(count, 1.0)).sqrt(),
            };
        }
        match averaged {
            Averaged::Cells => sum.sqrt(),
            Averaged::Rows => sum,
        }
    }

    /// Blocks of threads that share the rows of a group.
    fn portions(&self) -> usize {
        let is_wide = |group: &TrueColumns| group.columns.len() >= WIDE;
        match self.groups.iter().any(is_wide) {
            true => self.shape.rows.div_ceil(8).clamp(1, 512),
            false => self.shape.rows.div_ceil(256).clamp(1, 64),
        }
    }
}

impl fmt::Debug for TrueValues {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.identity())
    }
}

#[derive(Debug)]
struct Errors {
    truth: Arc<TrueValues>,
}

impl<'p> Matrix<'p> {
    /// How far these scores are from what is true, one number for each group of columns. It has no
    /// gradient.
    #[must_use]
    #[track_caller]
    pub fn errors(self, truth: &Arc<TrueValues>) -> Matrix<'p> {
        self.program().record(Errors { truth: Arc::clone(truth) }, &[self])
    }
}

impl Operation for Errors {
    fn name(&self) -> &'static str {
        "errors"
    }

    fn identity(&self) -> String {
        format!("errors({})", self.truth.identity())
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        let (scores, known) = (inputs[0], self.truth.shape);
        Mismatch::unless(scores == known, scores, known, "there is a value for every score")?;
        Ok(vec![Shape::new(1, self.truth.groups.len())])
    }

    fn constants(&self) -> Vec<Constant> {
        vec![Constant::shared(&self.truth, self.truth.bytes())]
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let (scores, out) = (call.input(0), call.output(0));
        out.par_iter_mut().zip(&self.truth.groups).for_each(|(out, group)| {
            *out = self.truth.compare(group, scores) as f32;
        });
    }

    fn cuda_scratch(&self, _inputs: &[Shape], _wanted: &[bool]) -> usize {
        let truth = &self.truth;
        cuda::Call::scratch_len([doubles(truth.groups.len() * truth.portions())])
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let TrueValues { shape, values, groups } = &*self.truth;
        let (identity, portions) = (Arc::as_ptr(&self.truth).addr(), self.truth.portions());
        let partial = call.scratch(doubles(groups.len() * portions));
        let truth = call.constant(identity, "values", || values.clone())?;
        let columns = call.constant(identity, "groups", || {
            groups.iter().map(TrueColumns::in_kernels).collect()
        })?;
        let scales = call.constant(identity, "scales", || {
            groups.iter().map(|group| group.value.in_kernels().1).collect()
        })?;
        let count = groups.len() as u32;
        let arguments = [
            call.input(0).into(),
            truth.into(),
            shape.rows.into(),
            shape.columns.into(),
            columns.into(),
            scales.into(),
            count.into(),
            (portions as u32).into(),
            partial.into(),
        ];
        let blocks = (groups.len() * portions).max(1);
        call.launch(ADD_ERRORS, cuda::Grid::blocks(blocks, cuda::THREADS), arguments);
        let arguments = [
            partial.into(),
            columns.into(),
            count.into(),
            (portions as u32).into(),
            call.output(0).into(),
        ];
        call.launch(SUM_ERRORS, cuda::Grid::blocks(groups.len().max(1), cuda::THREADS), arguments);
        Ok(())
    }
}

impl ValueOfScore {
    /// Its number in `errors.cu`, and what it depends on.
    fn in_kernels(self) -> (u32, [f64; 3]) {
        match self {
            ValueOfScore::Linear { unit } => (LINEAR, [unit, 0.0, 0.0]),
            ValueOfScore::Exponential { mean, deviation, most } => {
                (EXPONENTIAL, [mean, deviation, most])
            }
            ValueOfScore::Probability => (PROBABILITY, [0.0; 3]),
            ValueOfScore::Shares => (SHARES, [0.0; 3]),
        }
    }
}

impl TrueColumns {
    /// As `errors.cu` has it: the first column, how many, how scores become values, whether roots are
    /// taken row by row.
    fn in_kernels(&self) -> [u32; 4] {
        let Range { start, end } = self.columns;
        let (kind, _) = self.value.in_kernels();
        [start as u32, (end - start) as u32, kind, u32::from(self.averaged == Averaged::Rows)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{session, some_numbers};
    use crate::{Initial, Plan, Program};
    use proptest::prelude::*;

    fn computed(scores: &[f32], truth: TrueValues) -> Vec<f32> {
        let program = Program::new("compare");
        let parameter = program.parameter("scores", truth.shape, Initial::ZEROS);
        program.output("errors", parameter.errors(&Arc::new(truth)));
        let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
        let mut session = session(plan, 0);
        session.write("scores", scores).expect("scores");
        session.scribble();
        session.run("compare").expect("a run");
        session.read("compare", "errors").expect("an output")
    }

    /// One cell after the other, in double precision.
    fn expected(scores: &[f32], columns: usize, values: &[f32], group: &TrueColumns) -> f64 {
        let mut cells = Vec::new();
        for (scores, values) in
            scores.chunks_exact(columns.max(1)).zip(values.chunks_exact(columns.max(1)))
        {
            let scores: Vec<f64> =
                scores[group.columns.clone()].iter().map(|&score| f64::from(score)).collect();
            let total: f64 = scores.iter().map(|score| score.exp()).sum();
            let estimate = |score: f64| match group.value {
                ValueOfScore::Linear { unit } => unit * score,
                ValueOfScore::Exponential { mean, deviation, most } => {
                    (mean + deviation * score).clamp(0.0, most).exp_m1()
                }
                ValueOfScore::Probability => 1.0 / (1.0 + (-score).exp()),
                ValueOfScore::Shares => score.exp() / total,
            };
            let pairs = scores.iter().zip(&values[group.columns.clone()]);
            let known = pairs.filter(|(_, value)| !value.is_nan());
            let square =
                |(&score, &value): (&f64, &f32)| (estimate(score) - f64::from(value)).powi(2);
            cells.push(known.map(square).collect::<Vec<f64>>());
        }
        let root = |cells: &Vec<f64>| (cells.iter().sum::<f64>() / cells.len() as f64).sqrt();
        match group.averaged {
            Averaged::Cells => cells.iter().flatten().sum::<f64>().sqrt(),
            Averaged::Rows => cells.iter().filter(|cells| !cells.is_empty()).map(root).sum(),
        }
    }

    fn values_of_scores() -> impl Strategy<Value = ValueOfScore> {
        prop_oneof![
            Just(ValueOfScore::Linear { unit: 2.5 }),
            Just(ValueOfScore::Exponential { mean: 0.3, deviation: 1.5, most: 2.0 }),
            Just(ValueOfScore::Probability),
            Just(ValueOfScore::Shares),
        ]
    }

    proptest! {
        #[test]
        fn agrees_with_one_cell_after_the_other(
            rows in prop_oneof![0usize..6, 250usize..600],
            groups in prop::collection::vec(
                (prop_oneof![0usize..4, 15usize..18, 30usize..40], values_of_scores(), any::<bool>()),
                0..5,
            ),
            rest in 0usize..3,
            missing in prop_oneof![Just(0usize), 1usize..4],
        ) {
            let mut begin = rest;
            let groups: Vec<TrueColumns> = groups
                .into_iter()
                .map(|(width, value, by_row)| {
                    let averaged = if by_row { Averaged::Rows } else { Averaged::Cells };
                    begin += width;
                    TrueColumns { columns: begin - width..begin, value, averaged }
                })
                .collect();
            let shape = Shape::new(rows, begin + rest);
            let scores = some_numbers(shape.len(), 1);
            let mut values = some_numbers(shape.len(), 2);
            for (at, value) in values.iter_mut().enumerate() {
                // Whole rows too.
                if missing > 0 && (at % (missing + 1) == 0 || (at / shape.columns) % 5 == 1) {
                    *value = f32::NAN;
                }
            }
            let truth = TrueValues::new(shape, values.clone(), groups.clone());
            let found = computed(&scores, truth);
            prop_assert_eq!(found.len(), groups.len());
            for (found, group) in found.into_iter().zip(&groups) {
                let expected = expected(&scores, shape.columns, &values, group);
                let error = (f64::from(found) - expected).abs();
                prop_assert!(error <= 1e-6 * expected.max(1.0), "{group:?}: {found}, {expected}");
            }
        }
    }

    #[test]
    fn squares_may_be_larger_than_numbers_can_be() {
        let value = ValueOfScore::Exponential { mean: 0.0, deviation: 1.0, most: 80.0 };
        let group = TrueColumns { columns: 0..1, value, averaged: Averaged::Cells };
        let truth = TrueValues::new([2, 1], vec![0.0, f32::NAN], vec![group]);
        let found = computed(&[500.0, 1.0], truth)[0];
        assert!((f64::from(found) / 80f64.exp() - 1.0).abs() < 1e-6, "{found}");
    }

    #[test]
    fn scores_far_from_zero_still_have_shares() {
        let group =
            TrueColumns { columns: 0..2, value: ValueOfScore::Shares, averaged: Averaged::Rows };
        let truth = TrueValues::new([1, 2], vec![1.0, 0.0], vec![group]);
        assert_eq!(computed(&[900.0, -900.0], truth), [0.0]);
    }

    #[test]
    fn other_scores_are_refused() {
        let program = Program::new("wrong");
        let truth = Arc::new(TrueValues::new([2, 2], vec![0.0; 4], Vec::new()));
        let _ = program.parameter("x", [2, 3], Initial::ZEROS).errors(&truth);
        let message = program.finish().expect_err("a mistake").to_string();
        assert!(message.contains("2 × 3 does not fit 2 × 2"), "{message}");
    }

    #[test]
    #[should_panic(expected = "columns lie inside")]
    fn columns_outside_are_refused() {
        let group =
            TrueColumns { columns: 1..3, value: ValueOfScore::Shares, averaged: Averaged::Rows };
        let _ = TrueValues::new([2, 2], vec![0.0; 4], vec![group]);
    }
}
