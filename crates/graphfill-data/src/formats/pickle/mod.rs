//! A strict reader of Python pickles: it builds numbers, text, lists, dicts, numpy arrays and scipy
//! CSR matrices, runs nothing, and refuses any other global by its name.
//!
//! Objects stand in one list and name each other by position: no nesting is followed by recursion.
//! A byte of the file takes up to a hundred bytes of memory in the worst pickle, usually below ten.

mod arrays;
mod calls;
mod cursor;
mod escapes;
mod globals;
mod heap;
mod literals;
mod machine;
mod matrix;
mod opcodes;
mod problem;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod writer;

pub(super) use heap::{Heap, Value};
pub(super) use matrix::CsrMatrix;
pub(super) use problem::Problem;

/// The longest pickle that is read. It also keeps the number of objects within 32 bits.
pub(super) const MAX_BYTES: u64 = 1 << 30;

/// What a pickle holds: its top value, and the objects that the value names.
pub(super) struct Pickle<'a> {
    pub(super) heap: Heap<'a>,
    pub(super) root: Value,
}

/// Reads one pickle; what follows its end is left alone, as Python does.
pub(super) fn parse(bytes: &[u8]) -> Result<Pickle<'_>, Problem> {
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Problem::refused(format!("the pickle is longer than {MAX_BYTES} bytes")));
    }
    machine::Machine::new(bytes).run()
}
