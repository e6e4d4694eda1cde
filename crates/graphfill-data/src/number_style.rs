//! How numbers are written in a text column: decimal commas, thousands separators, `%`, currency signs,
//! units. Told from the column's cells, and used to write its estimates.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

use crate::spelling;

/// Currency signs and codes, percent and degrees that may stand before or behind a number.
const UNITS: [&str; 30] = [
    "%", "‰", "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₫", "₴", "₪", "฿", "₱", "₦", "zł", "kr",
    "Fr", "USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "US$", "°C", "°F", "°",
];

/// Characters that stand between groups of three digits, beside point and comma.
const GROUP_MARKS: [char; 6] = [' ', '\u{a0}', '\u{202f}', '\'', '’', '_'];

/// The longest unit that is not in the list of units; it must stand behind a space.
const MAX_UNIT: usize = 6;

/// The mark before the decimals of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecimalMark {
    /// 1.5
    Point,
    /// 1,5
    Comma,
}

impl FromStr for DecimalMark {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "." | "point" => Ok(DecimalMark::Point),
            "," | "comma" => Ok(DecimalMark::Comma),
            other => Err(format!("'{other}' is neither . nor ,")),
        }
    }
}

/// How the numbers of a column are written; the default is `-1234.5`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NumberStyle {
    decimal: char,
    group: Option<char>,
    prefix: String,
    suffix: String,
}

impl Default for NumberStyle {
    fn default() -> Self {
        NumberStyle { decimal: '.', group: None, prefix: String::new(), suffix: String::new() }
    }
}

/// A style, and whether the cells left its decimal mark open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DetectedStyle {
    pub(crate) style: NumberStyle,
    /// A cell such as `1,234`, where every cell could have a decimal comma or a thousands separator.
    pub(crate) open: Option<String>,
}

/// What the separators of the cells say.
#[derive(Debug, Default)]
struct Separators {
    /// The mark behind which the decimals of a cell with both marks stand.
    last_of_both: Option<char>,
    comma: Mark,
    point: Mark,
    group: Option<char>,
}

#[derive(Debug, Default)]
struct Mark {
    /// A cell has it twice: it groups digits.
    repeated: bool,
    /// A cell has other than three digits behind it, or nothing but zeros before it: decimals.
    decimals: bool,
    /// A cell with one of it and three digits behind it.
    three_digits: Option<String>,
}

impl NumberStyle {
    /// The number that a cell spells in this style.
    pub(crate) fn parse(&self, cell: &str) -> Option<f64> {
        let plain = self.group.is_none() && self.decimal == '.' && self.prefix.is_empty();
        if plain && self.suffix.is_empty() {
            return spelling::number(cell);
        }
        let (negative, body) = split_sign(cell.trim());
        let body = body.strip_prefix(self.prefix.as_str()).unwrap_or(body).trim_start();
        let (also, body) = split_sign(body);
        let body = body.strip_suffix(self.suffix.as_str()).unwrap_or(body).trim_end();
        let (whole, decimals) = match body.split_once(self.decimal) {
            Some((whole, decimals)) => (whole, Some(decimals)),
            None => (body, None),
        };
        let mut digits = String::with_capacity(body.len());
        match self.group.filter(|&mark| whole.contains(mark)) {
            None => digits.push_str(whole),
            Some(mark) => {
                for (at, group) in whole.split(mark).enumerate() {
                    let fits =
                        if at == 0 { (1..=3).contains(&group.len()) } else { group.len() == 3 };
                    if !fits || !group.bytes().all(|byte| byte.is_ascii_digit()) {
                        return None;
                    }
                    digits.push_str(group);
                }
            }
        }
        if let Some(decimals) = decimals {
            digits.push('.');
            digits.push_str(decimals);
        }
        if !digits.bytes().next()?.is_ascii_digit() && !digits.starts_with('.') {
            return None;
        }
        let number: f64 = spelling::number(&digits)?;
        Some(if negative || also { -number } else { number })
    }

    /// The number with at most so many decimals.
    pub(crate) fn format(&self, value: f64, decimals: usize) -> String {
        let plain = spelling::format_number(value, decimals);
        let (negative, digits) = split_sign(&plain);
        let (whole, rest) = match digits.find(['.', 'e']) {
            Some(at) => digits.split_at(at),
            None => (digits, ""),
        };
        let mut text = String::from(if negative { "-" } else { "" });
        text.push_str(&self.prefix);
        for (at, digit) in whole.chars().enumerate() {
            if let Some(mark) = self.group
                && at > 0
                && (whole.len() - at).is_multiple_of(3)
            {
                text.push(mark);
            }
            text.push(digit);
        }
        text.extend(rest.chars().map(|c| if c == '.' { self.decimal } else { c }));
        text.push_str(&self.suffix);
        text
    }

