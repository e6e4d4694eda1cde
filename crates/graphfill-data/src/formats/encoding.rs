//! Character encodings of text files: UTF-8, UTF-16 and Latin-1 (as Windows-1252).

use std::io::{self, Write};
use std::str::FromStr;

/// How the characters of a text file are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Encoding {
    /// UTF-8.
    #[default]
    Utf8,
    /// UTF-16, the low byte first.
    Utf16Le,
    /// UTF-16, the high byte first.
    Utf16Be,
    /// Windows-1252, which contains Latin-1 (ISO 8859-1).
    Latin1,
}

impl Encoding {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Encoding::Utf8 => "utf-8",
            Encoding::Utf16Le => "utf-16le",
            Encoding::Utf16Be => "utf-16be",
            Encoding::Latin1 => "latin-1",
        }
    }

    /// The byte order mark of the encoding; Latin-1 has none.
    pub(crate) fn mark(self) -> &'static [u8] {
        match self {
            Encoding::Utf8 => b"\xef\xbb\xbf",
            Encoding::Utf16Le => b"\xff\xfe",
            Encoding::Utf16Be => b"\xfe\xff",
            Encoding::Latin1 => b"",
        }
    }

    /// The encoding whose byte order mark stands at the start.
    pub(crate) fn of_mark(start: &[u8]) -> Option<Encoding> {
        let marked = [Encoding::Utf8, Encoding::Utf16Le, Encoding::Utf16Be];
        marked.into_iter().find(|encoding| start.starts_with(encoding.mark()))
    }

    /// The encoding of text without a byte order mark, and whether that is a guess: UTF-16 where
    /// every other byte is mostly zero, Latin-1 where the bytes are not UTF-8.
    pub(crate) fn guess(start: &[u8]) -> (Encoding, bool) {
        let zeros = |first: usize| start.iter().skip(first).step_by(2).filter(|&&b| b == 0).count();
        let (high, low) = (zeros(0), zeros(1));
        let many = start.len() / 4;
        if start.len() >= 4 && low > many && high == 0 {
            return (Encoding::Utf16Le, true);
        }
        if start.len() >= 4 && high > many && low == 0 {
            return (Encoding::Utf16Be, true);
        }
        match std::str::from_utf8(start) {
            Ok(_) => (Encoding::Utf8, false),
            // The last character may be cut in two.
            Err(error) if error.error_len().is_none() => (Encoding::Utf8, false),
            Err(_) if start.contains(&0) => (Encoding::Utf8, false),
            Err(_) => (Encoding::Latin1, true),
        }
    }

    /// The decoder to UTF-8; none for UTF-8 itself.
    pub(crate) fn decoder(self) -> Option<&'static encoding_rs::Encoding> {
        match self {
            Encoding::Utf8 => None,
            Encoding::Utf16Le => Some(encoding_rs::UTF_16LE),
            Encoding::Utf16Be => Some(encoding_rs::UTF_16BE),
            Encoding::Latin1 => Some(encoding_rs::WINDOWS_1252),
        }
    }

    /// Writes UTF-8 text in this encoding.
    pub(crate) fn write(self, text: &str, sink: &mut dyn Write) -> io::Result<()> {
        match self {
            Encoding::Utf8 => sink.write_all(text.as_bytes()),
            Encoding::Utf16Le => {
                text.encode_utf16().try_for_each(|u| sink.write_all(&u.to_le_bytes()))
            }
            Encoding::Utf16Be => {
                text.encode_utf16().try_for_each(|u| sink.write_all(&u.to_be_bytes()))
            }
            Encoding::Latin1 => {
                let (bytes, _, unmappable) = encoding_rs::WINDOWS_1252.encode(text);
                if unmappable {
                    return Err(io::Error::other("a character does not exist in Latin-1"));
                }
                sink.write_all(&bytes)
            }
        }
    }
}

impl FromStr for Encoding {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "utf-8" | "utf8" => Ok(Encoding::Utf8),
            "utf-16" | "utf16" | "utf-16le" => Ok(Encoding::Utf16Le),
            "utf-16be" => Ok(Encoding::Utf16Be),
            "latin-1" | "latin1" | "iso-8859-1" | "windows-1252" | "cp1252" => Ok(Encoding::Latin1),
            other => Err(format!("'{other}' is none of utf-8, utf-16, utf-16be, latin-1")),
        }
    }
}

/// A writer of UTF-8 text that stores it in another encoding.
pub(crate) struct EncodingWriter<W: Write> {
    sink: W,
    encoding: Encoding,
    /// The start of a character whose end has not come yet.
    partial: Vec<u8>,
}

impl<W: Write> EncodingWriter<W> {
    pub(crate) fn new(sink: W, encoding: Encoding) -> Self {
        EncodingWriter { sink, encoding, partial: Vec::new() }
    }
}

impl<W: Write> Write for EncodingWriter<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        if self.encoding == Encoding::Utf8 {
            return self.sink.write(buffer);
        }
        self.partial.extend_from_slice(buffer);
        let whole = match std::str::from_utf8(&self.partial) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let rest = self.partial.split_off(whole);
        let text = std::mem::replace(&mut self.partial, rest);
        let text = String::from_utf8(text).map_err(io::Error::other)?;
        self.encoding.write(&text, &mut self.sink)?;
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_told_by_their_bytes() {
        assert_eq!(Encoding::of_mark(b"\xff\xfea\0"), Some(Encoding::Utf16Le));
        assert_eq!(Encoding::guess(b"a\0b\0,\0"), (Encoding::Utf16Le, true));
        assert_eq!(Encoding::guess(b"\0a\0b\0,"), (Encoding::Utf16Be, true));
        assert_eq!(Encoding::guess("Zürich".as_bytes()), (Encoding::Utf8, false));
        assert_eq!(Encoding::guess(b"Z\xfcrich, Bern"), (Encoding::Latin1, true));
        // A character cut at the end of the first bytes is still UTF-8.
        assert_eq!(Encoding::guess(&"Zü".as_bytes()[..2]), (Encoding::Utf8, false));
    }

    #[test]
    fn text_is_written_in_its_own_encoding() {
        for encoding in [Encoding::Utf16Le, Encoding::Utf16Be, Encoding::Latin1] {
            let mut writer = EncodingWriter::new(Vec::new(), encoding);
            // Byte by byte, so that characters are cut.
            for byte in "Zürich €".bytes() {
                writer.write_all(&[byte]).expect("written");
            }
            let decoder = encoding.decoder().expect("a decoder");
            assert_eq!(decoder.decode_without_bom_handling(&writer.sink).0, "Zürich €");
        }
        let mut writer = EncodingWriter::new(Vec::new(), Encoding::Latin1);
        assert!(writer.write_all("日".as_bytes()).is_err());
    }
}
