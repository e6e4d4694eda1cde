//! The default memory limit of readers (half of the machine's RAM), and what things take of it.

use std::fs;
use std::sync::OnceLock;

/// The limit where the size of the RAM is unknown.
const FALLBACK: u64 = 4 << 30;

/// The memory that a row of a table takes at least: offsets, missing cells, its id, its arcs.
pub(crate) const BYTES_PER_ROW: u64 = 64;
/// The memory that a feature column takes at least: statistics, scales, and one cell in a dense row
/// of every thread. A block of more columns than the memory limit allows is not read, however few
/// of its cells are stored.
pub(crate) const BYTES_PER_COLUMN: u64 = 64;
/// The memory that an edge takes: in a list, then in compressed rows.
pub(crate) const BYTES_PER_EDGE: u64 = 24;

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
