//! `evaluate` for Python: the scores of methods on hidden values.

use graphfill_cli::calls::{EvaluateCall, Scored};
use pyo3::prelude::*;

use crate::errors::{data_error, raise};
use crate::input::{GivenEdges, Nodes, input};
use crate::keywords;
use crate::running::run;

/// Hides known values, estimates them and scores methods. `flags` are those of `graphfill evaluate`;
/// `command` is the call as its user wrote it. Without nodes, a flag names a data set.
#[pyfunction]
#[pyo3(signature = (nodes, edges, flags, command, progress=None))]
pub(crate) fn evaluate(
    py: Python<'_>,
    nodes: Option<Nodes<'_>>,
    edges: Option<GivenEdges<'_>>,
    flags: Vec<String>,
    command: &str,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Scores> {
    let call = EvaluateCall::parse(&flags).map_err(|error| raise(&error))?;
    let input = nodes.map(|nodes| input(nodes, edges)).transpose()?;
    let outcome =
        run(py, call.threads(), progress, |progress| call.evaluate(input, command, progress))?;
    let scored = outcome.finished()?;
    Ok(Scores { notes: call.take_notes().iter().map(keywords::of_note).collect(), scored })
}

/// The scores of methods.
#[pyclass(frozen, module = "graphfill._native")]
pub(crate) struct Scores {
    notes: Vec<(bool, String, Vec<String>)>,
    scored: Scored,
}

#[pymethods]
impl Scores {
    /// What was guessed and noticed.
    #[getter]
    fn notes(&self) -> Vec<(bool, String, Vec<String>)> {
        self.notes.clone()
    }

    /// Everything that was measured, as JSON.
    fn json(&self) -> PyResult<String> {
        let scores = serde_json::to_string(&self.scored.evaluation);
        scores.map_err(|error| data_error(&error.to_string()))
    }

    /// The report as an HTML page.
    #[getter]
    fn page(&self) -> String {
        self.scored.page.clone()
    }
}
