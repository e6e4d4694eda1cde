//! What the names of columns suggest: which may hold ids, which two are the ends of an edge, which are
//! attributes of an edge. Only a suggestion: [`super::resolve`] weighs it against the values.

/// Pairs of names of the two ends of an edge, as [`plain`] spells them.
const END_PAIRS: [(&str, &str); 32] = [
    ("source", "target"),
    ("src", "dst"),
    ("src", "dest"),
    ("src", "tgt"),
    ("from", "to"),
    ("sourcenodeid", "targetnodeid"),
    ("sourceid", "targetid"),
    ("edgesrc", "edgedst"),
    ("node1", "node2"),
    ("id1", "id2"),
    ("user1", "user2"),
    ("source", "destination"),
    ("origin", "destination"),
    ("start", "end"),
    ("head", "tail"),
    ("parent", "child"),
    ("follower", "followee"),
    ("follower", "followed"),
    ("citing", "cited"),
    ("focal", "neighbor"),
    ("focal", "neighbour"),
    ("user", "friend"),
    ("person", "friend"),
    ("sender", "receiver"),
    ("sender", "recipient"),
    ("buyer", "seller"),
    ("left", "right"),
    ("ego", "alter"),
    ("a", "b"),
    ("u", "v"),
    ("i", "j"),
    ("x", "y"),
];

/// The first of them are certain whatever else a table holds.
const CERTAIN_PAIRS: usize = 9;

/// First words (or last ones) of such pairs, as in `from_user` and `to_user`, `user_a` and `user_b`.
const END_WORDS: [(&str, &str); 13] = [
    ("source", "target"),
    ("src", "dst"),
    ("src", "dest"),
    ("src", "tgt"),
    ("from", "to"),
    ("source", "destination"),
    ("origin", "destination"),
    ("start", "end"),
    ("left", "right"),
    ("first", "second"),
    ("1", "2"),
    ("a", "b"),
    ("u", "v"),
];

/// Words of columns that say something about an edge rather than name one of its ends.
const ATTRIBUTE_WORDS: [&str; 24] = [
    "edge",
    "link",
    "relation",
    "day",
    "date",
    "time",
    "timestamp",
    "year",
    "month",
    "week",
    "hour",
    "weight",
    "count",
    "rank",
    "index",
    "row",
    "number",
    "type",
    "kind",
    "amount",
    "value",
    "score",
    "since",
    "distance",
];

/// The name without case, underscores and spaces.
pub(crate) fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The words of a name: `fromUser_2` is `from`, `user`, `2`.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in name.chars() {
        let starts = !c.is_alphanumeric()
            || !before.is_alphanumeric()
            || (c.is_uppercase() && before.is_lowercase())
            || c.is_numeric() != before.is_numeric();
        if c.is_alphanumeric() {
            match words.last_mut() {
                Some(word) if !starts => word.extend(c.to_lowercase()),
                _ => words.push(c.to_lowercase().collect()),
            }
        }
        before = c;
    }
    words
}

/// The positions of two columns whose names are those of the two ends of an edge.
pub(crate) fn end_pair(names: &[String]) -> Option<(usize, usize)> {
    let plains: Vec<String> = names.iter().map(|name| plain(name)).collect();
    let place = |wanted: &str| plains.iter().position(|name| name == wanted);
    let known =
        END_PAIRS.iter().find_map(|(source, target)| Some((place(source)?, place(target)?)));
    known.or_else(|| {
        let words: Vec<Vec<String>> = names.iter().map(|name| words(name)).collect();
        let partner = |at: usize| {
            (0..names.len()).find(|&other| other != at && differ_in_end(&words[at], &words[other]))
        };
        (0..names.len()).find_map(|at| Some((at, partner(at)?)))
    })
}