    /// A formatted number with at least so many decimals.
    pub(crate) fn padded(&self, text: String, decimals: usize) -> String {
        let written = self.decimals(&text);
        if written >= decimals || text.contains('e') {
            return text;
        }
        let digits = text.strip_suffix(self.suffix.as_str()).unwrap_or(&text);
        let mark = if written == 0 { self.decimal.to_string() } else { String::new() };
        let zeros = "0".repeat(decimals - written);
        format!("{digits}{mark}{zeros}{}", self.suffix)
    }

    /// The digits behind the decimal mark of a cell.
    pub(crate) fn decimals(&self, cell: &str) -> usize {
        let cell = cell.trim();
        let cell = cell.strip_suffix(self.suffix.as_str()).unwrap_or(cell).trim_end();
        match self.decimal {
            '.' => spelling::written_decimals(cell.trim_start_matches(self.prefix.as_str())),
            mark => cell.rsplit_once(mark).map_or(0, |(_, decimals)| decimals.len()),
        }
    }

    /// Whether it is more than digits and a point.
    pub(crate) fn is_plain(&self) -> bool {
        *self == NumberStyle::default()
    }

    /// The style in words, as in "decimal commas, '%' behind the number".
    pub(crate) fn describe(&self) -> String {
        let mut parts = Vec::new();
        if self.decimal == ',' {
            parts.push("decimal commas".to_owned());
        }
        match self.group {
            Some(' ' | '\u{a0}' | '\u{202f}') => parts.push("spaces between thousands".to_owned()),
            Some(mark) => parts.push(format!("'{mark}' between thousands")),
            None => {}
        }
        if !self.prefix.is_empty() {
            parts.push(format!("'{}' before the number", self.prefix.trim()));
        }
        if !self.suffix.is_empty() {
            parts.push(format!("'{}' behind the number", self.suffix.trim()));
        }
        parts.join(", ")
    }

    /// The style of most cells; none where they are no numbers in any style.
    pub(crate) fn detect<'a>(
        cells: impl Iterator<Item = &'a str> + Clone,
        decimal: Option<DecimalMark>,
    ) -> Option<DetectedStyle> {
        let (prefix, suffix) = units(cells.clone())?;
        let mut separators = Separators::default();
        for cell in cells {
            if let Some(body) = body(cell, &prefix, &suffix) {
                separators.see(body);
            }
        }
        let (decimal, group, open) = separators.decide(decimal);
        Some(DetectedStyle { style: NumberStyle { decimal, group, prefix, suffix }, open })
    }
}

impl Separators {
    fn see(&mut self, body: &str) {
        if self.group.is_none() {
            self.group = body.chars().find(|c| GROUP_MARKS.contains(c));
        }
        let (comma, point) = (body.rfind(','), body.rfind('.'));
        match (comma, point) {
            (Some(comma), Some(point)) => {
                self.last_of_both.get_or_insert(if comma > point { ',' } else { '.' });
            }
            (Some(at), None) => self.comma.see(body, ',', at),
            (None, Some(at)) => self.point.see(body, '.', at),
            (None, None) => {}
        }
    }

    /// The decimal mark, the mark between thousands, and a cell that leaves it open.
    fn decide(self, given: Option<DecimalMark>) -> (char, Option<char>, Option<String>) {
        let has_comma = self.comma.is_there() || self.last_of_both.is_some();
        let has_point = self.point.is_there() || self.last_of_both.is_some();
        let comma_decides = self.comma.decimals || self.point.repeated;
        let (decimal, open) = match (given, self.last_of_both) {
            (Some(DecimalMark::Comma), _) => (',', None),
            (Some(DecimalMark::Point), _) => ('.', None),
            (None, Some(last)) => (last, None),
            (None, None) if self.comma.repeated || self.point.decimals => ('.', None),
            (None, None) if comma_decides => (',', None),
            (None, None) => ('.', self.comma.three_digits),
        };
        let group = match decimal {
            ',' if has_point => Some('.'),
            '.' if has_comma => Some(','),
            _ => self.group,
        };
        (decimal, group, open)
    }
}

impl Mark {
    fn see(&mut self, body: &str, mark: char, last: usize) {
        let behind = body.len() - last - 1;
        if body.matches(mark).count() > 1 {
            self.repeated = true;
        } else if behind != 3 || body[..last].trim_start_matches('0').is_empty() || last > 3 {
            self.decimals = true;
        } else {
            self.three_digits.get_or_insert_with(|| body.to_owned());
        }
    }

    fn is_there(&self) -> bool {
        self.repeated || self.decimals || self.three_digits.is_some()
    }
}

