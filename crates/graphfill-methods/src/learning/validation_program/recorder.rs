//! Records what a validator looks at, group by group.

use std::ops::Range;
use std::sync::Arc;

use graphfill_engine::{
    Averaged, Matrix, Program, Ranking, RankingMeasure, SparseRows, TrueColumns, TrueValues,
};

use super::super::decoder::{Decoder, DecoderSpec};
use super::super::validator::{Criterion, Validator};
use super::{Compared, Part, Rows};
use crate::features::GroupKind;
use crate::selection::{DEPTHS, depth_in_block, truth_of};

/// A program in the making.
pub(super) struct Recorder<'p, 'v, 'a> {
    validator: &'v Validator<'a>,
    program: &'p Program,
    spec: &'v DecoderSpec,
    logit_bytes: usize,
    /// All numbers so far, side by side.
    pub(super) numbers: Option<Matrix<'p>>,
    pub(super) inputs: Vec<(String, Vec<f32>)>,
    pub(super) parts: Vec<Part>,
}

impl<'p, 'v, 'a> Recorder<'p, 'v, 'a> {
    pub(super) fn new(
        validator: &'v Validator<'a>,
        program: &'p Program,
        spec: &'v DecoderSpec,
        logit_bytes: usize,
    ) -> Self {
        let (numbers, inputs, parts) = (None, Vec::new(), Vec::new());
        Recorder { validator, program, spec, logit_bytes, numbers, inputs, parts }
    }

    pub(super) fn add(&mut self, compared: Compared) {
        match compared {
            Compared::Ranked(group) => self.add_ranking(group),
            Compared::Values { groups, rows } => self.add_values(groups, rows),
        }
    }

    /// A block of 0 and 1: the mean over the ranked rows that have ones to be found.
    fn add_ranking(&mut self, group: usize) {
        let Validator { features, rows: [validation_rows], criterion, depth, .. } = self.validator;
        let about = &features.groups()[group];
        let depth = depth_in_block(*depth, about.features.len());
        let (measure, depths) = match criterion {
            Criterion::Published => (RankingMeasure::Recall, vec![depth]),
            Criterion::AllMetrics => {
                (RankingMeasure::RecallAndGain, DEPTHS.map(|times| times * depth).to_vec())
            }
        };
        let ranked = validation_rows.ranked().map(|at| validation_rows.rows()[at]);
        let ones = ranked.zip(validation_rows.ones(group));
        let scored: Vec<(u32, &Vec<u32>)> = ones.filter(|(_, ones)| !ones.is_empty()).collect();
        let decoder = self.spec.record(self.program, &about.features);
        let mut part =
            Part { averaged: Averaged::Rows, numbers: Vec::new(), count: scored.len(), worth: 1.0 };
        for run in scored.chunks(self.rows_at_once(about.features.len())) {
            let (rows, ones): (Vec<u32>, Vec<&Vec<u32>>) = run.iter().copied().unzip();
            let ranking = Ranking::new(sparse_rows(&ones, about.features.len()), measure, &depths);
            let ranking = self.with_candidates(ranking, group, &rows);
            let logits = self.logits(&decoder, &rows, &about.features);
            part.numbers.push(self.push(logits.ranking_quality(&Arc::new(ranking))));
        }
        self.parts.push(part);
    }

    /// Where rows are hidden as a whole, all of their columns compete.
    fn with_candidates(&self, ranking: Ranking, group: usize, rows: &[u32]) -> Ranking {
        let Validator { features, cells, .. } = self.validator;
        let lacks_none =
            |row: usize| features.block(group).is_none_or(|block| block.missing().is_clear(row));
        let compete = |&row: &u32| cells.is_whole(row as usize) && lacks_none(row as usize);
        if rows.iter().all(compete) {
            return ranking;
        }
        let width = ranking.shape().columns;
        let mut truth = vec![0.0; rows.len() * width];
        for (truth, &row) in truth.chunks_exact_mut(width).zip(rows) {
            truth_of(features, cells, group, row as usize, truth);
        }
        ranking.among(|row, column| !truth[row * width + column].is_nan())
    }

