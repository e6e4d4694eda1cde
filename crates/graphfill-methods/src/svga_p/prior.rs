//! The prior of every cell, and what the network sees of it.
//!
//!   o   the blend of the components, as scores                                 nodes × features
//!   U = unit(o − column means), compressed where it is wide                      nodes × inputs

use graphfill_data::CellMask;
use graphfill_engine::{Shape, TensorStore};
use rayon::prelude::*;

use super::blend::{Blend, Own, Parts, Rows};
use super::components::{DIRECTED_WAYS, PanelComponents, Source, VALUE_WAYS};
use super::compression::{compressed, leading_space};
use super::correction::{self, Correction, Sight, View};
use super::evidence::{RowTable, Scales};
use super::method::Network;
use super::spectral::Embedding;
use crate::error::{MethodError, Result};
use crate::features::ColumnMeans;
use crate::learning::Likelihoods;
use crate::method::Task;

/// Wider inputs are compressed to so many columns.
const MAX_INPUTS: usize = 256;

/// The prior of a table.
pub(super) struct Prior {
    /// o.
    pub(super) scores: Vec<f32>,
    /// What trees add to o, where the network weighs them itself.
    pub(super) trees: Option<Vec<f32>>,
    /// What the network sees.
    pub(super) input: Input,
    /// From which the prior of nodes that arrive later can be made.
    pub(super) saved: SavedPrior,
}

/// What the network sees.
pub(super) enum Input {
    /// U, of so many columns.
    Prior(Vec<f32>, usize),
    /// The rows themselves.
    Rows(RowInput),
}

/// What a network sees of rows that have known cells of their own.
pub(super) struct RowInput {
    /// The number of rows.
    pub(super) rows: usize,
    /// z of the known cells, rows × features.
    pub(super) values: Vec<f32>,
    /// Which are known, rows × features.
    pub(super) known: Vec<f32>,
    /// Components and degree, rows × columns of the context.
    pub(super) context: Vec<f32>,
}

impl RowInput {
    /// Some rows, what the network sees side by side.
    pub(super) fn gathered(&self, rows: &[u32]) -> Vec<f32> {
        let parts = [&self.values, &self.known, &self.context];
        let widths = parts.map(|part| part.len() / self.rows.max(1));
        let mut gathered = Vec::with_capacity(rows.len() * widths.iter().sum::<usize>());
        for &row in rows {
            for (part, width) in parts.iter().zip(widths) {
                gathered.extend_from_slice(&part[row as usize * width..(row as usize + 1) * width]);
            }
        }
        gathered
    }
}

/// What was found out about a table.
#[derive(Debug, Clone)]
pub(super) struct SavedPrior {
    blend: Blend,
    /// Whether the blend has components along out-arcs and along in-arcs.
    has_directions: bool,
    evidence: Option<Scales>,
    /// Trees, in tables that are narrow enough.
    correction: Option<Correction>,
    /// The columns' means of o.
    means: Vec<f32>,
    /// What U is compressed with, features × inputs.
    space: Option<Vec<f32>>,
}

