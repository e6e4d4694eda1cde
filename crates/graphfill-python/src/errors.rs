//! Errors of the libraries as exceptions of `graphfill.errors`, with file, line, column, id and keywords
//! that would help as attributes.

use graphfill::data::{DataError, Place};
use graphfill::engine::EngineError;
use graphfill::methods::MethodError;
use graphfill_cli::calls::{NoDevice, UsageError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::keywords;

/// What errors name in place of a file where a table is in memory.
const IN_MEMORY: [&str; 3] = ["nodes", "edges", "record batches"];

/// What is known about an error.
#[derive(Default)]
struct Details {
    class: &'static str,
    message: String,
    file: Option<String>,
    line: Option<u64>,
    column: Option<String>,
    id: Option<String>,
    keywords: Vec<String>,
}

/// The exception of an error.
pub(crate) fn raise(error: &anyhow::Error) -> PyErr {
    Python::attach(|py| exception(py, &details(error)).unwrap_or_else(|failed| failed))
}

/// An exception about data that cannot be used.
pub(crate) fn data_error(message: &str) -> PyErr {
    let details = Details { class: "DataError", message: message.to_owned(), ..Details::default() };
    Python::attach(|py| exception(py, &details).unwrap_or_else(|failed| failed))
}

fn exception(py: Python<'_>, details: &Details) -> PyResult<PyErr> {
    let class = py.import("graphfill.errors")?.getattr(details.class)?;
    let attributes = PyDict::new(py);
    attributes.set_item("file", details.file.as_deref())?;
    attributes.set_item("line", details.line)?;
    attributes.set_item("column", details.column.as_deref())?;
    attributes.set_item("id", details.id.as_deref())?;
    attributes.set_item("keywords", &details.keywords)?;
    let exception = class.call((&details.message,), Some(&attributes))?;
    Ok(PyErr::from_value(exception))
}

fn details(error: &anyhow::Error) -> Details {
    let message = keywords::without_flags(&format!("{error:#}"));
    let plain = |class| Details { class, message: message.clone(), ..Details::default() };
    if let Some(error) = error.downcast_ref::<DataError>() {
        return of_data(error, message);
    }
    let engine = match (error.downcast_ref(), error.downcast_ref()) {
        (Some(MethodError::Engine(error)), _) | (_, Some(error)) => Some(error),
        _ => None,
    };
    if let Some(EngineError::File { path, .. }) = engine {
        return Details { file: Some(path.display().to_string()), ..plain("FileError") };
    }
    if error.is::<EngineError>() || error.is::<NoDevice>() {
        return plain("DeviceError");
    }
    let Some(error) = error.downcast_ref::<MethodError>() else {
        let class = if error.is::<UsageError>() { "CallError" } else { "GraphfillError" };
        return plain(class);
    };
    match error {
        MethodError::Data(error) => of_data(error, message),
        error => Details {
            keywords: error.settings().iter().flat_map(keywords::of_method).collect(),
            ..plain(if matches!(error, MethodError::Engine(_)) {
                "DeviceError"
            } else {
                "MethodError"
            })
        },
    }
}

fn of_data(error: &DataError, message: String) -> Details {
    let class = match error {
        DataError::Read { .. } | DataError::Write { .. } => "FileError",
        DataError::Request { .. } => "CallError",
        DataError::Cancelled => "Interrupted",
        _ => "DataError",
    };
    let hint = error.hint().map(keywords::of_hint).unwrap_or_default();
    let mut details = Details { class, message, keywords: hint, ..Details::default() };
    let mut at = |place: &Place| {
        details.file = Some(place.path.display().to_string());
        details.line = place.line;
        details.column = place.column.clone();
    };
    match error {
        DataError::Malformed { place, .. } | DataError::MemoryLimit { place, .. } => at(place),
        DataError::UnknownColumn { place, name, .. } => {
            at(place);
            details.column = Some(name.clone());
        }
        DataError::UnknownNode { place, id, .. } | DataError::DuplicateId { place, id, .. } => {
            at(place);
            details.id = Some(id.clone());
        }
        DataError::Estimates { column, .. } => details.column = Some(column.clone()),
        DataError::Read { path, source } | DataError::Write { path, source } => {
            details.file = Some(path.display().to_string());
            // The message has what the operating system said; the chain of errors ends with it again.
            if let Some(short) = details.message.strip_suffix(&format!(": {source}")) {
                details.message = short.to_owned();
            }
        }
        _ => {}
    }
    if let (Some(table), Some(row)) = (&details.file, details.line)
        && IN_MEMORY.contains(&table.as_str())
    {
        let (line, row) = (format!("{table}, line {row}"), format!("{table}, row {row}"));
        details.message = details.message.replacen(&line, &row, 1);
    }
    details
}