fn split_sign(text: &str) -> (bool, &str) {
    match text.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// What stands before and behind the digits of a cell.
fn affixes(cell: &str) -> Option<(&str, &str)> {
    let (_, text) = split_sign(cell.trim());
    let first = text.find(|c: char| c.is_ascii_digit())?;
    let last = text.rfind(|c: char| c.is_ascii_digit())?;
    let first = if text[..first].ends_with('.') { first - 1 } else { first };
    Some((text[..first].trim_end_matches(['-', '\u{2212}']), &text[last + 1..]))
}

/// The units of most cells; none where a cell has another one, or letters that are no unit.
fn units<'a>(cells: impl Iterator<Item = &'a str>) -> Option<(String, String)> {
    let known = |unit: &str| UNITS.contains(&unit.trim());
    let is_suffix = |suffix: &str| {
        let unit = suffix.trim_start();
        let spaced = unit.len() < suffix.len() && unit.chars().count() <= MAX_UNIT;
        known(suffix) || (spaced && unit.chars().all(|c| c.is_alphabetic() || "/²³".contains(c)))
    };
    let (mut prefix, mut suffix) = (String::new(), String::new());
    let (mut with, mut all) = (0usize, 0usize);
    for cell in cells {
        let Some((before, behind)) = affixes(cell) else { continue };
        all += 1;
        if before.is_empty() && (behind.is_empty() || behind == ".") {
            continue;
        }
        with += 1;
        if with == 1 {
            if (!before.is_empty() && !known(before)) || (!behind.is_empty() && !is_suffix(behind))
            {
                return None;
            }
            (prefix, suffix) = (before.to_owned(), behind.to_owned());
        }
    }
    // A unit here and there is a slip, not a style.
    (with == 0 || with * 2 >= all).then_some((prefix, suffix))
}

/// The digits and marks of a cell that has these units, or none.
fn body<'a>(cell: &'a str, prefix: &str, suffix: &str) -> Option<&'a str> {
    let (_, text) = split_sign(cell.trim());
    let text = text.strip_prefix(prefix).unwrap_or(text).trim_start();
    let (_, text) = split_sign(text);
    let text = text.strip_suffix(suffix).unwrap_or(text).trim_end();
    let marks = |c: char| c.is_ascii_digit() || ".,".contains(c) || GROUP_MARKS.contains(&c);
    (!text.is_empty() && text.chars().all(marks)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(cells: &[&str]) -> Option<DetectedStyle> {
        NumberStyle::detect(cells.iter().copied(), None)
    }

    fn read(cells: &[&str]) -> Vec<Option<f64>> {
        let style = detect(cells).expect("a style").style;
        cells.iter().map(|cell| style.parse(cell)).collect()
    }

    #[test]
    fn styles_are_told_from_the_cells() {
        assert_eq!(read(&["1,5", "2,25", "-3"]), [Some(1.5), Some(2.25), Some(-3.0)]);
        assert_eq!(read(&["1.234,5", "7"]), [Some(1234.5), Some(7.0)]);
        assert_eq!(read(&["1,234.5", "1,000,000"]), [Some(1234.5), Some(1e6)]);
        assert_eq!(read(&["$1,200", "-$5.50"]), [Some(1200.0), Some(-5.5)]);
        assert_eq!(read(&["12%", "0.5 %", "3%"]), [Some(12.0), Some(0.5), Some(3.0)]);
        assert_eq!(read(&["1 200 €", "30 €"]), [Some(1200.0), Some(30.0)]);
        assert_eq!(read(&["12'500", "999"]), [Some(12500.0), Some(999.0)]);
        assert_eq!(read(&["70 kg", "81.5 kg"]), [Some(70.0), Some(81.5)]);
        assert_eq!(read(&["0,123", "0,456"]), [Some(0.123), Some(0.456)]);
    }

    #[test]
    fn slips_and_codes_are_no_style() {
        assert_eq!(read(&["1,5", "1,2,3"])[1], None);
        assert!(detect(&["A12", "B7"]).is_none());
        assert!(detect(&["12x", "13x"]).is_none());
        let plain = detect(&["1.5", "2"]).expect("a style");
        assert!(plain.style.is_plain());
    }

    #[test]
    fn an_open_decimal_mark_is_told() {
        let open = detect(&["1,234", "5,678", "12"]).expect("a style");
        assert_eq!(
            (open.open.as_deref(), open.style.parse("1,234")),
            (Some("1,234"), Some(1234.0))
        );
        let given = NumberStyle::detect(["1,234"].into_iter(), Some(DecimalMark::Comma));
        assert_eq!(given.expect("a style").style.parse("1,234"), Some(1.234));
    }

    #[test]
    fn estimates_are_written_in_the_style() {
        let style = |cells: &[&str]| detect(cells).expect("a style").style;
        assert_eq!(style(&["1.234,5", "7"]).format(-98765.43, 1), "-98.765,4");
        assert_eq!(style(&["$1,200", "$5"]).format(1234567.0, 0), "$1,234,567");
        assert_eq!(style(&["12 %", "3 %"]).format(4.56, 1), "4.6 %");
        assert_eq!(style(&["3,50 €"]).padded("7 €".to_owned(), 2), "7,00 €");
        assert_eq!(style(&["1,5"]).decimals("2,25"), 2);
        assert_eq!(style(&["$1,200.50"]).decimals("$3.5"), 1);
    }
}
