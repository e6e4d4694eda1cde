//! What a device can do at the most: multiply large matrices, copy large ones.

use graphfill_engine::{Device, Initial, Plan, Program, Result, Session};

use super::clock;

/// Rows and columns of the large product, on the CPU and on a GPU.
const PRODUCT_SIZES: [usize; 2] = [2048, 8192];
/// Numbers that are copied: 1 GiB, where there is room.
const COPIED: usize = 1 << 28;
/// Their columns.
const COPIED_COLUMNS: usize = 1 << 10;
/// How often either is tried beside the first time, which warms up.
const TRIES: usize = 4;
/// Runs of a try on a GPU.
const CARD_RUNS: u32 = 10;

/// The best rate of a large product, in 10⁹ operations per second.
pub(super) fn product_rate(device: &Device) -> Result<f64> {
    let size = PRODUCT_SIZES[usize::from(device.is_cuda())];
    let program = Program::new("product");
    let left = program.parameter("left", [size, size], Initial::Glorot);
    let right = program.parameter("right", [size, size], Initial::Glorot);
    program.output("product", left.product(right));
    let plan = Plan::new(vec![program.finish()?])?.on(device);
    let flop = plan.arithmetic("product")? as f64;
    Ok(flop / best_seconds(plan, "product")? / 1e9)
}

/// The best rate of a large copy, in bytes per second: those that are read and those that are written.
pub(super) fn copy_rate(device: &Device) -> Result<f64> {
    // Half of what is free at the most, for both ends.
    let room = device.available_memory().map_or(usize::MAX, |bytes| (bytes / 16) as usize);
    copy_rate_of(device, COPIED.min(room))
}

fn copy_rate_of(device: &Device, numbers: usize) -> Result<f64> {
    let rows = (numbers / COPIED_COLUMNS).max(1);
    let program = Program::new("copy");
    let numbers = program.parameter("numbers", [rows, COPIED_COLUMNS], Initial::ZEROS);
    program.output("copy", numbers.scale(2.0));
    let plan = Plan::new(vec![program.finish()?])?.on(device);
    let bytes = plan.bytes_moved("copy")? as f64;
    Ok(bytes / best_seconds(plan, "copy")?)
}

/// The seconds of a run when it is fastest.
fn best_seconds(plan: Plan, program: &str) -> Result<f64> {
    let runs = if plan.device().is_cuda() { CARD_RUNS } else { 1 };
    let mut session = Session::new(plan, 0)?;
    let mut best = f64::INFINITY;
    for _ in 0..=TRIES {
        best = best.min(clock::seconds_per_run(&mut session, program, runs)?);
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_measured_in_bytes_a_second() {
        let rate = copy_rate_of(&Device::cpu(), 1 << 22).expect("a rate");
        // Between the slowest and the fastest memory that there is.
        assert!((1e7..1e14).contains(&rate), "{rate}");
    }
}
