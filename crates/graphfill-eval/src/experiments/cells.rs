//! The finished cells of experiments, each in a file of its own: a run that was stopped goes on where
//! it was, and experiments share what they have in common.
//!
//! A cell is told apart by everything that its outcome depends on: the version of the program, the
//! work, the content of the data and its splits, the method, what was fixed and limited, the precision
//! of a card, which card it is where time counts, and the seed.

use std::fs;
use std::path::{Path, PathBuf};

use graphfill_data::{DataError, atomic_file};
use graphfill_methods::Result;
use serde::{Deserialize, Serialize};
use sha1::{Digest, Sha1};

use super::cell::{Cell, Outcome, Work};
use super::grid::GridOptions;
use super::subject::{Subject, hexadecimal};

/// Raised whenever results change within a version of the program: what was found before is then run
/// again.
const REVISION: u32 = 1;

/// A folder of finished cells.
#[derive(Debug, Clone)]
pub struct Cells {
    folder: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    key: String,
    outcome: Outcome,
}

impl Cells {
    /// The cells of a folder, which is made if need be.
    pub fn new(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).map_err(|source| DataError::write(folder, source))?;
        Ok(Cells { folder: folder.to_path_buf() })
    }

    /// The outcome of a cell that was finished before. A file that cannot be understood counts as
    /// none: the cell is then run again.
    pub(super) fn find(&self, name: &CellName) -> Option<Outcome> {
        let text = fs::read_to_string(self.path(name, "json")).ok()?;
        let kept: Kept = serde_json::from_str(&text).ok()?;
        (kept.key == name.key).then_some(kept.outcome)
    }

    /// Keeps an outcome.
    pub(super) fn keep(&self, name: &CellName, outcome: &Outcome) -> Result<()> {
        let path = self.path(name, "json");
        let kept = Kept { key: name.key.clone(), outcome: outcome.clone() };
        let text = serde_json::to_string_pretty(&kept)
            .map_err(|error| DataError::write(&path, error.into()))?;
        Ok(atomic_file::write(&path, text.as_bytes())?)
    }

    /// Forgets the state of a cell's training, with all files whose names begin as its own does.
    pub(super) fn forget_checkpoint(&self, name: &CellName) {
        let own = format!("{}.checkpoint", name.file);
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(&own) {
                // Another run may have been faster.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Where the state of a cell's training is while it runs.
    pub(super) fn checkpoint(&self, name: &CellName) -> PathBuf {
        self.path(name, "checkpoint")
    }

    fn path(&self, name: &CellName, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", name.file))
    }
}

/// What tells a cell from all others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CellName {
    /// In full.
    key: String,
    /// As the name of a file: for people, and a digest of the rest.
    file: String,
}

impl CellName {
    pub(super) fn of(cell: &Cell, subject: &Subject, options: &GridOptions<'_>) -> Self {
        let method = cell.method.info().name;
        let training = &options.training;
        let limit = training.deadline.map(|deadline| deadline.limit().as_secs_f64());
        // Scores don't depend on threads, and of a card on its precision only; times do, and so do
        // scores at the end of a time limit.
        let is_timing = matches!(cell.work, Work::Timing);
        let threads = is_timing.then_some(options.threads);
        let card = match training.device.cuda_options() {
            Some(_) if is_timing || limit.is_some() => format!("; {}", training.device.describe()),
            Some(card) => format!("; card in {}", card.precision),
            None => String::new(),
        };
        let key = format!(
            "graphfill {} revision {REVISION}; {}; data {}; method {method}; fixed {:?}; updates {:?}; seconds {limit:?}; memory {:?}; threads {threads:?}{card}; preset {}; seed {}",
            env!("CARGO_PKG_VERSION"),
            cell.work,
            subject.fingerprint,
            options.fixed,
            cell.most_updates,
            training.memory,
            subject.name,
            cell.seed,
        );
        let digest = hexadecimal(&Sha1::digest(key.as_bytes())[..6]);
        let work = cell.work.to_string().replace(' ', "-");
        let file = format!("{}-{method}-{work}-{}-{digest}", subject.name, cell.seed);
        CellName { key, file }
    }
}
