//! The Python names that a pickle may ask for; every other one is refused.

use super::problem::Problem;

/// A function or class that only makes data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::formats) enum Global {
    /// `_reconstruct(ndarray, (0,), b'b')`: an array that is filled later.
    EmptyArray,
    /// `_frombuffer(bytes, dtype, shape, order)`: an array at once.
    ArrayFromBuffer,
    /// `scalar(dtype, bytes)`: one number.
    Scalar,
    ArrayClass,
    ElementTypeClass,
    CsrClass,
    DefaultDict,
    ListClass,
    ObjectClass,
    /// `bytes()`: how protocol 2 spells no bytes.
    BytesClass,
    /// `_reconstructor(class, object, None)`: how protocols 0 and 1 spell a new object.
    NewObject,
    /// `encode(text, 'latin1')`: how protocol 2 spells bytes.
    Encode,
}

impl Global {
    pub(super) fn named(module: &str, name: &str) -> Result<Self, Problem> {
        Ok(match (module, name) {
            ("numpy.core.multiarray" | "numpy._core.multiarray", "_reconstruct") => {
                Global::EmptyArray
            }
            ("numpy.core.multiarray" | "numpy._core.multiarray", "scalar") => Global::Scalar,
            ("numpy.core.numeric" | "numpy._core.numeric", "_frombuffer") => {
                Global::ArrayFromBuffer
            }
            ("numpy", "ndarray") => Global::ArrayClass,
            ("numpy", "dtype") => Global::ElementTypeClass,
            ("scipy.sparse.csr" | "scipy.sparse._csr", "csr_matrix" | "csr_array") => {
                Global::CsrClass
            }
            ("collections", "defaultdict") => Global::DefaultDict,
            ("__builtin__" | "builtins", "list") => Global::ListClass,
            ("__builtin__" | "builtins", "object") => Global::ObjectClass,
            ("__builtin__" | "builtins", "bytes") => Global::BytesClass,
            ("copy_reg" | "copyreg", "_reconstructor") => Global::NewObject,
            ("_codecs", "encode") => Global::Encode,
            _ => {
                return Err(Problem::refused(format!(
                    "the pickle asks for {}.{}; only arrays are read, nothing is run",
                    printable(module),
                    printable(name)
                )));
            }
        })
    }
}

/// A name from the file, made fit for a message.
fn printable(name: &str) -> String {
    const MOST: usize = 80;
    let short: String = name.chars().take(MOST).collect();
    let dots = if short.len() < name.len() { "…" } else { "" };
    format!("{}{dots}", short.escape_debug())
}
