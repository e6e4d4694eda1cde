//! The parameters of methods: what there is, what the caller fixed, what was chosen.

use std::collections::BTreeMap;
use std::fmt;

use graphfill_data::did_you_mean;
use serde::{Deserialize, Serialize};

use crate::error::{MethodError, Result, suggest};

/// A parameter of a method, for the help and for checks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParameterInfo {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a few words.
    pub about: &'static str,
    /// Where it comes from when the caller says nothing.
    pub default: &'static str,
    /// The values that it may have.
    pub allowed: Allowed,
}

/// The values that a parameter may have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Allowed {
    /// A number in a range, both ends included.
    Number {
        /// The smallest.
        least: f64,
        /// The largest.
        most: f64,
    },
    /// A whole number in a range, both ends included.
    Whole {
        /// The smallest.
        least: f64,
        /// The largest.
        most: f64,
    },
    /// One of some words.
    Words(&'static [&'static str]),
}

impl Allowed {
    fn admits(&self, value: &Value) -> bool {
        match (self, value) {
            (Allowed::Number { least, most }, Value::Number(number)) => {
                (*least..=*most).contains(number)
            }
            (Allowed::Whole { least, most }, Value::Number(number)) => {
                (*least..=*most).contains(number) && number.fract() == 0.0
            }
            (Allowed::Words(words), Value::Word(word)) => words.contains(&word.as_str()),
            _ => false,
        }
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allowed::Number { least, most } => write!(formatter, "a number from {least} to {most}"),
            Allowed::Whole { least, most } => {
                write!(formatter, "a whole number from {least} to {most}")
            }
            Allowed::Words(words) => write!(formatter, "one of {}", words.join(", ")),
        }
    }
}

/// The value of a parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Value::Number(number)
    }
}

impl From<&str> for Value {
    fn from(word: &str) -> Self {
        Value::Word(word.to_owned())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => number.fmt(formatter),
            Value::Word(word) => word.fmt(formatter),
        }
    }
}

/// Values by parameter name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Parameters(BTreeMap<String, Value>);

impl Parameters {
    /// The number that a parameter is set to, if it is.
    pub fn get(&self, name: &str) -> Option<f64> {
        match self.0.get(name)? {
            Value::Number(number) => Some(*number),
            Value::Word(_) => None,
        }
    }

    /// The word that a parameter is set to, if it is.
    pub fn word(&self, name: &str) -> Option<&str> {
        match self.0.get(name)? {
            Value::Number(_) => None,
            Value::Word(word) => Some(word),
        }
    }

    /// Sets a parameter.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// With a parameter set.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.set(name, value);
        self
    }

    /// Whether a parameter is set.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The parameters on which these and others agree.
    #[must_use]
    pub fn shared_with(&self, other: &Parameters) -> Parameters {
        let same = self.0.iter().filter(|(name, value)| other.0.get(*name) == Some(value));
        Parameters(same.map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    /// Whether none is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks names and ranges against what the method knows.
    pub fn check(&self, method: &str, known: &[ParameterInfo]) -> Result<()> {
        for (name, value) in self.iter() {
            let Some(info) = known.iter().find(|info| info.name == name) else {
                let names: Vec<&str> = known.iter().map(|info| info.name).collect();
                let closest = suggest(did_you_mean(name, names.iter().copied()));
                let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                return Err(MethodError::Parameter(format!(
                    "method '{method}' has no parameter '{name}'{closest}; its parameters: {names}"
                )));
            };
            if !info.allowed.admits(value) {
                return Err(MethodError::Parameter(format!(
                    "{method}.{name} = {value} is out of range: it is {}",
                    info.allowed
                )));
            }
        }
        Ok(())
    }
}

/// What the caller fixed, by method.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FixedParameters(BTreeMap<String, Parameters>);

impl FixedParameters {
    /// Nothing is fixed.
    pub const NONE: &'static FixedParameters = &FixedParameters(BTreeMap::new());

    /// The fixed parameters of a method.
    pub fn of(&self, method: &str) -> Parameters {
        self.0.get(method).cloned().unwrap_or_default()
    }

    /// Fixes a parameter.
    pub fn fix(&mut self, method: &str, name: &str, value: impl Into<Value>) {
        self.0.entry(method.to_owned()).or_default().set(name, value);
    }

    /// The methods that have fixed parameters.
    pub fn methods(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Takes `METHOD.NAME=VALUE`.
    pub fn parse(&mut self, text: &str) -> std::result::Result<(), String> {
        let form =
            || format!("'{text}' is not of the form METHOD.NAME=VALUE, as in arb.alpha=0.98");
        let (path, value) = text.split_once('=').ok_or_else(form)?;
        let (method, name) = path.split_once('.').ok_or_else(form)?;
        let value = match value.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Value::Number(number),
            Ok(_) => return Err(format!("'{value}' in '{text}' is no number")),
            Err(_) => Value::Word(value.trim().to_owned()),
        };
        self.fix(method.trim(), name.trim(), value);
        Ok(())
    }
}

/// 0.001, not 0.0010000000474974513.
pub(crate) fn plain(number: f32) -> f64 {
    number.to_string().parse().unwrap_or(f64::from(number))
}

impl From<String> for Value {
    fn from(word: String) -> Self {
        Value::Word(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALPHA: ParameterInfo = ParameterInfo {
        name: "alpha",
        about: "",
        default: "",
        allowed: Allowed::Number { least: 0.0, most: 1.0 },
    };
    const ENCODER: ParameterInfo = ParameterInfo {
        name: "encoder",
        about: "",
        default: "",
        allowed: Allowed::Words(&["gcn", "gat"]),
    };

    #[test]
    fn reads_and_checks() {
        let mut fixed = FixedParameters::default();
        fixed.parse("arb.alpha=0.98").expect("well formed");
        assert_eq!(fixed.of("arb").get("alpha"), Some(0.98));
        assert!(fixed.parse("alpha=1").is_err());
        assert!(fixed.parse("arb.alpha=inf").is_err());
        assert!(fixed.of("arb").check("arb", &[ALPHA]).is_ok());
        let wrong = Parameters::default().with("alpha", 1.5).check("arb", &[ALPHA]);
        assert!(wrong.expect_err("out of range").to_string().contains("arb.alpha"));
        let unknown = Parameters::default().with("gamma", 1.0).check("arb", &[ALPHA]);
        assert!(unknown.expect_err("unknown").to_string().contains("alpha"));
    }

    #[test]
    fn a_word_is_no_number_and_a_number_no_word() {
        let check = |text: &str| {
            let mut fixed = FixedParameters::default();
            fixed.parse(text).expect("well formed");
            fixed.of("svga").check("svga", &[ALPHA, ENCODER])
        };
        assert!(check("svga.encoder=gat").is_ok());
        let message = check("svga.encoder=transformer").expect_err("no such").to_string();
        assert!(message.contains("one of gcn, gat"), "{message}");
        assert!(check("svga.encoder=2").is_err());
        let message = check("svga.alpha=much").expect_err("no number").to_string();
        assert!(message.contains("from 0 to 1"), "{message}");
    }
}
