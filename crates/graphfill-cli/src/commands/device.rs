//! The device that the caller asked for.

use graphfill::data::registry::cache_folder;
use graphfill::engine::cuda::{self, Launching};
use graphfill::engine::{Device, EngineError};
use graphfill::methods::{DeviceUse, Method};

use crate::arguments::{DeviceArguments, DeviceChoice};
use crate::output::messages::Messages;

/// The device for these methods: the processor where none of them uses another, which is said to
/// somebody who names a card.
pub(crate) fn for_methods(
    arguments: &DeviceArguments,
    methods: &[&'static dyn Method],
    messages: &Messages,
) -> Result<Device, EngineError> {
    let is_used = methods.iter().any(|method| method.device_use() != DeviceUse::Ignored);
    if is_used {
        return open(arguments, Launching::default(), messages);
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
    messages: &Messages,
) -> Result<Device, EngineError> {
    let card = |number: usize| {
        let cache = cache_folder().map(|folder| folder.join("kernels"));
        let options = cuda::Options { precision: arguments.precision, launching, cache };
        let device = Device::cuda(number, options)?;
        messages.note(&format!("training on {}", device.describe()));
        Ok(device)
    };
    match arguments.device {
        DeviceChoice::Cpu => Ok(Device::cpu()),
        DeviceChoice::Cuda(number) => card(number),
        DeviceChoice::Auto if !cuda::driver_is_present() => Ok(Device::cpu()),
        DeviceChoice::Auto => Ok(card(0).unwrap_or_else(|error| {
            messages.note(&format!("training on the CPU, since no card can be used: {error}"));
            Device::cpu()
        })),
    }
}
