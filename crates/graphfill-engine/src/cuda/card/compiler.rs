//! Kernels compiled for the card at hand, and kept on disk for the next time.
//!
//! A file of kernels is compiled by NVRTC as a whole. What comes out is kept under a name that says
//! what went in: the text, the architecture and the version of the compiler. A kept file that is damaged
//! is compiled again; see `cache.rs`.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString};
use std::path::PathBuf;

use cudarc::nvrtc::{result, sys};

use crate::cuda::{Source, cache};
use crate::fingerprint::Fingerprint;

/// The compiler for one architecture.
#[derive(Debug)]
pub(super) struct Compiler {
    /// As in `sm_90`.
    architecture: String,
    version: (i32, i32),
    cache: Option<PathBuf>,
}

impl Compiler {
    pub(super) fn new((major, minor): (i32, i32), cache: Option<PathBuf>) -> Result<Self, String> {
        let mut version = (0, 0);
        // SAFETY: it writes two numbers.
        let found = unsafe { sys::nvrtcVersion(&mut version.0, &mut version.1) };
        found.result().map_err(|error| format!("NVRTC: {error:?}"))?;
        Ok(Compiler { architecture: format!("sm_{major}{minor}"), version, cache })
    }

    /// What the driver can load: from the folder of compiled kernels, or compiled just now.
    pub(super) fn compiled(&self, source: Source) -> Result<Vec<u8>, String> {
        match self.kept(source).and_then(|path| cache::read(&path)) {
            Some(compiled) => Ok(compiled),
            None => self.compile_anew(source),
        }
    }

    /// Compiles, whatever is kept, and keeps it.
    pub(super) fn compile_anew(&self, source: Source) -> Result<Vec<u8>, String> {
        let compiled = self.compile(source)?;
        if let Some(path) = self.kept(source) {
            // Without it, the next process compiles again; that is all.
            let _ = cache::write(&path, &compiled);
        }
        Ok(compiled)
    }

    fn kept(&self, source: Source) -> Option<PathBuf> {
        let (major, minor) = self.version;
        let input = format!("{}{}{major}.{minor}", source.program(), self.architecture);
        let name = format!("{}-{:016x}.cubin", source.name, Fingerprint::of(&input));
        Some(self.cache.as_ref()?.join(name))
    }

    fn compile(&self, source: Source) -> Result<Vec<u8>, String> {
        let text = CString::new(source.program()).unwrap_or_default();
        let name = CString::new(source.name).unwrap_or_default();
        let failed = |error: result::NvrtcError| format!("NVRTC: {} ({error:?})", source.name);
        let program = Program(result::create_program(&text, Some(&name)).map_err(failed)?);
        let architecture = format!("--gpu-architecture={}", self.architecture);
        let options = [architecture.as_str(), "--std=c++17", "-default-device"];
        // SAFETY: the program lives until it is dropped.
        if let Err(error) = unsafe { result::compile_program(program.0, &options) } {
            return Err(format!("{}\n{}", failed(error), program.log()));
        }
        let mut size = 0;
        // SAFETY: it writes one number.
        unsafe { sys::nvrtcGetCUBINSize(program.0, &mut size) }.result().map_err(failed)?;
        let mut compiled = vec![0u8; size];
        // SAFETY: there is as much room as it said.
        let got = unsafe { sys::nvrtcGetCUBIN(program.0, compiled.as_mut_ptr().cast()) };
        got.result().map_err(failed)?;
        Ok(compiled)
    }
}

struct Program(sys::nvrtcProgram);

impl Program {
    fn log(&self) -> String {
        // SAFETY: the program lives.
        let log = unsafe { result::get_program_log(self.0) }.unwrap_or_default();
        // SAFETY: characters are bytes.
        let bytes: Vec<u8> = log.iter().map(|&byte| byte as u8).collect();
        let text = CStr::from_bytes_until_nul(&bytes).unwrap_or_default();
        text.to_string_lossy().into_owned()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: it was made once.
        let _ = unsafe { result::destroy_program(self.0) };
    }
}

/// What NVRTC says of a file of kernels, for a GPU that need not be there; none where there is no NVRTC.
#[cfg(test)]
pub(crate) fn compiled_without_gpu(source: Source) -> Option<Result<Vec<u8>, String>> {
    use super::libraries;
    const ANY_DRIVER: i32 = 99_000;
    const H100: (i32, i32) = (9, 0);
    libraries::load(libraries::NVRTC, ANY_DRIVER).ok()?;
    Some(Compiler::new(H100, None).and_then(|compiler| compiler.compile(source)))
}
