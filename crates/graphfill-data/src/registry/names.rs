//! The known name that a mistyped one most likely means.

/// The most letters that may differ before a suggestion would be a guess.
const MAX_DIFFERENCES: usize = 3;

/// The nearest of the known names, where one is near.
pub(super) fn nearest<'a>(given: &str, known: &[&'a str]) -> Option<&'a str> {
    let given = given.to_lowercase();
    // "ogbn-arxiv" and "amazon_photo" are what other libraries call these data sets.
    if let Some(name) = known.iter().find(|name| given.contains(**name)) {
        return Some(name);
    }
    known
        .iter()
        .map(|name| (differences(&given, name), *name))
        .filter(|(count, name)| *count <= MAX_DIFFERENCES && *count < name.len().div_ceil(2))
        .min_by_key(|(count, _)| *count)
        .map(|(_, name)| name)
}

/// How many letters must be added, left out or replaced to make one word of the other
/// (the Levenshtein distance, one row of its table at a time).
fn differences(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (above, letter) in left.chars().enumerate() {
        let mut diagonal = above;
        row[0] = above + 1;
        for (position, other) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[position + 1];
            row[position + 1] = replaced.min(diagonal + 1).min(row[position] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_differing_letters() {
        assert_eq!(differences("kitten", "sitting"), 3);
        assert_eq!(differences("", "abc"), 3);
        assert_eq!(differences("same", "same"), 0);
    }

    #[test]
    fn suggests_only_what_is_near() {
        let known = ["cora", "citeseer", "arxiv"];
        assert_eq!(nearest("corra", &known), Some("cora"));
        assert_eq!(nearest("CiteSer", &known), Some("citeseer"));
        assert_eq!(nearest("ogbn-arxiv", &known), Some("arxiv"));
        assert_eq!(nearest("reddit", &known), None);
        assert_eq!(nearest("", &known), None);
    }
}
