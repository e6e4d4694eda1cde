//! How sure: intervals, prediction sets, draws and the report.

use std::path::PathBuf;

use clap::Args;

/// The coverage of intervals where none is given.
const DEFAULT_COVERAGE: f64 = 0.9;

/// What to write about the uncertainty of estimates.
#[derive(Args)]
pub(crate) struct Uncertainty {
    /// Add columns with intervals and prediction sets that cover the truth with this probability, such as 0.9, or with several
    #[arg(long, value_name = "LEVEL,…", value_delimiter = ',', value_parser = coverage, help_heading = "Uncertainty")]
    pub(crate) intervals: Vec<f64>,
    /// Write one row per estimated cell to this file instead (.csv, .tsv, .parquet or .json): estimate, interval, probability, set, method, hops [default level: 0.9]
    #[arg(long, value_name = "FILE", help_heading = "Uncertainty")]
    pub(crate) uncertainty: Option<PathBuf>,
    /// Write so many completed tables, drawn from the distributions of the estimates, below one another (multiple imputation)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "Uncertainty")]
    pub(crate) draws: Option<u32>,
    /// Write a report to this HTML file: estimates against hidden values, what was missing, coverage, methods
    #[arg(long, value_name = "FILE", help_heading = "Uncertainty")]
    pub(crate) report: Option<PathBuf>,
}

impl Uncertainty {
    /// Whether anything needs calibrated estimates.
    pub(crate) fn is_wanted(&self) -> bool {
        !self.intervals.is_empty()
            || self.uncertainty.is_some()
            || self.draws.is_some()
            || self.report.is_some()
    }

    /// The levels of coverage, ascending.
    pub(crate) fn coverages(&self) -> Vec<f64> {
        match self.intervals.is_empty() {
            true => vec![DEFAULT_COVERAGE],
            false => ascending(&self.intervals),
        }
    }
}

/// Levels in ascending order, each once.
pub(crate) fn ascending(levels: &[f64]) -> Vec<f64> {
    let mut levels = levels.to_vec();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    levels
}

/// A level of coverage, such as 0.9.
pub(super) fn coverage(text: &str) -> Result<f64, String> {
    let level = text.trim().parse().ok().filter(|level| (0.01..=0.999).contains(level));
    level.ok_or_else(|| "must be probabilities from 0.01 to 0.999, such as 0.9".to_owned())
}
