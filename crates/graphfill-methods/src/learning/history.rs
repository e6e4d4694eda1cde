//! The history of a training: losses and validation scores, line by line.

use std::fmt::Write;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The losses that methods report: the total, and its parts.
const LOSSES: [&str; 4] = ["loss", "features", "labels", "gmrf"];

/// One line: the state after some updates of one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistoryLine {
    /// The position of the model, from 0.
    pub model: usize,
    /// The number of updates so far.
    pub update: u64,
    /// Its losses, in the order of [`History::losses`].
    pub losses: Vec<f32>,
    /// Its score on validation cells, where it was scored; higher is better.
    pub validation: Option<f64>,
    /// Its score on each of the task's watched sets of cells.
    #[serde(serialize_with = "with_nulls", deserialize_with = "from_nulls")]
    pub watched: Vec<f64>,
}

/// All lines of a training.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// The names of the losses.
    pub losses: Vec<String>,
    /// What each model is for, in words.
    pub models: Vec<String>,
    /// The lines, in the order of time.
    pub lines: Vec<HistoryLine>,
}

impl History {
    /// As CSV with a header, the same whatever the method: a loss that it does not have is empty.
    pub fn to_csv(&self) -> String {
        let mut text = format!("model,purpose,update,{},validation\n", LOSSES.join(","));
        for line in &self.lines {
            let purpose = self.models.get(line.model).map_or("", String::as_str);
            let loss = |name: &&str| {
                let at = self.losses.iter().position(|known| known == name);
                at.map_or_else(String::new, |at| line.losses[at].to_string())
            };
            let losses: Vec<String> = LOSSES.iter().map(loss).collect();
            let validation = line.validation.map_or_else(String::new, |score| score.to_string());
            let HistoryLine { model, update, .. } = line;
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{model},{purpose},{update},{},{validation}", losses.join(","));
        }
        text
    }
}

/// JSON has no NaN: a score that is not a number is null.
fn with_nulls<S: Serializer>(scores: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    scores
        .iter()
        .map(|score| score.is_finite().then_some(score))
        .collect::<Vec<_>>()
        .serialize(serializer)
}

fn from_nulls<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let scores = Vec::<Option<f64>>::deserialize(deserializer)?;
    Ok(scores.into_iter().map(|score| score.unwrap_or(f64::NAN)).collect())
}
