//! Parameters of methods: one declaration per parameter ([`parameters!`](crate::parameters)), values
//! by name ([`Parameters`]), and what a caller sets by method ([`ParamOverrides`]).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use graphfill_data::did_you_mean;
use serde::{Deserialize, Serialize};

use crate::error::{MethodError, Result, suggest};
use crate::method::{Method, MethodInfo};

/// One parameter of a method: from this declaration follow parsing, checks, help and tuning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParameterInfo {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a few words.
    pub about: &'static str,
    /// The default value, or the rule that gives it.
    pub default: &'static str,
    /// The values that it may have.
    pub allowed: Allowed,
    /// The values that a search tries.
    pub tuning: Tuning,
}

/// The values of one parameter that a search tries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tuning {
    /// None: the parameter stays as it is.
    Fixed,
    /// Numbers.
    Numbers(&'static [f64]),
    /// Words.
    Words(&'static [&'static str]),
}

impl Tuning {
    /// How many values there are.
    pub fn len(&self) -> usize {
        match self {
            Tuning::Fixed => 0,
            Tuning::Numbers(numbers) => numbers.len(),
            Tuning::Words(words) => words.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at a position.
    pub fn value(&self, at: usize) -> Option<Value> {
        match self {
            Tuning::Fixed => None,
            Tuning::Numbers(numbers) => numbers.get(at).map(|&number| number.into()),
            Tuning::Words(words) => words.get(at).map(|&word| word.into()),
        }
    }
}

/// The values that a parameter may have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Allowed {
    /// A number in a range, both ends included.
    Number {
        /// The smallest.
        min: f64,
        /// The largest.
        max: f64,
    },
    /// A whole number in a range, both ends included.
    Whole {
        /// The smallest.
        min: f64,
        /// The largest.
        max: f64,
    },
    /// One of some words.
    Words(&'static [&'static str]),
}

impl Allowed {
    /// A whole number from 1 to a width that no machine has the memory for.
    pub const WIDTH: Allowed = Allowed::Whole { min: 1.0, max: 16_384.0 };
    /// A learning rate.
    pub const LEARNING_RATE: Allowed = Allowed::Number { min: 1e-7, max: 1.0 };
    /// A share of numbers that are dropped.
    pub const DROPOUT: Allowed = Allowed::Number { min: 0.0, max: 0.95 };
    /// A number of updates.
    pub const UPDATES: Allowed = Allowed::Whole { min: 1.0, max: 1e9 };
    /// The weight of a part of a loss.
    pub const WEIGHT: Allowed = Allowed::Number { min: 0.0, max: 1e6 };

    fn admits(&self, value: &Value) -> bool {
        match (self, value) {
            (Allowed::Number { min, max }, Value::Number(number)) => (*min..=*max).contains(number),
            (Allowed::Whole { min, max }, Value::Number(number)) => {
                (*min..=*max).contains(number) && number.fract() == 0.0
            }
            (Allowed::Words(words), Value::Word(word)) => words.contains(&word.as_str()),
            _ => false,
        }
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allowed::Number { min, max } => write!(formatter, "a number from {min} to {max}"),
            Allowed::Whole { min, max } => write!(formatter, "a whole number from {min} to {max}"),
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

    /// The value of a parameter, if it is set.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Checks the ranges of those values that the method declares.
    pub fn check_values(&self, info: &MethodInfo) -> Result<()> {
        let declared = |name: &str| info.parameters.iter().any(|known| known.name == name);
        let own = self.0.iter().filter(|(name, _)| declared(name));
        let own = own.map(|(name, value)| (name.clone(), value.clone())).collect();
        Parameters(own).check(info.name, info.parameters)
    }

    /// Checks names and ranges against what the method declares.
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

/// Parameters that a caller sets, by method: what `--param METHOD.NAME=VALUE` and a file of
/// parameters say. [`Registry::with_overrides`](crate::Registry::with_overrides) applies them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ParamOverrides(BTreeMap<String, Parameters>);

impl ParamOverrides {
    /// The parameters of a method that are set.
    pub fn of(&self, method: &str) -> Parameters {
        self.0.get(method).cloned().unwrap_or_default()
    }

    /// Sets a parameter.
    pub fn set(&mut self, method: &str, name: &str, value: impl Into<Value>) {
        self.0.entry(method.to_owned()).or_default().set(name, value);
    }

    /// The methods that have any.
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
        self.set(method.trim(), name.trim(), value);
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

/// A type that the field of a parameter may have.
pub trait ParameterField: Sized {
    /// What a builder takes.
    type Given;
    /// The field of a value that was given.
    fn given(value: Self::Given) -> Self;
    /// The value; none where it is left to the method.
    fn value(&self) -> Option<Value>;
    /// The field of a value of the right type.
    fn from_value(value: &Value) -> Option<Self>;
}

macro_rules! number_fields {
    ($($type:ty: $to:expr;)*) => {
        $(impl ParameterField for $type {
            type Given = $type;
            fn given(value: $type) -> Self {
                value
            }
            fn value(&self) -> Option<Value> {
                let to: fn($type) -> f64 = $to;
                Some(Value::Number(to(*self)))
            }
            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::Number(number) => Some(*number as $type),
                    Value::Word(_) => None,
                }
            }
        })*
    };
}

number_fields! {
    f64: |number| number;
    f32: plain;
    usize: |number| number as f64;
    u64: |number| number as f64;
}

impl ParameterField for bool {
    type Given = bool;
    fn given(value: bool) -> Self {
        value
    }
    fn value(&self) -> Option<Value> {
        Some(if *self { "yes" } else { "no" }.into())
    }
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Word(word) => Some(word == "yes"),
            Value::Number(_) => None,
        }
    }
}

