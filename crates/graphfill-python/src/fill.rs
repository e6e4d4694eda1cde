//! `fill` and what it returns: the estimates of each column, their uncertainty, draws and the report.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema};
use graphfill::data::{BlockKind, Column, Kind, Note};
use graphfill::methods::learning::{History, StopReason};
use graphfill_cli::calls::{FillCall, Run};
use pyo3::prelude::*;

use crate::completed::{Completed, Estimates};
use crate::errors::{data_error, raise};
use crate::input::{GivenEdges, Nodes, input};
use crate::keywords;
use crate::model::Model;
use crate::running::run;
use crate::table::Table;

/// A note as Python shows it: whether it is a warning, its text, keywords that would change it.
type NoteParts = (bool, String, Vec<String>);

/// Fills the missing cells of a table.
///
/// `flags` are those of `graphfill fill`, as "--seed=7"; `model` fills without training. Returns the filled
/// table, and the exception that stopped the training where one did.
#[pyfunction]
#[pyo3(signature = (nodes, edges, flags, model=None, progress=None))]
pub(crate) fn fill(
    py: Python<'_>,
    nodes: Nodes<'_>,
    edges: Option<GivenEdges<'_>>,
    flags: Vec<String>,
    model: Option<Bound<'_, Model>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Option<Filled>, Option<PyErr>)> {
    let started = Instant::now();
    let call = FillCall::parse(&flags).map_err(|error| raise(&error))?;
    let input = input(nodes, edges)?;
    let model = model.map(|model| model.get().0.clone());
    let outcome = run(py, call.threads(), progress, |progress| {
        let dataset = call.read(input, model.as_ref(), progress)?;
        call.fill(dataset, model.as_ref(), progress)
    })?;
    let filled = outcome.value.map(|run| {
        let (notes, seconds) = (call.take_notes(), started.elapsed().as_secs_f64());
        Filled(Mutex::new(Inner { completed: None, call, run, notes, seconds }))
    });
    Ok((filled, outcome.stop))
}

/// A filled table.
#[pyclass(frozen, module = "graphfill._native")]
pub(crate) struct Filled(Mutex<Inner>);

struct Inner {
    completed: Option<Arc<Completed>>,
    call: FillCall,
    run: Run,
    notes: Vec<Note>,
    seconds: f64,
}

impl Inner {
    /// The completed table, put together once.
    fn completed(&mut self) -> PyResult<Arc<Completed>> {
        if let Some(completed) = &self.completed {
            return Ok(Arc::clone(completed));
        }
        let filled = &self.run.filled;
        let after = filled.dataset().table.clone();
        let mut added = Vec::new();
        if self.call.wants_intervals() {
            let beside = filled.with_intervals(&self.call.coverages());
            let beside = beside.map_err(|error| raise(&error.into()))?;
            let is_new = |column: &&Column| after.column(column.name()).is_none();
            added = beside.columns().iter().filter(is_new).cloned().collect();
        }
        let before = filled.before().table.clone();
        let completed = Arc::new(Completed::new(before, after, added));
        self.completed = Some(Arc::clone(&completed));
        Ok(completed)
    }
}

impl Filled {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Filled {
    /// The number of rows, those of nodes that only edges name counted.
    #[getter]
    fn rows(&self) -> usize {
        self.inner().run.filled.dataset().table.rows()
    }

    /// How many cells were estimated.
    #[getter]
    fn estimated(&self) -> usize {
        self.inner().run.filled.estimated()
    }

    /// How many labels were estimated.
    #[getter]
    fn estimated_labels(&self) -> usize {
        self.inner().run.filled.estimated_labels()
    }

    /// The seconds that filling took.
    #[getter]
    fn seconds(&self) -> f64 {
        self.inner().seconds
    }

    /// The device on which it ran.
    #[getter]
    fn device(&self) -> String {
        self.inner().run.device.name()
    }

