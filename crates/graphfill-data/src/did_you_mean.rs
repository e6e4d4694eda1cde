//! "Did you mean": the known name that is closest to a mistyped one.

/// The name nearest to `wanted`, where one is near: at most a third of its letters differ.
pub fn did_you_mean<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = wanted.to_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&wanted, &name.to_lowercase());
    let most = (wanted.chars().count() / 3).max(1);
    known
        .map(|name| (distance(name), name))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let known = ["user_id", "name", "price"];
        assert_eq!(did_you_mean("userid", known.into_iter()), Some("user_id"));
        assert_eq!(did_you_mean("Nmae", known.into_iter()), Some("name"));
        assert_eq!(did_you_mean("weight", known.into_iter()), None);
    }
}
