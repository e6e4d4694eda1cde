//! Texts and tensors in one safetensors file: what is kept beside a model, or without one.
//!
//! Tensors are matrices, rows × columns of F32. A file appears whole or not at all; one that is
//! damaged, or of something else, is refused with what was found.

mod tensor_file;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) use tensor_file::{CHECKSUM, METADATA, TensorFile, write};

use crate::Shape;
use crate::error::{EngineError, Result};

/// Matrices by name: the shape, and its numbers row after row.
pub type Tensors = BTreeMap<String, (Shape, Vec<f32>)>;

/// Named texts and named matrices, which are written and read together.
///
/// ```
/// use graphfill_engine::{Shape, TensorStore};
///
/// let mut store = TensorStore::default();
/// store.texts.insert("columns".to_owned(), "age, weight".to_owned());
/// store.tensors.insert("means".to_owned(), (Shape::new(1, 2), vec![41.5, 70.0]));
/// let folder = tempfile::tempdir()?;
/// store.write(folder.path().join("means.safetensors"))?;
/// assert_eq!(TensorStore::read(folder.path().join("means.safetensors"))?, store);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TensorStore {
    /// Texts by name.
    pub texts: BTreeMap<String, String>,
    /// Matrices by name.
    pub tensors: Tensors,
}

impl TensorStore {
    /// Writes everything to a safetensors file. A file that is there already is replaced in one go,
    /// or stays as it is if anything fails.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        self.check()?;
        let tensors: Vec<(Cow<'_, str>, Shape)> = self
            .tensors
            .iter()
            .map(|(name, (shape, _))| (Cow::Borrowed(name.as_str()), *shape))
            .collect();
        let numbers: Vec<&[f32]> = self.tensors.values().map(|(_, numbers)| &numbers[..]).collect();
        let read = |tensor: usize| Ok(Cow::Borrowed(numbers[tensor]));
        write(path.as_ref(), &self.texts, &tensors, read)
    }

    /// Reads a safetensors file whose tensors are all matrices of F32.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        Self::under("", &mut TensorFile::open(path.as_ref())?)
    }

    /// What a file has under names that begin with `prefix`, which is taken off.
    pub(crate) fn under(prefix: &str, file: &mut TensorFile) -> Result<Self> {
        let mut store = TensorStore::default();
        for (name, text) in file.texts() {
            if let Some(name) = name.strip_prefix(prefix) {
                store.texts.insert(name.to_owned(), text.to_owned());
            }
        }
        let names: Vec<String> = file.names();
        let own = || names.iter().filter_map(|name| Some((name, name.strip_prefix(prefix)?)));
        // All shapes before any numbers.
        for (whole, _) in own() {
            file.shape(whole)?;
        }
        for (whole, name) in own() {
            let shape = file.shape(whole)?;
            store.tensors.insert(name.to_owned(), (shape, file.read(whole, shape)?));
        }
        Ok(store)
    }

    /// Whether every tensor has as many numbers as its shape, and a name that the format can hold.
    pub(crate) fn check(&self) -> Result<()> {
        for (name, (shape, numbers)) in &self.tensors {
            if name == METADATA || name == CHECKSUM {
                let problem = "has a name that the format keeps for itself; rename it".to_owned();
                return Err(EngineError::Tensor { name: name.clone(), problem });
            }
            check_tensor(name, *shape, numbers)?;
        }
        Ok(())
    }
}

/// Whether a tensor has as many numbers as its shape.
pub(crate) fn check_tensor(name: &str, shape: Shape, numbers: &[f32]) -> Result<()> {
    if shape.rows.checked_mul(shape.columns) == Some(numbers.len()) {
        return Ok(());
    }
    let problem = format!("is {shape}; {} numbers were given", numbers.len());
    Err(EngineError::Tensor { name: name.to_owned(), problem })
}
