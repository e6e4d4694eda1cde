//! The columns that a reader found, as JSON.

use graphfill::data::FoundColumns;
use serde::Serialize;

/// Which columns are ids and ends of edges; `sentence` is what people are shown.
#[derive(Serialize)]
pub(crate) struct FoundJson {
    id: Option<String>,
    source: Option<String>,
    target: Option<String>,
    weight: Option<String>,
    edge_ends: Option<u64>,
    matched_ends: Option<u64>,
    sentence: String,
}

impl FoundJson {
    pub(crate) fn of(found: &FoundColumns) -> Self {
        let edges = found.edges.as_ref();
        FoundJson {
            id: found.id.clone(),
            source: edges.map(|edges| edges.source.clone()),
            target: edges.map(|edges| edges.target.clone()),
            weight: edges.and_then(|edges| edges.weight.clone()),
            edge_ends: edges.map(|edges| edges.ends),
            matched_ends: edges.map(|edges| edges.matched),
            sentence: found.to_string(),
        }
    }
}
