//! How numbers and booleans are spelt in text files.

use arrow_array::StringArray;

/// The finite or infinite number that the text spells; none for anything else, NaN included.
pub(crate) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    // `f64` also reads "infinity" and "nan"; a table that says so means no number.
    let first = text.trim_start_matches(['+', '-']).as_bytes().first()?;
    if !(first.is_ascii_digit() || *first == b'.') {
        return infinity(text);
    }
    text.parse().ok()
}

/// Whether the text is digits with a leading zero: a code (a postcode, a key), not an amount.
pub(crate) fn is_code(text: &str) -> bool {
    let bytes = text.trim().as_bytes();
    bytes.len() > 1 && bytes[0] == b'0' && bytes.iter().all(u8::is_ascii_digit)
}

fn infinity(text: &str) -> Option<f64> {
    let (sign, word) = match text.strip_prefix('-') {
        Some(word) => (-1.0, word),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let known = ["inf", "infinity"].iter().any(|known| word.eq_ignore_ascii_case(known));
    known.then_some(sign * f64::INFINITY)
}

/// Pairs of words that mean no and yes.
const BOOLEAN_WORDS: [(&str, &str); 5] =
    [("0", "1"), ("false", "true"), ("no", "yes"), ("f", "t"), ("n", "y")];

/// The truth value that the text spells.
pub(crate) fn boolean(text: &str) -> Option<bool> {
    let text = text.trim();
    // pandas writes whole columns of 0 and 1 that once held a NaN as "0.0" and "1.0".
    let text = text.strip_suffix(".0").unwrap_or(text);
    BOOLEAN_WORDS.iter().find_map(|(no, yes)| {
        if text.eq_ignore_ascii_case(no) {
            Some(false)
        } else {
            text.eq_ignore_ascii_case(yes).then_some(true)
        }
    })
}

/// The two words of one boolean column.
pub(crate) struct BooleanWords {
    no: String,
    yes: String,
}

impl BooleanWords {
    /// The first word of each meaning that the column uses.
    pub(crate) fn of(cells: &StringArray) -> Self {
        let first = |wanted: bool| {
            cells.iter().flatten().find(|cell| boolean(cell) == Some(wanted)).map(str::to_owned)
        };
        let no = first(false);
        let yes = first(true);
        BooleanWords {
            no: no.unwrap_or_else(|| "0".into()),
            yes: yes.unwrap_or_else(|| "1".into()),
        }
    }

    pub(crate) fn word(&self, value: bool) -> &str {
        if value { &self.yes } else { &self.no }
    }
}

/// More digits behind the point than this are spelt with an exponent.
const MAX_PLAIN_DECIMALS: usize = 15;

/// Smaller numbers of so many digits are spelt with an exponent.
const MIN_PLAIN: f64 = 1e-5;

/// Digits behind the point that suit estimates of a column: as many as its cells have, or more
/// where rounding to those would blur more than a hundredth of the column's spread.
pub(crate) fn decimals(written: impl Iterator<Item = usize>, numbers: &[f64]) -> usize {
    let written = written.max().unwrap_or(0);
    let known: Vec<f64> = numbers.iter().copied().filter(|value| !value.is_nan()).collect();
    let count = known.len().max(1) as f64;
    let mean = known.iter().sum::<f64>() / count;
    let spread = (known.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
    let needed =
        if spread > 0.0 { (2.0 - spread.log10()).ceil().clamp(0.0, 400.0) as usize } else { 0 };
    written.max(needed)
}

/// The digits behind the point of one cell, its exponent counted in.
pub(crate) fn written_decimals(cell: &str) -> usize {
    let cell = cell.trim();
    let (mantissa, exponent) = match cell.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().unwrap_or(0)),
        None => (cell, 0),
    };
    let behind = mantissa.split_once('.').map_or(0, |(_, behind)| behind.len()) as i64;
    behind.saturating_sub(exponent).clamp(0, 400) as usize
}

/// The number with at most so many digits behind the point; with an exponent where they are many.
pub(crate) fn format_number(value: f64, decimals: usize) -> String {
    if decimals > MAX_PLAIN_DECIMALS {
        // Seven digits: what an estimate in single precision has.
        let rounded: f64 = format!("{value:.6e}").parse().unwrap_or(value);
        let plain = rounded == 0.0 || rounded.abs() >= MIN_PLAIN;
        return if plain { rounded.to_string() } else { format!("{rounded:e}") };
    }
    let mut text = format!("{value:.decimals$}");
    if text.contains('.') {
        let kept = text.trim_end_matches('0').trim_end_matches('.').len();
        text.truncate(kept);
    }
    if text == "-0" { "0".into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::decimals as decimals_of;
    use super::*;

    #[test]
    fn reads_numbers_and_nothing_else() {
        assert_eq!(number(" 1.5 "), Some(1.5));
        assert_eq!(number("-2e3"), Some(-2000.0));
        assert_eq!(number(".5"), Some(0.5));
        assert_eq!(number("-inf"), Some(f64::NEG_INFINITY));
        for text in ["", "nan", "1,000", "12x", "0x1f", "one", "1_000", "+", "--1"] {
            assert_eq!(number(text), None, "{text:?}");
        }
    }

    #[test]
    fn spells_with_the_decimals_of_the_column() {
        let cells = ["1.25", "3", "1.5e-1"];
        let decimals = |cells: &[&str], numbers: &[f64]| {
            decimals_of(cells.iter().map(|cell| written_decimals(cell)), numbers)
        };
        assert_eq!(decimals(&cells, &[1.25, 3.0, 0.15]), 2);
        // Steps of a tenth are coarse where values differ by little more.
        assert_eq!(decimals(&["0.1", "0.2"], &[0.1, 0.2]), 4);
        assert_eq!(format_number(2.0, 2), "2");
        assert_eq!(format_number(2.666, 2), "2.67");
        assert_eq!(format_number(-0.001, 2), "0");
        assert_eq!(format_number(100.0, 0), "100");
        let tiny = [1e-20, 2e-20];
        let needed = decimals(&["1e-20", "2e-20"], &tiny);
        assert_eq!(format_number(1.5e-20, needed), "1.5e-20");
        assert_eq!(format_number(0.3, 17), "0.3");
    }

    #[test]
    fn keeps_the_words_of_a_boolean_column() {
        let words = BooleanWords::of(&StringArray::from(vec!["Yes", "No", "yes"]));
        assert_eq!((words.word(true), words.word(false)), ("Yes", "No"));
        assert_eq!(boolean("maybe"), None);
        assert_eq!(boolean("1.0"), Some(true));
    }
}
