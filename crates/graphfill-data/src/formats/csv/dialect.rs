//! The dialect of a text table: separator, line ends, encoding. Told by the first lines, kept for the
//! output.

use std::str::FromStr;

use crate::formats::encoding::Encoding;
use crate::formats::opened::Text;

/// What begins a line of an edge file that is not an edge.
pub(super) const COMMENTS: [u8; 2] = *b"#%";

/// Separators that are looked for. Of two that cut all lines alike, the first: a comma may be a decimal
/// comma, and a bar or semicolon hardly ever stands in every line by chance.
const SEPARATORS: [u8; 4] = *b"\t;|,";

/// How many lines tell the separator.
const SAMPLE_LINES: usize = 50;

/// What stands between two cells of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delimiter {
    /// One ASCII character.
    Byte(u8),
    /// Any number of spaces and tabs.
    Whitespace,
}

/// What ends a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum LineEnd {
    #[default]
    Lf,
    CrLf,
}

/// How a text table is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) delimiter: Delimiter,
    pub(crate) line_end: LineEnd,
    pub(crate) encoding: Encoding,
    pub(crate) byte_order_mark: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Dialect::separated_by(b',')
    }
}

impl Dialect {
    /// Plain UTF-8 text with this separator.
    pub(crate) fn separated_by(byte: u8) -> Self {
        Dialect {
            delimiter: Delimiter::Byte(byte),
            line_end: LineEnd::Lf,
            encoding: Encoding::Utf8,
            byte_order_mark: false,
        }
    }

    /// The dialect of a text: the separator that the caller gives, else a tab where the name says so,
    /// else what the first lines show.
    pub(crate) fn of(text: &Text, given: Option<Delimiter>) -> Self {
        let name = text.path.file_name().map(|name| name.to_string_lossy().to_lowercase());
        let name = name.unwrap_or_default();
        let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
        let says_tab = name.ends_with(".tsv") || name.ends_with(".tab");
        let delimiter = given.unwrap_or_else(|| match says_tab {
            true => Delimiter::Byte(b'\t'),
            false => sniff_delimiter(&text.head),
        });
        let first_line = text.head.iter().position(|&byte| byte == b'\n');
        let windows = first_line.is_some_and(|end| end > 0 && text.head[end - 1] == b'\r');
        Dialect {
            delimiter,
            line_end: if windows { LineEnd::CrLf } else { LineEnd::Lf },
            encoding: text.encoding,
            byte_order_mark: text.byte_order_mark,
        }
    }
}

/// The cells of the first record of a text.
pub(crate) fn first_record(head: &str) -> Vec<String> {
    let delimiter = sniff_delimiter(head.as_bytes());
    let lines = complete_lines(head.as_bytes());
    let line = lines.first().map_or("", |line| std::str::from_utf8(line).unwrap_or(""));
    match delimiter {
        Delimiter::Whitespace => line.split_whitespace().map(str::to_owned).collect(),
        Delimiter::Byte(byte) => {
            let mut builder = csv::ReaderBuilder::new();
            let mut reader =
                builder.delimiter(byte).has_headers(false).from_reader(line.as_bytes());
            let mut record = csv::StringRecord::new();
            match reader.read_record(&mut record) {
                Ok(_) => record.iter().map(str::to_owned).collect(),
                Err(_) => Vec::new(),
            }
        }
    }
}

/// The separator that cuts all of the first lines into equally many cells; else the one that the first
/// line has most of; else spaces, where all lines have equally many words.
fn sniff_delimiter(head: &[u8]) -> Delimiter {
    let lines = complete_lines(head);
    let Some(first) = lines.first() else { return Delimiter::Byte(b',') };
    let of_first = SEPARATORS.map(|separator| count_outside_quotes(first, separator));
    let even = SEPARATORS.iter().zip(of_first).find(|&(&separator, count)| {
        count > 0 && lines.iter().all(|line| count_outside_quotes(line, separator) == count)
    });
    if let Some((&separator, _)) = even {
        return Delimiter::Byte(separator);
    }
    let words = |line: &[u8]| line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).count();
    let best = (0..SEPARATORS.len()).max_by_key(|&at| of_first[at]).unwrap_or(0);
    // networkx writes an edge as `1 2 {'weight': 3, 'day': 5}`: commas, but not in cells.
    let dictionaries = lines.iter().all(|line| line.ends_with(b"}")) && words(first) >= 3;
    if dictionaries || (of_first[best] == 0 && words(first) >= 2) {
        let same = dictionaries || lines.iter().all(|line| words(line) == words(first));
        if same {
            return Delimiter::Whitespace;
        }
    }
    match of_first[best] {
        0 => Delimiter::Byte(b','),
        _ => Delimiter::Byte(SEPARATORS[best]),
    }
}

/// The first lines without their ends; comments and empty lines left out. A last line that may be cut
/// is left out, too, unless it is the only one.
fn complete_lines(head: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = Vec::new();
    let mut pieces = head.split(|&byte| byte == b'\n').peekable();
    while let Some(line) = pieces.next() {
        let cut = pieces.peek().is_none() && !lines.is_empty();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let comment = line.first().is_some_and(|byte| COMMENTS.contains(byte));
        if cut || comment || line.is_empty() {
            continue;
        }
        lines.push(line);
        if lines.len() == SAMPLE_LINES {
            break;
        }
    }
    lines
}

fn count_outside_quotes(line: &[u8], separator: u8) -> usize {
    let mut quoted = false;
    let mut count = 0;
    for &byte in line {
        if byte == b'"' {
            quoted = !quoted;
        } else if byte == separator && !quoted {
            count += 1;
        }
    }
    count
}

impl FromStr for Delimiter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.as_bytes() {
            b"tab" | b"\\t" => Ok(Delimiter::Byte(b'\t')),
            b"space" | b" " => Ok(Delimiter::Whitespace),
            [byte] if byte.is_ascii_graphic() && !byte.is_ascii_alphanumeric() && *byte != b'"' => {
                Ok(Delimiter::Byte(*byte))
            }
            b"\t" => Ok(Delimiter::Byte(b'\t')),
            _ => Err("a separator is one ASCII character, tab or space".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_told_by_the_first_lines() {
        let sniff = |text: &str| sniff_delimiter(text.as_bytes());
        assert_eq!(sniff("id,a b\n1,x y z\n"), Delimiter::Byte(b','));
        assert_eq!(sniff("id;price\n1;2,50\n2;3,75\n"), Delimiter::Byte(b';'));
        assert_eq!(sniff("1,5;2,3\n1,7;2,9\n"), Delimiter::Byte(b';'));
        assert_eq!(sniff("id\tname, first\n1\tA\n"), Delimiter::Byte(b'\t'));
        assert_eq!(sniff("id,\"a;b\"\n1,2\n"), Delimiter::Byte(b','));
        assert_eq!(sniff("# made by hand, in 2020\n1 2\n2 3\n"), Delimiter::Whitespace);
        assert_eq!(sniff("1 2 {}\n2 3 {'weight': 2, 'day': 1}\n"), Delimiter::Whitespace);
        assert_eq!(sniff("% made by hand\n 1   2\n10   3\n"), Delimiter::Whitespace);
        assert_eq!(sniff("name\nJohn Smith\nAnn\n"), Delimiter::Byte(b','));
        assert_eq!(sniff(""), Delimiter::Byte(b','));
    }
}
