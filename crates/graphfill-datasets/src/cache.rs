//! The cache folder, and where the files of data sets are kept: `ROOT/NAME/FILE`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use etcetera::base_strategy::{BaseStrategy, choose_native_strategy};
use graphfill_data::{DataError, Hint, Result, Setting};

use crate::registry::{DatasetInfo, RemoteFile};

/// The environment variable that names another cache folder than the platform's.
pub const CACHE_VARIABLE: &str = "GRAPHFILL_CACHE_DIR";

/// The folder that holds one folder per data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// Uses the given folder, or else `datasets` in the [cache folder](cache_folder). Nothing is
    /// created on disk.
    ///
    /// # Errors
    /// [`DataError::Request`] if no folder is given and there is no cache folder.
    pub fn new(data_dir: Option<&Path>) -> Result<Self> {
        if let Some(root) = data_dir {
            return Ok(Cache { root: root.to_path_buf() });
        }
        let folder = cache_folder().ok_or_else(|| {
            let advice = format!("name a folder for the data sets, or set {CACHE_VARIABLE}");
            let found = "there is no cache folder, because the user has no home folder";
            DataError::request(found, Hint::new(advice).with(Setting::DataDir))
        })?;
        Ok(Cache { root: folder.join("datasets") })
    }

    /// The folder of all data sets.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of one data set.
    pub fn folder(&self, info: &DatasetInfo) -> PathBuf {
        self.root.join(info.name)
    }

    /// The files of a data set that are needed to read it and do not exist. The content of existing
    /// files is not checked; `download` does that.
    pub fn missing(&self, info: &DatasetInfo) -> Vec<PathBuf> {
        let folder = self.folder(info);
        let names = info.files.iter().flat_map(RemoteFile::kept_names);
        names.map(|name| folder.join(name)).filter(|path| !path.is_file()).collect()
    }

    /// Whether every file of the data set exists.
    pub fn is_complete(&self, info: &DatasetInfo) -> bool {
        self.missing(info).is_empty()
    }
}

/// The folder for everything that graphfill can make or download again: the environment variable
/// [`CACHE_VARIABLE`], or else `graphfill` in the platform's cache folder. None if the variable is
/// not set and the user has no home folder. Nothing is created on disk.
pub fn cache_folder() -> Option<PathBuf> {
    named_folder(std::env::var_os(CACHE_VARIABLE))
        .or_else(|| Some(choose_native_strategy().ok()?.cache_dir().join("graphfill")))
}

/// The folder that the variable names; an empty variable counts as none.
fn named_folder(variable: Option<OsString>) -> Option<PathBuf> {
    variable.filter(|value| !value.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::registry::find;

    #[test]
    fn a_named_folder_is_taken_as_it_is() {
        let cache = Cache::new(Some(Path::new("here"))).expect("a folder is given");
        let cora = find("cora").expect("cora is a data set");
        assert_eq!(cache.folder(cora), Path::new("here/cora"));
        assert_eq!(named_folder(Some("there".into())), Some(PathBuf::from("there")));
        assert_eq!(named_folder(Some(OsString::new())), None);
    }

    #[test]
    fn is_complete_once_every_kept_file_exists() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let cache = Cache::new(Some(folder.path())).expect("a folder is given");
        let arxiv = find("arxiv").expect("arxiv is a data set");
        assert_eq!(cache.missing(arxiv).len(), 3);
        fs::create_dir_all(cache.folder(arxiv).join("raw")).expect("the folder is writable");
        for path in cache.missing(arxiv) {
            assert!(!cache.is_complete(arxiv));
            fs::write(path, "x").expect("the folder is writable");
        }
        assert!(cache.is_complete(arxiv));
    }
}
