//! The few functions of the CUDA driver that are used, with results and owners.
//!
//! All that is unsafe about a GPU is here, in `blas.rs`, `compiler.rs` and `libraries.rs`. Kernels are launched
//! with numbers and with addresses in the memory of the GPU, by value. Nothing but the kernels themselves keeps
//! them within that memory: where a GPU shares the address space of the host (heterogeneous memory management),
//! a wrong index reaches the memory of this process, too.
#![allow(unsafe_code)]

use std::ffi::{CString, c_void};
use std::sync::Arc;

use cudarc::driver::result::{self, DriverError, event, graph, module, stream};
use cudarc::driver::sys;

use crate::cuda::{Address, Argument, Grid};

/// What the driver says went wrong.
pub(super) fn problem(error: DriverError) -> String {
    if error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
        return "it is out of memory; end other programs on it, lower what the model needs, or use the \
                CPU"
            .to_owned();
    }
    let text = error.error_string().map(|text| text.to_string_lossy().into_owned());
    text.unwrap_or_else(|_| format!("error {}", error.0 as i32))
}

pub(super) type Result<T> = std::result::Result<T, DriverError>;

/// Begins to use the driver, whose library must be there.
pub(super) fn initialise() -> Result<()> {
    result::init()
}

/// The CUDA version that the driver supports, as 1000 · major + 10 · minor.
pub(super) fn version() -> Result<i32> {
    let mut version = 0;
    // SAFETY: it writes one number.
    unsafe { sys::cuDriverGetVersion(&mut version) }.result()?;
    Ok(version)
}

/// How many cards there are.
pub(super) fn count() -> Result<usize> {
    Ok(result::device::get_count()?.max(0) as usize)
}

/// One card, in use by this process.
#[derive(Debug)]
pub(super) struct Context {
    device: sys::CUdevice,
    context: sys::CUcontext,
}

// SAFETY: a context may be used from any thread on which it is made current.
unsafe impl Send for Context {}
// SAFETY: the driver synchronises calls on a context by itself.
unsafe impl Sync for Context {}

impl Context {
    pub(super) fn new(number: usize) -> Result<Arc<Self>> {
        let device = result::device::get(number as i32)?;
        // SAFETY: the device is one that the driver has just given.
        let context = unsafe { result::primary_ctx::retain(device)? };
        let context = Arc::new(Context { device, context });
        context.bind()?;
        Ok(context)
    }

    /// Makes it the one that this thread talks to.
    pub(super) fn bind(&self) -> Result<()> {
        if result::ctx::get_current()? == Some(self.context) {
            return Ok(());
        }
        // SAFETY: the context is retained as long as `self` lives.
        unsafe { result::ctx::set_current(self.context) }
    }

    pub(super) fn name(&self) -> Result<String> {
        result::device::get_name(self.device)
    }

    /// Free and all memory.
    pub(super) fn memory(&self) -> Result<(usize, usize)> {
        self.bind()?;
        result::mem_get_info()
    }

