//! The texts of protocol 0: one line each, with escapes for what a line cannot hold.

use super::problem::Problem;

/// Python 2's bytes between quotes, `'a\x00b'`.
pub(super) fn quoted_bytes(line: &[u8]) -> Result<Vec<u8>, Problem> {
    let line = line.trim_ascii_end();
    let inside = match line {
        [first @ (b'\'' | b'"'), inside @ .., last] if first == last => inside,
        _ => return Err(Problem::damaged("a string line without its quotes")),
    };
    let mut bytes = Vec::with_capacity(inside.len());
    let mut rest = inside;
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let [escape, tail @ ..] = rest else {
            return Err(Problem::damaged("a string ends within an escape"));
        };
        rest = tail;
        bytes.push(match escape {
            b'\\' | b'\'' | b'"' => *escape,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'a' => 0x07,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'v' => 0x0b,
            b'x' => {
                let code = hexadecimal(&mut rest, 2)?;
                u8::try_from(code).map_err(|_| unknown_escape('x'))?
            }
            _ => return Err(unknown_escape(char::from(*escape))),
        });
    }
    Ok(bytes)
}

/// Text as Latin-1 bytes with `\uXXXX` and `\UXXXXXXXX`; other backslashes stand for themselves.
pub(super) fn unicode_line(line: &[u8]) -> Result<String, Problem> {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let [first, tail @ ..] = rest {
        rest = tail;
        let digits = match (first, rest.first()) {
            (b'\\', Some(b'u')) => 4,
            (b'\\', Some(b'U')) => 8,
            _ => {
                text.push(char::from(*first));
                continue;
            }
        };
        rest = &rest[1..];
        let code = hexadecimal(&mut rest, digits)?;
        text.push(char::from_u32(code).ok_or_else(|| unknown_escape('u'))?);
    }
    Ok(text)
}

/// Takes `digits` hexadecimal digits from the front.
fn hexadecimal(rest: &mut &[u8], digits: usize) -> Result<u32, Problem> {
    let taken = rest.get(..digits).filter(|taken| taken.iter().all(u8::is_ascii_hexdigit));
    let taken = taken.ok_or_else(|| unknown_escape('x'))?;
    *rest = &rest[digits..];
    let digit = |byte: &u8| char::from(*byte).to_digit(16).unwrap_or(0);
    Ok(taken.iter().fold(0, |code, byte| code << 4 | digit(byte)))
}

fn unknown_escape(escape: char) -> Problem {
    Problem::damaged(format!("a text line holds a broken escape \\{}", escape.escape_debug()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undoes_the_escapes_of_both_kinds_of_line() {
        assert_eq!(quoted_bytes(br"'a\x00\n\\b\''"), Ok(b"a\0\n\\b'".to_vec()));
        assert_eq!(unicode_line(b"\xe9\\u0000\\U0001f600\\d"), Ok("é\0😀\\d".to_owned()));
    }

    #[test]
    fn refuses_broken_escapes() {
        for line in [&b"'a"[..], b"a'", b"'\\", b"'\\'", b"'\\x1'", b"'\\q'", b"'"] {
            assert!(quoted_bytes(line).is_err(), "{line:?}");
        }
        for line in [&b"\\u12"[..], b"\\ud800", b"\\Uffffffff"] {
            assert!(unicode_line(line).is_err(), "{line:?}");
        }
    }
}
