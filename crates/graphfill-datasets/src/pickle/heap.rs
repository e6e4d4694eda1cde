//! The values of a pickle. Objects are in one list; a value is small and refers to its object by
//! position, so copying and dropping values never recurses.

use std::borrow::Cow;
use std::mem::size_of;

use super::Problem;
use super::arrays::{Array, ElementType};
use super::calls::Global;

/// A number, None, a known Python name, or a reference to an object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value {
    None,
    Boolean(bool),
    Integer(i64),
    Float(f64),
    Global(Global),
    Object(ObjectId),
}

/// The position of an object in its heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ObjectId(u32);

#[derive(Debug)]
pub(super) enum Object<'a> {
    Text(&'a str),
    Bytes(Cow<'a, [u8]>),
    Tuple(Vec<Value>),
    List(Vec<Value>),
    /// Pairs in the order of the file; the last of equal keys counts.
    Dict(Vec<(Value, Value)>),
    ElementType(ElementType),
    /// None until the pickle gives its state.
    Array(Option<Box<Array>>),
    /// The dict of its attributes; none until the pickle gives its state.
    Matrix(Option<ObjectId>),
}

/// The objects of a pickle.
#[derive(Debug, Default)]
pub(crate) struct Heap<'a> {
    objects: Vec<Object<'a>>,
    /// Bytes inside the objects: items of containers and decoded bytes.
    content: usize,
}

impl<'a> Heap<'a> {
    /// Adds an object with `content` bytes of its own. There are fewer objects than bytes in the
    /// file, whose length is limited, so a position always fits.
    pub(super) fn add(&mut self, object: Object<'a>, content: usize) -> Value {
        self.objects.push(object);
        self.content += content;
        Value::Object(ObjectId((self.objects.len() - 1) as u32))
    }

    /// Counts `bytes` more inside an object.
    pub(super) fn count(&mut self, bytes: usize) {
        self.content += bytes;
    }

    /// The bytes that all objects take.
    pub(super) fn memory(&self) -> usize {
        self.objects.capacity() * size_of::<Object<'_>>() + self.content
    }

    pub(super) fn get(&self, id: ObjectId) -> &Object<'a> {
        &self.objects[id.0 as usize]
    }

    pub(super) fn get_mut(&mut self, id: ObjectId) -> &mut Object<'a> {
        &mut self.objects[id.0 as usize]
    }

    pub(super) fn object(&self, value: Value) -> Option<&Object<'a>> {
        match value {
            Value::Object(id) => Some(self.get(id)),
            _ => None,
        }
    }

    /// The items of a list or tuple.
    pub(crate) fn items(&self, value: Value) -> Result<&[Value], Problem> {
        match self.object(value) {
            Some(Object::List(items) | Object::Tuple(items)) => Ok(items),
            _ => Err(Problem::unexpected("a list", self.describe(value))),
        }
    }

    /// The pairs of a dict.
    pub(crate) fn pairs(&self, value: Value) -> Result<&[(Value, Value)], Problem> {
        match self.object(value) {
            Some(Object::Dict(pairs)) => Ok(pairs),
            _ => Err(Problem::unexpected("a dict", self.describe(value))),
        }
    }

    /// An integer; a boolean counts as 0 or 1.
    pub(crate) fn integer(&self, value: Value) -> Result<i64, Problem> {
        match value {
            Value::Integer(number) => Ok(number),
            Value::Boolean(flag) => Ok(i64::from(flag)),
            _ => Err(Problem::unexpected("an integer", self.describe(value))),
        }
    }

    /// A string; Python 2 writes bytes for it.
    pub(super) fn text(&self, value: Value) -> Option<&str> {
        match self.object(value)? {
            Object::Text(text) => Some(text),
            Object::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    pub(super) fn bytes(&self, value: Value) -> Result<&[u8], Problem> {
        match self.object(value) {
            Some(Object::Bytes(bytes)) => Ok(bytes),
            _ => Err(Problem::unexpected("bytes", self.describe(value))),
        }
    }

    /// The type of a value, for messages.
    pub(super) fn describe(&self, value: Value) -> &'static str {
        match value {
            Value::None => "None",
            Value::Boolean(_) => "a boolean",
            Value::Integer(_) => "an integer",
            Value::Float(_) => "a float",
            Value::Global(_) => "the name of a class or function",
            Value::Object(id) => match self.get(id) {
                Object::Text(_) => "a string",
                Object::Bytes(_) => "bytes",
                Object::Tuple(_) => "a tuple",
                Object::List(_) => "a list",
                Object::Dict(_) => "a dict",
                Object::ElementType(_) => "a numpy dtype",
                Object::Array(_) => "a numpy array",
                Object::Matrix(_) => "a scipy matrix",
            },
        }
    }
}
