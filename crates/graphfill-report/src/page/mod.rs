//! The HTML report: one self-contained page about a filled table or an evaluation.

mod data;

pub use data::{
    ColumnError, ColumnPage, Confusion, Coverage, Distribution, FillPage, GroupError, HiddenCell,
    MissingCells, Pattern, ReliabilityBin, RunInfo,
};
