//! The native module `graphfill._native` of the Python package: tables cross as Arrow streams and buffers,
//! work runs without the interpreter's lock, results come back as columns of estimates.
//!
//! Everything that a Python user sees (data frames, graphs, results, progress bars, warnings) is written
//! in Python on top of it, under `python/graphfill`.

#![allow(clippy::needless_pass_by_value, reason = "functions for Python take what they extract")]

mod buffers;
mod capsules;
mod completed;
mod errors;
mod evaluate;
mod exported;
mod fill;
mod input;
mod keywords;
mod model;
mod running;
mod table;

use std::ffi::OsString;

use graphfill_cli::calls;
use pyo3::prelude::*;

/// The native module.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use super::completed::{Completed, Estimates};
    #[pymodule_export]
    use super::evaluate::{Scores, evaluate};
    #[pymodule_export]
    use super::exported::Buffer;
    #[pymodule_export]
    use super::fill::{Filled, fill};
    #[pymodule_export]
    use super::input::Edges;
    #[pymodule_export]
    use super::model::{Model, fit};
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::{devices_json, flags, main, methods_json, version};
}

/// Runs the command line with these arguments, the program's name left out; returns its exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    let words = std::iter::once(OsString::from("graphfill")).chain(arguments);
    py.detach(|| graphfill_cli::run_with_code(words))
}

/// The names of the flags of a subcommand, such as "max-updates".
#[pyfunction]
fn flags(subcommand: &str) -> Vec<String> {
    calls::flags(subcommand)
}

/// Every method with its parameters, as JSON.
#[pyfunction]
fn methods_json() -> PyResult<String> {
    calls::methods_json().map_err(|error| errors::raise(&error))
}

/// The devices of this machine, as JSON.
#[pyfunction]
fn devices_json(py: Python<'_>) -> PyResult<String> {
    py.detach(calls::devices_json).map_err(|error| errors::raise(&error))
}

/// The version of graphfill.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
