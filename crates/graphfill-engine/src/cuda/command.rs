//! What a device is told to do: launch a kernel, multiply two matrices, set memory to zero.
//!
//! Commands are plain data. An operation says once which commands compute it, with the addresses of
//! its buffers in them; the executor then runs the list as often as it likes, or captures it.

use std::fmt;

use crate::ops::Factor;
use crate::random::KEEP_GROUP;

/// What every file of kernels begins with.
const COMMON: &str = include_str!("common.cuh");

/// Threads of a block that takes lists, a warp for each.
pub(crate) const LIST_THREADS: u32 = 512;

/// The constants of `common.cuh`.
const COMMON_DEFINES: &[Define] = &[
    Define::count("LIST_WARPS", LIST_THREADS as usize / 32),
    Define::count("KEEP_GROUP", KEEP_GROUP),
];

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

/// A constant that kernels share with the code that launches them. It is written here only: kernels
/// get it as a `#define` in front of their file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Define {
    pub(crate) name: &'static str,
    value: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Value {
    Count(u64),
    /// The bits of a `float`.
    Float(u32),
}

impl Define {
    /// A whole number.
    pub const fn count(name: &'static str, value: usize) -> Self {
        Define { name, value: Value::Count(value as u64) }
    }

    /// A `float`.
    pub const fn float(name: &'static str, value: f32) -> Self {
        Define { name, value: Value::Float(value.to_bits()) }
    }
}

impl fmt::Display for Define {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "#define {} ", self.name)?;
        match self.value {
            Value::Count(count) if count > i32::MAX as u64 => write!(formatter, "{count}u"),
            Value::Count(count) => write!(formatter, "{count}"),
            // The shortest digits that give the same number.
            Value::Float(bits) => write!(formatter, "{:?}f", f32::from_bits(bits)),
        }
    }
}

/// A file of kernels, which is compiled as a whole behind `common.cuh`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Source {
    /// The name of the file.
    pub name: &'static str,
    /// What is in it.
    pub text: &'static str,
    /// The constants that it shares with the code that launches its kernels, in groups.
    pub defines: &'static [&'static [Define]],
}

impl Source {
    /// A file of kernels.
    pub const fn new(name: &'static str, text: &'static str) -> Self {
        Source { name, text, defines: &[] }
    }

    /// The same with constants.
    #[must_use]
    pub const fn with(self, defines: &'static [&'static [Define]]) -> Self {
        Source { defines, ..self }
    }

    /// What the compiler gets: constants, `common.cuh`, and the file.
    pub(crate) fn program(&self) -> String {
        let defines = COMMON_DEFINES.iter().chain(self.defines.iter().copied().flatten());
        let defines: Vec<String> = defines.map(Define::to_string).collect();
        format!("{}\n{COMMON}\n#line 1\n{}", defines.join("\n"), self.text)
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

    /// The same in a second direction, in which a GPU has no more than 65,535 blocks; see
    /// `Grid::problem`.
    #[must_use]
    pub fn by(self, second: usize) -> Self {
        let second = u32::try_from(second).unwrap_or(u32::MAX);
        Grid { blocks: [self.blocks[0], second], ..self }
    }

    /// Why no GPU can launch it.
    pub(crate) fn problem(&self) -> Option<String> {
        const MAX_SECOND: u32 = 65_535;
        let second = self.blocks[1];
        (second > MAX_SECOND).then(|| {
            format!(
                "it needs {second} blocks of threads in the second direction, and a GPU has \
                 {MAX_SECOND}; use fewer columns, or the CPU"
            )
        })
    }

    /// With shared memory.
    #[must_use]
    pub fn with_shared(self, bytes: usize) -> Self {
        Grid { shared: bytes as u32, ..self }
    }
}

/// One argument of a kernel: its bytes, of which numbers of four bytes take the first half, and its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argument {
    pub(crate) bits: u64,
    pub(crate) kind: ArgumentKind,
}

/// The type of an argument, as the kernel declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgumentKind {
    /// `float *` and the like.
    Pointer,
    /// `u64`.
    Wide,
    /// `u32`.
    Word,
    /// `float`.
    Float,
    /// `double`.
    Double,
}

impl Argument {
    const fn new(bits: u64, kind: ArgumentKind) -> Self {
        Argument { bits, kind }
    }
}

impl From<Address> for Argument {
    fn from(address: Address) -> Self {
        Argument::new(address.0, ArgumentKind::Pointer)
    }
}

/// Nothing is the null pointer.
impl From<Option<Address>> for Argument {
    fn from(address: Option<Address>) -> Self {
        Argument::new(address.map_or(0, |address| address.0), ArgumentKind::Pointer)
    }
}

/// `unsigned long long` in the kernel.
impl From<usize> for Argument {
    fn from(number: usize) -> Self {
        Argument::new(number as u64, ArgumentKind::Wide)
    }
}

/// `unsigned int` in the kernel.
impl From<u32> for Argument {
    fn from(number: u32) -> Self {
        Argument::new(u64::from(number), ArgumentKind::Word)
    }
}

/// `float` in the kernel.
impl From<f32> for Argument {
    fn from(number: f32) -> Self {
        Argument::new(u64::from(number.to_bits()), ArgumentKind::Float)
    }
}

/// `double` in the kernel.
impl From<f64> for Argument {
    fn from(number: f64) -> Self {
        Argument::new(number.to_bits(), ArgumentKind::Double)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_written_as_the_compiler_reads_them() {
        assert_eq!(Define::count("TILE", 32).to_string(), "#define TILE 32");
        let all = Define::count("ALL", 0xffff_ffff).to_string();
        assert_eq!(all, "#define ALL 4294967295u");
        assert_eq!(Define::float("LEAK", 0.2).to_string(), "#define LEAK 0.2f");
        assert_eq!(Define::float("SHORT", 1e-12).to_string(), "#define SHORT 1e-12f");
        assert_eq!(Define::float("ONE", 1.0).to_string(), "#define ONE 1.0f");
    }

    #[test]
    fn constants_come_first() {
        const TILES: &[Define] = &[Define::count("TILE", 32)];
        let text = Source::new("tiles.cu", "KERNELS").with(&[TILES]).program();
        assert!(
            text.starts_with("#define LIST_WARPS 16\n#define KEEP_GROUP 128\n#define TILE 32\n")
        );
        assert!(text.ends_with("\n#line 1\nKERNELS"));
    }

    #[test]
    fn a_grid_that_no_gpu_launches_is_found() {
        assert_eq!(Grid::blocks(1 << 30, 256).by(65_535).problem(), None);
        let problem = Grid::blocks(1, 256).by(65_536).problem().expect("too many");
        assert!(problem.contains("65536 blocks"), "{problem}");
        assert!(Grid::blocks(1, 256).by(usize::MAX).problem().is_some());
    }
}
