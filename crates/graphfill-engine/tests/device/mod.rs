//! The device that tests run on: the processor, or the card that `GRAPHFILL_TEST_DEVICE` names as
//! `cuda` (in single precision) or `cuda,tf32`.

use std::sync::LazyLock;

use graphfill_engine::cuda::{Options, Precision};
use graphfill_engine::{Device, Plan, Session};

static DEVICE: LazyLock<Device> = LazyLock::new(|| {
    let Ok(asked) = std::env::var("GRAPHFILL_TEST_DEVICE") else { return Device::cpu() };
    let precision = asked.strip_prefix("cuda").map(|rest| rest.trim_start_matches(','));
    let precision = match precision {
        Some("") => Precision::F32,
        Some(precision) => precision.parse().expect("a precision"),
        None => panic!("GRAPHFILL_TEST_DEVICE is `{asked}`, and cuda or cuda,tf32 is expected"),
    };
    Device::cuda(0, Options { precision, ..Options::default() }).expect("a card")
});

/// That device.
pub(crate) fn device() -> Device {
    DEVICE.clone()
}

/// How much more a result may be off by there than on the processor: products whose factors have 11
/// bits, or 8, are not as exact as those of single precision.
#[allow(dead_code, reason = "not every test compares numbers")]
pub(crate) fn coarseness() -> f64 {
    match DEVICE.cuda_options().map(|options| options.precision) {
        None | Some(Precision::F32) => 1.0,
        Some(Precision::Tf32) => 500.0,
        Some(Precision::Bf16) => 4000.0,
    }
}

/// A session on it.
pub(crate) fn session(plan: Plan, seed: u64) -> Session {
    Session::new(plan.on(&device()), seed).expect("a session")
}
