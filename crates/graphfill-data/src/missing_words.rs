//! Words that mean "missing": `NA`, `null`, `?` and the like, as spreadsheets, R, SQL and pandas write
//! them.
//!
//! They count in columns that are estimated (numbers, counts, booleans, dates, categories), never in
//! ids, labels and columns that are carried along: a person called "Nan" keeps the name.

/// The usual words, spelt exactly so. Blank cells are missing whatever this list says.
pub const USUAL_MISSING_WORDS: [&str; 20] = [
    "NA", "N/A", "n/a", "NaN", "nan", "-nan", "-NaN", "null", "NULL", "Null", "None", "<NA>",
    "#N/A", "#NA", "#N/A N/A", "-", "--", "?", ".", "#VALUE!",
];

/// Which words mean "missing".
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum MissingWords {
    /// [`USUAL_MISSING_WORDS`].
    #[default]
    Usual,
    /// [`USUAL_MISSING_WORDS`] and these; a number among them means every cell of that value.
    With(Vec<String>),
    /// These and no others; a number among them means every cell of that value (`-999` is `-999.0`).
    Only(Vec<String>),
}

impl MissingWords {
    /// No word: only blank cells are missing.
    pub fn none() -> Self {
        MissingWords::Only(Vec::new())
    }

    /// Whether a cell says "missing".
    pub(crate) fn contains(&self, cell: &str) -> bool {
        (self.has_usual() && is_usual(cell)) || self.is_given(cell)
    }

    /// Whether a cell is one of the words that the caller gave.
    pub(crate) fn is_given(&self, cell: &str) -> bool {
        let cell = cell.trim();
        let same_number = |word: &str| {
            let number = crate::spelling::number(cell);
            number.is_some() && number == crate::spelling::number(word)
        };
        self.given().iter().any(|word| word == cell || same_number(word))
    }

    fn given(&self) -> &[String] {
        match self {
            MissingWords::Usual => &[],
            MissingWords::With(words) | MissingWords::Only(words) => words,
        }
    }

    fn has_usual(&self) -> bool {
        !matches!(self, MissingWords::Only(_))
    }

    /// Whether a cell that is no number says "missing" in a column of numbers: case does not matter
    /// there, and NaN is missing whatever the words are.
    pub(crate) fn contains_among_numbers(&self, cell: &str) -> bool {
        let cell = cell.trim();
        let same = |word: &&str| word.eq_ignore_ascii_case(cell);
        same(&"nan") || (self.has_usual() && USUAL_MISSING_WORDS.iter().any(same))
    }

    /// The numbers among the words that the caller gave.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        self.given().iter().filter_map(|word| crate::spelling::number(word)).collect()
    }
}

/// Whether a cell is one of the usual words.
pub(crate) fn is_usual(cell: &str) -> bool {
    let cell = cell.trim();
    // Most cells are numbers or longer words: the first byte and the length tell.
    let is_number = cell.as_bytes().first().is_some_and(u8::is_ascii_digit);
    !is_number && cell.len() <= 8 && USUAL_MISSING_WORDS.contains(&cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_words_are_known_by_their_spelling() {
        for word in ["NA", " N/A ", "null", "NULL", "None", "-", "?", ".", "#N/A", "NaN"] {
            assert!(MissingWords::Usual.contains(word), "{word}");
        }
        for word in ["Nan", "Na", "nil", "0", "none of these", "-1"] {
            assert!(!MissingWords::Usual.contains(word), "{word}");
        }
        let own = MissingWords::Only(vec!["-999".into(), "unknown".into()]);
        assert!(own.contains("-999.0") && own.contains("unknown") && !own.contains("NA"));
        let both = MissingWords::With(vec!["-999".into()]);
        assert!(both.contains("-999.0") && both.contains("NA") && !both.is_given("NA"));
        assert!(!MissingWords::none().contains("NA"));
    }
}
