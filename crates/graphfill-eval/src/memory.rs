//! The most memory that this process has held, as the operating system counts it.

use std::fs;

/// The peak resident memory in bytes since the start or the last [`reset_peak`]; none where the
/// system doesn't tell (only Linux does).
pub fn peak_bytes() -> Option<u64> {
    status("VmHWM:")
}

/// The resident memory in bytes now; none where the system doesn't tell.
pub fn resident_bytes() -> Option<u64> {
    status("VmRSS:")
}

fn status(key: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Starts the count of the peak anew, where the system allows it.
pub fn reset_peak() {
    // Where it fails the peak is that of the whole process, which is still a true bound.
    let _ = fs::write("/proc/self/clear_refs", "5");
}
