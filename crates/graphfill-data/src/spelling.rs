//! How numbers and booleans are spelt in text files.

use arrow_array::{Array, StringArray};

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

/// The most digits behind the point that a cell of the column has.
pub(crate) fn decimals(cells: &StringArray) -> usize {
    let digits = |cell: &str| -> usize {
        let cell = cell.trim();
        let (mantissa, exponent) = match cell.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().unwrap_or(0)),
            None => (cell, 0),
        };
        let behind = mantissa.split_once('.').map_or(0, |(_, behind)| behind.len()) as i64;
        (behind - exponent).clamp(0, 17) as usize
    };
    (0..cells.len())
        .filter(|&row| cells.is_valid(row))
        .map(|row| digits(cells.value(row)))
        .max()
        .unwrap_or(0)
}

/// The number with at most so many digits behind the point.
pub(crate) fn spell(value: f64, decimals: usize) -> String {
    let mut text = format!("{value:.decimals$}");
    if text.contains('.') {
        let kept = text.trim_end_matches('0').trim_end_matches('.').len();
        text.truncate(kept);
    }
    if text == "-0" { "0".into() } else { text }
}

#[cfg(test)]
mod tests {
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
        let cells = StringArray::from(vec![Some("1.25"), None, Some("3"), Some("1.5e-1")]);
        assert_eq!(decimals(&cells), 2);
        assert_eq!(spell(2.0, 2), "2");
        assert_eq!(spell(2.666, 2), "2.67");
        assert_eq!(spell(-0.001, 2), "0");
        assert_eq!(spell(100.0, 0), "100");
    }

    #[test]
    fn keeps_the_words_of_a_boolean_column() {
        let words = BooleanWords::of(&StringArray::from(vec!["Yes", "No", "yes"]));
        assert_eq!((words.word(true), words.word(false)), ("Yes", "No"));
        assert_eq!(boolean("maybe"), None);
        assert_eq!(boolean("1.0"), Some(true));
    }
}
