//! What commands that train share: limits, files of parameters, the search for them, histories.

use std::path::Path;

use graphfill::data::Progress;
use graphfill::engine::{Device, MemoryLimit};
use graphfill::methods::tuning::{Trial, best};
use graphfill::methods::{Context, Deadline, Method, MethodError, ParamOverrides, Registry};

use super::fill::fixed_parameters;
use crate::arguments::{Training, UsageError};
use crate::output::messages::Messages;
use crate::parameters_file::{ParametersFile, Tuning};

/// The limits that the caller set, and the device.
pub(crate) fn context<'a>(
    arguments: &Training,
    device: Device,
    progress: &'a dyn Progress,
) -> Context<'a> {
    Context {
        device,
        max_updates: arguments.max_updates,
        deadline: arguments.time_limit.map(Deadline::after),
        memory: arguments.memory_limit.map(MemoryLimit::Allowed),
        progress,
        ..Context::default()
    }
}

/// Parameters from the call and from the file that it names.
pub(crate) fn parameters(
    arguments: &Training,
    given: &[String],
    methods: &[&dyn Method],
) -> anyhow::Result<ParamOverrides> {
    let mut overrides = fixed_parameters(given, methods)?;
    if let Some(path) = &arguments.params_file
        && (path.exists() || arguments.tune.is_none())
    {
        let runs =
            |name: &str| methods.iter().any(|method| [name, "auto"].contains(&method.info().name));
        ParametersFile::read(path)?.fix(&mut overrides, runs);
        Registry::with_defaults().with_overrides(&overrides)?;
    }
    Ok(overrides)
}

/// The name of the method whose parameters are searched for where this one runs.
pub(crate) fn tuned(method: &dyn Method) -> String {
    let name = method.info().name;
    if name == "auto" { "svga-p" } else { name }.to_owned()
}

/// Searches for parameters with `search`, keeps what was tried in the file, and fixes the best.
pub(crate) fn tune(
    path: &Path,
    run: &str,
    name: &str,
    given: &[String],
    overrides: &mut ParamOverrides,
    messages: &Messages,
    search: impl FnOnce(
        &ParamOverrides,
        Vec<Trial>,
        &mut dyn FnMut(&[Trial]) -> Result<(), MethodError>,
    ) -> Result<Vec<Trial>, MethodError>,
) -> anyhow::Result<()> {
    let mut file =
        if path.exists() { ParametersFile::read(path)? } else { ParametersFile::default() };
    let known = match file.tuning.take() {
        Some(tuning) if tuning.run == run => tuning.trials,
        Some(tuning) => {
            return Err(UsageError(format!(
                "{} has the trials of another search: {}\n  name another file with --params-file",
                path.display(),
                tuning.run
            ))
            .into());
        }
        None => Vec::new(),
    };
    if !known.is_empty() {
        messages.note(&format!("{} trials are known from {}", known.len(), path.display()));
    }
    // What an earlier search found must not narrow this one: only the call itself does.
    let own = fixed_parameters(given, &[&*Registry::with_defaults().find(name)?])?;
    let mut keep = |trials: &[Trial]| -> Result<(), MethodError> {
        let chosen = best(trials).map(|best| best.parameters.clone()).unwrap_or_default();
        file.methods.insert(name.to_owned(), chosen);
        file.tuning = Some(Tuning { run: run.to_owned(), trials: trials.to_vec() });
        file.write(path).map_err(|error| MethodError::Table(error.to_string()))
    };
    let trials = search(&own, known, &mut keep)?;
    keep(&trials)?;
    if let Some(best) = best(&trials) {
        for (parameter, value) in best.parameters.iter() {
            overrides.set(name, parameter, value.clone());
        }
        messages.note(&format!(
            "the best of {} settings, kept in {}: {}",
            trials.len(),
            path.display(),
            super::fill::parameters(&best.parameters)
        ));
    }
    Ok(())
}
