//! A TOML file of parameters, one table per method, and what a search for them has tried:
//!
//! ```toml
//! [svga]
//! lambda = 1.0
//!
//! [tuning]
//! run = "svga on cora: 2708 nodes, 5278 edges, seed 0"
//!
//! [[tuning.trials]]
//! score = 0.1712
//! seconds = 41.5
//! parameters = { lambda = 1.0 }
//! ```

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use graphfill::data::DataError;
use graphfill::data::atomic_file::AtomicFile;
use graphfill::methods::tuning::Trial;
use graphfill::methods::{ParamOverrides, Parameters};
use serde::{Deserialize, Serialize};

/// The contents of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct ParametersFile {
    #[serde(flatten)]
    pub(crate) methods: BTreeMap<String, Parameters>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tuning: Option<Tuning>,
}

/// A search and how far it got.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tuning {
    /// What was searched for.
    pub(crate) run: String,
    #[serde(default)]
    pub(crate) trials: Vec<Trial>,
}

impl ParametersFile {
    /// What is in the file.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| DataError::read(path, error))?;
        toml::from_str(&text).map_err(|error| {
            anyhow::anyhow!("{} is no file of parameters: {error}", path.display())
        })
    }

    /// Replaces the file in one go.
    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let mut file = AtomicFile::create(path)?;
        writeln!(file, "# Parameters of graphfill's methods: use them with --params-file.")?;
        file.write_all(toml::to_string(self)?.as_bytes())?;
        Ok(file.commit()?)
    }

    /// Fixes what the file has for these methods, unless the caller fixed it otherwise.
    pub(crate) fn fix(&self, fixed: &mut ParamOverrides, runs: impl Fn(&str) -> bool) {
        for (method, parameters) in self.methods.iter().filter(|(method, _)| runs(method)) {
            for (name, value) in parameters.iter() {
                if !fixed.of(method).has(name) {
                    fixed.set(method, name, value.clone());
                }
            }
        }
    }
}
