//! Seeds as people write them: one, a list 0,3,7 or a range 0..9, both ends included.

use std::fmt;

/// A list of seeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seeds(pub(crate) Vec<u64>);

impl Seeds {
    /// Each of them once, in their order.
    pub(crate) fn once_each(&self) -> Vec<u64> {
        let mut once = Vec::new();
        for &seed in &self.0 {
            if !once.contains(&seed) {
                once.push(seed);
            }
        }
        once
    }
}

impl fmt::Display for Seeds {
    /// Runs of seeds as ranges, as they were named.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return formatter.write_str("none");
        }
        let mut parts: Vec<(u64, u64)> = Vec::new();
        for &seed in &self.0 {
            match parts.last_mut() {
                Some((_, last)) if last.checked_add(1) == Some(seed) => *last = seed,
                _ => parts.push((seed, seed)),
            }
        }
        let part = |(first, last): &(u64, u64)| match first == last {
            true => first.to_string(),
            false => format!("{first}..{last}"),
        };
        formatter.write_str(&parts.iter().map(part).collect::<Vec<_>>().join(","))
    }
}

pub(super) fn seeds(text: &str) -> Result<Seeds, String> {
    let number = |text: &str| {
        text.trim().parse::<u64>().map_err(|_| format!("'{text}' is no seed: a whole number ≥ 0"))
    };
    let mut all = Vec::new();
    for part in text.split(',') {
        match part.split_once("..") {
            None => all.push(number(part)?),
            Some((first, last)) => {
                let (first, last) = (number(first)?, number(last.trim_start_matches('='))?);
                if last < first || last - first > 9999 {
                    return Err(format!("'{part}' is no range of seeds, as in 0..9"));
                }
                all.extend(first..=last);
            }
        }
    }
    Ok(Seeds(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_include_both_ends() {
        assert_eq!(seeds("0..3,7"), Ok(Seeds(vec![0, 1, 2, 3, 7])));
        assert!(seeds("3..1").is_err());
        assert!(seeds("a").is_err());
    }

    #[test]
    fn seeds_are_told_as_they_were_named() {
        let told = |text: &str| seeds(text).map(|seeds| seeds.to_string());
        assert_eq!(told("0..3,7,9"), Ok("0..3,7,9".to_owned()));
        assert_eq!(told("18446744073709551615"), Ok("18446744073709551615".to_owned()));
        assert_eq!(seeds("1,1,0..1").map(|seeds| seeds.once_each()), Ok(vec![1, 0]));
    }
}
