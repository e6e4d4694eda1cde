//! How high the relevant columns of a row stand among all that compete:
//!
//!   r_c     = the number of candidates that are ahead of column c                  its rank, from 0
//!   recall  = Σ_c [r_c < k] / |relevant|
//!   nDCG    = Σ_c [r_c < k] / log₂(r_c + 2)  /  Σ_{r < |relevant|} 1 / log₂(r + 2)
//!   out     = Σ_rows mean over depths k of recall, or of recall and nDCG                     1 × 1
//!
//! A column is ahead of another if its score is larger, or the same and [`shuffled_column`] smaller.
//! Nothing is sorted: there are few relevant columns, and each is compared with all others.

use std::fmt;
use std::sync::Arc;

use rayon::prelude::*;

use crate::cpu::{Call, as_doubles, doubles};
use crate::cuda;
use crate::fingerprint::Fingerprint;
use crate::program::{Constant, Mismatch, Operation};
use crate::{Matrix, Shape, SparseRows};

const KERNELS: cuda::Source = cuda::Source::new("ranking.cu", include_str!("ranking.cu"));
const RANK_ROWS: cuda::Kernel = KERNELS.kernel("rank_rows");
const SUM_ROWS: cuda::Kernel = KERNELS.kernel("sum_rows");

/// Bits of a word of candidates.
const WORD: usize = 32;

/// An order of columns whose scores are the same: arbitrary, as ties are, but always the same one.
/// Multiplication by an odd number permutes the 32-bit integers.
#[inline]
pub fn shuffled_column(column: u32) -> u32 {
    column.wrapping_mul(0x9E37_79B1).rotate_left(16).wrapping_mul(0x85EB_CA6B)
}

/// What a ranking is judged by, at each of its depths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankingMeasure {
    /// Recall.
    Recall,
    /// The mean of recall and nDCG.
    RecallAndGain,
}

/// What is known about the columns of some rows, to judge scores by.
pub struct Ranking {
    relevant: SparseRows,
    /// A bit a column, rows × words; without it every column competes.
    candidates: Option<Vec<u32>>,
    measure: RankingMeasure,
    depths: Vec<u32>,
    /// The gain of each row if its relevant columns came first.
    ideal: Vec<f64>,
}

impl Ranking {
    /// The relevant columns of each row; rows without any count nothing.
    ///
    /// # Panics
    /// If there is no depth.
    pub fn new(relevant: SparseRows, measure: RankingMeasure, depths: &[usize]) -> Self {
        assert!(!depths.is_empty(), "a ranking is judged at some depth");
        let depths = depths.iter().map(|&depth| u32::try_from(depth).unwrap_or(u32::MAX)).collect();
        let view = relevant.view();
        let ideal = (0..view.rows()).map(|row| (0..view.columns(row).len()).map(gain).sum());
        let ideal = ideal.collect();
        Ranking { relevant, candidates: None, measure, depths, ideal }
    }

    /// Only some columns of some rows compete. The relevant ones must be among them.
    #[must_use]
    pub fn among(self, is_candidate: impl Fn(usize, usize) -> bool) -> Self {
        let Shape { rows, columns } = self.relevant.shape();
        let words = columns.div_ceil(WORD);
        let mut candidates = vec![0u32; rows * words];
        let mut all = true;
        for row in 0..rows {
            for column in 0..columns {
                match is_candidate(row, column) {
                    true => candidates[row * words + column / WORD] |= 1 << (column % WORD),
                    false => all = false,
                }
            }
        }
        Ranking { candidates: (!all).then_some(candidates), ..self }
    }

    /// Rows and columns.
    pub fn shape(&self) -> Shape {
        self.relevant.shape()
    }

    /// In the identity of an operation.
    fn identity(&self) -> String {
        let Ranking { relevant, candidates, measure, depths, .. } = self;
        let mut words = Fingerprint::default();
        words.add_all(candidates.iter().flatten().map(|&word| u64::from(word)));
        let measure = match measure {
            RankingMeasure::Recall => "recall",
            RankingMeasure::RecallAndGain => "recall and gain",
        };
        let depths: Vec<String> = depths.iter().map(u32::to_string).collect();
        let (relevant, depths, words) = (relevant.identity(), depths.join(", "), words.value());
        format!("{measure} at {depths} of {relevant} among {words:016x}")
    }

