//! What a pickle calls: each known name is answered by making the data that Python would make.

use std::borrow::Cow;

use super::arrays::{Array, ByteOrder, ElementType, Layout};
use super::globals::Global;
use super::heap::{Heap, Object, Value};
use super::problem::Problem;

/// Answers calls.
pub(super) struct Calls {
    /// How many more bytes may come out of text. A short call may name a long text again and
    /// again, so their sum is held below the length of the file.
    decodable: usize,
}

impl Calls {
    pub(super) fn new(file_length: usize) -> Self {
        Calls { decodable: file_length }
    }

    /// The value of `function(*arguments)`.
    pub(super) fn call(
        &mut self,
        heap: &mut Heap<'_>,
        function: Value,
        arguments: Value,
    ) -> Result<Value, Problem> {
        let Value::Global(global) = function else {
            return Err(Problem::refused(format!("the pickle calls {}", heap.word(function))));
        };
        let object = match (global, heap.items(arguments)?) {
            (Global::EmptyArray, &[Value::Global(Global::ArrayClass), _, _]) => Object::Array(None),
            (Global::ArrayFromBuffer, &[data, element, shape, order]) => {
                let layout = layout_spelt(heap, order)?;
                let array = Array::new(heap, shape, element, layout, data)?;
                Object::Array(Some(Box::new(array)))
            }
            (Global::Scalar, &[element, data]) => return scalar(heap, element, data),
            (Global::ElementTypeClass, &[spelling, ..]) => {
                let spelling = heap.name(spelling).unwrap_or("?");
                Object::ElementType(ElementType::spelt(spelling)?)
            }
            (Global::CsrClass, &[])
            | (
                Global::NewObject,
                &[Value::Global(Global::CsrClass), Value::Global(Global::ObjectClass), Value::None],
            ) => Object::Matrix(None),
            (Global::DefaultDict, &[] | &[Value::Global(Global::ListClass) | Value::None]) => {
                Object::Dict(Vec::new())
            }
            (Global::BytesClass, &[]) => Object::Bytes(Cow::Borrowed(&[])),
            (Global::Encode, &[text, encoding]) => {
                let bytes = latin1_bytes(heap, text, encoding)?;
                let left = self.decodable.checked_sub(bytes.len());
                let repeated = || Problem::refused("the pickle decodes one text many times");
                self.decodable = left.ok_or_else(repeated)?;
                Object::Bytes(Cow::Owned(bytes))
            }
            (_, arguments) => {
                return Err(Problem::refused(format!(
                    "the pickle calls {global:?} with {} arguments that it never has",
                    arguments.len()
                )));
            }
        };
        Ok(heap.add(object))
    }
}

/// Gives an object the state that stands behind it in the pickle.
pub(super) fn build(heap: &mut Heap<'_>, target: Value, state: Value) -> Result<(), Problem> {
    let Value::Object(id) = target else {
        return Err(Problem::refused(format!("the pickle changes {}", heap.word(target))));
    };
    let built = match (heap.get(id), state) {
        (Object::Array(None), _) => {
            let &[_version, shape, element, by_columns, data] = heap.items(state)? else {
                return Err(Problem::damaged("an array without its five parts"));
            };
            let layout =
                if heap.integer(by_columns)? == 0 { Layout::ByRows } else { Layout::ByColumns };
            Object::Array(Some(Box::new(Array::new(heap, shape, element, layout, data)?)))
        }
        (&Object::ElementType(element), _) => {
            Object::ElementType(with_byte_order(heap, element, state)?)
        }
        (Object::Matrix(None), Value::Object(attributes)) => {
            heap.pairs(state)?;
            Object::Matrix(Some(attributes))
        }
        _ => return Err(Problem::refused(format!("the pickle changes {}", heap.word(target)))),
    };
    *heap.get_mut(id) = built;
    Ok(())
}

/// A dtype's state is `(version, byte order, sub-array, names, fields, …)`; only plain numbers
/// have None in the last three.
fn with_byte_order(
    heap: &Heap<'_>,
    mut element: ElementType,
    state: Value,
) -> Result<ElementType, Problem> {
    let &[_version, order, Value::None, Value::None, Value::None, ..] = heap.items(state)? else {
        return Err(Problem::refused("an array whose elements have parts or names"));
    };
    element.byte_order = heap
        .name(order)
        .and_then(ByteOrder::spelt)
        .ok_or_else(|| Problem::refused("an array of unknown byte order"))?;
    Ok(element)
}

fn layout_spelt(heap: &Heap<'_>, order: Value) -> Result<Layout, Problem> {
    match heap.name(order) {
        Some("C") => Ok(Layout::ByRows),
        Some("F") => Ok(Layout::ByColumns),
        _ => Err(Problem::refused("an array that is neither by rows ('C') nor by columns ('F')")),
    }
}

fn scalar(heap: &Heap<'_>, element: Value, data: Value) -> Result<Value, Problem> {
    let Some(&Object::ElementType(element)) = heap.object(element) else {
        return Err(Problem::unexpected("the dtype of a number", heap.word(element)));
    };
    let bytes = heap.bytes(data)?;
    if bytes.len() != element.width() {
        return Err(Problem::damaged(format!("a number of {} bytes", bytes.len())));
    }
    Ok(element.number(bytes))
}

fn latin1_bytes(heap: &Heap<'_>, text: Value, encoding: Value) -> Result<Vec<u8>, Problem> {
    let Some(Object::Text(text)) = heap.object(text) else {
        return Err(Problem::unexpected("text", heap.word(text)));
    };
    if !matches!(heap.name(encoding), Some("latin1" | "latin-1")) {
        return Err(Problem::refused("the pickle asks for an encoding other than latin1"));
    }
    let byte = |character| u8::try_from(u32::from(character));
    text.chars()
        .map(|character| byte(character).map_err(|_| Problem::damaged("bytes beyond latin1")))
        .collect()
}
