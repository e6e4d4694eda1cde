//! Device profiles: all that a plan knows of the device that it is for.
//!
//! A plan asks a profile, never what kind of device there is.

use crate::Shape;
use crate::program::Operation;

/// An operation's temporary memory, in numbers of four bytes: by the operation, the shapes of its inputs and
/// which outputs are wanted.
pub(crate) type ScratchLen = fn(&dyn Operation, &[Shape], &[bool]) -> usize;

/// What a plan knows of a device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeviceProfile {
    /// The temporary memory that an operation needs there.
    pub(crate) scratch: ScratchLen,
    /// An arena of at most so many bytes is laid out without reuse of memory among buffers, so that
    /// operations which don't wait for each other can run side by side.
    pub(crate) max_unshared_bytes: u64,
    /// What the device's libraries take beside the arena, in bytes.
    pub(crate) workspace_bytes: u64,
    /// How many copies of the parameters sessions may keep there, which must fit, too.
    pub(crate) kept_copies: u64,
}

impl DeviceProfile {
    /// One operation after the other, and nothing beside the arena.
    pub(crate) const CPU: DeviceProfile = DeviceProfile {
        scratch: cpu_scratch,
        max_unshared_bytes: 0,
        workspace_bytes: 0,
        kept_copies: 0,
    };

    /// A GPU with so many bytes free, whose libraries take so many for themselves.
    #[cfg(any(test, feature = "cuda"))]
    pub(crate) const fn gpu(free_bytes: u64, workspace_bytes: u64) -> Self {
        DeviceProfile {
            scratch: gpu_scratch,
            max_unshared_bytes: free_bytes / NO_REUSE_FRACTION,
            workspace_bytes,
            kept_copies: 1,
        }
    }
}

/// An arena that takes no more than this part of a GPU's memory need not reuse any.
#[cfg(any(test, feature = "cuda"))]
const NO_REUSE_FRACTION: u64 = 8;

fn cpu_scratch(operation: &dyn Operation, inputs: &[Shape], wanted: &[bool]) -> usize {
    operation.scratch(inputs, wanted)
}

#[cfg(any(test, feature = "cuda"))]
fn gpu_scratch(operation: &dyn Operation, inputs: &[Shape], wanted: &[bool]) -> usize {
    operation.cuda_scratch(inputs, wanted)
}
