//! Which columns were taken as ids and as the ends of edges, and how well they match.

use std::fmt;

/// The columns that a reader found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundColumns {
    /// The id column of the nodes; none where nodes are numbered from 0.
    pub id: Option<String>,
    /// The columns of the edges, where there are edges.
    pub edges: Option<FoundEdgeColumns>,
}

/// The columns of an edge file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundEdgeColumns {
    /// The column that names the source of an edge.
    pub source: String,
    /// The column that names its target.
    pub target: String,
    /// The column that holds its weight, if there is one.
    pub weight: Option<String>,
    /// The ends of all edges.
    pub ends: u64,
    /// How many of them name a row of the node table.
    pub matched: u64,
}

/// `ids: column user_id (all 4,812 edge ends match); edges: from_user → to_user`
impl fmt::Display for FoundColumns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.id {
            Some(name) => write!(f, "ids: column {name}")?,
            None => write!(f, "ids: row numbers from 0")?,
        }
        let Some(edges) = &self.edges else { return Ok(()) };
        let FoundEdgeColumns { source, target, weight, ends, matched } = edges;
        if matched == ends {
            write!(f, " (all {} edge ends match)", grouped(*ends))?;
        } else {
            write!(f, " ({} of {} edge ends match)", grouped(*matched), grouped(*ends))?;
        }
        write!(f, "; edges: {source} → {target}")?;
        match weight {
            Some(weight) => write!(f, ", weight {weight}"),
            None => Ok(()),
        }
    }
}

/// A count with commas between thousands.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_one_line() {
        let edges = FoundEdgeColumns {
            source: "from_user".into(),
            target: "to_user".into(),
            weight: None,
            ends: 4812,
            matched: 4812,
        };
        let mut found = FoundColumns { id: Some("user_id".into()), edges: Some(edges) };
        assert_eq!(
            found.to_string(),
            "ids: column user_id (all 4,812 edge ends match); edges: from_user → to_user"
        );
        found.edges = None;
        assert_eq!(found.to_string(), "ids: column user_id");
    }
}
