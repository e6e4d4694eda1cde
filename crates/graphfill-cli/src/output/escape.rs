//! Text that is safe to print: control characters of ids, names and file names are escaped, and long
//! values are shortened.

use std::fmt::Write;

/// Values in messages are shortened to so many characters.
const MAX_VALUE: usize = 80;
/// Lines of messages are shortened to so many characters.
const MAX_LINE: usize = 2000;

/// The text on one line: every control character becomes an escape such as `\n` or `\x1b`.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    text.chars().for_each(|letter| push_escaped(&mut safe, letter));
    safe
}

/// The same, except that its line breaks stay.
pub(crate) fn escaped_lines(text: &str) -> String {
    text.split('\n').map(escaped).collect::<Vec<_>>().join("\n")
}

/// A message: its own line breaks stay; a value in quotes is on one line and shortened.
pub(crate) fn message(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, value, after)) = first_value(rest) {
        safe.push_str(&escaped_lines(before));
        let inside = &value[1..value.len() - 1];
        let _ = write!(safe, "'{}'", escaped(&short_value(inside)));
        rest = after;
    }
    safe.push_str(&escaped_lines(rest));
    safe.split('\n').map(|line| shortened(line, MAX_LINE)).collect::<Vec<_>>().join("\n")
}

/// The text itself, or its beginning and `…` where it has more than so many characters.
pub(crate) fn shortened(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        None => text.to_owned(),
        Some(_) => text.chars().take(characters - 1).chain(['…']).collect(),
    }
}

/// A value as it may stand inside a sentence.
pub(crate) fn short_value(text: &str) -> String {
    shortened(text, MAX_VALUE)
}

/// The text before a value, the value in its quotes, and the text behind it. An apostrophe inside or
/// behind a word opens nothing.
fn first_value(text: &str) -> Option<(&str, &str, &str)> {
    let follows_word =
        |at: usize| text[..at].chars().next_back().is_some_and(char::is_alphanumeric);
    let precedes_word =
        |at: usize| text[at + 1..].chars().next().is_some_and(char::is_alphanumeric);
    let mut quotes = text.match_indices('\'').map(|(at, _)| at);
    let open = quotes.find(|&at| !follows_word(at) && !text[at + 1..].starts_with(' '))?;
    let close = quotes.find(|&at| !precedes_word(at))?;
    Some((&text[..open], &text[open..=close], &text[close + 1..]))
}

fn push_escaped(safe: &mut String, letter: char) {
    let done = match letter {
        '\n' => safe.write_str("\\n"),
        '\r' => safe.write_str("\\r"),
        '\t' => safe.write_str("\\t"),
        _ if letter.is_ascii_control() => write!(safe, "\\x{:02x}", u32::from(letter)),
        _ if letter.is_control() || is_directional(letter) => {
            write!(safe, "\\u{{{:x}}}", u32::from(letter))
        }
        _ => safe.write_char(letter),
    };
    debug_assert!(done.is_ok(), "writing to a string never fails");
}

/// Marks that reorder the text around them.
fn is_directional(letter: char) -> bool {
    matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_and_do_nothing() {
        assert_eq!(escaped("a\u{1b}[31mb\n\r\tc\u{7f}"), "a\\x1b[31mb\\n\\r\\tc\\x7f");
        assert_eq!(escaped("\u{9b}31m \u{202e}txt"), "\\u{9b}31m \\u{202e}txt");
        assert_eq!(escaped("Zürich, 東京 – 5 °C"), "Zürich, 東京 – 5 °C");
        assert_eq!(escaped_lines("a\u{7}\nb"), "a\\x07\nb");
    }

    #[test]
    fn values_are_shortened_and_sentences_are_not() {
        let id = "x".repeat(1_000_000);
        let text = message(&format!("nodes.csv, line 3: the id '{id}' is there twice\n  do this"));
        assert!(text.chars().count() < 150, "{}", text.len());
        assert!(text.ends_with("xxx…' is there twice\n  do this"), "{text}");
        let sentence = "it doesn't matter whether the neighbours' rows, which are many, are long or not: they stay as they are, don't they";
        assert_eq!(message(sentence), sentence);
    }

    #[test]
    fn a_value_stays_on_its_line() {
        assert_eq!(
            message("the id 'a\nerror: b' is new\n  so"),
            "the id 'a\\nerror: b' is new\n  so"
        );
        assert_eq!(
            message("no method 'x' (did you mean 'y'?)"),
            "no method 'x' (did you mean 'y'?)"
        );
        assert_eq!(message("''"), "''");
        assert_eq!(message("it's '"), "it's '");
    }

    #[test]
    fn lines_have_an_end() {
        let text = message(&format!("a{}\nb", "é".repeat(5000)));
        assert_eq!(text.lines().next().map(|line| line.chars().count()), Some(MAX_LINE));
        assert!(text.ends_with("…\nb"));
    }
}
