//! The Python globals that a pickle may use, and what calling them builds. No Python code is run:
//! each known function is answered with the data that it would return.

use std::borrow::Cow;

use super::Problem;
use super::arrays::{Array, ElementType, Layout};
use super::heap::{Heap, Object, Value};

/// A function or class that only builds data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Global {
    /// `_reconstruct(ndarray, (0,), b'b')`: an array whose state follows.
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
    /// `bytes()`: empty bytes in protocol 2.
    BytesClass,
    /// `encode(text, 'latin1')`: bytes in protocol 2.
    Encode,
}

impl Global {
    /// The global of that name.
    pub(super) fn find(module: &str, name: &str) -> Result<Self, Problem> {
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
            ("__builtin__" | "builtins", "bytes") => Global::BytesClass,
            ("_codecs", "encode") => Global::Encode,
            _ => {
                let short = |text: &str| text.chars().take(80).collect::<String>();
                return Err(Problem::refused(format!(
                    "the pickle asks for {}.{}; only arrays are read, nothing is run",
                    short(module).escape_debug(),
                    short(name).escape_debug()
                )));
            }
        })
    }
}

/// The value of `function(*arguments)`. `decodable` is the number of bytes that may still be
/// decoded from strings: a short call may name a long string again and again.
pub(super) fn call(
    heap: &mut Heap<'_>,
    function: Value,
    arguments: Value,
    decodable: &mut usize,
) -> Result<Value, Problem> {
    let Value::Global(global) = function else {
        return Err(Problem::refused(format!("the pickle calls {}", heap.describe(function))));
    };
    let mut content = 0;
    let object = match (global, heap.items(arguments)?) {
        (Global::EmptyArray, &[Value::Global(Global::ArrayClass), _, _]) => Object::Array(None),
        (Global::ArrayFromBuffer, &[data, element, shape, order]) => {
            let layout = match heap.text(order) {
                Some("C") => Layout::RowMajor,
                Some("F") => Layout::ColumnMajor,
                _ => return Err(Problem::refused("an array of neither order 'C' nor 'F'")),
            };
            Object::Array(Some(Box::new(Array::new(heap, shape, element, layout, data)?)))
        }
        (Global::Scalar, &[element, data]) => {
            let Some(&Object::ElementType(element)) = heap.object(element) else {
                return Err(Problem::unexpected("the dtype of a number", heap.describe(element)));
            };
            return element.number(heap.bytes(data)?);
        }
        (Global::ElementTypeClass, &[spelling, ..]) => {
            Object::ElementType(ElementType::parse(heap.text(spelling).unwrap_or("?"))?)
        }
        (Global::CsrClass, &[]) => Object::Matrix(None),
        (Global::DefaultDict, &[] | &[Value::Global(Global::ListClass) | Value::None]) => {
            Object::Dict(Vec::new())
        }
        (Global::BytesClass, &[]) => Object::Bytes(Cow::Borrowed(&[])),
        (Global::Encode, &[text, encoding]) => {
            let bytes = latin1_bytes(heap, text, encoding)?;
            let left = decodable.checked_sub(bytes.len());
            *decodable =
                left.ok_or_else(|| Problem::refused("the pickle decodes one string many times"))?;
            content = bytes.len();
            Object::Bytes(Cow::Owned(bytes))
        }
        (_, arguments) => {
            return Err(Problem::refused(format!(
                "the pickle calls {global:?} with {} arguments that it never has",
                arguments.len()
            )));
        }
    };
    Ok(heap.add(object, content))
}

/// Gives an object the state that follows it in the pickle.
pub(super) fn build(heap: &mut Heap<'_>, target: Value, state: Value) -> Result<(), Problem> {
    let refused =
        |heap: &Heap<'_>| Problem::refused(format!("the pickle changes {}", heap.describe(target)));
    let Value::Object(id) = target else { return Err(refused(heap)) };
    let built = match (heap.get(id), state) {
        (Object::Array(None), _) => {
            let &[_version, shape, element, fortran, data] = heap.items(state)? else {
                return Err(Problem::damaged("an array without its five parts"));
            };
            let fortran = heap.integer(fortran)? != 0;
            let layout = if fortran { Layout::ColumnMajor } else { Layout::RowMajor };
            Object::Array(Some(Box::new(Array::new(heap, shape, element, layout, data)?)))
        }
        (&Object::ElementType(element), _) => {
            // (version, byte order, sub-array, names, fields, …): plain numbers have three times None.
            let &[_version, order, Value::None, Value::None, Value::None, ..] =
                heap.items(state)?
            else {
                return Err(Problem::refused("an array whose elements have parts or names"));
            };
            if !matches!(heap.text(order), Some("<" | "|")) {
                return Err(Problem::refused("an array that is not little-endian"));
            }
            Object::ElementType(element)
        }
        (Object::Matrix(None), Value::Object(attributes)) => {
            heap.pairs(state)?;
            Object::Matrix(Some(attributes))
        }
        _ => return Err(refused(heap)),
    };
    *heap.get_mut(id) = built;
    Ok(())
}

fn latin1_bytes(heap: &Heap<'_>, text: Value, encoding: Value) -> Result<Vec<u8>, Problem> {
    let Some(Object::Text(text)) = heap.object(text) else {
        return Err(Problem::unexpected("a string", heap.describe(text)));
    };
    if !matches!(heap.text(encoding), Some("latin1" | "latin-1")) {
        return Err(Problem::refused("the pickle asks for an encoding other than latin1"));
    }
    let byte = |character| u8::try_from(u32::from(character));
    text.chars()
        .map(|character| byte(character).map_err(|_| Problem::damaged("bytes beyond latin1")))
        .collect()
}
