//! The parameters of a session at some time, by name: kept on its device, in memory, or as tensors in
//! a file.

use super::Session;
use crate::Shape;
use crate::error::{EngineError, Result};
use crate::executor::in_turn;
use crate::plan::{Place, unknown};
use crate::store::{Tensors, check_tensor};

/// The parameters of a session at some time.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    parameters: Vec<Parameter>,
}

#[derive(Debug, Clone, PartialEq)]
struct Parameter {
    name: String,
    shape: Shape,
    values: Vec<f32>,
}

impl Snapshot {
    /// The parameters by name, to be kept in a [`TensorStore`](crate::TensorStore), and hence in a
    /// checkpoint; [`Session::snapshot_of`] is the way back.
    pub fn tensors(&self) -> Tensors {
        let parameters = self.parameters.iter();
        parameters
            .map(|Parameter { name, shape, values }| (name.clone(), (*shape, values.clone())))
            .collect()
    }
}

impl Session {
    /// Keeps the parameters as they are now, on the device: what early stopping does with the best
    /// step. They replace what was kept before.
    pub fn keep(&mut self) -> Result<()> {
        let places = self.parameter_places();
        self.executor.keep(&places)?;
        self.has_kept = true;
        Ok(())
    }

    /// Sets the parameters to what was kept. The optimiser's state and the steps stay.
    pub fn restore_kept(&mut self) -> Result<()> {
        let places = self.parameter_places();
        if self.has_kept { self.executor.take_kept(&places) } else { Ok(()) }
    }

    /// The parameters that were kept, if any were.
    pub fn kept(&self) -> Result<Option<Snapshot>> {
        if !self.has_kept {
            return Ok(None);
        }
        let places = self.parameter_places();
        let parameters =
            self.parameter_buffers().zip(in_turn(&places)).map(|(buffer, (begin, _))| {
                let mut values = vec![0.0; buffer.shape.len()];
                self.executor.read_kept(begin, &mut values)?;
                Ok(Parameter { name: buffer.name.clone(), shape: buffer.shape, values })
            });
        Ok(Some(Snapshot { parameters: parameters.collect::<Result<_>>()? }))
    }

    fn parameter_places(&self) -> Vec<Place> {
        self.parameter_buffers().map(|buffer| buffer.place).collect()
    }

    /// The parameters as they are now.
    pub fn snapshot(&self) -> Result<Snapshot> {
        let parameters = self.parameter_buffers().map(|buffer| {
            let mut values = vec![0.0; buffer.shape.len()];
            self.executor.read(buffer.place, &mut values)?;
            Ok(Parameter { name: buffer.name.clone(), shape: buffer.shape, values })
        });
        Ok(Snapshot { parameters: parameters.collect::<Result<_>>()? })
    }

    /// The snapshot that [`Snapshot::tensors`] was made of. There must be a tensor for every
    /// parameter of this session; there may be others.
    pub fn snapshot_of(&self, tensors: &Tensors) -> Result<Snapshot> {
        let mut parameters = Vec::new();
        for buffer in self.parameter_buffers() {
            let Some((shape, values)) = tensors.get(&buffer.name) else {
                return Err(unknown("tensor", &buffer.name, tensors.keys()));
            };
            if *shape != buffer.shape {
                let problem = format!("is {shape}, and {} is expected", buffer.shape);
                return Err(EngineError::Tensor { name: buffer.name.clone(), problem });
            }
            check_tensor(&buffer.name, *shape, values)?;
            let (name, values) = (buffer.name.clone(), values.clone());
            parameters.push(Parameter { name, shape: *shape, values });
        }
        Ok(Snapshot { parameters })
    }

    /// Sets the parameters to those of a snapshot. The optimiser's state and the steps stay.
    ///
    /// The snapshot must have exactly the parameters of this session, by name and shape, as one of a
    /// session of the same plan has. Any other is an error that leaves the session as it was.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<()> {
        let mut writes: Vec<(Place, &[f32])> = Vec::new();
        for buffer in self.parameter_buffers() {
            let mut all = snapshot.parameters.iter();
            let problem = match all.find(|parameter| parameter.name == buffer.name) {
                None => "is missing from it".to_owned(),
                Some(found) if found.shape != buffer.shape => {
                    format!("is {} there, and {} is expected", found.shape, buffer.shape)
                }
                Some(found) => {
                    writes.push((buffer.place, &found.values));
                    continue;
                }
            };
            return Err(EngineError::Snapshot { name: buffer.name.clone(), problem });
        }
        let is_known = |parameter: &&Parameter| self.parameters().any(|own| own == parameter.name);
        if let Some(extra) = snapshot.parameters.iter().find(|parameter| !is_known(parameter)) {
            let problem = "is no parameter of this session".to_owned();
            return Err(EngineError::Snapshot { name: extra.name.clone(), problem });
        }
        for (place, values) in writes {
            self.executor.write(place, values)?;
        }
        Ok(())
    }
}
