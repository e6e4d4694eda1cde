//! What was measured, as a reader sees it: HTML reports, figures, tables, fitted lines.
//!
//! A [`figure::Figure`] becomes SVG text, the same bytes for the same points: it can be kept beside
//! the numbers and compared. A [`markdown::Table`] becomes Markdown that is readable as it stands.
//! [`fit::Line`] is the straight line through points, with its R². [`experiments`] puts them together
//! for the experiments of the paper. [`page`] writes the HTML reports of `fill` and of evaluations.
#![forbid(unsafe_code)]

pub mod experiments;
pub mod figure;
pub mod fit;
pub mod markdown;
pub mod page;