    /// Groups whose values are compared: minus the root of the mean squared error, in units of that of
    /// the column means.
    fn add_values(&mut self, groups: Range<usize>, rows: Rows) {
        let Validator { features, cells, baseline, .. } = self.validator;
        let about = &features.groups()[groups.clone()];
        let of_run = about[0].features.start..about[about.len() - 1].features.end;
        let cells_of_run = about[0].cells.start as u32..about[about.len() - 1].cells.end as u32;
        let has_any = |&row: &u32| {
            let single = cells.cells(row as usize);
            cells.is_whole(row as usize) || single.iter().any(|cell| cells_of_run.contains(cell))
        };
        let rows: Vec<u32> = self.chosen(rows).into_iter().filter(has_any).collect();
        let decoder = self.spec.record(self.program, &of_run);
        let of_group = |group: usize| {
            let about = &features.groups()[group];
            let averaged = match about.kind {
                GroupKind::NumericBlock => Averaged::Rows,
                _ => Averaged::Cells,
            };
            let Range { start, end } = about.features;
            TrueColumns {
                columns: start - of_run.start..end - of_run.start,
                value: self.spec.likelihoods.group(group).engine_link(),
                averaged,
            }
        };
        let columns: Vec<TrueColumns> = groups.clone().map(of_group).collect();
        let worth = |group: usize| -1.0 / baseline[group].unwrap_or(f64::INFINITY);
        let mut parts: Vec<Part> = groups
            .clone()
            .zip(&columns)
            .map(|(group, TrueColumns { averaged, .. })| Part {
                averaged: *averaged,
                numbers: Vec::new(),
                count: 0,
                worth: worth(group),
            })
            .collect();
        for rows in rows.chunks(self.rows_at_once(of_run.len())) {
            let values = self.values(groups.clone(), rows, &mut parts);
            let truth = TrueValues::new([rows.len(), of_run.len()], values, columns.clone());
            let logits = self.logits(&decoder, rows, &of_run);
            let first = self.push(logits.errors(&Arc::new(truth)));
            for (at, part) in parts.iter_mut().enumerate() {
                part.numbers.push(first + at);
            }
        }
        self.parts.extend(parts);
    }

    /// The true values of a run of groups in some rows, less the offsets of their columns; what is
    /// known of each group is counted.
    fn values(&self, groups: Range<usize>, rows: &[u32], parts: &mut [Part]) -> Vec<f32> {
        let Validator { features, cells, .. } = self.validator;
        let mut values = Vec::new();
        let offsets = groups.clone().map(|group| {
            let columns = 0..features.groups()[group].features.len();
            self.spec.likelihoods.group(group).column_means(columns)
        });
        let offsets: Vec<Vec<f64>> = offsets.collect();
        for &row in rows {
            for ((group, offsets), part) in groups.clone().zip(&offsets).zip(&mut *parts) {
                let mut truth = vec![0.0; offsets.len()];
                truth_of(features, cells, group, row as usize, &mut truth);
                let known = truth.iter().filter(|value| !value.is_nan()).count();
                part.count += match part.averaged {
                    Averaged::Cells => known,
                    Averaged::Rows => known.min(1),
                };
                values.extend(truth.iter().zip(offsets).map(|(own, offset)| (own - offset) as f32));
            }
        }
        values
    }

    fn chosen(&self, rows: Rows) -> Vec<u32> {
        let [validation_rows] = &self.validator.rows;
        let touched = validation_rows.rows();
        match rows {
            Rows::All => touched.to_vec(),
            Rows::Summed => validation_rows.summed().map(|at| touched[at]).collect(),
        }
    }

    fn rows_at_once(&self, columns: usize) -> usize {
        (self.logit_bytes / size_of::<f32>() / columns.max(1)).max(1)
    }

    /// The logits of some rows and features. Their prior becomes an input of the program.
    fn logits(
        &mut self,
        decoder: &Decoder<'p>,
        rows: &[u32],
        features: &Range<usize>,
    ) -> Matrix<'p> {
        let width = self.validator.features.width();
        let mut priors = Vec::new();
        for (prior, _) in &self.spec.prior_logits {
            let name = format!("{} prior {}", self.program.name(), self.inputs.len());
            let part = |&row: &u32| {
                let begin = row as usize * width;
                &prior[begin + features.start..begin + features.end]
            };
            priors.push(self.program.input(&name, [rows.len(), features.len()]));
            self.inputs.push((name, rows.iter().flat_map(part).copied().collect()));
        }
        decoder.logits(rows, &priors)
    }

    /// Puts numbers beside those so far; where they begin.
    fn push(&mut self, numbers: Matrix<'p>) -> usize {
        let begin = self.numbers.map_or(0, Matrix::columns);
        self.numbers = Some(match self.numbers {
            Some(before) => before.concatenate(numbers),
            None => numbers,
        });
        begin
    }
}

fn sparse_rows(rows: &[&Vec<u32>], width: usize) -> SparseRows {
    let mut offsets = vec![0];
    rows.iter().for_each(|row| offsets.push(offsets[offsets.len() - 1] + row.len()));
    SparseRows::new(offsets, rows.iter().copied().flatten().copied().collect(), None, width)
}
