//! Tells the program which commit, target and features it was built from, for `--version`.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let commit = packaged_commit().or_else(git_commit).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=GRAPHFILL_COMMIT={commit}");
    let target = std::env::var("TARGET").unwrap_or_else(|_| "unknown".to_owned());
    println!("cargo::rustc-env=GRAPHFILL_TARGET={target}");
    let has_cuda = std::env::var_os("CARGO_FEATURE_CUDA").is_some();
    let features = if has_cuda { "cuda" } else { "none" };
    println!("cargo::rustc-env=GRAPHFILL_FEATURES={features}");
}

/// The commit that cargo wrote into the package, for builds from a registry.
fn packaged_commit() -> Option<String> {
    let text = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = text.split_once("\"sha1\"")?;
    let commit: String = rest.chars().filter(char::is_ascii_hexdigit).take(12).collect();
    (commit.len() == 12).then_some(commit)
}

/// The commit of the repository that holds this package, unless another repository does by chance.
fn git_commit() -> Option<String> {
    git(&["ls-files", "--error-unmatch", "Cargo.toml"])?;
    // Built again when the commit changes, and only then: a file that is not there would make cargo
    // build every time.
    let path = |name: &str| Some(PathBuf::from(git(&["rev-parse", "--git-path", name])?));
    let branch = git(&["rev-parse", "--symbolic-full-name", "HEAD"]);
    let watched = [path("HEAD"), branch.and_then(|name| path(&name)), path("packed-refs")];
    for file in watched.iter().flatten().filter(|file| Path::new(file).is_file()) {
        println!("cargo::rerun-if-changed={}", file.display());
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}
