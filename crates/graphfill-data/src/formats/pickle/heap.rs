//! The values of a pickle. Objects stand in one list; a value is small and names its object by
//! position, so copying and dropping never follow the nesting.

use std::borrow::Cow;

use super::arrays::{Array, ElementType};
use super::globals::Global;
use super::problem::Problem;

/// A number, nothing, a known Python name, or the position of an object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::formats) enum Value {
    None,
    Boolean(bool),
    Integer(i64),
    Float(f64),
    Global(Global),
    Object(ObjectId),
}

/// The position of an object in its heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::formats) struct ObjectId(u32);

/// What stands at a position.
#[derive(Debug)]
pub(super) enum Object<'a> {
    Text(Cow<'a, str>),
    Bytes(Cow<'a, [u8]>),
    Tuple(Vec<Value>),
    List(Vec<Value>),
    /// Pairs in the order of the file; the last of equal keys counts.
    Dict(Vec<(Value, Value)>),
    ElementType(ElementType),
    /// Nothing inside until the pickle fills it.
    Array(Option<Box<Array>>),
    /// The dict of its attributes, once the pickle gave it.
    Matrix(Option<ObjectId>),
}

/// The objects of a pickle.
#[derive(Debug, Default)]
pub(in crate::formats) struct Heap<'a> {
    objects: Vec<Object<'a>>,
}

impl<'a> Heap<'a> {
    /// Puts an object at a new position. There are fewer objects than bytes in the file, whose
    /// length is limited, so a position always fits.
    pub(super) fn add(&mut self, object: Object<'a>) -> Value {
        self.objects.push(object);
        Value::Object(ObjectId((self.objects.len() - 1) as u32))
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
    pub(in crate::formats) fn items(&self, value: Value) -> Result<&[Value], Problem> {
        match self.object(value) {
            Some(Object::List(items) | Object::Tuple(items)) => Ok(items),
            _ => Err(Problem::unexpected("a list", self.word(value))),
        }
    }

    /// The pairs of a dict.
    pub(in crate::formats) fn pairs(&self, value: Value) -> Result<&[(Value, Value)], Problem> {
        match self.object(value) {
            Some(Object::Dict(pairs)) => Ok(pairs),
            _ => Err(Problem::unexpected("a dict", self.word(value))),
        }
    }

    /// A whole number.
    pub(in crate::formats) fn integer(&self, value: Value) -> Result<i64, Problem> {
        match value {
            Value::Integer(number) => Ok(number),
            Value::Boolean(flag) => Ok(i64::from(flag)),
            _ => Err(Problem::unexpected("a whole number", self.word(value))),
        }
    }

    /// The characters of text, or of Python 2's bytes that stand for text.
    pub(super) fn name(&self, value: Value) -> Option<&str> {
        match self.object(value)? {
            Object::Text(text) => Some(text),
            Object::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// Bytes.
    pub(super) fn bytes(&self, value: Value) -> Result<&[u8], Problem> {
        match self.object(value) {
            Some(Object::Bytes(bytes)) => Ok(bytes),
            _ => Err(Problem::unexpected("bytes", self.word(value))),
        }
    }

    /// What a value is, in words for a message.
    pub(in crate::formats) fn word(&self, value: Value) -> &'static str {
        match value {
            Value::None => "None",
            Value::Boolean(_) => "a boolean",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number with a fraction",
            Value::Global(_) => "the name of a class or function",
            Value::Object(id) => match self.get(id) {
                Object::Text(_) => "text",
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
