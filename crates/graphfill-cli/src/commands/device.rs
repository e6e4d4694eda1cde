//! The device that the caller asked for.

use graphfill::datasets::cache_folder;
use graphfill::engine::cuda::{self, Launching};
use graphfill::engine::{Device, EngineError};
use graphfill::methods::{DeviceUse, Method};

use crate::arguments::{DeviceArguments, DeviceChoice, NoDevice};
use crate::output::messages::Messages;

/// What runs on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Workload {
    /// Training, whose matrix products a GPU computes in the chosen precision.
    Training,
    /// Propagation, in single precision only.
    Propagation,
}

impl Workload {
    /// What runs on a GPU, in words.
    fn on_gpu(self, device: &Device) -> String {
        match (self, device.model()) {
            (Workload::Propagation, Some(model)) => {
                format!("running on {}, {model}", device.name())
            }
            _ => format!("training on {}", device.describe()),
        }
    }

    /// What runs on the CPU, since no GPU can be used.
    fn on_cpu(self, error: &EngineError) -> String {
        let doing = match self {
            Workload::Training => "training",
            Workload::Propagation => "running",
        };
        format!("{doing} on the CPU, since no GPU can be used: {error}")
    }
}

/// The device for these methods: the CPU where none of them uses a GPU, with a warning where the call
/// names one.
pub(crate) fn for_methods(
    arguments: &DeviceArguments,
    methods: &[&dyn Method],
    messages: &Messages,
) -> anyhow::Result<Device> {
    let has = |usage: DeviceUse| methods.iter().any(|method| method.device_use() == usage);
    if has(DeviceUse::Training) {
        return open(arguments, Launching::default(), Workload::Training, messages);
    }
    if has(DeviceUse::Propagation) {
        return open(arguments, Launching::default(), Workload::Propagation, messages);
    }
    if let DeviceChoice::Cuda(_) = arguments.device {
        let device = arguments.device;
        messages.warning(&format!("--device {device}: none of these methods runs on a GPU"));
    }
    Ok(Device::cpu())
}

/// The device that was asked for. A note names the GPU; where there is a driver but no GPU can be used,
/// a warning says why.
pub(crate) fn open(
    arguments: &DeviceArguments,
    launching: Launching,
    workload: Workload,
    messages: &Messages,
) -> anyhow::Result<Device> {
    let gpu = |number: usize| -> Result<Device, EngineError> {
        let cache = cache_folder().map(|folder| folder.join("kernels"));
        let options = cuda::Options { precision: arguments.precision, launching, cache };
        let device = Device::cuda(number, options)?;
        messages.note(&workload.on_gpu(&device));
        Ok(device)
    };
    match arguments.device {
        DeviceChoice::Cpu => Ok(Device::cpu()),
        DeviceChoice::Cuda(number) => gpu(number).map_err(|error| match is_there(number) {
            true => error.into(),
            false => NoDevice(error.to_string()).into(),
        }),
        DeviceChoice::Auto if !cuda::driver_is_present() => Ok(Device::cpu()),
        DeviceChoice::Auto => Ok(gpu(0).unwrap_or_else(|error| {
            messages.warning(&workload.on_cpu(&error));
            Device::cpu()
        })),
    }
}

/// Whether the machine has a GPU of that number, usable or not.
fn is_there(number: usize) -> bool {
    cuda::cards().is_ok_and(|gpus| gpus.iter().any(|gpu| gpu.number == number))
}