    /// The number of edges between two different nodes.
    #[getter]
    fn edges(&self) -> usize {
        self.inner().run.filled.graph().edges()
    }

    /// Why training ended early: "cancelled", "time limit", or None.
    #[getter]
    fn stopped_early(&self) -> Option<&'static str> {
        self.inner().run.filled.stopped_early().map(|reason| match reason {
            StopReason::Cancelled => "cancelled",
            _ => "time limit",
        })
    }

    /// The columns that hold ids and the ends of edges: id, source, target, weight, and a sentence.
    #[getter]
    #[allow(clippy::type_complexity, reason = "five words for Python")]
    fn found(
        &self,
    ) -> Option<(Option<String>, Option<String>, Option<String>, Option<String>, String)> {
        let inner = self.inner();
        let found = inner.run.filled.before().found.as_ref()?;
        let edges = found.edges.as_ref();
        Some((
            found.id.clone(),
            edges.map(|edges| edges.source.clone()),
            edges.map(|edges| edges.target.clone()),
            edges.and_then(|edges| edges.weight.clone()),
            found.to_string(),
        ))
    }

    /// What was guessed and noticed.
    #[getter]
    fn notes(&self) -> Vec<NoteParts> {
        self.inner().notes.iter().map(keywords::of_note).collect()
    }

    /// The kind of every column: "number", "count", "boolean", "category", "date", a block, or "unused".
    #[getter]
    fn kinds(&self) -> Vec<(String, &'static str)> {
        let inner = self.inner();
        let columns = inner.run.filled.before().table.columns().iter();
        columns.map(|column| (column.name().to_owned(), column.kind().as_str())).collect()
    }

    /// The method of each column, its parameters, score and reason, as JSON.
    fn choices_json(&self) -> PyResult<String> {
        let choices = serde_json::to_string(self.inner().run.filled.choices());
        choices.map_err(|error| data_error(&error.to_string()))
    }

    /// Losses and scores of the training as CSV, where there was any.
    fn history_csv(&self) -> Option<String> {
        self.inner().run.filled.history().map(History::to_csv)
    }

    /// The columns with estimated cells.
    fn estimated_columns(&self) -> PyResult<Vec<String>> {
        Ok(self.inner().completed()?.estimated_columns())
    }

    /// The estimates of a column.
    fn estimates(&self, py: Python<'_>, column: &str) -> PyResult<Estimates> {
        self.inner().completed()?.estimates(py, column)
    }

    /// The whole filled table, with columns of intervals where these were asked for. `typed` turns text
    /// columns of numbers, booleans and dates into typed ones.
    #[pyo3(signature = (typed=false))]
    fn table(&self, typed: bool) -> PyResult<Table> {
        self.inner().completed()?.table(typed)
    }

    /// The columns of intervals, where these were asked for.
    fn added_columns(&self) -> PyResult<Table> {
        self.inner().completed()?.added_columns()
    }

    /// The fitted model; None where nothing was missing or a model was given.
    fn model(&self) -> Option<Model> {
        self.inner().run.filled.model().cloned().map(Model)
    }

    /// Finds out how sure the estimates are, where that is not known yet. False where a model from
    /// elsewhere does not know it.
    #[pyo3(signature = (progress=None))]
    fn calibrate(&self, py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        // The lock is taken without the interpreter's: another thread may hold it while it calibrates.
        let mut inner = py.detach(|| SendGuard(self.inner()));
        let Inner { call, run: filled, notes, .. } = &mut *inner.0;
        if filled.filled.uncertainty().is_some() {
            return Ok(true);
        }
        let outcome =
            run(py, call.threads(), progress, |progress| call.calibrate(filled, progress))?;
        notes.extend(call.take_notes());
        outcome.finished()
    }