    /// The compute capability: 9 and 0 for a Hopper.
    pub(super) fn capability(&self) -> Result<(i32, i32)> {
        use sys::CUdevice_attribute::{
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR as MAJOR,
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR as MINOR,
        };
        // SAFETY: the device is one that the driver has given.
        let get = |attribute| unsafe { result::device::get_attribute(self.device, attribute) };
        Ok((get(MAJOR)?, get(MINOR)?))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: it was retained once, and everything made in it is gone.
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

/// A queue of work. What is in it runs in order.
#[derive(Debug)]
pub(super) struct Stream {
    context: Arc<Context>,
    pub(super) stream: sys::CUstream,
}

// SAFETY: a stream may be used from any thread on which its context is current.
unsafe impl Send for Stream {}
// SAFETY: the driver synchronises calls on a stream by itself.
unsafe impl Sync for Stream {}

impl Stream {
    pub(super) fn new(context: &Arc<Context>) -> Result<Self> {
        context.bind()?;
        let stream = stream::create(stream::StreamKind::NonBlocking)?;
        Ok(Stream { context: Arc::clone(context), stream })
    }

    pub(super) fn finish(&self) -> Result<()> {
        // SAFETY: the stream lives as long as `self`.
        unsafe { stream::synchronize(self.stream) }
    }

    pub(super) fn launch(
        &self,
        function: Function,
        grid: Grid,
        arguments: &[Argument],
    ) -> Result<()> {
        let mut pointers: Vec<*mut c_void> =
            arguments.iter().map(|argument| (&raw const argument.bits).cast_mut().cast()).collect();
        let Grid { blocks: [first, second], threads, shared } = grid;
        let (blocks, threads) = ((first, second, 1), (threads, 1, 1));
        // SAFETY: the function is of a module that is never unloaded; the driver reads as many arguments as
        // the kernel declares, and of each as many bytes, at most eight. `Function::takes` has checked
        // that where the driver can tell; `cuda/launches.rs` checks number and types without a driver.
        unsafe {
            result::launch_kernel(function.0, blocks, threads, shared, self.stream, &mut pointers)
        }
    }

    pub(super) fn zero(&self, at: Address, numbers: usize) -> Result<()> {
        // SAFETY: the address is within memory of this card.
        unsafe { sys::cuMemsetD32Async(at.0, 0, numbers, self.stream) }.result()
    }

    pub(super) fn copy(&self, from: Address, to: Address, numbers: usize) -> Result<()> {
        if numbers == 0 {
            return Ok(());
        }
        // SAFETY: both are within memory of this card.
        unsafe { result::memcpy_dtod_async(to.0, from.0, 4 * numbers, self.stream) }
    }

    /// Copies to the card, and waits until it is done.
    pub(super) fn write<T: bytemuck::NoUninit>(&self, to: Address, from: &[T]) -> Result<()> {
        if from.is_empty() {
            return Ok(());
        }
        // SAFETY: `from` lives until the copy is done.
        unsafe { result::memcpy_htod_async(to.0, from, self.stream)? };
        self.finish()
    }

    /// Copies from the card, and waits until it is done.
    pub(super) fn read<T: bytemuck::Pod>(&self, to: &mut [T], from: Address) -> Result<()> {
        if to.is_empty() {
            return Ok(());
        }
        // SAFETY: `to` lives until the copy is done.
        unsafe { result::memcpy_dtoh_async(to, from.0, self.stream)? };
        self.finish()
    }

    /// Turns what `record` does on this stream into a graph, instead of running it.
    pub(super) fn capture(
        &self,
        record: impl FnOnce() -> std::result::Result<(), String>,
    ) -> std::result::Result<Graph, String> {
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream lives, and capturing it ends below in any case.
        unsafe { stream::begin_capture(self.stream, mode) }.map_err(problem)?;
        let recorded = record();
        // SAFETY: capturing has begun.
        let captured = unsafe { stream::end_capture(self.stream) };
        let captured = captured.map_err(problem);
        if let Err(failed) = recorded {
            // SAFETY: the graph was captured just now, and nothing was made of it.
            let _ = captured.map(|captured| unsafe { graph::destroy(captured) });
            return Err(failed);
        }
        let captured = captured?;
        // SAFETY: the graph was captured just now.
        let ready = unsafe { graph::instantiate(captured, sys::CUgraphInstantiate_flags(0)) };
        // SAFETY: what was instantiated does not need it any more.
        unsafe { graph::destroy(captured) }.map_err(problem)?;
        let ready = ready.map_err(problem)?;
        Ok(Graph { context: Arc::clone(&self.context), ready })
    }

    pub(super) fn replay(&self, graph: &Graph) -> Result<()> {
        // SAFETY: both live.
        unsafe { graph::launch(graph.ready, self.stream) }
    }

    pub(super) fn mark(&self, event: &Event) -> Result<()> {
        // SAFETY: both live.
        unsafe { event::record(event.event, self.stream) }
    }

    /// What comes next in this stream waits until another stream has come to that moment.
    pub(super) fn wait_for(&self, event: &Event) -> Result<()> {
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: both live.
        unsafe { stream::wait_event(self.stream, event.event, flags) }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: nobody uses it any more.
            let _ = unsafe { stream::destroy(self.stream) };
        }
    }
}

/// Memory of a card.
#[derive(Debug)]
pub(super) struct Memory {
    context: Arc<Context>,
    at: Address,
}

impl Memory {
    /// So many bytes, which hold anything.
    pub(super) fn new(context: &Arc<Context>, bytes: usize) -> Result<Self> {
        context.bind()?;
        // SAFETY: memory is taken, not used.
        let at = unsafe { result::malloc_sync(bytes.max(64))? };
        Ok(Memory { context: Arc::clone(context), at: Address(at) })
    }

