//! The default memory limit of readers: half of the machine's RAM.

use std::fs;
use std::sync::OnceLock;

/// The limit where the size of the RAM is unknown.
const FALLBACK: u64 = 4 << 30;

/// Half of the RAM, or of what the control group of the process allows where that is less.
pub(crate) fn default_limit() -> u64 {
    static LIMIT: OnceLock<u64> = OnceLock::new();
    *LIMIT.get_or_init(|| {
        let total = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total(&text));
        let group = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
        let group = group.and_then(|text| text.trim().parse().ok());
        let bytes = [total, group].into_iter().flatten().min();
        bytes.map_or(FALLBACK, |bytes: u64| bytes / 2)
    })
}

/// The bytes of RAM that `/proc/meminfo` states.
fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_size_of_the_ram() {
        assert_eq!(total("MemTotal:       16000 kB\nMemFree:  12 kB\n"), Some(16_384_000));
        assert_eq!(total("MemFree: 12 kB\n"), None);
        assert!(default_limit() > 1 << 20);
    }
}
