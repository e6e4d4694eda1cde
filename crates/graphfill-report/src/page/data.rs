//! What the report of `fill` shows: plain numbers and words, aggregated before they come here.

/// Everything on the report page of one `fill`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FillPage {
    /// The data set, as the page's title names it.
    pub title: String,
    /// How the run was started, and what it took.
    pub run: RunInfo,
    /// The number of nodes.
    pub nodes: usize,
    /// The number of undirected edges.
    pub edges: usize,
    /// How many cells were estimated.
    pub estimated: usize,
    /// The nominal coverage of the intervals shown, such as 0.9; none where nothing was calibrated.
    pub level: Option<f64>,
    /// What a reader should know before trusting the estimates.
    pub warnings: Vec<String>,
    /// The estimated columns, in the order of the table.
    pub columns: Vec<ColumnPage>,
    /// What was missing.
    pub missing: MissingCells,
    /// Error and coverage over all numeric columns, by hops to the nearest observed cell.
    pub by_hops: Vec<GroupError>,
    /// Error and coverage over all numeric columns, by degree.
    pub by_degree: Vec<GroupError>,
}

/// How a run was started.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunInfo {
    /// The command line.
    pub command: String,
    /// The version of the program.
    pub version: String,
    /// The seed.
    pub seed: u64,
    /// Seconds from start to end.
    pub seconds: f64,
    /// The device.
    pub device: String,
}

/// One estimated column.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnPage {
    /// Its name.
    pub name: String,
    /// Its kind in a word: number, count, date, boolean, category, binary block, numeric block.
    pub kind: String,
    /// Missing cells, all of which were estimated.
    pub missing: usize,
    /// Observed cells.
    pub observed: usize,
    /// The method that estimated it.
    pub method: String,
    /// Why that method, in words.
    pub reason: Option<String>,
    /// The error or hit rate on hidden cells, of the method and of the baseline, and what was measured.
    pub error: Option<ColumnError>,
    /// How many observed cells were hidden for calibration.
    pub hidden: usize,
    /// A sample of the hidden cells of a number, count, date or numeric block.
    pub cells: Vec<HiddenCell>,
    /// Counts of estimated against observed levels on hidden cells, of a boolean or category.
    pub confusion: Option<Confusion>,
    /// How often an estimate of some probability was right, on hidden cells.
    pub reliability: Vec<ReliabilityBin>,
    /// Histograms of the observed and of the estimated values, or frequencies of levels.
    pub distribution: Option<Distribution>,
    /// Nominal against real coverage on hidden cells.
    pub coverage: Vec<Coverage>,
    /// Whether the values are days since 1970-01-01, to be shown as dates.
    pub is_date: bool,
}

/// How large the error is, or how good a rate.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnError {
    /// What was measured: "RMSE", "hit rate", "recall@10".
    pub measure: String,
    /// The value of the chosen method.
    pub method: f64,
    /// The value of the column mean or the most frequent level.
    pub baseline: f64,
    /// Whether less is better; else it is a rate, at most 1.
    pub lower_is_better: bool,
}

/// An observed cell that was hidden and estimated.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HiddenCell {
    /// The observed value.
    pub observed: f64,
    /// The estimate.
    pub estimate: f64,
    /// The interval, where the column has one.
    pub interval: Option<(f64, f64)>,
}

/// Counts of estimated against observed levels.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Confusion {
    /// The levels; the last may sum up rare ones.
    pub levels: Vec<String>,
    /// `counts[observed][estimated]`.
    pub counts: Vec<Vec<usize>>,
}

/// Estimates of about one probability.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ReliabilityBin {
    /// The mean probability.
    pub probability: f64,
    /// The share of them that was right.
    pub share: f64,
    /// How many.
    pub cells: usize,
}

/// How values are distributed.
#[derive(Debug, Clone, PartialEq)]
pub enum Distribution {
    /// Histograms over the same bins: `edges` has one entry more than the counts.
    Histogram {
        /// The bounds of the bins.
        edges: Vec<f64>,
        /// Observed values per bin.
        observed: Vec<usize>,
        /// Estimates per bin.
        estimated: Vec<usize>,
    },
    /// Frequencies of levels: name, observed, estimated.
    Levels(Vec<(String, usize, usize)>),
}

/// Nominal against real coverage.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Coverage {
    /// What was asked for.
    pub nominal: f64,
    /// The share of hidden cells inside their interval or set.
    pub real: f64,
    /// How many hidden cells.
    pub cells: usize,
}

/// Error and coverage of a group of hidden cells.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GroupError {
    /// The group: "1 hop", "degree 4 to 7".
    pub label: String,
    /// How many hidden cells.
    pub cells: usize,
    /// The root mean squared error, in standard deviations of the columns.
    pub error: f64,
    /// The share of cells inside their interval.
    pub coverage: Option<f64>,
}

/// What was missing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MissingCells {
    /// The columns of the matrix, with the share of missing cells of each.
    pub columns: Vec<(String, f64)>,
    /// The commonest patterns: which columns are missing together, and in how many rows.
    pub patterns: Vec<Pattern>,
    /// Rows that have patterns which are not listed.
    pub other_rows: usize,
    /// Correlations of missingness between columns, by position, the strongest first.
    pub together: Vec<(usize, usize, f64)>,
}

/// Columns that are missing together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pattern {
    /// Whether each column is missing.
    pub missing: Vec<bool>,
    /// How many rows.
    pub rows: usize,
}

impl FillPage {
    /// The nominal coverage, where it is one: between 0 and 1.
    pub(super) fn nominal(&self) -> Option<f64> {
        self.level.filter(|level| *level > 0.0 && *level < 1.0)
    }
}

impl ColumnPage {
    /// The coverage measured at a nominal level.
    pub(super) fn coverage_at(&self, nominal: f64) -> Option<&Coverage> {
        self.coverage.iter().find(|coverage| (coverage.nominal - nominal).abs() < 1e-9)
    }
}

impl ColumnError {
    /// The share of the baseline's error that the method avoids, negative where it is worse; none where
    /// either error is not finite or the baseline has none. The error of a rate is what it lacks to 1.
    pub(super) fn gain(&self) -> Option<f64> {
        let error = |value: f64| if self.lower_is_better { value } else { 1.0 - value };
        let (own, baseline) = (error(self.method), error(self.baseline));
        Some((baseline - own) / baseline.abs()).filter(|gain| gain.is_finite())
    }
}
