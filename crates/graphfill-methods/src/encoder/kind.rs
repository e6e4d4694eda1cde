//! The kinds of encoders, by their names.

use std::fmt;
use std::str::FromStr;

use crate::parameters::{ParameterField, Value};

/// Which encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum EncoderKind {
    /// Graph convolution (Kipf and Welling, 2017).
    #[default]
    Gcn,
    /// Own rows beside means over neighbours (GraphSAGE; Hamilton and others, 2017).
    Sage,
    /// Graph attention (Veličković and others, 2018).
    Gat,
    /// Graph convolution without activations (Wu and others, 2019).
    Sgc,
    /// A row for each node: only the GMRF knows the graph.
    Linear,
}

impl EncoderKind {
    /// All of them.
    pub const ALL: [EncoderKind; 5] = [
        EncoderKind::Gcn,
        EncoderKind::Sage,
        EncoderKind::Gat,
        EncoderKind::Sgc,
        EncoderKind::Linear,
    ];

    /// The names of all of them.
    pub const WORDS: &'static [&'static str] = &["gcn", "sage", "gat", "sgc", "linear"];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            EncoderKind::Gcn => "gcn",
            EncoderKind::Sage => "sage",
            EncoderKind::Gat => "gat",
            EncoderKind::Sgc => "sgc",
            EncoderKind::Linear => "linear",
        }
    }
}

impl fmt::Display for EncoderKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for EncoderKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        EncoderKind::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| {
            let known = EncoderKind::ALL.map(EncoderKind::name).join(", ");
            format!("'{text}' is not an encoder; the encoders are {known}")
        })
    }
}

impl ParameterField for EncoderKind {
    type Given = EncoderKind;
    fn given(value: EncoderKind) -> Self {
        value
    }
    fn value(&self) -> Option<Value> {
        Some(self.name().into())
    }
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Word(word) => word.parse().ok(),
            Value::Number(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for kind in EncoderKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        let error = "GCN".parse::<EncoderKind>().expect_err("no such name");
        assert_eq!(error, "'GCN' is not an encoder; the encoders are gcn, sage, gat, sgc, linear");
    }
}