    /// The memory that it holds.
    fn bytes(&self) -> u64 {
        let candidates = self.candidates.as_ref().map_or(0, |words| size_of_val(&words[..]));
        self.relevant.bytes() + (candidates + size_of_val(&self.ideal[..])) as u64
    }

    fn is_candidate(&self, row: usize, column: usize) -> bool {
        let words = self.shape().columns.div_ceil(WORD);
        self.candidates
            .as_ref()
            .is_none_or(|bits| bits[row * words + column / WORD] >> (column % WORD) & 1 == 1)
    }

    /// What one row contributes.
    fn judge(&self, row: usize, scores: &[f32]) -> f64 {
        let relevant = self.relevant.view().columns(row);
        let of_column = |&column: &u32| {
            let own = place(scores[column as usize], column);
            let ahead = |&other: &usize| {
                self.is_candidate(row, other) && place(scores[other], other as u32) > own
            };
            let rank = (0..scores.len()).filter(ahead).count();
            let depths = self.depths.iter().filter(|&&depth| rank < depth as usize).count();
            let recall = 1.0 / relevant.len() as f64;
            depths as f64
                * match self.measure {
                    RankingMeasure::Recall => recall,
                    RankingMeasure::RecallAndGain => (recall + gain(rank) / self.ideal[row]) / 2.0,
                }
        };
        relevant.iter().map(of_column).sum::<f64>() / self.depths.len() as f64
    }
}

impl fmt::Debug for Ranking {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.identity())
    }
}

/// What a relevant column is worth at a rank.
fn gain(rank: usize) -> f64 {
    1.0 / ((rank + 2) as f64).log2()
}

/// What orders columns: the larger is ahead. Scores are in their total order, in which both zeros are
/// one.
fn place(score: f32, column: u32) -> (u32, u32) {
    let bits = (score + 0.0).to_bits();
    let ordered = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
    (ordered, !shuffled_column(column))
}

#[derive(Debug)]
struct RankingQuality {
    ranking: Arc<Ranking>,
}

impl<'p> Matrix<'p> {
    /// How well these scores rank, summed over rows. It has no gradient.
    #[must_use]
    #[track_caller]
    pub fn ranking_quality(self, ranking: &Arc<Ranking>) -> Matrix<'p> {
        self.program().record(RankingQuality { ranking: Arc::clone(ranking) }, &[self])
    }
}

