//! The machine, as far as it matters for speed.

use std::fs;

use serde::Serialize;

/// What a timing was taken on.
#[derive(Debug, Clone, Serialize)]
pub struct Machine {
    /// The processor's name; none where the system doesn't tell.
    pub processor: Option<String>,
    /// Cores that this process may use.
    pub cores: usize,
    /// The widest vectors that kernels use.
    pub vectors: String,
    /// The memory that is built in; none where the system doesn't tell.
    pub memory_bytes: Option<u64>,
    /// The system.
    pub system: String,
}

impl Machine {
    /// This machine.
    pub fn here() -> Self {
        let line = |file: &str, key: &str| -> Option<String> {
            let text = fs::read_to_string(file).ok()?;
            let line = text.lines().find(|line| line.starts_with(key))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let kibibytes = line("/proc/meminfo", "MemTotal")
            .and_then(|total| total.strip_suffix("kB")?.trim().parse::<u64>().ok());
        Machine {
            processor: line("/proc/cpuinfo", "model name"),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            vectors: graphfill_engine::cpu::vectors().to_owned(),
            memory_bytes: kibibytes.map(|kibibytes| kibibytes * 1024),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        }
    }
}