/// Whether a table with these columns is one of edges, without any other evidence: only the commonest
/// names, since the columns of nodes may be called "a" and "b" or "x" and "y".
pub(crate) fn is_edge_table(names: &[String]) -> bool {
    let plains: Vec<String> = names.iter().map(|name| plain(name)).collect();
    let has = |wanted: &str| plains.iter().any(|name| name == wanted);
    let known =
        END_PAIRS[..CERTAIN_PAIRS].iter().any(|(source, target)| has(source) && has(target));
    let uv = names.len() <= 3 && has("u") && has("v");
    known || uv || {
        let words: Vec<Vec<String>> = names.iter().map(|name| words(name)).collect();
        let certain = ["source", "src", "from"];
        words.iter().any(|a| {
            let ends = |b: &Vec<String>| differ_in_end(a, b);
            a.iter().any(|word| certain.contains(&word.as_str())) && words.iter().any(ends)
        })
    }
}

/// Whether two names differ in one word alone, and that is the word of a source and of a target.
fn differ_in_end(source: &[String], target: &[String]) -> bool {
    if source.len() != target.len() || source.len() < 2 {
        return false;
    }
    let mut different = source.iter().zip(target).filter(|(a, b)| a != b);
    let (Some((a, b)), None) = (different.next(), different.next()) else { return false };
    END_WORDS.iter().any(|(source, target)| a == source && b == target)
}

/// Whether a column of edges with this name is an attribute rather than an end.
pub(crate) fn is_attribute(name: &str) -> bool {
    let words = words(name);
    words == ["id"] || words.iter().any(|word| ATTRIBUTE_WORDS.contains(&word.as_str()))
}

/// How much the name of a column of nodes suggests that it holds the ids; `ends` are the names of the
/// columns of edges that name nodes.
pub(crate) fn id_rank(name: &str, ends: [&str; 2]) -> u8 {
    let words = words(name);
    let stem = |words: &[String]| -> Vec<String> {
        words
            .iter()
            .filter(|word| !["id", "key", "name"].contains(&word.as_str()))
            .cloned()
            .collect()
    };
    let stem_of_name = stem(&words);
    let shares_stem = |end: &str| {
        let end = stem(&self::words(end));
        !stem_of_name.is_empty() && stem_of_name.iter().all(|word| end.contains(word))
    };
    if ends.iter().all(|end| shares_stem(end)) {
        return 4;
    }
    match plain(name).as_str() {
        "id" | "nodeid" | "node" | "nodename" | "vertex" | "vertexid" => 3,
        "uid" | "uuid" | "guid" | "key" | "name" | "code" | "identifier" => 2,
        _ if words.last().is_some_and(|word| ["id", "key", "uid"].contains(&word.as_str())) => 2,
        // The row names that R and pandas write.
        "" | "index" | "unnamed0" | "rownames" => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(names: &[&str]) -> Option<(usize, usize)> {
        end_pair(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn names_are_cut_into_words() {
        assert_eq!(words("fromUser_2"), ["from", "user", "2"]);
        assert_eq!(words("user1"), ["user", "1"]);
        assert_eq!(words(""), [] as [&str; 0]);
    }

    #[test]
    fn the_ends_of_edges_are_found_by_their_names() {
        assert_eq!(pair(&["kind", "targetNodeId", "sourceNodeId"]), Some((2, 1)));
        assert_eq!(pair(&["edge_id", "from_user", "to_user"]), Some((1, 2)));
        assert_eq!(pair(&["day", "user", "friend"]), Some((1, 2)));
        assert_eq!(pair(&["Person A", "Person B", "weight"]), Some((0, 1)));
        assert_eq!(pair(&["protein1", "protein2"]), Some((0, 1)));
        assert_eq!(pair(&["movie", "actor"]), None);
        assert_eq!(pair(&["date_from", "customer"]), None);
    }

    #[test]
    fn ids_are_suggested_by_their_names() {
        assert_eq!(id_rank("user_id", ["from_user", "to_user"]), 4);
        assert_eq!(id_rank("id", ["from_user", "to_user"]), 3);
        assert_eq!(id_rank("customerId", ["source", "target"]), 2);
        assert_eq!(id_rank("rank", ["source", "target"]), 0);
    }
}
