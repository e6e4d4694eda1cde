//! What happened in training: losses and validation scores, line by line.

use std::fmt::Write;

/// The losses that methods tell: all together, and the parts.
const LOSSES: [&str; 4] = ["loss", "features", "labels", "field"];

/// One line: the state after some updates of one model.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryLine {
    /// Which model, from 0.
    pub model: usize,
    /// How many updates it has had.
    pub update: u64,
    /// Its losses, in the order of [`History::losses`].
    pub losses: Vec<f32>,
    /// Its score on validation cells, where it was scored; more is better.
    pub validation: Option<f64>,
    /// Its score on each of the task's watched sets of cells.
    pub watched: Vec<f64>,
}

/// The course of a training.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    /// The names of the losses.
    pub losses: Vec<String>,
    /// What each model is for, in words.
    pub models: Vec<String>,
    /// The lines, in the order of time.
    pub lines: Vec<HistoryLine>,
}

impl History {
    /// As CSV with a header, the same whatever the method: a loss that it doesn't have is empty.
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