impl Prior {
    /// The prior where `unknown` may not be seen; weights and means are those of a saved one, if
    /// there is one.
    pub(super) fn of(
        task: &Task<'_>,
        unknown: &CellMask,
        likelihoods: &Likelihoods,
        network: Network,
        saved: Option<&SavedPrior>,
        embedding: Option<&Embedding>,
    ) -> Result<Self> {
        let has_directions = saved.map_or(task.graph.is_directed(), |saved| saved.has_directions);
        check_memory(task, has_directions)?;
        let centres = ColumnMeans::of(task.features, unknown);
        let source = Source::new(task, unknown, likelihoods, &centres.means, embedding)
            .with_directions(has_directions);
        let panels = source.panels();
        task.context.progress.begin("svga-p: propagating", Some(panels.len() as u64));
        let mut components: Vec<PanelComponents> = Vec::new();
        for range in panels.iter() {
            components.push(source.components(range)?);
            task.context.progress.advance(1);
        }
        task.context.progress.end();
        let parts = Parts { task, unknown, likelihoods, panels: &components, own: None };
        if network == Network::Rows {
            return Self::with_evidence(&parts, has_directions, saved);
        }
        let blend = saved.map_or_else(|| Blend::fit(&parts), |saved| saved.blend.clone());
        let mut scores = blend.prior(&parts, None);
        let mut correction = None;
        if correction::is_possible(task.features) {
            let table = RowTable::new(task, unknown, likelihoods, &components);
            let blended = scores.clone();
            let view = View {
                parts: &parts,
                table: &table,
                seen: &[],
                blank: &blended,
                seed: task.context.seed,
            };
            let own = match saved {
                Some(saved) => saved.correction.clone(),
                None => Some(Correction::fit(&view)),
            };
            own.iter().for_each(|own| own.apply(&view, Sight::Nothing, &mut scores));
            correction = own;
        }
        let columns = task.features.width();
        let means = saved.map_or_else(|| column_means(&scores, columns), |s| s.means.clone());
        let wide = directions(&scores, &means);
        let space = match saved {
            Some(saved) => saved.space.clone(),
            None if columns > MAX_INPUTS => Some(leading_space(&wide, columns, MAX_INPUTS)),
            None => None,
        };
        let (input, inputs) = match &space {
            Some(space) => (compressed(&wide, columns, space, MAX_INPUTS), MAX_INPUTS),
            None => (wide, columns),
        };
        let saved = SavedPrior { blend, has_directions, evidence: None, correction, means, space };
        Ok(Prior { scores, trees: None, input: Input::Prior(input, inputs), saved })
    }

    /// The prior where rows say something of themselves.
    fn with_evidence(
        parts: &Parts<'_>,
        has_directions: bool,
        saved: Option<&SavedPrior>,
    ) -> Result<Self> {
        let Parts { task, unknown, likelihoods, panels, .. } = *parts;
        let table = RowTable::new(task, unknown, likelihoods, panels);
        let evidence = match saved.and_then(|saved| saved.evidence.clone()) {
            Some(evidence) => evidence,
            None => Scales::fit(&table, task.context.seed),
        };
        let estimates = evidence.estimates(&table);
        let is_blank: Vec<bool> =
            (0..task.features.rows()).map(|row| table.is_blank(row)).collect();
        let blank = match is_blank.contains(&true) {
            true => evidence.blank_estimates(&table),
            false => Vec::new(),
        };
        let own = Own { estimates: &estimates, blank: &blank, is_blank: &is_blank };
        let whole = Parts { own: Some(own), ..*parts };
        let blend = saved.map_or_else(|| Blend::fit(&whole), |saved| saved.blend.clone());
        let scores = blend.prior(&whole, None);
        let blank_scores = match blank.is_empty() {
            true => Vec::new(),
            false => blend.prior(&whole, Some(Rows::Blank)),
        };
        let view = View {
            parts: &whole,
            table: &table,
            seen: &scores,
            blank: &blank_scores,
            seed: task.context.seed,
        };
        let correction = match saved {
            Some(saved) => saved.correction.clone(),
            None => correction::is_possible(task.features).then(|| Correction::fit(&view)),
        };
        let grown = correction.as_ref().filter(|correction| correction.has_trees());
        let trees = grown.map(|correction| {
            let (mut seen, mut blank) = (scores.clone(), blank_scores.clone());
            correction.apply(&view, Sight::Cells, &mut seen);
            correction.apply(&view, Sight::Nothing, &mut blank);
            let width = task.features.width();
            for row in (0..is_blank.len()).filter(|&row| is_blank[row]) {
                let own = row * width..(row + 1) * width;
                seen[own.clone()].copy_from_slice(&blank[own]);
            }
            seen.iter_mut().zip(&scores).for_each(|(corrected, own)| *corrected -= own);
            seen
        });
        let (values, context) = evidence.inputs(&table);
        let input = Input::Rows(RowInput {
            rows: task.features.rows(),
            values,
            known: table.known(),
            context,
        });
        let evidence = Some(evidence);
        let (means, space) = (Vec::new(), None);
        let saved = SavedPrior { blend, has_directions, evidence, correction, means, space };
        Ok(Prior { scores, trees, input, saved })
    }
}

/// Some rows of a matrix.
pub(super) fn rows_of(matrix: &[f32], rows: &[u32], width: usize) -> Vec<f32> {
    let row = |&row: &u32| &matrix[row as usize * width..(row as usize + 1) * width];
    rows.iter().flat_map(row).copied().collect()
}

