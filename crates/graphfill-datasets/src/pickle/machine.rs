//! The stack machine of pickle: executes one instruction after the other until STOP.
//!
//! Instructions that are not here (sets, persistent ids, extension codes, instances, out-of-band
//! buffers, and the text instructions of protocol 0) are refused.

use std::borrow::Cow;
use std::mem::size_of;

use hashbrown::HashMap;

use super::calls::{Global, build, call};
use super::heap::{Heap, Object, Value};
use super::{Pickle, Problem, check_limit};

/// The newest protocol whose instructions are known.
const MAX_PROTOCOL: u8 = 5;

macro_rules! opcodes {
    ($($name:ident = $byte:literal),* $(,)?) => { $(const $name: u8 = $byte;)* };
}

// Instructions by their names in Python's `pickletools`.
opcodes! {
    PROTO = 0x80, FRAME = 0x95, STOP = b'.', MARK = b'(', NONE = b'N', NEWTRUE = 0x88, NEWFALSE = 0x89,
    BININT = b'J', BININT1 = b'K', BININT2 = b'M', LONG1 = 0x8a, BINFLOAT = b'G',
    BINSTRING = b'T', SHORT_BINSTRING = b'U', BINBYTES = b'B', SHORT_BINBYTES = b'C', BYTEARRAY8 = 0x96,
    BINUNICODE = b'X', SHORT_BINUNICODE = 0x8c,
    EMPTY_LIST = b']', APPEND = b'a', APPENDS = b'e', EMPTY_DICT = b'}', SETITEM = b's', SETITEMS = b'u',
    EMPTY_TUPLE = b')', TUPLE = b't', TUPLE1 = 0x85, TUPLE2 = 0x86, TUPLE3 = 0x87,
    BINGET = b'h', LONG_BINGET = b'j', BINPUT = b'q', LONG_BINPUT = b'r', MEMOIZE = 0x94,
    GLOBAL = b'c', STACK_GLOBAL = 0x93, REDUCE = b'R', NEWOBJ = 0x81, BUILD = b'b',
}

/// The state between two instructions.
pub(super) struct Machine<'a> {
    bytes: &'a [u8],
    /// The offset of the next byte.
    at: usize,
    stack: Vec<Value>,
    /// The height of the stack at each open mark; nothing below the last one is touched.
    marks: Vec<usize>,
    memo: HashMap<u32, Value>,
    heap: Heap<'a>,
    /// The bytes that may still be decoded from strings.
    decodable: usize,
    /// The bytes that all of this may take.
    limit: u64,
}

impl<'a> Machine<'a> {
    pub(super) fn new(bytes: &'a [u8], limit: u64) -> Self {
        Machine {
            bytes,
            at: 0,
            stack: Vec::new(),
            marks: Vec::new(),
            memo: HashMap::new(),
            heap: Heap::default(),
            decodable: bytes.len(),
            limit,
        }
    }

