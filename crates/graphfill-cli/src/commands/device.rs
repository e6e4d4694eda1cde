//! The device that the caller asked for.

use graphfill::datasets::cache_folder;
use graphfill::engine::cuda::{self, Launching};
use graphfill::engine::{Device, EngineError};
use graphfill::methods::{DeviceUse, Method};

use crate::arguments::{DeviceArguments, DeviceChoice};
use crate::output::messages::Messages;

/// What a device is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Workload {
    /// Training, whose products a card computes in the precision that was chosen.
    Training,
    /// Propagation, which knows single precision only.
    Propagation,
}

impl Workload {
    /// What is done on a card, in words.
    fn on_card(self, device: &Device) -> String {
        match (self, device.model()) {
            (Workload::Propagation, Some(model)) => {
                format!("running on {}, {model}", device.name())
            }
            _ => format!("training on {}", device.describe()),
        }
    }

    /// What is done on the CPU, since a card cannot be used.
    fn on_processor(self, error: &EngineError) -> String {
        let doing = match self {
            Workload::Training => "training",
            Workload::Propagation => "running",
        };
        format!("{doing} on the CPU, since no card can be used: {error}")
    }
}

/// The device for these methods: the processor where none of them uses another, which is said to
/// somebody who names a card.
pub(crate) fn for_methods(
    arguments: &DeviceArguments,
    methods: &[&'static dyn Method],
    messages: &Messages,
) -> Result<Device, EngineError> {
    let has = |usage: DeviceUse| methods.iter().any(|method| method.device_use() == usage);
    if has(DeviceUse::Training) {
        return open(arguments, Launching::default(), Workload::Training, messages);
    }
    if has(DeviceUse::Propagation) {
        return open(arguments, Launching::default(), Workload::Propagation, messages);
    }
    if let DeviceChoice::Cuda(_) = arguments.device {
        messages.note(&format!("--device {}: nothing here runs on a card", arguments.device));
    }
    Ok(Device::cpu())
}

/// The device that was asked for. Which card it is, is said; and why none is used, where there is a
/// driver and hence a hope.
pub(crate) fn open(
    arguments: &DeviceArguments,
    launching: Launching,
    doing: Workload,
    messages: &Messages,
) -> Result<Device, EngineError> {
    let card = |number: usize| {
        let cache = cache_folder().map(|folder| folder.join("kernels"));
        let options = cuda::Options { precision: arguments.precision, launching, cache };
        let device = Device::cuda(number, options)?;
        messages.note(&doing.on_card(&device));
        Ok(device)
    };
    match arguments.device {
        DeviceChoice::Cpu => Ok(Device::cpu()),
        DeviceChoice::Cuda(number) => card(number),
        DeviceChoice::Auto if !cuda::driver_is_present() => Ok(Device::cpu()),
        DeviceChoice::Auto => Ok(card(0).unwrap_or_else(|error| {
            messages.note(&doing.on_processor(&error));
            Device::cpu()
        })),
    }
}
