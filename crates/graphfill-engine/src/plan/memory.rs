//! How much memory there is.

use std::fs;

use crate::device::Device;
use crate::error::{EngineError, Lower, Result};

/// How much memory a plan may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryLimit {
    /// What the device has free, where it tells.
    Available,
    /// So many bytes.
    Allowed(u64),
}

impl MemoryLimit {
    /// Whether so many bytes may be taken of the processor's memory; if not, the error says what is
    /// needed, what there is, what is large, and what to `lower`.
    pub fn check(
        self,
        needed: u64,
        largest: impl FnOnce() -> String,
        lower: impl Into<Lower>,
    ) -> Result<()> {
        self.check_on(&Device::cpu(), needed, largest, lower)
    }

    /// The same of the memory of a device.
    pub fn check_on(
        self,
        device: &Device,
        needed: u64,
        largest: impl FnOnce() -> String,
        lower: impl Into<Lower>,
    ) -> Result<()> {
        let (available, limit) = match self {
            MemoryLimit::Available => (device.available_memory(), "available"),
            MemoryLimit::Allowed(bytes) => (Some(bytes), "allowed"),
        };
        let mut lower = lower.into();
        let place = device.memory_place();
        if place.is_some() {
            lower.what.push_str(", or use the CPU");
        }
        match available {
            Some(available) if needed > available => Err(EngineError::Memory {
                needed,
                available,
                limit: place.map_or(limit.to_owned(), |place| format!("{limit} {place}")),
                largest: largest(),
                lower,
            }),
            _ => Ok(()),
        }
    }
}

/// What this process may still take: the smaller of what the system has free and what its control
/// group is allowed. Only Linux tells.
pub(crate) fn available() -> Option<u64> {
    let free = free_memory(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let read = |name: &str| fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok();
    let group = || {
        let (most, current) = (read("memory.max")?, read("memory.current")?);
        group_allowance(&most, &current, &read("memory.stat").unwrap_or_default())
    };
    Some(group().map_or(free, |allowance| free.min(allowance)))
}

/// What `/proc/meminfo` says is available.
fn free_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// What the control group (of a container, mostly) has left, from the texts of its files. Pages of
/// files count as used but are given up when memory is asked for. No limit is "max".
fn group_allowance(most: &str, current: &str, stat: &str) -> Option<u64> {
    let most: u64 = most.trim().parse().ok()?;
    let current: u64 = current.trim().parse().ok()?;
    let entry = |name: &str| -> u64 {
        let mut lines = stat.lines().filter_map(|line| line.split_once(' '));
        let found = lines.find(|(key, _)| *key == name);
        found.and_then(|(_, value)| value.trim().parse().ok()).unwrap_or(0)
    };
    let files = entry("inactive_file").saturating_add(entry("active_file"));
    Some(most.saturating_sub(current.saturating_sub(files)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_says_what_is_free() {
        let text = "MemTotal:       16000 kB\nMemFree:  12 kB\nMemAvailable:    8000 kB\n";
        assert_eq!(free_memory(text), Some(8000 * 1024));
        assert_eq!(free_memory("MemTotal: 16000 kB\n"), None);
        assert_eq!(free_memory("MemAvailable: lots\n"), None);
    }

    #[test]
    fn pages_of_files_count_as_free() {
        let stat = "anon 300\nfile 250\ninactive_file 200\nactive_file 40\n";
        assert_eq!(group_allowance("1000\n", "600\n", stat), Some(640));
        assert_eq!(group_allowance("1000\n", "600\n", ""), Some(400));
    }

    #[test]
    fn odd_texts_are_no_limit_and_no_panic() {
        assert_eq!(group_allowance("max\n", "600\n", ""), None);
        assert_eq!(group_allowance("1000\n", "", ""), None);
        assert_eq!(group_allowance("1000", "1200", ""), Some(0));
        assert_eq!(group_allowance("1000", "100", "inactive_file 900\nactive_file x"), Some(1000));
    }
}
