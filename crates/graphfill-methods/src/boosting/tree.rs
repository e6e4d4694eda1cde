//! One regression tree on gradients g and curvatures h, grown leaf by leaf.
//!
//! With G and H the sums over the rows of a leaf, its value is −G / (H + λ), and a split into L and R gains
//!
//!   G_L² / (H_L + λ) + G_R² / (H_R + λ) − G² / (H + λ).
//!
//! The leaf whose best split gains most is split next. Missing values go to the side where they gain more.

use serde::{Deserialize, Serialize};

use super::bins::{BINS, Bins};

/// How a tree grows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Growth {
    /// Leaves of a tree.
    pub(super) max_leaves: usize,
    /// Rows of a leaf.
    pub(super) min_rows: f32,
    /// λ.
    pub(super) penalty: f32,
}

/// A tree. A node splits at a value; leaves are numbered from 0.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Tree {
    splits: Vec<Split>,
    values: Vec<f32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Split {
    column: u32,
    /// Values below go to the first child.
    cut: f32,
    /// The last code below the cut.
    #[serde(skip)]
    code: u8,
    /// Whether missing values go there, too.
    missing_below: bool,
    below: Child,
    above: Child,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Child {
    #[serde(rename = "s")]
    Split(u32),
    #[serde(rename = "l")]
    Leaf(u32),
}

/// Sums of gradients, curvatures and rows: one vector of four, so that adding is one instruction. Rows are
/// far fewer than single precision counts exactly.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(16))]
struct Sums([f32; 4]);

impl Sums {
    fn of(gradient: f32, curvature: f32) -> Sums {
        Sums([gradient, curvature, 1.0, 0.0])
    }

    fn plus(self, other: Sums) -> Sums {
        Sums(std::array::from_fn(|at| self.0[at] + other.0[at]))
    }

    fn minus(self, other: Sums) -> Sums {
        Sums(std::array::from_fn(|at| self.0[at] - other.0[at]))
    }

    fn rows(self) -> f32 {
        self.0[2]
    }

    fn score(self, penalty: f32) -> f32 {
        self.0[0] * self.0[0] / (self.0[1] + penalty)
    }

    /// The value of a leaf.
    fn value(self, penalty: f32) -> f32 {
        -self.0[0] / (self.0[1] + penalty)
    }
}

/// The best split of a leaf.
#[derive(Debug, Clone, Copy)]
struct Best {
    gain: f32,
    column: usize,
    /// The last code that goes below.
    code: usize,
    missing_below: bool,
}

/// A leaf that may be split.
struct Leaf {
    /// Its rows, as a range of the order.
    begin: usize,
    end: usize,
    sums: Sums,
    /// Sums by candidate column and code.
    histogram: Vec<Sums>,
    best: Option<Best>,
    /// The split above it, and on which side it is.
    parent: Option<(usize, bool)>,
}

/// Rows with their gradients and curvatures, from which a tree grows.
pub(super) struct Grower<'a> {
    pub(super) bins: &'a Bins,
    pub(super) gradients: &'a [f32],
    pub(super) curvatures: &'a [f32],
    /// The columns that may split.
    pub(super) columns: &'a [u32],
    pub(super) growth: Growth,
}

