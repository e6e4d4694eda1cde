//! Nodes that only edges name, numbered in the order of their first appearance.

use std::fmt;
use std::hash::{BuildHasher, RandomState};

use arrow_array::StringArray;
use hashbrown::HashTable;

use crate::ids::{NodeIds, canonical_integer};

/// The end of an edge, as a file has it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum EdgeEnd<'a> {
    Text(&'a str),
    Integer(i64),
}

impl fmt::Display for EdgeEnd<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EdgeEnd::Text(text) => f.write_str(text),
            EdgeEnd::Integer(number) => write!(f, "{number}"),
        }
    }
}

/// The ids so far, whole numbers as long as each is one: twelve to thirteen bytes a node then.
#[derive(Debug, Default)]
pub(crate) struct NewNodes {
    ids: Ids,
    rows: HashTable<u32>,
    hasher: RandomState,
}

#[derive(Debug)]
enum Ids {
    Integers(Vec<i64>),
    Texts(Vec<Box<str>>),
}

impl Default for Ids {
    fn default() -> Self {
        Ids::Integers(Vec::new())
    }
}

impl NewNodes {
    /// The number of an id, a new one for a new id.
    pub(crate) fn number(&mut self, end: EdgeEnd<'_>) -> u32 {
        if let Ids::Integers(ids) = &mut self.ids {
            let integer = match end {
                EdgeEnd::Integer(number) => Some(number),
                EdgeEnd::Text(text) => canonical_integer(text),
            };
            if let Some(id) = integer {
                let same = |row: &u32| ids[*row as usize] == id;
                let hash = self.hasher.hash_one(id);
                if let Some(&row) = self.rows.find(hash, same) {
                    return row;
                }
                let row = ids.len() as u32;
                ids.push(id);
                let hash_of = |row: &u32| self.hasher.hash_one(ids[*row as usize]);
                self.rows.insert_unique(hash, row, hash_of);
                return row;
            }
            self.spell_out();
        }
        match end {
            EdgeEnd::Text(text) => self.number_of_text(text),
            EdgeEnd::Integer(number) => self.number_of_text(&number.to_string()),
        }
    }

    fn number_of_text(&mut self, text: &str) -> u32 {
        let Ids::Texts(ids) = &mut self.ids else { return 0 };
        let hash = self.hasher.hash_one(text);
        if let Some(&row) = self.rows.find(hash, |&row| &*ids[row as usize] == text) {
            return row;
        }
        let row = ids.len() as u32;
        ids.push(text.into());
        let hash_of = |row: &u32| self.hasher.hash_one(&*ids[*row as usize]);
        self.rows.insert_unique(hash, row, hash_of);
        row
    }

    /// Turns whole numbers into text, once an id is none.
    fn spell_out(&mut self) {
        let Ids::Integers(numbers) = &self.ids else { return };
        let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
        self.ids = Ids::Texts(Vec::with_capacity(numbers.len()));
        self.rows.clear();
        for number in numbers {
            self.number_of_text(&number);
        }
    }

    pub(crate) fn into_ids(self) -> NodeIds {
        match self.ids {
            Ids::Integers(ids) => NodeIds::Integers(ids),
            Ids::Texts(ids) => NodeIds::Strings(StringArray::from_iter_values(ids)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_numbered_as_they_come() {
        let mut nodes = NewNodes::default();
        let ends = [EdgeEnd::Text("7"), EdgeEnd::Integer(-3), EdgeEnd::Integer(7)];
        assert_eq!(ends.map(|end| nodes.number(end)), [0, 1, 0]);
        assert_eq!(nodes.into_ids(), NodeIds::Integers(vec![7, -3]));
    }

    #[test]
    fn one_text_makes_all_ids_text() {
        let mut nodes = NewNodes::default();
        let ends = ["10", "20", "020", "10", "b", "20"].map(EdgeEnd::Text);
        assert_eq!(ends.map(|end| nodes.number(end)), [0, 1, 2, 0, 3, 1]);
        assert_eq!(nodes.number(EdgeEnd::Integer(20)), 1);
        let expected = StringArray::from(vec!["10", "20", "020", "b"]);
        assert_eq!(nodes.into_ids(), NodeIds::Strings(expected));
    }
}