    pub(super) fn address(&self) -> Address {
        self.at
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: it was taken once; freeing waits for what still uses it.
            let _ = unsafe { result::free_sync(self.at.0) };
        }
    }
}

/// A kernel of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Function(sys::CUfunction);

// SAFETY: a handle that is only ever read.
unsafe impl Send for Function {}
// SAFETY: a handle that is only ever read.
unsafe impl Sync for Function {}

impl Function {
    /// Whether it takes so many arguments of at most eight bytes each, where the driver can tell (from
    /// CUDA 12.4 on): launching it with fewer or smaller ones would read whatever lies behind them.
    pub(super) fn takes(self, arguments: usize, driver: i32) -> bool {
        const TELLS: i32 = 12_040;
        if driver < TELLS {
            return true;
        }
        // The size of a parameter, if there is such a one.
        let size = |index: usize| {
            let (mut offset, mut size) = (0, 0);
            // SAFETY: the function is of a module that is never unloaded; two numbers are written.
            let found = unsafe { sys::cuFuncGetParamInfo(self.0, index, &mut offset, &mut size) };
            found.result().is_ok().then_some(size)
        };
        let fits = |index: usize| size(index).is_some_and(|size| size <= size_of::<u64>());
        size(arguments).is_none() && (0..arguments).all(fits)
    }

    /// Allows the kernel so much shared memory, where it is more than usual.
    pub(super) fn allow_shared(self, bytes: u32) -> Result<()> {
        use sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as MOST;
        const USUAL: u32 = 48 * 1024;
        if bytes <= USUAL {
            return Ok(());
        }
        // SAFETY: the function is of a module that is never unloaded.
        unsafe { result::function::set_function_attribute(self.0, MOST, bytes as i32) }
    }
}

/// Compiled kernels on a card. They stay as long as the card is used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Module(sys::CUmodule);

// SAFETY: a handle that is only ever read.
unsafe impl Send for Module {}
// SAFETY: a handle that is only ever read.
unsafe impl Sync for Module {}

impl Module {
    /// Loads what the compiler made.
    pub(super) fn load(context: &Context, compiled: &[u8]) -> Result<Self> {
        context.bind()?;
        // SAFETY: the driver checks what it reads, which is a whole file of its own format.
        Ok(Module(unsafe { module::load_data(compiled.as_ptr().cast())? }))
    }

    pub(super) fn function(self, name: &str) -> Result<Function> {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: modules are never unloaded.
        Ok(Function(unsafe { module::get_function(self.0, name)? }))
    }
}

/// A captured step.
#[derive(Debug)]
pub(super) struct Graph {
    context: Arc<Context>,
    ready: sys::CUgraphExec,
}

// SAFETY: a graph is launched by its one owner only.
unsafe impl Send for Graph {}

impl Drop for Graph {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: nobody launches it any more.
            let _ = unsafe { graph::exec_destroy(self.ready) };
        }
    }
}

/// A moment in a stream.
#[derive(Debug)]
pub(super) struct Event {
    context: Arc<Context>,
    event: sys::CUevent,
}

impl Event {
    pub(super) fn new(context: &Arc<Context>) -> Result<Self> {
        context.bind()?;
        let event = event::create(sys::CUevent_flags::CU_EVENT_DEFAULT)?;
        Ok(Event { context: Arc::clone(context), event })
    }

    /// Milliseconds from this moment, which is over, to a later one.
    pub(super) fn until(&self, later: &Event) -> Result<f32> {
        // SAFETY: both live, and were marked.
        unsafe { event::elapsed(self.event, later.event) }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: nobody uses it any more.
            let _ = unsafe { event::destroy(self.event) };
        }
    }
}
