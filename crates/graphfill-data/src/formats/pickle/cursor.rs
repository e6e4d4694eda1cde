//! A place in the bytes of a pickle; nothing is taken that isn't there.

use super::problem::Problem;

/// Walks through the bytes.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, at: 0 }
    }

    /// How many bytes were taken.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// How many bytes are left.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The next `count` bytes.
    pub(super) fn take(&mut self, count: u64) -> Result<&'a [u8], Problem> {
        let left = self.left();
        if count > left as u64 {
            return Err(Problem::damaged(format!("{count} bytes should follow, {left} do")));
        }
        let taken = &self.bytes[self.at..self.at + count as usize];
        self.at += taken.len();
        Ok(taken)
    }

    /// The next bytes as an array, for numbers of a fixed size.
    pub(super) fn fixed<const SIZE: usize>(&mut self) -> Result<[u8; SIZE], Problem> {
        let mut fixed = [0; SIZE];
        fixed.copy_from_slice(self.take(SIZE as u64)?);
        Ok(fixed)
    }

    /// The next byte.
    pub(super) fn byte(&mut self) -> Result<u8, Problem> {
        self.fixed::<1>().map(|[byte]| byte)
    }

    /// Bytes whose number stands before them in `SIZE` bytes, the lowest first.
    pub(super) fn counted<const SIZE: usize>(&mut self) -> Result<&'a [u8], Problem> {
        let mut wide = [0; 8];
        wide[..SIZE].copy_from_slice(&self.fixed::<SIZE>()?);
        self.take(u64::from_le_bytes(wide))
    }

    /// The bytes up to the next line feed, which is taken too.
    pub(super) fn line(&mut self) -> Result<&'a [u8], Problem> {
        let rest = &self.bytes[self.at..];
        let end = rest
            .iter()
            .position(|&byte| byte == b'\n')
            .ok_or_else(|| Problem::damaged("the file ends within a line"))?;
        self.at += end + 1;
        Ok(&rest[..end])
    }

    /// A line that is text.
    pub(super) fn text_line(&mut self) -> Result<&'a str, Problem> {
        std::str::from_utf8(self.line()?).map_err(|_| Problem::damaged("a line is not UTF-8 text"))
    }
}
