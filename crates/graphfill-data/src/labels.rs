//! The class of each node, where it is known.

/// Classes of nodes: evidence for some methods, and what stratified splits balance.
#[derive(Debug, Clone, PartialEq)]
pub struct Labels {
    /// The column that held them.
    pub name: String,
    /// The class of each node, as a position in `classes`; none where it is unknown.
    pub codes: Vec<Option<u32>>,
    /// The names of the classes.
    pub classes: Vec<String>,
}

impl Labels {
    /// Labels from class numbers, −1 (or any other negative number) meaning none; nothing where
    /// no node has one.
    pub fn from_numbers(name: &str, numbers: &[i64]) -> Option<Self> {
        let mut distinct: Vec<i64> = numbers.iter().copied().filter(|&class| class >= 0).collect();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.is_empty() {
            return None;
        }
        let codes = numbers
            .iter()
            .map(|class| distinct.binary_search(class).ok().map(|position| position as u32))
            .collect();
        let classes = distinct.iter().map(i64::to_string).collect();
        Some(Labels { name: name.to_owned(), codes, classes })
    }

    /// The number of nodes that have a label.
    pub fn known(&self) -> usize {
        self.codes.iter().filter(|class| class.is_some()).count()
    }
}
