//! Values for some methods and data sets alone: `sat=0..2`, `@pubmed=0..2`, `sat@pubmed=0`.

use std::fmt;

use graphfill::methods::Method;

use super::UsageError;

/// A value and what it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scoped<T> {
    method: Option<String>,
    dataset: Option<String>,
    value: T,
}

impl<T> Scoped<T> {
    /// The value.
    pub(crate) fn value(&self) -> &T {
        &self.value
    }

    /// Fails if it is for a method or data set that is not part of the run: a typing error, most likely.
    pub(crate) fn check(
        &self,
        methods: &[&dyn Method],
        datasets: &[&str],
    ) -> Result<(), UsageError> {
        let is_method = |name: &String| methods.iter().any(|method| method.info().name == name);
        let is_subject = |name: &String| datasets.contains(&name.as_str());
        match (&self.method, &self.dataset) {
            (Some(name), _) if !is_method(name) => {
                Err(UsageError(format!("{name}=…: no method of this run has that name")))
            }
            (_, Some(name)) if !is_subject(name) => {
                Err(UsageError(format!("@{name}=…: no data set of this run has that name")))
            }
            _ => Ok(()),
        }
    }

    fn holds_for(&self, method: &str, dataset: &str) -> bool {
        self.method.as_deref().is_none_or(|own| own == method)
            && self.dataset.as_deref().is_none_or(|own| own == dataset)
    }

    fn narrowness(&self) -> usize {
        usize::from(self.method.is_some()) + usize::from(self.dataset.is_some())
    }
}

impl<T: fmt::Display> fmt::Display for Scoped<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.method, &self.dataset) {
            (None, None) => {}
            (method, None) => write!(formatter, "{}=", method.as_deref().unwrap_or_default())?,
            (method, Some(dataset)) => {
                write!(formatter, "{}@{dataset}=", method.as_deref().unwrap_or_default())?;
            }
        }
        self.value.fmt(formatter)
    }
}

/// The value for a method on a data set: the narrowest, and the last of those.
pub(crate) fn value_for<'a, T>(all: &'a [Scoped<T>], method: &str, dataset: &str) -> Option<&'a T> {
    let fitting = all.iter().filter(|scoped| scoped.holds_for(method, dataset));
    fitting.max_by_key(|scoped| scoped.narrowness()).map(|scoped| &scoped.value)
}

/// A parser of `[METHOD][@DATASET]=VALUE`, or of the value alone.
pub(super) fn scoped<T>(
    value: fn(&str) -> Result<T, String>,
) -> impl Fn(&str) -> Result<Scoped<T>, String> + Clone {
    move |text| {
        // 0..=9 is a range, no scope.
        let Some((scope, rest)) = text.split_once('=').filter(|(scope, _)| !scope.ends_with('.'))
        else {
            return Ok(Scoped { method: None, dataset: None, value: value(text)? });
        };
        let (method, dataset) = scope.split_once('@').unwrap_or((scope, ""));
        let named = |name: &str| (!name.is_empty()).then(|| name.trim().to_owned());
        Ok(Scoped { method: named(method), dataset: named(dataset), value: value(rest)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Result<u32, String> {
        text.parse().map_err(|_| format!("'{text}' is no number"))
    }

    #[test]
    fn the_narrowest_scope_counts() {
        let parse = scoped(number);
        let all: Vec<Scoped<u32>> = ["1", "sat=2", "@pubmed=3", "sat@pubmed=4", "7"]
            .into_iter()
            .map(|text| parse(text).unwrap_or_else(|error| panic!("{error}")))
            .collect();
        let value = |method, dataset| value_for(&all, method, dataset).copied();
        assert_eq!(value("svga", "cora"), Some(7));
        assert_eq!(value("sat", "cora"), Some(2));
        assert_eq!(value("svga", "pubmed"), Some(3));
        assert_eq!(value("sat", "pubmed"), Some(4));
        assert!(parse("sat=many").is_err());
        assert_eq!(value_for::<u32>(&[], "sat", "cora"), None);
    }
}
