//! The instructions that carry their value with them: numbers, text and bytes.

use std::borrow::Cow;

use super::cursor::Cursor;
use super::escapes::{quoted_bytes, unicode_line};
use super::heap::{Object, Value};
use super::opcodes as op;
use super::problem::Problem;

/// The number (or truth, or nothing) behind `opcode`, if it is such an instruction.
pub(super) fn number(opcode: u8, input: &mut Cursor<'_>) -> Result<Option<Value>, Problem> {
    Ok(Some(match opcode {
        op::NONE => Value::None,
        op::TRUE => Value::Boolean(true),
        op::FALSE => Value::Boolean(false),
        op::INT_1 => Value::Integer(input.byte()?.into()),
        op::INT_2 => Value::Integer(u16::from_le_bytes(input.fixed()?).into()),
        op::INT_4 => Value::Integer(i32::from_le_bytes(input.fixed()?).into()),
        op::LONG_COUNTED_1 => Value::Integer(long(input.counted::<1>()?)?),
        op::LONG_COUNTED_4 => Value::Integer(long(input.counted::<4>()?)?),
        op::FLOAT_8 => Value::Float(f64::from_be_bytes(input.fixed()?)),
        op::INT_LINE => match input.text_line()? {
            "00" => Value::Boolean(false),
            "01" => Value::Boolean(true),
            digits => Value::Integer(parsed(digits)?),
        },
        op::LONG_LINE => {
            let digits = input.text_line()?;
            Value::Integer(parsed(digits.strip_suffix('L').unwrap_or(digits))?)
        }
        op::FLOAT_LINE => Value::Float(parsed(input.text_line()?)?),
        _ => return Ok(None),
    }))
}

/// The text or bytes behind `opcode`, if it is such an instruction.
pub(super) fn text<'a>(opcode: u8, input: &mut Cursor<'a>) -> Result<Option<Object<'a>>, Problem> {
    let bytes = |bytes| Ok(Some(Object::Bytes(Cow::Borrowed(bytes))));
    match opcode {
        op::STRING_1 | op::BYTES_1 => bytes(input.counted::<1>()?),
        op::STRING_4 | op::BYTES_4 => bytes(input.counted::<4>()?),
        op::BYTES_8 | op::BYTE_ARRAY_8 => bytes(input.counted::<8>()?),
        op::STRING_LINE => {
            let unescaped = quoted_bytes(input.line()?)?;
            Ok(Some(Object::Bytes(Cow::Owned(unescaped))))
        }
        op::UNICODE_1 => utf8(input.counted::<1>()?),
        op::UNICODE_4 => utf8(input.counted::<4>()?),
        op::UNICODE_8 => utf8(input.counted::<8>()?),
        op::UNICODE_LINE => Ok(Some(Object::Text(Cow::Owned(unicode_line(input.line()?)?)))),
        _ => Ok(None),
    }
}

fn utf8(bytes: &[u8]) -> Result<Option<Object<'_>>, Problem> {
    let text = std::str::from_utf8(bytes).map_err(|_| Problem::damaged("text is not UTF-8"))?;
    Ok(Some(Object::Text(Cow::Borrowed(text))))
}

/// A whole number in two's complement, the lowest byte first.
fn long(bytes: &[u8]) -> Result<i64, Problem> {
    let Some(&highest) = bytes.last() else { return Ok(0) };
    if bytes.len() > 8 {
        return Err(Problem::refused(format!("a whole number of {} bytes", bytes.len())));
    }
    let mut wide = if highest & 0x80 == 0 { [0; 8] } else { [0xff; 8] };
    wide[..bytes.len()].copy_from_slice(bytes);
    Ok(i64::from_le_bytes(wide))
}

fn parsed<T: std::str::FromStr>(text: &str) -> Result<T, Problem> {
    text.trim().parse().map_err(|_| {
        let start: String = text.chars().take(40).collect();
        Problem::damaged(format!("'{}' is no number of at most 64 bits", start.escape_debug()))
    })
}