    /// One row per estimated cell; None before `calibrate`.
    fn uncertainty(&self) -> PyResult<Option<Table>> {
        let inner = self.inner();
        let cells = inner.run.filled.cells(&inner.call.coverages());
        let Some(cells) = cells.map_err(|error| raise(&error.into()))? else { return Ok(None) };
        let batch = cells.to_frame().map_err(|error| raise(&error.into()))?;
        let filled = &inner.run.filled;
        let is_number = |column: &Column| match column.kind() {
            Kind::Number | Kind::Count | Kind::Block(BlockKind::Numeric) => true,
            _ => column.missing_count() == 0 || !column.kind().is_used(),
        };
        // Texts hold the values of columns of all kinds; where all are numbers, so are they.
        if filled.before().table.columns().iter().all(is_number) {
            return with_numbers(&batch).map(|batch| Some(Table::of_batch(batch)));
        }
        Ok(Some(Table::of_batch(batch)))
    }

    /// How often intervals covered hidden values: column, nominal and real coverage, number of cells.
    fn coverage(&self) -> Vec<(String, f64, f64, usize)> {
        let inner = self.inner();
        let filled = &inner.run.filled;
        let coverages = inner.call.coverages();
        let Some(check) = filled.coverage(&coverages) else { return Vec::new() };
        let features = filled.features();
        let columns = features.groups().iter().zip(&check.columns);
        let rows = columns.flat_map(|(group, checked)| {
            coverages.iter().enumerate().filter_map(|(level, &nominal)| {
                let (real, cells) = checked.coverage(level)?;
                Some((group.name.clone(), nominal, real, cells))
            })
        });
        rows.collect()
    }

    /// A completed table that is drawn from the distributions of the estimates; None before `calibrate`.
    fn draw(&self, number: u32) -> PyResult<Option<Completed>> {
        let inner = self.inner();
        let filled = &inner.run.filled;
        let drawn = filled.draw(number).map_err(|error| raise(&error.into()))?;
        let before = filled.before().table.clone();
        Ok(drawn.map(|after| Completed::new(before, after, Vec::new())))
    }

    /// A warning where draws repeat the estimates of some columns.
    fn undrawn(&self) -> Option<String> {
        let inner = self.inner();
        let filled = &inner.run.filled;
        let note = graphfill::methods::uncertainty::undrawn_note(
            filled.uncertainty()?,
            &filled.before().table,
        );
        note.map(|note| note.text)
    }

    /// The report as an HTML page; `command` is the call as its user wrote it.
    fn report(&self, py: Python<'_>, command: &str) -> String {
        py.detach(|| {
            let inner = self.inner();
            let said = inner.notes.iter().map(|note| keywords::without_flags(&note.text)).collect();
            inner.call.report(&inner.run, command, said, inner.seconds).to_html()
        })
    }

    /// The first plot of the report as SVG; None before `calibrate`.
    fn figure(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| {
            let inner = self.inner();
            inner.call.report(&inner.run, "", Vec::new(), inner.seconds).first_plot()
        })
    }
}

/// Estimates and the ends of intervals as numbers.
fn with_numbers(batch: &RecordBatch) -> PyResult<RecordBatch> {
    let wrong = |error: arrow_schema::ArrowError| data_error(&error.to_string());
    let is_value =
        |name: &str| ["estimate", "lower", "upper"].iter().any(|end| name.starts_with(end));
    let (mut fields, mut cells) = (Vec::new(), Vec::new());
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        let column = match is_value(field.name()) {
            true => arrow_cast::cast(column, &DataType::Float64).map_err(wrong)?,
            false => column.clone(),
        };
        fields.push(Field::clone(field).with_data_type(column.data_type().clone()));
        cells.push(column);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), cells).map_err(wrong)
}

/// A lock that is taken on one thread and used on the same one, behind a call that wants it to be sendable.
struct SendGuard<'a>(MutexGuard<'a, Inner>);

// SAFETY: `Python::detach` runs its closure on the calling thread: the guard never leaves it.
unsafe impl Send for SendGuard<'_> {}
