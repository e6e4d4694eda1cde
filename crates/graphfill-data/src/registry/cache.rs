//! Where data sets are kept: `ROOT/NAME/FILE`.
//!
//! The root is a folder that the caller names, or `datasets` in the platform's cache folder.

use std::path::{Path, PathBuf};

use etcetera::base_strategy::{BaseStrategy, choose_native_strategy};

use super::{DatasetInfo, RemoteFile};
use crate::error::{DataError, Result};

/// The folder that has one folder for each data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// The given folder, or else the platform's cache folder. Nothing is made on disk.
    ///
    /// # Errors
    /// [`DataError::Request`] where no folder is given and the user has no home folder.
    pub fn new(data_dir: Option<&Path>) -> Result<Self> {
        match data_dir {
            Some(root) => Ok(Cache { root: root.to_path_buf() }),
            None => Cache::of_the_platform(),
        }
    }

    fn of_the_platform() -> Result<Self> {
        let folder = cache_folder().ok_or_else(|| {
            DataError::request(
                "there is no cache folder, because the user has no home folder\n  name a folder for the data sets with --data-dir", "")
        })?;
        Ok(Cache { root: folder.join("datasets") })
    }

    /// The folder of all data sets.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of this data set.
    pub fn folder(&self, info: &DatasetInfo) -> PathBuf {
        self.root.join(info.name)
    }

    /// The files that are needed to read the data set and are not there.
    ///
    /// A file that is there is taken as it is; [`get`](super::get) also checks its content.
    pub fn missing(&self, info: &DatasetInfo) -> Vec<PathBuf> {
        let folder = self.folder(info);
        info.files
            .iter()
            .flat_map(RemoteFile::kept_names)
            .map(|name| folder.join(name))
            .filter(|path| !path.is_file())
            .collect()
    }

    /// Whether every file of the data set is there.
    pub fn is_complete(&self, info: &DatasetInfo) -> bool {
        self.missing(info).is_empty()
    }
}

/// What graphfill has of the platform's cache folder; none where the user has no home folder.
/// Nothing is made on disk.
pub fn cache_folder() -> Option<PathBuf> {
    Some(choose_native_strategy().ok()?.cache_dir().join("graphfill"))
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
    }

    #[test]
    fn is_complete_once_every_kept_file_is_there() {
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