impl<T: ParameterField<Given = T>> ParameterField for Option<T> {
    type Given = T;
    fn given(value: T) -> Self {
        Some(value)
    }
    fn value(&self) -> Option<Value> {
        self.as_ref().and_then(T::value)
    }
    fn from_value(value: &Value) -> Option<Self> {
        T::from_value(value).map(Some)
    }
}

/// The words of a boolean parameter.
pub const YES_NO: Allowed = Allowed::Words(&["yes", "no"]);

/// Declares an enum that is a parameter: its variants and their words.
#[macro_export]
macro_rules! word_parameter {
    ($(#[$meta:meta])* pub enum $name:ident {
        $($(#[doc = $doc:literal])+ $variant:ident = $word:literal,)*
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $($(#[doc = $doc])+ $variant,)*
        }

        impl $name {
            /// The words for all variants.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// Its word.
            pub fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)*
                }
            }
        }

        impl $crate::ParameterField for $name {
            type Given = $name;
            fn given(value: Self) -> Self {
                value
            }
            fn value(&self) -> Option<$crate::Value> {
                Some(self.word().into())
            }
            fn from_value(value: &$crate::Value) -> Option<Self> {
                match value {
                    $crate::Value::Word(word) => match word.as_str() {
                        $($word => Some($name::$variant),)*
                        _ => None,
                    },
                    $crate::Value::Number(_) => None,
                }
            }
        }
    };
}

/// The parameters of a method, declared by [`parameters!`](crate::parameters).
pub trait Parameterised {
    /// The values that are set or have a constant default.
    fn parameters(&self) -> Parameters;

    /// The method with these parameters in place of its own, checked against its declaration.
    fn with_parameters(&self, parameters: &Parameters) -> Result<Arc<dyn Method>>;
}

/// Declares the struct of a method with its parameters. Each has one declaration: documentation,
/// name, type, default, allowed values, and the values that a search tries.
///
/// A field whose default is a constant has that type; one whose default depends on the table is an
/// `Option`, and the rule is given in words. The struct gets `new`, a builder for every parameter,
/// `PARAMETERS`, and the trait [`Parameterised`].
///
/// ```
/// use graphfill_methods::{Allowed, Tuning, parameters};
///
/// parameters! {
///     /// Shrinks means towards zero.
///     pub struct Shrunk {
///         /// how strongly
///         strength: f64 = 0.1, Allowed::WEIGHT, tuned Tuning::Numbers(&[0.0, 0.1, 1.0]);
///         /// after how many neighbours to stop
///         limit: Option<usize> = None, Allowed::Whole { min: 1.0, max: 100.0 }, default "all";
///     }
/// }
/// # use graphfill_methods::*;
/// # impl Method for Shrunk {
/// #     fn info(&self) -> &'static MethodInfo { unimplemented!() }
/// #     fn fit_task(&self, _: &Task<'_>) -> Result<Box<dyn Fitted>> { unimplemented!() }
/// # }
/// assert_eq!(Shrunk::new().strength(1.0).strength, 1.0);
/// assert_eq!(Shrunk::PARAMETERS[0].about, "how strongly");
/// assert_eq!(Shrunk::PARAMETERS[0].default, "0.1");
/// ```
#[macro_export]
macro_rules! parameters {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $([$($extra:ident : $extra_type:ty = $extra_default:expr),*])? {
            $(
                #[doc = $about:literal]
                $field:ident : $type:ty = $default:expr, $allowed:expr
                $(, tuned $tuning:expr)? $(, default $words:literal)?;
            )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone)]
        #[non_exhaustive]
        pub struct $name {
            $($(pub(crate) $extra: $extra_type,)*)?
            $(#[doc = $about] pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($($extra: $extra_default,)*)? $($field: $default,)* }
            }
        }

        impl $name {
            /// The parameters, with ranges, defaults and what a search tries.
            pub const PARAMETERS: &'static [$crate::ParameterInfo] = &[
                $($crate::ParameterInfo {
                    name: stringify!($field),
                    about: $about.trim_ascii(),
                    default: $crate::parameters!(@default $default $(, $words)?),
                    allowed: $allowed,
                    tuning: $crate::parameters!(@tuning $($tuning)?),
                },)*
            ];

            /// The method with its defaults.
            pub fn new() -> Self {
                <Self as Default>::default()
            }

            /// The method with these parameters in place of its own, checked.
            #[allow(unused_mut)]
            pub fn configured(&self, parameters: &$crate::Parameters) -> $crate::Result<Self> {
                let info = $crate::Method::info(self);
                parameters.check(info.name, info.parameters)?;
                let mut method = self.clone();
                $(
                    if let Some(value) = parameters.value(stringify!($field))
                        && let Some(value) = $crate::ParameterField::from_value(value)
                    {
                        method.$field = value;
                    }
                )*
                $crate::Parameterised::parameters(&method).check_values(info)?;
                Ok(method)
            }

            $(
                #[doc = concat!("Sets:", $about, ".")]
                #[must_use]
                pub fn $field(mut self, value: <$type as $crate::ParameterField>::Given) -> Self {
                    self.$field = <$type as $crate::ParameterField>::given(value);
                    self
                }
            )*
        }

        impl $crate::Parameterised for $name {
            #[allow(unused_mut, unused_variables)]
            fn parameters(&self) -> $crate::Parameters {
                let declared = $crate::Method::info(self).parameters;
                let is_declared = |name: &str| declared.iter().any(|info| info.name == name);
                let mut parameters = $crate::Parameters::default();
                $(
                    if let Some(value) = $crate::ParameterField::value(&self.$field)
                        && is_declared(stringify!($field))
                    {
                        parameters.set(stringify!($field), value);
                    }
                )*
                parameters
            }

            fn with_parameters(
                &self,
                parameters: &$crate::Parameters,
            ) -> $crate::Result<std::sync::Arc<dyn $crate::Method>> {
                Ok(std::sync::Arc::new(self.configured(parameters)?))
            }
        }
    };
    (@default $default:expr, $words:literal) => { $words };
    (@default $default:expr) => { stringify!($default) };
    (@tuning $tuning:expr) => { $tuning };
    (@tuning) => { $crate::Tuning::Fixed };
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALPHA: ParameterInfo = ParameterInfo {
        name: "alpha",
        about: "",
        default: "",
        allowed: Allowed::Number { min: 0.0, max: 1.0 },
        tuning: Tuning::Fixed,
    };
    const ENCODER: ParameterInfo = ParameterInfo {
        name: "encoder",
        about: "",
        default: "",
        allowed: Allowed::Words(&["gcn", "gat"]),
        tuning: Tuning::Fixed,
    };

    #[test]
    fn reads_and_checks() {
        let mut fixed = ParamOverrides::default();
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
            let mut fixed = ParamOverrides::default();
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
