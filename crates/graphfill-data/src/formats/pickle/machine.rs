//! The stack machine: one instruction after the other, until the pickle says that it is done.

use hashbrown::HashMap;

use super::Pickle;
use super::calls::{Calls, build};
use super::cursor::Cursor;
use super::globals::Global;
use super::heap::{Heap, Object, Value};
use super::literals;
use super::opcodes as op;
use super::problem::Problem;

/// The newest protocol whose instructions are known.
const NEWEST_PROTOCOL: u8 = 5;

/// The state between two instructions.
pub(super) struct Machine<'a> {
    input: Cursor<'a>,
    stack: Vec<Value>,
    /// How high the stack stood at each open mark; nothing below the last one is touched.
    marks: Vec<usize>,
    memo: HashMap<u32, Value>,
    heap: Heap<'a>,
    calls: Calls,
}

impl<'a> Machine<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Machine {
            input: Cursor::new(bytes),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: HashMap::new(),
            heap: Heap::default(),
            calls: Calls::new(bytes.len()),
        }
    }

    /// Runs to the end. Every instruction takes at least its own byte, so there is one.
    pub(super) fn run(mut self) -> Result<Pickle<'a>, Problem> {
        loop {
            let at = self.input.at();
            match self.step() {
                Ok(None) => {}
                Ok(Some(root)) => return Ok(Pickle { heap: self.heap, root }),
                Err(problem) => return Err(problem.at_byte(at)),
            }
        }
    }

    /// One instruction; the last one gives the value of the pickle.
    fn step(&mut self) -> Result<Option<Value>, Problem> {
        let opcode = self.input.byte()?;
        if let Some(number) = literals::number(opcode, &mut self.input)? {
            self.stack.push(number);
        } else if let Some(text) = literals::text(opcode, &mut self.input)? {
            self.push_object(text);
        } else if let Some(container) = self.container(opcode)? {
            self.push_object(container);
        } else {
            match opcode {
                op::STOP => return self.pop().map(Some),
                op::APPEND | op::APPENDS => self.append(opcode)?,
                op::SET_ITEM | op::SET_ITEMS => self.set_items(opcode)?,
                op::GET_LINE | op::GET_1 | op::GET_4 => self.recall(opcode)?,
                op::PUT_LINE | op::PUT_1 | op::PUT_4 | op::MEMOIZE => self.memorise(opcode)?,
                op::GLOBAL | op::STACK_GLOBAL => self.find_global(opcode)?,
                op::REDUCE | op::NEW_OBJECT => {
                    let arguments = self.pop()?;
                    let function = self.pop()?;
                    let value = self.calls.call(&mut self.heap, function, arguments)?;
                    self.stack.push(value);
                }
                op::BUILD => {
                    let state = self.pop()?;
                    let target = self.top()?;
                    build(&mut self.heap, target, state)?;
                }
                _ => self.control(opcode)?,
            }
        }
        Ok(None)
    }

    /// Marks, copies, and what the pickle says about itself.
    fn control(&mut self, opcode: u8) -> Result<(), Problem> {
        match opcode {
            op::MARK => self.marks.push(self.stack.len()),
            op::POP if self.marks.last() == Some(&self.stack.len()) => {
                self.marks.pop();
            }
            op::POP => {
                self.pop()?;
            }
            op::POP_MARK => {
                let mark = self.take_mark()?;
                self.stack.truncate(mark);
            }
            op::DUPLICATE => self.stack.push(self.top()?),
            op::PROTOCOL => {
                let version = self.input.byte()?;
                if version > NEWEST_PROTOCOL {
                    return Err(Problem::refused(format!("the pickle has protocol {version}")));
                }
            }
            op::FRAME => {
                let size = u64::from_le_bytes(self.input.fixed()?);
                let left = self.input.left();
                if size > left as u64 {
                    let found = format!("{size} bytes should follow, {left} do");
                    return Err(Problem::damaged(found));
                }
            }
            _ => {
                return Err(Problem::refused(format!(
                    "the instruction 0x{opcode:02x} is none that builds numbers, lists or arrays"
                )));
            }
        }
        Ok(())
    }

    /// The tuple, list or dict that `opcode` makes, if it makes one.
    fn container(&mut self, opcode: u8) -> Result<Option<Object<'a>>, Problem> {
        let start = match opcode {
            op::EMPTY_TUPLE | op::EMPTY_LIST | op::EMPTY_DICT => self.stack.len(),
            op::TUPLE_1 => self.height_of(1)?,
            op::TUPLE_2 => self.height_of(2)?,
            op::TUPLE_3 => self.height_of(3)?,
            op::TUPLE | op::LIST | op::DICT => self.take_mark()?,
            _ => return Ok(None),
        };
        let object = match opcode {
            op::EMPTY_LIST | op::LIST => Object::List(self.stack.drain(start..).collect()),
            op::EMPTY_DICT | op::DICT => Object::Dict(pairs(&self.stack[start..])?.collect()),
            _ => Object::Tuple(self.stack.drain(start..).collect()),
        };
        self.stack.truncate(start);
        Ok(Some(object))
    }

    fn append(&mut self, opcode: u8) -> Result<(), Problem> {
        let start = if opcode == op::APPEND { self.height_of(1)? } else { self.take_mark()? };
        let target = self.below(start)?;
        let Value::Object(id) = target else { return Err(self.cannot_grow(target)) };
        let Object::List(items) = self.heap.get_mut(id) else {
            return Err(self.cannot_grow(target));
        };
        items.extend(self.stack.drain(start..));
        Ok(())
    }

    fn set_items(&mut self, opcode: u8) -> Result<(), Problem> {
        let start = if opcode == op::SET_ITEM { self.height_of(2)? } else { self.take_mark()? };
        let target = self.below(start)?;
        let Value::Object(id) = target else { return Err(self.cannot_grow(target)) };
        let Object::Dict(items) = self.heap.get_mut(id) else {
            return Err(self.cannot_grow(target));
        };
        items.extend(pairs(&self.stack[start..])?);
        self.stack.truncate(start);
        Ok(())
    }

    fn cannot_grow(&self, target: Value) -> Problem {
        Problem::refused(format!("the pickle puts items into {}", self.heap.word(target)))
    }

    fn recall(&mut self, opcode: u8) -> Result<(), Problem> {
        let key = match opcode {
            op::GET_LINE => self.memo_line()?,
            op::GET_1 => self.input.byte()?.into(),
            _ => u32::from_le_bytes(self.input.fixed()?),
        };
        let kept = self.memo.get(&key).copied();
        let missing = || Problem::damaged(format!("value {key} is named but was never kept"));
        self.stack.push(kept.ok_or_else(missing)?);
        Ok(())
    }

    fn memorise(&mut self, opcode: u8) -> Result<(), Problem> {
        let key = match opcode {
            op::PUT_LINE => self.memo_line()?,
            op::PUT_1 => self.input.byte()?.into(),
            op::PUT_4 => u32::from_le_bytes(self.input.fixed()?),
            _ => self.memo.len() as u32,
        };
        let top = self.top()?;
        self.memo.insert(key, top);
        Ok(())
    }

    fn memo_line(&mut self) -> Result<u32, Problem> {
        let line = self.input.text_line()?;
        line.trim().parse().map_err(|_| Problem::damaged("a value is kept under no number"))
    }

    fn find_global(&mut self, opcode: u8) -> Result<(), Problem> {
        let global = if opcode == op::GLOBAL {
            let module = self.input.text_line()?;
            Global::named(module, self.input.text_line()?)?
        } else {
            let (name, module) = (self.pop()?, self.pop()?);
            match (self.heap.name(module), self.heap.name(name)) {
                (Some(module), Some(name)) => Global::named(module, name)?,
                _ => return Err(Problem::damaged("the pickle asks for something without a name")),
            }
        };
        self.stack.push(Value::Global(global));
        Ok(())
    }

    fn push_object(&mut self, object: Object<'a>) {
        let value = self.heap.add(object);
        self.stack.push(value);
    }

    /// The height below which nothing may be touched now.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    /// Where the topmost `count` values begin.
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

    /// Closes the last mark and says how high the stack stood there.
    fn take_mark(&mut self) -> Result<usize, Problem> {
        self.marks.pop().ok_or_else(|| Problem::damaged("an instruction lacks its mark"))
    }

    /// The value under the height `start`.
    fn below(&self, start: usize) -> Result<Value, Problem> {
        let under = start.checked_sub(1).filter(|&under| under >= self.floor());
        let missing = || Problem::damaged("items stand without a list or dict to hold them");
        under.map(|under| self.stack[under]).ok_or_else(missing)
    }
}

/// Values two by two: key, value, key, value.
fn pairs(values: &[Value]) -> Result<impl Iterator<Item = (Value, Value)> + '_, Problem> {
    let (pairs, []) = values.as_chunks::<2>() else {
        return Err(Problem::damaged("a dict has a key without a value"));
    };
    Ok(pairs.iter().map(|&[key, value]| (key, value)))
}
