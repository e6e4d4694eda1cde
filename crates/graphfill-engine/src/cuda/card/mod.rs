//! A card that is in use: its driver, its libraries, its compiled kernels.

mod blas;
mod compiler;
mod driver;
mod executor;
mod lane;
mod libraries;
mod lowering;
mod uploads;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use compiler::Compiler;
use driver::{Context, Function, Module, problem};
use lane::Lane;

#[cfg(test)]
pub(crate) use compiler::compiled_without_gpu;
pub(crate) use executor::Cuda;

use super::{CardInfo, Kernel, Options, Source, WORKSPACE_BYTES};
use crate::error::{EngineError, Result};
use crate::plan::DeviceProfile;

/// The lowest CUDA version that a driver must support.
const LEAST_DRIVER: i32 = 12_000;

/// A card in use. Sessions share it; each has a stream and memory of its own.
pub struct Card {
    number: usize,
    model: String,
    /// The CUDA version that the driver supports.
    driver: i32,
    options: Options,
    compiler: Compiler,
    modules: Mutex<HashMap<Source, Module>>,
    /// Lanes that no session uses.
    idle: Mutex<Vec<Lane>>,
    context: Arc<Context>,
}

impl Card {
    /// Begins to use a card, or says what is missing and what to do about it.
    pub(crate) fn open(number: usize, options: Options) -> Result<Self> {
        let name = format!("cuda:{number}");
        let failed = |problem: String| EngineError::Device { device: name.clone(), problem };
        let (version, count) = driver_of_cards().map_err(failed)?;
        if number >= count {
            return Err(failed(match count {
                1 => "there is one card, cuda:0".to_owned(),
                _ => format!("there are {count} cards, cuda:0 to cuda:{}", count - 1),
            }));
        }
        libraries::load(libraries::NVRTC, version).map_err(failed)?;
        libraries::load(libraries::CUBLAS, version).map_err(failed)?;
        let context = Context::new(number).map_err(|error| failed(problem(error)))?;
        let about = || Ok((context.name()?, context.capability()?));
        let (model, capability) = about().map_err(|error| failed(problem(error)))?;
        let compiler = Compiler::new(capability, options.cache.clone()).map_err(failed)?;
        let (modules, idle) = (Mutex::default(), Mutex::default());
        let card =
            Card { number, model, driver: version, options, compiler, modules, idle, context };
        card.try_out()?;
        Ok(card)
    }

    /// Compiles a kernel and makes a lane: what cannot be done at all fails here, not in the midst of
    /// something.
    fn try_out(&self) -> Result<()> {
        self.functions(&HashSet::from([executor::ADVANCE]))?;
        let lane = self.lane()?;
        self.take_back(&mut vec![lane]);
        Ok(())
    }

    pub(crate) fn name(&self) -> String {
        format!("cuda:{}", self.number)
    }

    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    pub(crate) fn describe(&self) -> String {
        let Card { number, model, options, .. } = self;
        format!("cuda:{number}, {model}, {}", options.precision)
    }

    /// What a plan knows of it.
    pub(crate) fn profile(&self) -> DeviceProfile {
        DeviceProfile::gpu(self.available_memory().unwrap_or(0), WORKSPACE_BYTES)
    }

    /// What is free, less what the driver takes for itself. What cuBLAS takes is part of a plan's needs.
    pub(crate) fn available_memory(&self) -> Option<u64> {
        const ASIDE: usize = 256 << 20;
        let (free, _) = self.context.memory().ok()?;
        Some(free.saturating_sub(ASIDE) as u64)
    }

    fn failed(&self, problem: String) -> EngineError {
        EngineError::Device { device: self.name(), problem }
    }