    /// Executes all instructions. Each takes at least one byte, so this ends.
    pub(super) fn run(mut self) -> Result<Pickle<'a>, Problem> {
        loop {
            let at = self.at;
            match self.step().and_then(|root| self.check_memory().map(|()| root)) {
                Ok(None) => {}
                Ok(Some(root)) => return Ok(Pickle { heap: self.heap, root }),
                Err(problem) => return Err(problem.at_byte(at)),
            }
        }
    }

    fn check_memory(&self) -> Result<(), Problem> {
        let values = self.stack.capacity() * size_of::<Value>();
        let marks = self.marks.capacity() * size_of::<usize>();
        let memo = self.memo.capacity() * size_of::<(u32, Value)>();
        check_limit((values + marks + memo + self.heap.memory()) as u64, self.limit)
    }

    /// Executes one instruction; STOP returns the value of the pickle.
    fn step(&mut self) -> Result<Option<Value>, Problem> {
        let opcode = self.byte()?;
        let value = match opcode {
            STOP => return self.pop().map(Some),
            NONE => Value::None,
            NEWTRUE => Value::Boolean(true),
            NEWFALSE => Value::Boolean(false),
            BININT1 => Value::Integer(self.byte()?.into()),
            BININT2 => Value::Integer(u16::from_le_bytes(self.fixed()?).into()),
            BININT => Value::Integer(i32::from_le_bytes(self.fixed()?).into()),
            LONG1 => Value::Integer(long(self.counted(1)?)?),
            BINFLOAT => Value::Float(f64::from_be_bytes(self.fixed()?)),
            SHORT_BINSTRING | SHORT_BINBYTES => self.byte_string(1)?,
            BINSTRING | BINBYTES => self.byte_string(4)?,
            BYTEARRAY8 => self.byte_string(8)?,
            SHORT_BINUNICODE => self.text(1)?,
            BINUNICODE => self.text(4)?,
            EMPTY_LIST => self.heap.add(Object::List(Vec::new()), 0),
            EMPTY_DICT => self.heap.add(Object::Dict(Vec::new()), 0),
            EMPTY_TUPLE => self.tuple(self.stack.len()),
            TUPLE1 => self.tuple(self.height_of(1)?),
            TUPLE2 => self.tuple(self.height_of(2)?),
            TUPLE3 => self.tuple(self.height_of(3)?),
            TUPLE => {
                let start = self.take_mark()?;
                self.tuple(start)
            }
            BINGET => {
                let key = self.byte()?.into();
                self.recall(key)?
            }
            LONG_BINGET => {
                let key = u32::from_le_bytes(self.fixed()?);
                self.recall(key)?
            }
            GLOBAL => {
                let (module, name) = (self.line()?, self.line()?);
                Value::Global(Global::find(module, name)?)
            }
            STACK_GLOBAL => {
                let (name, module) = (self.pop()?, self.pop()?);
                match (self.heap.text(module), self.heap.text(name)) {
                    (Some(module), Some(name)) => Value::Global(Global::find(module, name)?),
                    _ => return Err(Problem::damaged("a global without a name")),
                }
            }
            REDUCE | NEWOBJ => {
                let (arguments, function) = (self.pop()?, self.pop()?);
                call(&mut self.heap, function, arguments, &mut self.decodable)?
            }
            _ => return self.change(opcode).map(|()| None),
        };
        self.stack.push(value);
        Ok(None)
    }

    /// Executes an instruction that pushes no value.
    fn change(&mut self, opcode: u8) -> Result<(), Problem> {
        match opcode {
            MARK => self.marks.push(self.stack.len()),
            APPEND => self.add_items(opcode, self.height_of(1)?)?,
            SETITEM => self.add_items(opcode, self.height_of(2)?)?,
            APPENDS | SETITEMS => {
                let start = self.take_mark()?;
                self.add_items(opcode, start)?;
            }
            BINPUT => {
                let key = self.byte()?.into();
                self.memo.insert(key, self.top()?);
            }
            LONG_BINPUT => {
                let key = u32::from_le_bytes(self.fixed()?);
                self.memo.insert(key, self.top()?);
            }
            MEMOIZE => {
                self.memo.insert(self.memo.len() as u32, self.top()?);
            }
            BUILD => {
                let state = self.pop()?;
                let target = self.top()?;
                build(&mut self.heap, target, state)?;
            }
            PROTO => {
                let version = self.byte()?;
                if version > MAX_PROTOCOL {
                    return Err(Problem::refused(format!("the pickle has protocol {version}")));
                }
            }
            // The length of a frame only helps to read ahead.
            FRAME => drop(self.fixed::<8>()?),
            _ => {
                return Err(Problem::refused(format!(
                    "the instruction 0x{opcode:02x} is none that builds numbers, lists or arrays"
                )));
            }
        }
        Ok(())
    }

    fn byte_string(&mut self, length_bytes: usize) -> Result<Value, Problem> {
        let bytes = self.counted(length_bytes)?;
        Ok(self.heap.add(Object::Bytes(Cow::Borrowed(bytes)), 0))
    }

    fn text(&mut self, length_bytes: usize) -> Result<Value, Problem> {
        let text = std::str::from_utf8(self.counted(length_bytes)?);
        let text = text.map_err(|_| Problem::damaged("a string is not UTF-8"))?;
        Ok(self.heap.add(Object::Text(text), 0))
    }

    /// Makes a tuple of the values from `start` on.
    fn tuple(&mut self, start: usize) -> Value {
        let items: Vec<Value> = self.stack.drain(start..).collect();
        let content = items.len() * size_of::<Value>();
        self.heap.add(Object::Tuple(items), content)
    }

    /// Moves the values from `start` on into the list or dict below them.
    fn add_items(&mut self, opcode: u8, start: usize) -> Result<(), Problem> {
        let below = start.checked_sub(1).filter(|&below| below >= self.floor());
        let missing = || Problem::damaged("items without a list or dict to hold them");
        let target = self.stack[below.ok_or_else(missing)?];
        let content = (self.stack.len() - start) * size_of::<Value>();
        let Value::Object(id) = target else { return Err(self.cannot_grow(target)) };
        match (self.heap.get_mut(id), opcode) {
            (Object::List(items), APPEND | APPENDS) => {
                items.extend_from_slice(&self.stack[start..]);
            }
            (Object::Dict(items), SETITEM | SETITEMS) => {
                items.extend(pairs(&self.stack[start..])?);
            }
            _ => return Err(self.cannot_grow(target)),
        }
        // A vector that grows may have room for twice its items.
        self.heap.count(2 * content);
        self.stack.truncate(start);
        Ok(())
    }

    fn cannot_grow(&self, target: Value) -> Problem {
        Problem::refused(format!("the pickle puts items into {}", self.heap.describe(target)))
    }

    fn recall(&self, key: u32) -> Result<Value, Problem> {
        let missing = || Problem::damaged(format!("value {key} is used but was never kept"));
        self.memo.get(&key).copied().ok_or_else(missing)
    }

    /// The height of the stack below which nothing may be touched.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    /// The height of the stack below its topmost `count` values.
    fn height_of(&self, count: usize) -> Result<usize, Problem> {
        let start = self.stack.len().checked_sub(count).filter(|&start| start >= self.floor());
        start.ok_or_else(|| Problem::damaged("an instruction lacks the values that it needs"))
    }

    fn top(&self) -> Result<Value, Problem> {
        self.height_of(1).map(|start| self.stack[start])
    }

    fn pop(&mut self) -> Result<Value, Problem> {
        let start = self.height_of(1)?;
        let value = self.stack[start];
        self.stack.truncate(start);
        Ok(value)
    }

    /// Closes the last mark and returns the height of the stack there.
    fn take_mark(&mut self) -> Result<usize, Problem> {
        self.marks.pop().ok_or_else(|| Problem::damaged("an instruction lacks its mark"))
    }

    /// The next `count` bytes.
    fn take(&mut self, count: u64) -> Result<&'a [u8], Problem> {
        let rest = &self.bytes[self.at..];
        if count > rest.len() as u64 {
            let left = rest.len();
            return Err(Problem::damaged(format!("{count} bytes should follow, {left} do")));
        }
        self.at += count as usize;
        Ok(&rest[..count as usize])
    }

    /// The next bytes as an array, for numbers of a fixed size.
    fn fixed<const SIZE: usize>(&mut self) -> Result<[u8; SIZE], Problem> {
        let mut fixed = [0; SIZE];
        fixed.copy_from_slice(self.take(SIZE as u64)?);
        Ok(fixed)
    }

    fn byte(&mut self) -> Result<u8, Problem> {
        self.fixed::<1>().map(|[byte]| byte)
    }

    /// Bytes after their length, a little-endian number of `length_bytes` bytes (at most 8).
    fn counted(&mut self, length_bytes: usize) -> Result<&'a [u8], Problem> {
        let mut length = [0; 8];
        length[..length_bytes].copy_from_slice(self.take(length_bytes as u64)?);
        self.take(u64::from_le_bytes(length))
    }

    /// The text up to the next line feed, which is taken too.
    fn line(&mut self) -> Result<&'a str, Problem> {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|&byte| byte == b'\n');
        let end = end.ok_or_else(|| Problem::damaged("the file ends within a line"))?;
        self.at += end + 1;
        std::str::from_utf8(&rest[..end]).map_err(|_| Problem::damaged("a line is not UTF-8"))
    }
}

/// Values two by two: key, value, key, value.
fn pairs(values: &[Value]) -> Result<impl Iterator<Item = (Value, Value)> + '_, Problem> {
    let (pairs, []) = values.as_chunks::<2>() else {
        return Err(Problem::damaged("a dict has a key without a value"));
    };
    Ok(pairs.iter().map(|&[key, value]| (key, value)))
}

/// A little-endian integer in two's complement.
fn long(bytes: &[u8]) -> Result<i64, Problem> {
    let Some(&highest) = bytes.last() else { return Ok(0) };
    if bytes.len() > 8 {
        return Err(Problem::refused(format!("an integer of {} bytes", bytes.len())));
    }
    let mut wide = if highest & 0x80 == 0 { [0; 8] } else { [0xff; 8] };
    wide[..bytes.len()].copy_from_slice(bytes);
    Ok(i64::from_le_bytes(wide))
}
