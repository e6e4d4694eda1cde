//! What a device is told to do: launch a kernel, multiply two matrices, set memory to zero.
//!
//! Commands are plain data. An operation says once which commands compute it, with the addresses of
//! its buffers in them; the executor then runs the list as often as it likes, or captures it.

use crate::ops::Factor;

/// Where something begins in the memory of a device, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub(crate) u64);

impl Address {
    /// So many numbers of four bytes further on.
    #[must_use]
    pub fn offset_by(self, numbers: usize) -> Address {
        Address(self.0 + 4 * numbers as u64)
    }
}

/// A file of kernels, which is compiled as a whole behind `common.cuh`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Source {
    /// The name of the file.
    pub name: &'static str,
    /// What is in it.
    pub text: &'static str,
}

impl Source {
    /// A file of kernels.
    pub const fn new(name: &'static str, text: &'static str) -> Self {
        Source { name, text }
    }

    /// One of its kernels.
    pub const fn kernel(self, function: &'static str) -> Kernel {
        Kernel { source: self, function }
    }
}

/// A function that a device runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// Where it is.
    pub source: Source,
    /// Its name, as `extern "C"` has it.
    pub function: &'static str,
}

/// How many threads run a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Blocks of threads, in two directions.
    pub blocks: [u32; 2],
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory of a block, beside what the kernel declares.
    pub shared: u32,
}

/// Threads of a block where nothing speaks for another number.
pub const THREADS: u32 = 256;

/// More blocks than these keep no card busier: kernels that take their elements in strides are
/// launched with at most so many.
const MOST_BLOCKS: usize = 132 * 16;

impl Grid {
    /// One thread for each of so many elements, or fewer threads that take several in strides of
    /// the grid.
    pub fn strided(elements: usize) -> Self {
        let blocks = elements.div_ceil(THREADS as usize).clamp(1, MOST_BLOCKS);
        Grid::blocks(blocks, THREADS)
    }

    /// One warp for each of so many elements (rows, mostly), eight of them a block.
    pub fn warps(elements: usize) -> Self {
        Grid::blocks(elements.div_ceil(THREADS as usize / 32).max(1), THREADS)
    }

    /// So many blocks of so many threads.
    pub fn blocks(blocks: usize, threads: u32) -> Self {
        let blocks = u32::try_from(blocks).unwrap_or(i32::MAX as u32).min(i32::MAX as u32);
        Grid { blocks: [blocks, 1], threads, shared: 0 }
    }

    /// The same in a second direction.
    #[must_use]
    pub fn by(self, second: usize) -> Self {
        let second = u32::try_from(second).unwrap_or(u32::MAX);
        Grid { blocks: [self.blocks[0], second], ..self }
    }

    /// With shared memory.
    #[must_use]
    pub fn with_shared(self, bytes: usize) -> Self {
        Grid { shared: bytes as u32, ..self }
    }
}

/// One argument of a kernel, as its bytes. Numbers of four bytes take the first half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argument(pub(crate) u64);

impl From<Address> for Argument {
    fn from(address: Address) -> Self {
        Argument(address.0)
    }
}

/// Nothing is the null pointer.
impl From<Option<Address>> for Argument {
    fn from(address: Option<Address>) -> Self {
        Argument(address.map_or(0, |address| address.0))
    }
}

/// `unsigned long long` in the kernel.
impl From<usize> for Argument {
    fn from(number: usize) -> Self {
        Argument(number as u64)
    }
}

/// `unsigned int` in the kernel.
impl From<u32> for Argument {
    fn from(number: u32) -> Self {
        Argument(u64::from(number))
    }
}

/// `float` in the kernel.
impl From<f32> for Argument {
    fn from(number: f32) -> Self {
        Argument(u64::from(number.to_bits()))
    }
}

/// `double` in the kernel.
impl From<f64> for Argument {
    fn from(number: f64) -> Self {
        Argument(number.to_bits())
    }
}

/// A matrix in the memory of a device, row after row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dense {
    /// Where it begins.
    pub at: Address,
    /// Its rows.
    pub rows: usize,
    /// Its columns.
    pub columns: usize,
    /// From one row to the next, in numbers.
    pub stride: usize,
}

impl Dense {
    /// A matrix whose rows follow each other.
    pub fn new(at: Address, rows: usize, columns: usize) -> Self {
        Dense { at, rows, columns, stride: columns }
    }
}

/// What a product does to the numbers that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// They go.
    Replace,
    /// It is added to them.
    Add,
}

/// How exactly a product is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exactness {
    /// As the caller chose.
    Chosen,
    /// In single precision, whatever the caller chose.
    Single,
}

/// out = left · right, each of them transposed or not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Product {
    /// The left factor and how it is used.
    pub left: (Dense, Factor),
    /// The right factor and how it is used.
    pub right: (Dense, Factor),
    /// What it is written to.
    pub out: Dense,
    /// What happens to what is there.
    pub existing: Existing,
    /// How exact it is.
    pub exactness: Exactness,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Command {
    Launch {
        kernel: Kernel,
        grid: Grid,
        arguments: Vec<Argument>,
    },
    Product(Product),
    /// Sets so many numbers of four bytes to zero.
    Zero {
        at: Address,
        numbers: usize,
    },
    /// Does these while the next commands are done.
    Beside(Vec<Command>),
    /// Waits for what is done beside.
    Meet,
}