impl Grower<'_> {
    /// Grows a tree on some rows of the bins; `gradients` and `curvatures` are indexed like the bins.
    pub(super) fn grow(&self, mut rows: Vec<u32>) -> Tree {
        let histogram = self.histogram(&rows);
        let sums = rows.iter().fold(Sums::default(), |sums, &row| sums.plus(self.of_row(row)));
        let best = self.best_split(&histogram, sums);
        let root = Leaf { begin: 0, end: rows.len(), sums, histogram, best, parent: None };
        let (mut leaves, mut splits) = (vec![root], Vec::new());
        while leaves.len() < self.growth.max_leaves {
            let gain = |leaf: &Leaf| leaf.best.map_or(0.0, |best| best.gain);
            let Some(at) =
                (0..leaves.len()).filter(|&at| leaves[at].best.is_some()).max_by(|&one, &other| {
                    gain(&leaves[one]).total_cmp(&gain(&leaves[other])).then(other.cmp(&one))
                })
            else {
                break;
            };
            let Some(best) = leaves[at].best else { break };
            let (below, above) = self.split(&leaves[at], best, &mut rows, splits.len());
            let number = Child::Split(splits.len() as u32);
            if let Some((parent, is_below)) = leaves[at].parent {
                set_child(&mut splits, parent, is_below, number);
            }
            splits.push(Split {
                column: best.column as u32,
                cut: self.bins.cut_above(best.column, best.code),
                code: best.code as u8,
                missing_below: best.missing_below,
                below: Child::Leaf(0),
                above: Child::Leaf(0),
            });
            leaves[at] = below;
            leaves.push(above);
        }
        let mut values = Vec::with_capacity(leaves.len());
        for (number, leaf) in leaves.iter().enumerate() {
            if let Some((parent, is_below)) = leaf.parent {
                set_child(&mut splits, parent, is_below, Child::Leaf(number as u32));
            }
            values.push(leaf.sums.value(self.growth.penalty));
        }
        Tree { splits, values }
    }

    fn of_row(&self, row: u32) -> Sums {
        Sums::of(self.gradients[row as usize], self.curvatures[row as usize])
    }

    /// The sums of every candidate column by code, from the rows.
    fn histogram(&self, rows: &[u32]) -> Vec<Sums> {
        let mut histogram = vec![Sums::default(); self.columns.len() * BINS];
        for &row in rows {
            let own = self.of_row(row);
            let codes = self.bins.row(row as usize);
            for (sums, &column) in histogram.chunks_exact_mut(BINS).zip(self.columns) {
                let sums = &mut sums[usize::from(codes[column as usize]) % BINS];
                *sums = sums.plus(own);
            }
        }
        histogram
    }

    /// The two leaves of a split; the rows of the leaf are put in their order.
    fn split(&self, leaf: &Leaf, best: Best, rows: &mut [u32], number: usize) -> (Leaf, Leaf) {
        let own = &mut rows[leaf.begin..leaf.end];
        let goes_below = |row: u32| match self.bins.row(row as usize)[best.column] {
            0 => best.missing_below,
            code => usize::from(code) <= best.code,
        };
        let above: Vec<u32> = own.iter().copied().filter(|&row| !goes_below(row)).collect();
        let middle = own.len() - above.len();
        let mut at = 0;
        for place in 0..own.len() {
            if goes_below(own[place]) {
                own[at] = own[place];
                at += 1;
            }
        }
        own[middle..].copy_from_slice(&above);
        // The histogram of the smaller side is summed up, that of the other is what is left.
        let is_small_below = middle <= above.len();
        let small = match is_small_below {
            true => self.histogram(&own[..middle]),
            false => self.histogram(&own[middle..]),
        };
        let large = leaf.histogram.iter().zip(&small).map(|(all, small)| all.minus(*small));
        let large: Vec<Sums> = large.collect();
        let (below, above) = if is_small_below { (small, large) } else { (large, small) };
        let middle = leaf.begin + middle;
        let new = |begin: usize, end: usize, histogram: Vec<Sums>, is_below: bool| {
            let own = rows[begin..end].iter();
            let sums = own.fold(Sums::default(), |sums, &row| sums.plus(self.of_row(row)));
            let best = self.best_split(&histogram, sums);
            Leaf { begin, end, sums, histogram, best, parent: Some((number, is_below)) }
        };
        (new(leaf.begin, middle, below, true), new(middle, leaf.end, above, false))
    }

    fn best_split(&self, histogram: &[Sums], total: Sums) -> Option<Best> {
        let Growth { min_rows, penalty, .. } = self.growth;
        let mut best: Option<Best> = None;
        if total.rows() < 2.0 * min_rows {
            return None;
        }
        let whole = total.score(penalty);
        for (&column, sums) in self.columns.iter().zip(histogram.chunks_exact(BINS)) {
            let column = column as usize;
            let count = self.bins.count(column);
            let missing = sums[0];
            let ways: &[bool] = if missing.rows() > 0.0 { &[false, true] } else { &[false] };
            for &missing_below in ways {
                let mut below = if missing_below { missing } else { Sums::default() };
                for (code, own) in sums.iter().enumerate().take(count - 1).skip(1) {
                    below = below.plus(*own);
                    let above = total.minus(below);
                    let is_empty = own.rows() == 0.0;
                    if is_empty || below.rows() < min_rows || above.rows() < min_rows {
                        continue;
                    }
                    let gain = below.score(penalty) + above.score(penalty) - whole;
                    if gain > best.map_or(1e-9, |best| best.gain) {
                        best = Some(Best { gain, column, code, missing_below });
                    }
                }
            }
        }
        best
    }
}

fn set_child(splits: &mut [Split], parent: usize, is_below: bool, child: Child) {
    let split = &mut splits[parent];
    *(if is_below { &mut split.below } else { &mut split.above }) = child;
}

impl Tree {
    /// The value of a row of inputs; NaN where an input is missing.
    pub(super) fn value(&self, inputs: &[f32]) -> f32 {
        self.value_at(|split| {
            let value = inputs[split.column as usize];
            if value.is_nan() { split.missing_below } else { value < split.cut }
        })
    }

    /// The value of a row by its codes, in the bins that the tree was grown from.
    pub(super) fn value_of_codes(&self, codes: &[u8]) -> f32 {
        self.value_at(|split| match codes[split.column as usize] {
            0 => split.missing_below,
            code => code <= split.code,
        })
    }

    fn value_at(&self, goes_below: impl Fn(&Split) -> bool) -> f32 {
        let mut at = match self.splits.is_empty() {
            true => Child::Leaf(0),
            false => Child::Split(0),
        };
        loop {
            match at {
                Child::Leaf(leaf) => return self.values[leaf as usize],
                Child::Split(split) => {
                    let split = &self.splits[split as usize];
                    at = if goes_below(split) { split.below } else { split.above };
                }
            }
        }
    }
}
