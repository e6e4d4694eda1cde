//! How much memory there is.

use std::fs;

/// How much memory a plan may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryLimit {
    /// What the system has free, where it tells.
    Available,
    /// So many bytes.
    Allowed(u64),
}

/// What this process may still take: the smaller of what the system has free and what its control
/// group is allowed. Only Linux tells.
pub(super) fn available() -> Option<u64> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    let free = kibibytes * 1024;
    Some(group_allowance().map_or(free, |allowance| free.min(allowance)))
}

/// What the control group (of a container, mostly) has left.
fn group_allowance() -> Option<u64> {
    let read = |name: &str| -> Option<u64> {
        fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse().ok()
    };
    let (most, current) = (read("memory.max")?, read("memory.current")?);
    Some(most.saturating_sub(current))
}
