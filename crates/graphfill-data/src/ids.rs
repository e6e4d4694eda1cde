//! Node ids, and an index from ids to rows.

use std::hash::{BuildHasher, RandomState};

use arrow_array::{Array, StringArray};
use hashbrown::HashTable;

/// One id per row: whole numbers if every id is one, text otherwise.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeIds {
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Text.
    Strings(StringArray),
}

impl NodeIds {
    /// The row numbers as ids, for formats without ids.
    pub fn numbered(rows: usize) -> Self {
        NodeIds::Integers((0..rows as i64).collect())
    }

    /// Ids from text: whole numbers if each is spelt as one ("7", not "07"), text otherwise.
    pub fn from_text(ids: StringArray) -> Self {
        let integers: Option<Vec<i64>> =
            (0..ids.len()).map(|row| canonical_integer(ids.value(row))).collect();
        integers.map_or(NodeIds::Strings(ids), NodeIds::Integers)
    }

    /// The number of ids.
    pub fn len(&self) -> usize {
        match self {
            NodeIds::Integers(ids) => ids.len(),
            NodeIds::Strings(ids) => ids.len(),
        }
    }

    /// Whether there is no id.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The id of a row, as text.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn text(&self, row: usize) -> String {
        match self {
            NodeIds::Integers(ids) => ids[row].to_string(),
            NodeIds::Strings(ids) => ids.value(row).to_owned(),
        }
    }

    /// These ids followed by more.
    #[must_use]
    pub fn extended(&self, more: &[String]) -> NodeIds {
        if more.is_empty() {
            return self.clone();
        }
        let all: Vec<String> =
            (0..self.len()).map(|row| self.text(row)).chain(more.iter().cloned()).collect();
        NodeIds::from_text(StringArray::from(all))
    }

    /// The index from ids to rows; the error is the first row that repeats an earlier id.
    pub fn index(&self) -> Result<IdIndex<'_>, usize> {
        IdIndex::new(self)
    }
}

/// The whole number that `text` spells in the usual way.
pub(crate) fn canonical_integer(text: &str) -> Option<i64> {
    let number: i64 = text.parse().ok()?;
    let bytes = text.as_bytes();
    let digits = if number < 0 { &bytes[1..] } else { bytes };
    let plain = digits.first().is_some_and(u8::is_ascii_digit)
        && (digits[0] != b'0' || (digits.len() == 1 && bytes.len() == 1));
    plain.then_some(number)
}

/// An index from ids to rows. Takes four to five bytes per row beside the ids themselves.
#[derive(Debug)]
pub struct IdIndex<'a> {
    ids: &'a NodeIds,
    rows: Rows,
    hasher: RandomState,
}

#[derive(Debug)]
enum Rows {
    /// The ids are 0, 1, 2, …: nothing to look up.
    Consecutive,
    Table(HashTable<u32>),
}

impl<'a> IdIndex<'a> {
    fn new(ids: &'a NodeIds) -> Result<Self, usize> {
        let hasher = RandomState::new();
        let consecutive = match ids {
            NodeIds::Integers(ids) => ids.iter().enumerate().all(|(row, &id)| id == row as i64),
            NodeIds::Strings(_) => false,
        };
        if consecutive {
            return Ok(IdIndex { ids, rows: Rows::Consecutive, hasher });
        }
        let mut table = HashTable::with_capacity(ids.len());
        for row in 0..ids.len() {
            let hash = hash_of_row(&hasher, ids, row);
            if table.find(hash, |&other: &u32| same_id(ids, other as usize, row)).is_some() {
                return Err(row);
            }
            table.insert_unique(hash, row as u32, |&other| {
                hash_of_row(&hasher, ids, other as usize)
            });
        }
        Ok(IdIndex { ids, rows: Rows::Table(table), hasher })
    }

