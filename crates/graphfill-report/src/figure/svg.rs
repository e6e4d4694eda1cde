//! SVG as text: one element a line, numbers with two decimals at the most, text escaped.

use std::fmt;

/// The colour of text.
pub(crate) const INK: &str = "#222";

/// A document that grows.
#[derive(Debug, Default)]
pub(crate) struct Svg(String);

impl Svg {
    /// Adds a line as it is.
    pub(crate) fn add(&mut self, line: fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = fmt::Write::write_fmt(&mut self.0, line);
        self.0.push('\n');
    }

    /// Adds lines of text below each other; the first line's baseline is at `y`.
    pub(crate) fn text(&mut self, lines: &[String], x: f64, y: f64, look: Text) {
        let anchor = match look.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = match look.weight {
            Weight::Normal => "",
            Weight::Bold => " font-weight=\"600\"",
        };
        for (number, line) in lines.iter().enumerate() {
            let y = Rounded(y + number as f64 * look.size * super::text::LEADING);
            let (x, size, line) = (Rounded(x), Rounded(look.size), Escaped(line));
            self.add(format_args!(
                r#"<text x="{x}" y="{y}" font-size="{size}"{anchor}{weight}>{line}</text>"#
            ));
        }
    }

    /// The text of the document.
    pub(crate) fn finish(self) -> String {
        self.0
    }
}

/// How a text looks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text {
    pub(crate) size: f64,
    pub(crate) anchor: Anchor,
    pub(crate) weight: Weight,
}

impl Text {
    pub(crate) fn new(size: f64, anchor: Anchor) -> Text {
        Text { size, anchor, weight: Weight::Normal }
    }
}

/// Which part of a text its place names.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// How strong letters are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Weight {
    Normal,
    Bold,
}

/// A rectangle, in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rectangle {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// A coordinate: two decimals at the most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rounded(pub(crate) f64);

impl fmt::Display for Rounded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug_assert!(self.0.is_finite(), "a coordinate is finite");
        let hundredths = (self.0 * 100.0).round() as i64;
        let (whole, rest) = ((hundredths / 100).abs(), (hundredths % 100).abs());
        let sign = if hundredths < 0 { "-" } else { "" };
        match rest {
            0 => write!(formatter, "{sign}{whole}"),
            rest if rest % 10 == 0 => write!(formatter, "{sign}{whole}.{}", rest / 10),
            rest => write!(formatter, "{sign}{whole}.{rest:02}"),
        }
    }
}

/// Text between tags or quotes. Characters that XML cannot hold become U+FFFD.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|letter| match letter {
            '&' => formatter.write_str("&amp;"),
            '<' => formatter.write_str("&lt;"),
            '>' => formatter.write_str("&gt;"),
            '"' => formatter.write_str("&quot;"),
            '\t' | '\n' | '\r' => formatter.write_str(" "),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {
                formatter.write_str("\u{fffd}")
            }
            letter => fmt::Write::write_char(formatter, letter),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (number, text) in [
            (1.0, "1"),
            (-0.001, "0"),
            (-0.25, "-0.25"),
            (1.5, "1.5"),
            (1.05, "1.05"),
            (2.999, "3"),
            (-12.345, "-12.35"),
        ] {
            assert_eq!(Rounded(number).to_string(), text);
        }
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(
            Escaped("a<b & \"c\">\n\0").to_string(),
            "a&lt;b &amp; &quot;c&quot;&gt; \u{fffd}"
        );
    }
}
