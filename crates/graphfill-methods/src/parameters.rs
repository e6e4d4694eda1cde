//! The parameters of methods: what there is, what the caller fixed, what was chosen.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::{MethodError, Result};

/// A parameter of a method, for the help and for checks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParameterInfo {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a few words.
    pub about: &'static str,
    /// Where it comes from when the caller says nothing.
    pub default: &'static str,
    /// The smallest allowed value.
    pub least: f64,
    /// The largest allowed value.
    pub most: f64,
    /// Whether it must be whole.
    pub whole: bool,
}

/// Values by parameter name.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Parameters(BTreeMap<String, f64>);

impl Parameters {
    /// The value of a parameter, if it is set.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }

    /// Sets a parameter.
    pub fn set(&mut self, name: &str, value: f64) {
        self.0.insert(name.to_owned(), value);
    }

    /// With a parameter set.
    #[must_use]
    pub fn with(mut self, name: &str, value: f64) -> Self {
        self.set(name, value);
        self
    }

    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, &value)| (name.as_str(), value))
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
                let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                return Err(MethodError::Parameter(format!(
                    "method '{method}' has no parameter '{name}'; its parameters: {names}"
                )));
            };
            if !(info.least..=info.most).contains(&value) || (info.whole && value.fract() != 0.0) {
                let whole = if info.whole { "a whole number" } else { "a number" };
                return Err(MethodError::Parameter(format!(
                    "{method}.{name} = {value} is out of range: it is {whole} from {} to {}",
                    info.least, info.most
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
    /// The fixed parameters of a method.
    pub fn of(&self, method: &str) -> Parameters {
        self.0.get(method).cloned().unwrap_or_default()
    }

    /// Fixes a parameter.
    pub fn fix(&mut self, method: &str, name: &str, value: f64) {
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
        let value: f64 = value
            .trim()
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite())
            .ok_or_else(|| format!("'{value}' in '{text}' is no number"))?;
        self.fix(method.trim(), name.trim(), value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_checks() {
        let mut fixed = FixedParameters::default();
        fixed.parse("arb.alpha=0.98").expect("well formed");
        assert_eq!(fixed.of("arb").get("alpha"), Some(0.98));
        assert!(fixed.parse("alpha=1").is_err());
        assert!(fixed.parse("arb.alpha=much").is_err());
        let info = ParameterInfo {
            name: "alpha",
            about: "",
            default: "",
            least: 0.0,
            most: 1.0,
            whole: false,
        };
        assert!(fixed.of("arb").check("arb", &[info]).is_ok());
        let wrong = Parameters::default().with("alpha", 1.5).check("arb", &[info]);
        assert!(wrong.expect_err("out of range").to_string().contains("arb.alpha"));
        let unknown = Parameters::default().with("gamma", 1.0).check("arb", &[info]);
        assert!(unknown.expect_err("unknown").to_string().contains("alpha"));
    }
}
