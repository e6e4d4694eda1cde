//! Fitted models for Python.

use std::path::PathBuf;

use graphfill::Registry;
use graphfill::methods::learning::History;
use graphfill_cli::calls::FillCall;
use pyo3::prelude::*;

use crate::errors::{data_error, raise};
use crate::input::{GivenEdges, Nodes, input};
use crate::keywords;
use crate::running::run;

/// Fits a method to a table. `flags` are those of `graphfill fill`. Returns the model, notes, and the
/// exception that stopped the training where one did.
#[pyfunction]
#[pyo3(signature = (nodes, edges, flags, progress=None))]
#[allow(clippy::type_complexity, reason = "parts for Python")]
pub(crate) fn fit(
    py: Python<'_>,
    nodes: Nodes<'_>,
    edges: Option<GivenEdges<'_>>,
    flags: Vec<String>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Option<Model>, Vec<(bool, String, Vec<String>)>, Option<PyErr>)> {
    let call = FillCall::parse(&flags).map_err(|error| raise(&error))?;
    let input = input(nodes, edges)?;
    let outcome = run(py, call.threads(), progress, |progress| {
        let dataset = call.read(input, None, progress)?;
        call.fit(&dataset, progress)
    })?;
    let notes = call.take_notes().iter().map(keywords::of_note).collect();
    Ok((outcome.value.map(Model), notes, outcome.stop))
}

/// A fitted model.
#[pyclass(frozen, module = "graphfill._native")]
pub(crate) struct Model(pub(crate) graphfill::Model);

#[pymethods]
impl Model {
    /// Reads a model from a file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let loaded = py.detach(|| graphfill::Model::load(path, &Registry::with_defaults()));
        loaded.map(Model).map_err(|error| raise(&error.into()))
    }

    /// Writes the model to a file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.save(path)).map_err(|error| raise(&error.into()))
    }

    /// The name of its method.
    #[getter]
    fn method(&self) -> &'static str {
        self.0.method().info().name
    }

    /// Whether it knows how sure its estimates are.
    #[getter]
    fn is_calibrated(&self) -> bool {
        self.0.calibration().is_some()
    }

    /// Whether training was ended before it was done.
    #[getter]
    fn is_stopped_early(&self) -> bool {
        self.0.stopped_early().is_some()
    }

    /// The names of the columns that it was trained on.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.0.schema().columns.iter().map(|column| column.name.clone()).collect()
    }

    /// The parameters of its method, as JSON.
    fn parameters_json(&self) -> PyResult<String> {
        let parameters = serde_json::to_string(&self.0.method().parameters());
        parameters.map_err(|error| data_error(&error.to_string()))
    }

    /// The method of each column, its parameters, score and reason, as JSON.
    fn choices_json(&self) -> PyResult<String> {
        let choices = serde_json::to_string(self.0.choices());
        choices.map_err(|error| data_error(&error.to_string()))
    }

    /// Losses and scores of the training as CSV, where there was any.
    fn history_csv(&self) -> Option<String> {
        self.0.history().map(History::to_csv)
    }
}
