//! What is saved beside the numbers of a model, so that it can be made again: the method, its
//! parameters, the scales of its columns, and which table and graph it was trained on.

use std::collections::BTreeMap;

use graphfill_data::UndirectedGraph;
use graphfill_engine::TensorStore;

use super::scales::Scales;
use crate::error::{MethodError, Result};
use crate::features::Features;
use crate::method::Task;
use crate::parameters::{FixedParameters, Parameters};

/// The text that says which method saved a model.
pub const METHOD: &str = "method";
/// The text that says how many models at the end of a course are averaged.
pub const MODELS: &str = "models";
const PARAMETERS: &str = "parameters";
const SCALES: &str = "scales";
const GRAPH: &str = "graph";
const NODES: &str = "nodes";
const COLUMNS: &str = "columns";
const CLASSES: &str = "classes";
const SEED: &str = "seed";

/// The texts of a model.
pub fn texts(
    method: &str,
    models: usize,
    parameters: &Parameters,
    scales: &Scales,
    task: &Task<'_>,
) -> BTreeMap<String, String> {
    let lines: Vec<String> =
        parameters.iter().map(|(name, value)| format!("{method}.{name}={value}")).collect();
    let scales = serde_json::to_string(scales).unwrap_or_default();
    let texts = [
        (METHOD, method.to_owned()),
        (MODELS, models.to_string()),
        (PARAMETERS, lines.join("\n")),
        (SCALES, scales),
        (GRAPH, graph_fingerprint(task.graph)),
        (NODES, task.graph.nodes().to_string()),
        (COLUMNS, columns(task.features)),
        (CLASSES, classes(task)),
        (SEED, task.seed.to_string()),
    ];
    texts.map(|(name, text)| (name.to_owned(), text)).into()
}

/// What a saved model was trained with.
#[derive(Debug, Clone, PartialEq)]
pub struct Saved {
    /// Its parameters, as if the caller had fixed them.
    pub fixed: FixedParameters,
    /// The scales of its columns.
    pub scales: Scales,
    /// How many nodes its graph had.
    pub nodes: usize,
    /// Whether the graph is still the same.
    pub same_graph: bool,
    /// The seed that it was trained with.
    pub seed: u64,
}

impl Saved {
    /// What is saved in `store`, if it fits the task's columns and classes.
    pub fn read(store: &TensorStore, task: &Task<'_>) -> Result<Self> {
        let text = |name: &str| {
            let found = store.texts.get(name).map(String::as_str);
            found.ok_or_else(|| MethodError::Table(format!("the model has no '{name}'")))
        };
        let (saved, found) = (text(COLUMNS)?, columns(task.features));
        if saved != found {
            let problem = first_difference(saved, &found);
            return Err(MethodError::Table(format!(
                "the model is of another table: {problem}\n  a model fills tables with the columns that it was trained on, of the same types"
            )));
        }
        check_classes(text(CLASSES)?, task)?;
        let mut fixed = FixedParameters::default();
        for line in text(PARAMETERS)?.lines() {
            fixed.parse(line).map_err(MethodError::Table)?;
        }
        let scales = serde_json::from_str(text(SCALES)?)
            .map_err(|error| MethodError::Table(format!("the model's scales: {error}")))?;
        let nodes = text(NODES)?.parse().unwrap_or(0);
        let same_graph = text(GRAPH)? == graph_fingerprint(task.graph);
        let seed = text(SEED)?.parse().unwrap_or(0);
        Ok(Saved { fixed, scales, nodes, same_graph, seed })
    }

    /// Fails if the graph is another one: the method of that name learns a vector for every node.
    pub fn check_same_graph(&self, name: &str) -> Result<()> {
        match self.same_graph {
            true => Ok(()),
            false => Err(MethodError::Table(format!(
                "the model is of another graph, of {} nodes: {name} learns a vector for every node of its own\n  svga-p estimates nodes that arrive later; or train again",
                self.nodes
            ))),
        }
    }
}

/// What has changed about the graph since a model was saved, in words.
pub fn changes(store: &TensorStore, graph: &UndirectedGraph) -> Option<String> {
    let nodes: usize = store.texts.get(NODES)?.parse().ok()?;
    if *store.texts.get(GRAPH)? == graph_fingerprint(graph) {
        return None;
    }
    let arrived = graph.nodes().saturating_sub(nodes);
    Some(match arrived {
        0 => "the graph has changed since the model was trained: estimates follow its edges as they are now, without training".to_owned(),
        1 => "1 node arrived since the model was trained: it is estimated from its neighbours, without training".to_owned(),
        _ => format!("{arrived} nodes arrived since the model was trained: they are estimated from their neighbours, without training"),
    })
}

/// Names, kinds and levels of all columns, a line each.
fn columns(features: &Features<'_>) -> String {
    let line = |group: &crate::features::Group| {
        format!("{} {:?} {}", group.name, group.kind, group.features.len())
    };
    features.groups().iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The names of the classes that can be learnt from, a line each.
fn classes(task: &Task<'_>) -> String {
    let labels = task.labels.filter(|labels| labels.known() > 0);
    labels.map_or_else(String::new, |labels| labels.classes.join("\n"))
}

/// Classes are told apart by their position: others would be filled in under wrong names.
fn check_classes(saved: &str, task: &Task<'_>) -> Result<()> {
    let found = classes(task);
    let (false, Some(labels)) = (found.is_empty() || saved == found, task.labels) else {
        return Ok(());
    };
    let list = |classes: &str| classes.lines().collect::<Vec<_>>().join(", ");
    let problem = match saved {
        "" => "it was trained without labels".to_owned(),
        _ => format!("it knows the classes {}, and here are {}", list(saved), list(&found)),
    };
    Err(MethodError::OtherLabels { problem, column: labels.name.clone() })
}

fn first_difference(saved: &str, found: &str) -> String {
    let mut pairs = saved.lines().zip(found.lines());
    match pairs.find(|(saved, found)| saved != found) {
        Some((saved, found)) => format!("it has a column {saved}, and here is {found}"),
        None => format!(
            "it has {} columns, and here are {}",
            saved.lines().count(),
            found.lines().count()
        ),
    }
}

/// A number that changes with any edge or weight (FNV-1a over the neighbour lists).
fn graph_fingerprint(graph: &UndirectedGraph) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |word: u64| hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
    graph.indptr().iter().for_each(|&offset| add(offset as u64));
    graph.all_neighbours().iter().for_each(|&node| add(u64::from(node)));
    for &weight in graph.all_weights().unwrap_or_default() {
        add(u64::from(weight.to_bits()));
    }
    format!("{hash:016x}")
}
