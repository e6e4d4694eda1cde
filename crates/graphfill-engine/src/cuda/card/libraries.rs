//! CUDA's libraries: where they are looked for, and what is said when one is missing.
//!
//! The loader's own path comes first, then the folders of a CUDA toolkit, then those in which
//! Python's packages of CUDA keep theirs. A library that is found by its path stays loaded, so that
//! asking for it by name finds it afterwards.
#![allow(unsafe_code)]

use std::env;
use std::path::{Path, PathBuf};

use cudarc::get_lib_name_candidates;
use libloading::Library;

/// A library, and what to do when it is missing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// Its name without what a system puts around it.
    name: &'static str,
    /// What must be loaded from the same folder before it.
    before: &'static [&'static str],
    /// What it is, in a message.
    what: &'static str,
    /// Python's package of it, for the CUDA version 12; without `-cu12` for later ones.
    package: &'static str,
}

pub(super) const NVRTC: Wanted = Wanted {
    name: "nvrtc",
    before: &["nvrtc-builtins"],
    what: "NVRTC, which compiles kernels,",
    package: "nvidia-cuda-nvrtc-cu12",
};

pub(super) const CUBLAS: Wanted = Wanted {
    name: "cublas",
    before: &["cublasLt"],
    what: "cuBLAS, which multiplies matrices,",
    package: "nvidia-cublas-cu12",
};

/// Whether the NVIDIA driver's library is there.
pub(super) fn driver_is_present() -> bool {
    is_present("cuda") || is_present("nvcuda")
}

/// Loads a library that works with a driver for so high a CUDA version.
pub(super) fn load(wanted: Wanted, driver: i32) -> Result<(), String> {
    if is_present(wanted.name) {
        return Ok(());
    }
    let major = driver / 1000;
    let folders = folders();
    for folder in &folders {
        let Some(path) = newest(folder, wanted.name, major) else { continue };
        for before in wanted.before {
            if let Some(path) = newest(folder, before, major) {
                stay(&path);
            }
        }
        if stay(&path) && is_present(wanted.name) {
            return Ok(());
        }
    }
    let package = wanted.package;
    let package = if major > 12 { package.trim_end_matches("-cu12") } else { package };
    let looked: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    let beside = if looked.is_empty() { String::new() } else { format!(", {}", looked.join(", ")) };
    Err(format!(
        "{} is missing: looked for lib{}.so in the loader's path{beside}\n  install CUDA's toolkit, \
         or: pip install {package}",
        wanted.what, wanted.name
    ))
}

/// Whether the loader finds it by one of the names that it may have.
fn is_present(name: &str) -> bool {
    // SAFETY: CUDA's libraries do nothing harmful when they are loaded.
    get_lib_name_candidates(name).iter().any(|name| unsafe { Library::new(name) }.is_ok())
}

/// Loads a library for as long as the process lives.
fn stay(path: &Path) -> bool {
    // SAFETY: CUDA's libraries do nothing harmful when they are loaded.
    match unsafe { Library::new(path) } {
        Ok(library) => {
            std::mem::forget(library);
            true
        }
        Err(_) => false,
    }
}

/// `libNAME.so.13`, or the highest version below that which the driver works with.
fn newest(folder: &Path, name: &str, most: i32) -> Option<PathBuf> {
    let mut found: Vec<(i32, PathBuf)> = Vec::new();
    for entry in folder.read_dir().ok()?.flatten() {
        let file = entry.file_name();
        let Some(rest) = file.to_str().and_then(|file| file.strip_prefix(&format!("lib{name}.so")))
        else {
            continue;
        };
        let major = rest.trim_start_matches('.').split('.').next().unwrap_or_default();
        let major = major.parse().unwrap_or(0);
        if major <= most {
            found.push((major, entry.path()));
        }
    }
    found.sort();
    found.pop().map(|(_, path)| path)
}

/// The folders that may hold CUDA's libraries and are there.
fn folders() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for variable in ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"] {
        if let Some(root) = env::var_os(variable) {
            toolkit(Path::new(&root), &mut folders);
        }
    }
    for root in ["/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda"] {
        toolkit(Path::new(root), &mut folders);
    }
    for root in matching(Path::new("/usr/local"), "cuda-") {
        toolkit(&root, &mut folders);
    }
    for root in python_roots() {
        folders.push(root.join("lib"));
        for python in matching(&root.join("lib"), "python3") {
            for packages in ["site-packages", "dist-packages"] {
                for package in matching(&python.join(packages).join("nvidia"), "") {
                    folders.push(package.join("lib"));
                }
            }
        }
    }
    let mut kept: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let holds = |name: &str| newest(&folder, name, i32::MAX).is_some();
        if !kept.contains(&folder) && (holds("nvrtc") || holds("cublas")) {
            kept.push(folder);
        }
    }
    kept
}

fn toolkit(root: &Path, folders: &mut Vec<PathBuf>) {
    for inside in ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"] {
        folders.push(root.join(inside));
    }
}

/// Where Python environments are: the active one, those whose python3 is on the path, the user's.
fn python_roots() -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = Vec::new();
    roots.extend(
        ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(env::var_os).map(Into::into),
    );
    let path = env::var_os("PATH").unwrap_or_default();
    for folder in env::split_paths(&path).filter(|folder| folder.join("python3").exists()) {
        roots.extend(folder.parent().map(Path::to_path_buf));
    }
    roots.extend(env::home_dir().map(|home| home.join(".local")));
    roots
}

/// What a folder holds under names that begin so, in order.
fn matching(folder: &Path, begin: &str) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(begin)))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_library_that_the_driver_works_with_is_taken() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["libnvrtc.so.12", "libnvrtc.so.13", "libnvrtc-builtins.so.13.0", "libother.so"]
        {
            std::fs::write(folder.path().join(name), "").expect("a file");
        }
        let newest = |name, most| newest(folder.path(), name, most);
        assert_eq!(newest("nvrtc", 13), Some(folder.path().join("libnvrtc.so.13")));
        assert_eq!(newest("nvrtc", 12), Some(folder.path().join("libnvrtc.so.12")));
        assert_eq!(newest("nvrtc", 11), None);
        let builtins = folder.path().join("libnvrtc-builtins.so.13.0");
        assert_eq!(newest("nvrtc-builtins", 13), Some(builtins));
        assert_eq!(newest("cublas", 13), None);
    }

    #[test]
    fn what_is_missing_is_named_with_a_remedy() {
        let nonsense = Wanted { name: "nothing-of-the-kind", ..NVRTC };
        let message = load(nonsense, 13000).expect_err("nothing");
        assert!(message.contains("libnothing-of-the-kind.so"), "{message}");
        assert!(message.ends_with("pip install nvidia-cuda-nvrtc"), "{message}");
        let message = load(nonsense, 12040).expect_err("nothing");
        assert!(message.ends_with("pip install nvidia-cuda-nvrtc-cu12"), "{message}");
    }
}
