//! Where programs run: on the processor, or on a CUDA card.

use std::fmt;
#[cfg(feature = "cuda")]
use std::sync::Arc;

use crate::cpu::Cpu;
use crate::cuda;
use crate::error::Result;
use crate::executor::Executor;
use crate::plan::{DeviceProfile, Plan, available};

/// A device that programs run on.
#[derive(Clone, Default)]
pub struct Device(Kind);

#[derive(Clone, Default)]
enum Kind {
    #[default]
    Cpu,
    #[cfg(feature = "cuda")]
    Cuda(Arc<cuda::Card>),
}

impl Device {
    /// The processor.
    pub const fn cpu() -> Self {
        Device(Kind::Cpu)
    }

    /// The CUDA card of that number, counted from 0. The error says what is missing, and what to do
    /// about it.
    #[cfg(feature = "cuda")]
    pub fn cuda(number: usize, options: cuda::Options) -> Result<Self> {
        Ok(Device(Kind::Cuda(Arc::new(cuda::Card::open(number, options)?))))
    }

    /// The CUDA card of that number, if this was built with CUDA; it was not.
    #[cfg(not(feature = "cuda"))]
    pub fn cuda(_number: usize, _options: cuda::Options) -> Result<Self> {
        Err(cuda::missing())
    }

    /// Whether it is a CUDA card.
    pub fn is_cuda(&self) -> bool {
        !matches!(self.0, Kind::Cpu)
    }

    /// `cpu`, `cuda:0` and so on.
    pub fn name(&self) -> String {
        match &self.0 {
            Kind::Cpu => "cpu".to_owned(),
            #[cfg(feature = "cuda")]
            Kind::Cuda(card) => card.name(),
        }
    }

    /// What it is: the model of a card, with its number.
    pub fn describe(&self) -> String {
        match &self.0 {
            Kind::Cpu => "the processor".to_owned(),
            #[cfg(feature = "cuda")]
            Kind::Cuda(card) => card.describe(),
        }
    }

    /// The model of a card.
    pub fn model(&self) -> Option<&str> {
        match &self.0 {
            Kind::Cpu => None,
            #[cfg(feature = "cuda")]
            Kind::Cuda(card) => Some(card.model()),
        }
    }

    /// What was chosen about a card.
    pub fn cuda_options(&self) -> Option<&cuda::Options> {
        match &self.0 {
            Kind::Cpu => None,
            #[cfg(feature = "cuda")]
            Kind::Cuda(card) => Some(card.options()),
        }
    }

    /// The memory that a program may take there, where that is known.
    pub fn available_memory(&self) -> Option<u64> {
        match &self.0 {
            Kind::Cpu => available(),
            #[cfg(feature = "cuda")]
            Kind::Cuda(card) => card.available_memory(),
        }
    }

    /// What a plan knows of it.
    pub(crate) fn profile(&self) -> DeviceProfile {
        match &self.0 {
            Kind::Cpu => DeviceProfile::CPU,
            #[cfg(feature = "cuda")]
            Kind::Cuda(card) => card.profile(),
        }
    }

    /// Where its memory is, where that is not the memory of the process: `on cuda:0`.
    pub(crate) fn memory_place(&self) -> Option<String> {
        self.is_cuda().then(|| format!("on {}", self.name()))
    }

    /// The arena of a plan that was made for this device.
    pub(crate) fn executor(&self, plan: &Plan) -> Result<Box<dyn Executor>> {
        match &self.0 {
            Kind::Cpu => Ok(Box::new(Cpu::new(plan.arena_len()))),
            #[cfg(feature = "cuda")]
            Kind::Cuda(card) => Ok(Box::new(cuda::Cuda::new(card, plan)?)),
        }
    }
}

/// The same device, with the same options.
impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Kind::Cpu, Kind::Cpu) => true,
            #[cfg(feature = "cuda")]
            (Kind::Cuda(one), Kind::Cuda(another)) => Arc::ptr_eq(one, another),
            #[cfg(feature = "cuda")]
            _ => false,
        }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name())
    }
}
