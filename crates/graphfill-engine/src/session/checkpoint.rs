//! Checkpoints: everything that a session remembers, as a safetensors file.
//!
//! Tensors are the parameters and the optimiser's state under their names, rows × columns of F32.
//! Texts are the format and its version, the fingerprint of the plan, the seed, and the steps of
//! each program: with them, a session that is loaded goes on to the bit as if never interrupted.
//! What the caller keeps beside them has names that begin with `extra:`, which no buffer's may.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::Session;
use crate::Shape;
use crate::error::Result;
use crate::plan::Buffer;
use crate::program::{EXTRA, Role};
use crate::store::{self, TensorFile, TensorStore};

const FORMAT: &str = "graphfill-session";
const VERSION: &str = "1";

impl Session {
    /// Writes parameters, the optimiser's state, seed and step counts. A file that is there already
    /// is replaced in one go, or stays as it is if anything fails.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_with(path, &TensorStore::default())
    }

    /// The same, with texts and tensors of the caller's in the same file: the best parameters so far,
    /// how often they were not beaten, what the columns mean. [`Session::load`] leaves them alone.
    pub fn save_with(&self, path: impl AsRef<Path>, extra: &TensorStore) -> Result<()> {
        extra.check()?;
        let mut texts = BTreeMap::from([
            ("format".to_owned(), FORMAT.to_owned()),
            ("version".to_owned(), VERSION.to_owned()),
            ("fingerprint".to_owned(), self.fingerprint()),
            ("seed".to_owned(), self.seed.to_string()),
        ]);
        for (program, steps) in self.plan.own_programs().iter().zip(&self.steps) {
            texts.insert(steps_of(&program.name), steps.to_string());
        }
        for (name, text) in &extra.texts {
            texts.insert(format!("{EXTRA}{name}"), text.clone());
        }
        let buffers = &self.plan.buffers;
        let kept: Vec<_> = buffers.iter().filter(|buffer| buffer.role != Role::Input).collect();
        let mut tensors: Vec<(Cow<'_, str>, Shape)> =
            kept.iter().map(|buffer| (Cow::Borrowed(buffer.name.as_str()), buffer.shape)).collect();
        let mut others: Vec<&[f32]> = Vec::new();
        for (name, (shape, numbers)) in &extra.tensors {
            tensors.push((Cow::Owned(format!("{EXTRA}{name}")), *shape));
            others.push(numbers);
        }
        store::write(path.as_ref(), &texts, &tensors, |tensor| match kept.get(tensor) {
            Some(buffer) => {
                let mut numbers = vec![0.0; buffer.shape.len()];
                self.executor.read(buffer.place, &mut numbers).map_err(io::Error::other)?;
                Ok(Cow::Owned(numbers))
            }
            None => Ok(Cow::Borrowed(others[tensor - kept.len()])),
        })
    }

    /// Becomes the session that was saved, except for what the inputs hold. Outputs can be read again
    /// after the next run. The file must be of the same programs; on any error the session stays as
    /// it was.
    pub fn load(&mut self, path: impl AsRef<Path>) -> Result<()> {
        self.load_file(path.as_ref(), |_| Ok(()))
    }

    /// The same, and the texts and tensors that were saved with it; none where it was saved without.
    pub fn load_with(&mut self, path: impl AsRef<Path>) -> Result<TensorStore> {
        self.load_file(path.as_ref(), |file| TensorStore::under(EXTRA, file))
    }

    fn load_file<T>(
        &mut self,
        path: &Path,
        others: impl FnOnce(&mut TensorFile) -> Result<T>,
    ) -> Result<T> {
        let mut file = TensorFile::open(path)?;
        check_format(&file)?;
        let (found, expected) = (text(&file, "fingerprint")?, self.fingerprint());
        if found != expected {
            return Err(file.refuse(format!(
                "saved by another program: its fingerprint is {found}, and {expected} is \
                 expected; load it with the data and the settings that it was saved with"
            )));
        }
        let seed = number(&file, "seed")?;
        let mut steps = Vec::new();
        for program in self.plan.own_programs() {
            steps.push(number(&file, &steps_of(&program.name))?);
        }
        for name in file.names() {
            let own = |b: &Buffer| b.name == name && b.role != Role::Input;
            if !name.starts_with(EXTRA) && !self.plan.buffers.iter().any(own) {
                return Err(file.refuse(format!("it has a tensor `{name}`, which nothing here is")));
            }
        }
        let others = others(&mut file)?;
        self.read_buffers(&mut file, |role| role != Role::Input)?;
        steps.resize(self.plan.programs.len(), 0);
        (self.seed, self.steps) = (seed, steps);
        // What the arena holds was computed from other parameters.
        self.last = None;
        Ok(others)
    }

    /// Takes the parameters of this session's programs from a file that another session saved: a
    /// model that was trained is used by a program that only predicts. The file may have more; on
    /// any error the session stays as it was.
    pub fn load_parameters(&mut self, path: impl AsRef<Path>) -> Result<()> {
        let mut file = TensorFile::open(path.as_ref())?;
        check_format(&file)?;
        self.read_buffers(&mut file, |role| matches!(role, Role::Parameter(_)))?;
        self.last = None;
        Ok(())
    }

    /// Reads everything before anything is changed.
    fn read_buffers(&mut self, file: &mut TensorFile, wanted: impl Fn(Role) -> bool) -> Result<()> {
        let wanted = || self.plan.buffers.iter().filter(|buffer| wanted(buffer.role));
        for buffer in wanted() {
            file.check(&buffer.name, buffer.shape)?;
        }
        let mut read = Vec::new();
        for buffer in wanted() {
            read.push((buffer.place, file.read(&buffer.name, buffer.shape)?));
        }
        for (place, numbers) in read {
            self.executor.write(place, &numbers)?;
        }
        Ok(())
    }

    fn fingerprint(&self) -> String {
        format!("{:016x}", self.plan.fingerprint())
    }
}

impl TensorStore {
    /// The texts and tensors that [`Session::save_with`] was given, without a session.
    pub fn read_beside_session(path: impl AsRef<Path>) -> Result<Self> {
        let mut file = TensorFile::open(path.as_ref())?;
        check_format(&file)?;
        TensorStore::under(EXTRA, &mut file)
    }
}

fn steps_of(program: &str) -> String {
    format!("steps of {program}")
}

fn check_format(file: &TensorFile) -> Result<()> {
    match (file.text("format"), file.text("version")) {
        (Some(FORMAT), Some(VERSION)) if file.has_checksum() => Ok(()),
        (Some(FORMAT), Some(VERSION)) => {
            Err(file.refuse("damaged: its checksum is missing; take another copy".to_owned()))
        }
        (Some(FORMAT), found) => Err(file.refuse(format!(
            "its version is {}, and {VERSION} is expected; load it with the release that saved it",
            found.unwrap_or("missing")
        ))),
        (found, _) => Err(file.refuse(format!(
            "not a checkpoint: its format is {}, and {FORMAT} is expected",
            found.unwrap_or("missing")
        ))),
    }
}

fn text<'f>(file: &'f TensorFile, name: &str) -> Result<&'f str> {
    file.text(name).ok_or_else(|| file.refuse(format!("its `{name}` is missing")))
}

fn number(file: &TensorFile, name: &str) -> Result<u64> {
    let found = text(file, name)?;
    found.parse().map_err(|_| {
        file.refuse(format!("its `{name}` is `{found}`, and a whole number is expected"))
    })
}
