//! How wide text is and where it breaks. Nobody knows the reader's fonts, so that widths are
//! those of common sans-serif letters, a little on the wide side.

/// The size of the labels along axes, in pixels.
pub(crate) const SMALL: f64 = 12.0;
/// The size of the names of axes and series.
pub(crate) const MEDIUM: f64 = 13.0;
/// The size of titles.
pub(crate) const LARGE: f64 = 14.0;

/// From one line to the next, as a multiple of the size.
pub(crate) const LEADING: f64 = 1.25;

/// The width of text of a size, in pixels.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size
}

fn advance(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | '\u{2009}' => 0.26,
        't' | 'f' | 'r' | ' ' | '(' | ')' | '[' | ']' | '/' | '-' => 0.34,
        '⁰'..='⁹' | '²' | '³' | '¹' | '⁻' => 0.4,
        'm' | 'M' | 'w' | 'W' | '@' | '%' | '±' => 0.88,
        'A'..='Z' => 0.7,
        ' '..='\u{2fff}' => 0.57,
        _ => 1.05,
    }
}

/// The text in lines of at most `most` pixels, broken between words; a word that is longer than a
/// line is broken where it must be. No lines for no text.
pub(crate) fn wrapped(text: &str, size: f64, most: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        if let Some(line) = lines.last_mut()
            && width(line, size) + width(" ", size) + width(word, size) <= most
        {
            line.push(' ');
            line.push_str(word);
            continue;
        }
        let mut line = String::new();
        for letter in word.chars() {
            if !line.is_empty() && width(&line, size) + advance(letter) * size > most {
                lines.push(std::mem::take(&mut line));
            }
            line.push(letter);
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("one two  three", 10.0, 1e9), ["one two three"]);
        assert_eq!(wrapped("one two three", 10.0, 45.0), ["one two", "three"]);
        assert!(wrapped("", 10.0, 50.0).is_empty());
    }

    #[test]
    fn long_words_break_anywhere() {
        let lines = wrapped(&"x".repeat(50), 10.0, 58.0);
        assert_eq!(lines.len(), 5);
        assert!(lines.iter().all(|line| width(line, 10.0) <= 58.0));
        assert_eq!(wrapped("ab", 10.0, 0.0), ["a", "b"]);
    }
}