/// Components, the prior and what the network sees of it lie side by side for a while; narrow tables also
/// have their cells and contexts, on one or two scales.
fn check_memory(task: &Task<'_>, has_directions: bool) -> Result<()> {
    let (rows, columns) = (task.features.rows(), task.features.width());
    let narrow = if correction::is_possible(task.features) { 9 } else { 0 };
    let directed = if has_directions { DIRECTED_WAYS } else { 0 };
    let matrices = VALUE_WAYS + directed + 3 + narrow;
    let needed = (rows * columns * size_of::<f32>() * matrices) as u64;
    let largest = || format!("the prior holds {matrices} matrices of {rows} × {columns}");
    let limit = task.context.memory_limit();
    Ok(limit.check(needed, largest, "the number of columns, or take the method arb")?)
}

const BLEND: &str = "blend";
/// There if the blend has components along out-arcs and along in-arcs.
const DIRECTIONS: &str = "prior directions";
const EVIDENCE: &str = "evidence";
const CORRECTION: &str = "correction";
const MEANS: &str = "prior means";
const SPACE: &str = "prior space";

impl SavedPrior {
    /// Which network it was made for.
    pub(super) fn network(&self) -> Network {
        if self.evidence.is_some() { Network::Rows } else { Network::Graph }
    }

    /// As texts and tensors.
    pub(super) fn write(&self) -> TensorStore {
        let mut store = TensorStore::default();
        let blend = serde_json::to_string(&self.blend).unwrap_or_default();
        store.texts.insert(BLEND.to_owned(), blend);
        if self.has_directions {
            store.texts.insert(DIRECTIONS.to_owned(), "out, in".to_owned());
        }
        if let Some(evidence) = &self.evidence {
            let text = serde_json::to_string(evidence).unwrap_or_default();
            store.texts.insert(EVIDENCE.to_owned(), text);
        }
        if let Some(correction) = &self.correction {
            let text = serde_json::to_string(correction).unwrap_or_default();
            store.texts.insert(CORRECTION.to_owned(), text);
        }
        let means = (Shape::new(1, self.means.len()), self.means.clone());
        store.tensors.insert(MEANS.to_owned(), means);
        if let Some(space) = &self.space {
            let shape = Shape::new(self.means.len(), MAX_INPUTS);
            store.tensors.insert(SPACE.to_owned(), (shape, space.clone()));
        }
        store
    }

    /// What [`SavedPrior::write`] wrote.
    pub(super) fn read(store: &TensorStore) -> Result<Self> {
        let broken = |what: &str| MethodError::Table(format!("the model has no {what}"));
        let blend = store.texts.get(BLEND).and_then(|text| serde_json::from_str(text).ok());
        let tensor = |name: &str| store.tensors.get(name).map(|(_, values)| values.clone());
        let evidence = match store.texts.get(EVIDENCE) {
            Some(text) => {
                Some(serde_json::from_str(text).map_err(|_| broken("readable evidence"))?)
            }
            None => None,
        };
        let correction = match store.texts.get(CORRECTION) {
            Some(text) => Some(serde_json::from_str(text).map_err(|_| broken("readable trees"))?),
            None => None,
        };
        Ok(SavedPrior {
            correction,
            blend: blend.ok_or_else(|| broken("blend"))?,
            has_directions: store.texts.contains_key(DIRECTIONS),
            evidence,
            means: tensor(MEANS).ok_or_else(|| broken("means"))?,
            space: tensor(SPACE),
        })
    }
}

fn column_means(scores: &[f32], columns: usize) -> Vec<f32> {
    let mut sums = vec![0.0f64; columns];
    for row in scores.chunks_exact(columns.max(1)) {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += f64::from(*value);
        }
    }
    let rows = (scores.len() / columns.max(1)).max(1) as f64;
    sums.iter().map(|sum| (sum / rows) as f32).collect()
}

/// Rows less the means, scaled to length one.
fn directions(scores: &[f32], means: &[f32]) -> Vec<f32> {
    let mut out = scores.to_vec();
    out.par_chunks_mut(means.len().max(1)).for_each(|row| {
        row.iter_mut().zip(means).for_each(|(value, mean)| *value -= mean);
        let length = row.iter().map(|value| value * value).sum::<f32>().sqrt();
        if length > 0.0 {
            row.iter_mut().for_each(|value| *value /= length);
        }
    });
    out
}
