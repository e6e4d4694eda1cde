//! The finished jobs of experiments, one file per job: an interrupted run continues where it was, and
//! experiments share the jobs that they have in common.

use std::fs;
use std::path::{Path, PathBuf};

use graphfill_data::{DataError, atomic_file};
use graphfill_methods::Result;
use serde::{Deserialize, Serialize};

use super::job::Outcome;
use super::key::JobKey;

/// A folder of finished jobs.
#[derive(Debug, Clone)]
pub struct JobStore {
    folder: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    key: String,
    outcome: Outcome,
}

impl JobStore {
    /// Opens a folder, which is created where there is none.
    pub fn new(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).map_err(|source| DataError::write(folder, source))?;
        Ok(JobStore { folder: folder.to_path_buf() })
    }

    /// The outcome of a finished job. A damaged file counts as none: the job then runs again.
    pub(super) fn find(&self, key: &JobKey) -> Option<Outcome> {
        let text = fs::read_to_string(self.path(key, "json")).ok()?;
        let stored: Stored = serde_json::from_str(&text).ok()?;
        (stored.key == key.text).then_some(stored.outcome)
    }

    /// Saves an outcome.
    pub(super) fn save(&self, key: &JobKey, outcome: &Outcome) -> Result<()> {
        let path = self.path(key, "json");
        let stored = Stored { key: key.text.clone(), outcome: outcome.clone() };
        let text = serde_json::to_string_pretty(&stored)
            .map_err(|error| DataError::write(&path, error.into()))?;
        Ok(atomic_file::write(&path, text.as_bytes())?)
    }

    /// Removes a job's checkpoint, with all files whose names begin as its own does.
    pub(super) fn remove_checkpoint(&self, key: &JobKey) {
        let own = format!("{}.checkpoint", key.file);
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(&own) {
                // Another process may have removed it.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// The path of a job's checkpoint while it runs.
    pub(super) fn checkpoint(&self, key: &JobKey) -> PathBuf {
        self.path(key, "checkpoint")
    }

    fn path(&self, key: &JobKey, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", key.file))
    }
}