impl Operation for RankingQuality {
    fn name(&self) -> &'static str {
        "ranking quality"
    }

    fn identity(&self) -> String {
        format!("ranking_quality({})", self.ranking.identity())
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        let (scores, known) = (inputs[0], self.ranking.shape());
        Mismatch::unless(scores == known, scores, known, "scores are those of the ranked columns")?;
        Ok(vec![Shape::SCALAR])
    }

    fn constants(&self) -> Vec<Constant> {
        vec![Constant::shared(&self.ranking, self.ranking.bytes())]
    }

    fn scratch(&self, inputs: &[Shape], _wanted: &[bool]) -> usize {
        doubles(inputs[0].rows)
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let (scores, Shape { rows, columns }) = (call.input(0), call.input_shape(0));
        let of_rows = &mut as_doubles(call.scratch())[..rows];
        of_rows.par_iter_mut().enumerate().for_each(|(row, sum)| {
            *sum = self.ranking.judge(row, &scores[row * columns..(row + 1) * columns]);
        });
        // A sum of nothing is −0.
        call.output(0)[0] = (0.0 + of_rows.iter().sum::<f64>()) as f32;
    }

    fn cuda_scratch(&self, inputs: &[Shape], _wanted: &[bool]) -> usize {
        cuda::Call::scratch_len([doubles(inputs[0].rows)])
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let Ranking { relevant, candidates, measure, depths, ideal } = &*self.ranking;
        let (identity, Shape { rows, columns }) =
            (Arc::as_ptr(&self.ranking).addr(), call.input_shape(0));
        let of_rows = call.scratch(doubles(rows));
        let relevant = call.sparse(identity, "relevant", relevant.view())?;
        let candidates = match candidates {
            Some(words) => Some(call.constant(identity, "candidates", || words.clone())?),
            None => None,
        };
        let at = call.constant(identity, "depths", || depths.clone())?;
        let ideal = match measure {
            RankingMeasure::Recall => None,
            RankingMeasure::RecallAndGain => {
                Some(call.constant(identity, "ideal", || ideal.clone())?)
            }
        };
        let arguments = [
            call.input(0).into(),
            rows.into(),
            (columns as u32).into(),
            relevant.offsets.into(),
            relevant.columns.into(),
            candidates.into(),
            at.into(),
            (depths.len() as u32).into(),
            ideal.into(),
            of_rows.into(),
        ];
        call.launch(RANK_ROWS, cuda::Grid::blocks(rows.max(1), cuda::THREADS), arguments);
        let arguments = [of_rows.into(), rows.into(), call.output(0).into()];
        call.launch(SUM_ROWS, cuda::Grid::blocks(1, 1024), arguments);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{session, some_numbers};
    use crate::{Initial, Plan, Program};
    use proptest::prelude::*;

    fn computed(scores: &[f32], ranking: Ranking) -> f64 {
        let program = Program::new("rank");
        let shape = ranking.shape();
        let parameter = program.parameter("scores", shape, Initial::ZEROS);
        program.output("quality", parameter.ranking_quality(&Arc::new(ranking)));
        let plan = Plan::new(vec![program.finish().expect("a program")]).expect("a plan");
        let mut session = session(plan, 0);
        session.write("scores", scores).expect("scores");
        session.scribble();
        session.run("rank").expect("a run");
        f64::from(session.scalar("rank", "quality").expect("an output"))
    }

    /// By sorting each row and walking down from the best column, as definitions have it.
    fn expected(
        scores: &[f32],
        columns: usize,
        relevant: &[Vec<u32>],
        is_candidate: impl Fn(usize, usize) -> bool,
        measure: RankingMeasure,
        depths: &[usize],
    ) -> f64 {
        let mut total = 0.0;
        for (row, ones) in relevant.iter().enumerate().filter(|(_, ones)| !ones.is_empty()) {
            let scores = &scores[row * columns..(row + 1) * columns];
            let mut order: Vec<usize> = (0..columns).filter(|&c| is_candidate(row, c)).collect();
            order.sort_by(|&one, &other| {
                let by_score = (scores[other] + 0.0).total_cmp(&(scores[one] + 0.0));
                let shuffled = |column: usize| shuffled_column(column as u32);
                by_score.then(shuffled(one).cmp(&shuffled(other)))
            });
            let gains = |count: usize| (0..count).map(|place| 1.0 / ((place + 2) as f64).log2());
            for &depth in depths {
                let best = order.iter().take(depth);
                let hits: Vec<bool> = best.map(|&c| ones.contains(&(c as u32))).collect();
                let recall = hits.iter().filter(|&&hit| hit).count() as f64 / ones.len() as f64;
                let gained: f64 = gains(hits.len())
                    .zip(&hits)
                    .filter(|(_, hit)| **hit)
                    .map(|(gain, _)| gain)
                    .sum();
                total += match measure {
                    RankingMeasure::Recall => recall,
                    RankingMeasure::RecallAndGain => {
                        (recall + gained / gains(ones.len()).sum::<f64>()) / 2.0
                    }
                } / depths.len() as f64;
            }
        }
        total
    }

    fn sparse(rows: &[Vec<u32>], width: usize) -> SparseRows {
        let mut offsets = vec![0];
        rows.iter().for_each(|row| offsets.push(offsets[offsets.len() - 1] + row.len()));
        SparseRows::new(offsets, rows.concat(), None, width)
    }

    proptest! {
        #[test]
        fn agrees_with_sorting(
            rows in prop::collection::vec(prop::collection::btree_set(0u32..1000, 0..20), 0..6),
            columns in prop_oneof![0usize..6, 15usize..40, 300usize..310],
            levels in prop_oneof![2u32..6, Just(1000)],
            depth in 0usize..12,
            seed in 0usize..100,
            part in any::<bool>(),
        ) {
            let below = |column: &u32| (*column as usize) < columns;
            let relevant: Vec<Vec<u32>> =
                rows.into_iter().map(|row| row.into_iter().filter(below).collect()).collect();
            // Few levels: many scores are the same, among them both zeros.
            let level = |number: f32| (number * levels as f32).round() / 2.0;
            let numbers = some_numbers(relevant.len() * columns, seed);
            let scores: Vec<f32> = numbers.into_iter().map(level).collect();
            let is_candidate = |row: usize, column: usize| {
                !part
                    || row % 2 == 0
                    || (row + column * 7) % 3 != 0
                    || relevant[row].contains(&(column as u32))
            };
            let cases = [
                (RankingMeasure::Recall, vec![depth]),
                (RankingMeasure::RecallAndGain, vec![depth, 2 * depth, 5 * depth]),
            ];
            for (measure, depths) in cases {
                let ranking =
                    Ranking::new(sparse(&relevant, columns), measure, &depths).among(is_candidate);
                prop_assert_eq!(ranking.candidates.is_some(), {
                    let cells = |row| (0..columns).map(move |column| (row, column));
                    (0..relevant.len()).flat_map(cells).any(|(row, c)| !is_candidate(row, c))
                });
                let found = computed(&scores, ranking);
                let expected = expected(&scores, columns, &relevant, is_candidate, measure, &depths);
                prop_assert!((found - expected).abs() < 1e-5, "{found} instead of {expected}");
            }
        }
    }

    /// More relevant columns than a block of threads compares at once, and ranks beyond any depth.
    #[test]
    fn long_rows_of_many_relevant_columns() {
        let columns = 3000;
        let relevant: Vec<Vec<u32>> =
            vec![(0..3000).step_by(3).collect(), Vec::new(), (0..3000).collect(), vec![2999]];
        let scores = some_numbers(4 * columns, 3);
        for depth in [10, 700, 5000] {
            let ranking = || sparse(&relevant, columns);
            let measure = RankingMeasure::RecallAndGain;
            let found = computed(&scores, Ranking::new(ranking(), measure, &[depth, 2 * depth]));
            let expected =
                expected(&scores, columns, &relevant, |_, _| true, measure, &[depth, 2 * depth]);
            assert!((found - expected).abs() < 1e-5, "{found} instead of {expected}");
        }
    }

    #[test]
    fn zeros_are_the_same_and_infinity_is_the_largest() {
        let relevant = [vec![0], vec![1], vec![2]];
        // Of four equal scores, the one that the shuffle puts first.
        let first = (0..4).min_by_key(|&column| shuffled_column(column)).expect("a column");
        let ties = [[0.0, -0.0, 0.0, -0.0]; 4].concat();
        for column in 0..4 {
            let ranking = Ranking::new(
                sparse(&[vec![column], vec![], vec![], vec![]], 4),
                RankingMeasure::Recall,
                &[1],
            );
            assert_eq!(computed(&ties, ranking), f64::from(u8::from(column == first)));
        }
        let scores = [
            [f32::INFINITY, 1.0, 2.0],
            [f32::NEG_INFINITY, f32::MAX, 2.0],
            [-1.0, -3.0, f32::MIN_POSITIVE],
        ];
        let ranking = Ranking::new(sparse(&relevant, 3), RankingMeasure::Recall, &[1]);
        assert_eq!(computed(&scores.concat(), ranking), 3.0);
    }

    #[test]
    fn other_scores_are_refused() {
        let program = Program::new("wrong");
        let ranking = Ranking::new(sparse(&[vec![1]], 4), RankingMeasure::Recall, &[1]);
        let _ = program.parameter("x", [1, 3], Initial::ZEROS).ranking_quality(&Arc::new(ranking));
        let message = program.finish().expect_err("a mistake").to_string();
        assert!(message.contains("1 × 3 does not fit 1 × 4"), "{message}");
    }
}