    /// A lane that is idle, or a new one.
    fn lane(&self) -> Result<Lane> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| Lane::new(self), Ok)
    }

    /// Takes lanes back in which everything is done.
    fn take_back(&self, lanes: &mut Vec<Lane>) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).append(lanes);
    }

    /// The functions of these kernels. Files that are new are compiled if need be, all at once.
    fn functions(&self, kernels: &HashSet<Kernel>) -> Result<HashMap<Kernel, Function>> {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let sources = kernels.iter().map(|kernel| kernel.source);
        let new: HashSet<Source> = sources.filter(|source| !modules.contains_key(source)).collect();
        let loaded: Result<Vec<(Source, Module)>, String> = std::thread::scope(|scope| {
            let load = |source| scope.spawn(move || Ok((source, self.module(source)?)));
            let threads: Vec<_> = new.into_iter().map(load).collect();
            let joined = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
            joined
                .map(|one| one.unwrap_or_else(|_| Err("the compiler panicked".to_owned())))
                .collect()
        });
        modules.extend(loaded.map_err(|problem| self.failed(problem))?);
        let function = |kernel: &Kernel| {
            let found = modules[&kernel.source].function(kernel.function).map_err(|error| {
                let (source, function) = (kernel.source.name, kernel.function);
                self.failed(format!("{function} of {source}: {}", problem(error)))
            })?;
            Ok((*kernel, found))
        };
        kernels.iter().map(function).collect()
    }

    /// Kept kernels that cannot be loaded are compiled again.
    fn module(&self, source: Source) -> Result<Module, String> {
        let load = |compiled: Vec<u8>| Module::load(&self.context, &compiled);
        if let Ok(module) = load(self.compiler.compiled(source)?) {
            return Ok(module);
        }
        load(self.compiler.compile_anew(source)?)
            .map_err(|error| format!("{}: {}", source.name, problem(error)))
    }
}

impl fmt::Debug for Card {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.describe())
    }
}

/// Whether the NVIDIA driver's library is there.
pub(super) fn driver_is_present() -> bool {
    libraries::driver_is_present()
}

/// The CUDA version that the driver supports, and how many cards there are; at least one.
fn driver_of_cards() -> Result<(i32, usize), String> {
    if !libraries::driver_is_present() {
        return Err("there is no NVIDIA driver here (no libcuda.so.1)".to_owned());
    }
    driver::initialise()
        .map_err(|error| format!("the NVIDIA driver does not start: {}", problem(error)))?;
    let version = driver::version().map_err(problem)?;
    if version < LEAST_DRIVER {
        return Err(format!(
            "the NVIDIA driver is too old: it supports CUDA {}, and 12.0 is needed\n  install driver \
             525 or a later one",
            version_text(version)
        ));
    }
    match driver::count().map_err(problem)? {
        0 => Err("the NVIDIA driver sees no card".to_owned()),
        count => Ok((version, count)),
    }
}

fn version_text(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

/// Every card that the driver sees, or why there is none.
pub(super) fn cards() -> Result<Vec<CardInfo>, String> {
    let (version, count) = driver_of_cards()?;
    let missing: Vec<String> = [libraries::NVRTC, libraries::CUBLAS]
        .into_iter()
        .filter_map(|wanted| libraries::load(wanted, version).err())
        .collect();
    let about = |number: usize| {
        let context = Context::new(number)?;
        let ((free, memory), (major, minor)) = (context.memory()?, context.capability()?);
        Ok((context.name()?, memory, free, format!("{major}.{minor}")))
    };
    let driver = version_text(version);
    let one = |number: usize| match about(number) {
        Ok((name, memory, free, capability)) => {
            let (memory, free) = (memory as u64, free as u64);
            let (driver, missing) = (driver.clone(), missing.clone());
            CardInfo { number, name, memory, free, capability, driver, missing }
        }
        Err(error) => CardInfo {
            number,
            name: "cannot be used".to_owned(),
            memory: 0,
            free: 0,
            capability: "unknown".to_owned(),
            driver: driver.clone(),
            missing: vec![problem(error)],
        },
    };
    Ok((0..count).map(one).collect())
}
