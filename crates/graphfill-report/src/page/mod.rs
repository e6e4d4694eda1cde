//! The HTML report: one self-contained page about a filled table or an evaluation.
//!
//! [`FillPage::new`] aggregates a filled table. [`FillPage::to_html`] shows what `fill` did: observed against estimated values on hidden cells,
//! what was missing, distributions, calibration, errors by distance and degree, methods.
//! [`evaluation_page`] shows methods side by side. Pages load nothing, so that they can be mailed and
//! kept; plots are SVG, and their data is embedded as JSON for copying as CSV.

mod build;
mod calibration;
mod card;
mod chosen;
mod data;
mod date;
mod distribution;
mod document;
mod draw;
mod evaluation;
mod fill;
mod format;
mod groups;
mod metric;
mod missing;
mod observed;
mod patterns;
mod plot;
mod reliability;
mod table;

pub use build::FillSource;
pub use data::{
    ColumnError, ColumnPage, Confusion, Coverage, Distribution, FillPage, GroupError, HiddenCell,
    MissingCells, Pattern, ReliabilityBin, RunInfo,
};
pub use evaluation::evaluation_page;
