//! Tells the crate which sources it is built from, so that results of other sources are not reused.

use std::path::PathBuf;

#[path = "src/experiments/source_hash.rs"]
mod source_hash;

/// The crates that results depend on.
const CRATES: [&str; 4] =
    ["graphfill-data", "graphfill-engine", "graphfill-methods", "graphfill-eval"];

fn main() {
    let own = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let crates = own.parent().unwrap_or(&own);
    let folders = CRATES.map(|name| crates.join(name).join("src"));
    println!("cargo::rerun-if-changed=build.rs");
    // A published crate has no sources beside it; then its version tells them.
    let sources = match folders.iter().all(|folder| folder.is_dir()) {
        true => {
            folders
                .iter()
                .for_each(|folder| println!("cargo::rerun-if-changed={}", folder.display()));
            source_hash::source_hash(&folders).ok()
        }
        false => None,
    };
    let version = || format!("version {}", std::env::var("CARGO_PKG_VERSION").unwrap_or_default());
    println!("cargo::rustc-env=GRAPHFILL_SOURCES={}", sources.unwrap_or_else(version));
}
