//! Labels: the class of each node, where it is known.

/// Classes of nodes. Some methods learn from them; stratified splits balance them.
#[derive(Debug, Clone, PartialEq)]
pub struct Labels {
    /// The name of their column.
    pub name: String,
    /// The class of each node, as a position in `classes`; none where it is unknown.
    pub codes: Vec<Option<u32>>,
    /// The names of the classes.
    pub classes: Vec<String>,
}

impl Labels {
    /// Labels from class numbers; a negative number means no label. None if no node has a label.
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