    /// The row of the id that `text` spells.
    pub fn row_of_text(&self, text: &str) -> Option<u32> {
        match self.ids {
            NodeIds::Integers(_) => self.row_of_integer(canonical_integer(text)?),
            NodeIds::Strings(ids) => {
                let Rows::Table(table) = &self.rows else { return None };
                let hash = self.hasher.hash_one(text);
                table.find(hash, |&row| ids.value(row as usize) == text).copied()
            }
        }
    }

    /// The id of a node that is `text` but for leading zeros, a `.0` behind a whole number, or case.
    pub(crate) fn same_but_for_spelling(&self, text: &str) -> Option<String> {
        let text = text.trim();
        let whole = text.strip_suffix(".0").unwrap_or(text);
        let stripped = whole.trim_start_matches('0');
        let stripped = if stripped.is_empty() { "0" } else { stripped };
        let direct = [whole, stripped].into_iter().find_map(|id| self.row_of_text(id));
        let row = direct.or_else(|| match self.ids {
            NodeIds::Integers(_) => None,
            NodeIds::Strings(ids) => {
                let canonical = |id: &str| {
                    let id = id.trim();
                    id.strip_suffix(".0").unwrap_or(id).trim_start_matches('0').to_lowercase()
                };
                let wanted = canonical(text);
                let same = |row: &usize| canonical(ids.value(*row)) == wanted;
                (0..ids.len()).find(same).map(|row| row as u32)
            }
        });
        row.map(|row| self.ids.text(row as usize))
    }

    /// The row of a whole-number id.
    pub fn row_of_integer(&self, id: i64) -> Option<u32> {
        let NodeIds::Integers(ids) = self.ids else {
            return self.row_of_text(&id.to_string());
        };
        match &self.rows {
            Rows::Consecutive => (0..ids.len() as i64).contains(&id).then_some(id as u32),
            Rows::Table(table) => {
                table.find(self.hasher.hash_one(id), |&row| ids[row as usize] == id).copied()
            }
        }
    }
}

fn hash_of_row(hasher: &RandomState, ids: &NodeIds, row: usize) -> u64 {
    match ids {
        NodeIds::Integers(ids) => hasher.hash_one(ids[row]),
        NodeIds::Strings(ids) => hasher.hash_one(ids.value(row)),
    }
}

fn same_id(ids: &NodeIds, a: usize, b: usize) -> bool {
    match ids {
        NodeIds::Integers(ids) => ids[a] == ids[b],
        NodeIds::Strings(ids) => ids.value(a) == ids.value(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_spellings_are_integers() {
        assert_eq!(canonical_integer("0"), Some(0));
        assert_eq!(canonical_integer("-7"), Some(-7));
        for text in ["07", "+7", "-0", "", "-", "7 ", "1e3"] {
            assert_eq!(canonical_integer(text), None, "{text:?}");
        }
    }

    #[test]
    fn finds_rows_by_text_and_by_number() {
        let ids = NodeIds::from_text(StringArray::from(vec!["b", "a", "07"]));
        let index = ids.index().expect("distinct ids");
        assert_eq!(index.row_of_text("07"), Some(2));
        assert_eq!(index.row_of_text("7"), None);
        let ids = NodeIds::from_text(StringArray::from(vec!["5", "3"]));
        let index = ids.index().expect("distinct ids");
        assert_eq!(index.row_of_integer(3), Some(1));
        assert_eq!(index.row_of_text("3"), Some(1));
        assert_eq!(index.row_of_text("03"), None);
        let consecutive = NodeIds::numbered(4);
        let index = consecutive.index().expect("distinct ids");
        assert_eq!(index.row_of_text("3"), Some(3));
        assert_eq!(index.row_of_text("4"), None);
        assert_eq!(index.row_of_text("-1"), None);
    }

    #[test]
    fn names_the_first_repeated_row() {
        let ids = NodeIds::from_text(StringArray::from(vec!["a", "b", "a", "b"]));
        assert_eq!(ids.index().err(), Some(2));
    }
}
