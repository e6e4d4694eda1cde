//! SVGA-P as a method.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use graphfill_data::{CellMask, Labels, splits};
use graphfill_engine::{
    Likelihood, Lower, MISSING_CATEGORY, Plan, Recorded, Schedule, Session, TensorStore, Tensors,
};

use super::components::{MAX_FIELD_FEATURES, PASSES_OF_EDGES, is_value};
use super::correction;
use super::evidence;
use super::model::{INPUT, Model, OFFSET, OFFSET_SCALE};
use super::prior::{Input, Prior, RowInput, SavedPrior, rows_of};
use super::row_model::{
    BATCH_ROWS, Batches, MAX_ROWS_AT_ONCE, MAX_TRAINING_ROWS, Names, RowModel, STEP, TREES_SCALE,
};
use super::row_prediction::RowNetwork;
use super::spectral::{self, Embedding};
use super::wide::{self, WideFitted};
use crate::context::Context;
use crate::error::Result;
use crate::learning::{
    Criterion, DecoderSpec, EarlyStopping, LABEL_BIAS, LABEL_WEIGHT, LikelihoodOptions,
    Likelihoods, Observed, Prepared, Purpose, SavedModel, TrainableModel, TrainedImputer,
    TrainedModel, TrainingConfig, add_bias, has_parameter, only_binary_blocks, parameter_of,
};
use crate::method::{Fitted, LabelUse, Method, MethodInfo, Task};
use crate::parameters;
use crate::parameters::{Allowed, Parameterised, Parameters, Tuning};
use crate::svga::{Known, NormalisedGraph, PREDICTION, TRAINING};

parameters! {
    /// SVGA on a propagation prior.
    pub struct SvgaP {
        /// width of hidden and latent rows
        hidden: Option<usize> = None, Allowed::WIDTH, tuned Tuning::Numbers(&[128.0, 256.0, 512.0]),
            default "256; 128 where single cells are missing";
        /// λ, weight of the GMRF that keeps neighbours alike
        lambda: f32 = 0.1, Allowed::WEIGHT, tuned Tuning::Numbers(&[0.0, 0.01, 0.1, 1.0]);
        /// β, variance scale of the prior: larger values weaken the GMRF
        beta: f32 = 0.1, Allowed::Number { min: 1e-6, max: 1e6 }, tuned Tuning::Numbers(&[0.1, 1.0]);
        /// of Adam
        learning_rate: Option<f32> = None, Allowed::LEARNING_RATE,
            tuned Tuning::Numbers(&[5e-4, 1e-3, 2e-3, 4e-3]),
            default "0.002; 0.003 where single cells are missing";
        /// share of latents dropped before the decoders
        dropout: Option<f32> = None, Allowed::DROPOUT, tuned Tuning::Numbers(&[0.0, 0.5]),
            default "0.5 for 0/1 blocks, 0 for other tables";
        /// models that are averaged
        models: usize = 3, Allowed::Whole { min: 1.0, max: 100.0 };
        /// updates without a better validation score before training ends
        patience: Option<u64> = None, Allowed::UPDATES,
            default "50; none where rows with missing cells are trained in batches";
    }
}

/// The updates of a row network that sees batches: they are cheaper, and need to be more.
const MAX_BATCH_UPDATES: u64 = 1500;

/// Which network corrects the prior.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Network {
    /// A graph network, where rows are known or unknown as a whole.
    Graph,
    /// A network of single rows, where they have known cells of their own.
    Rows,
}

impl SvgaP {
    /// Everything that was left open, by the rule for the table and its network.
    fn resolved(&self, task: &Task<'_>, network: Network) -> SvgaP {
        let mut resolved = self.clone();
        let (hidden, learning_rate) = match network {
            Network::Graph => (256, 0.002),
            Network::Rows => (128, 0.003),
        };
        resolved.hidden.get_or_insert(hidden);
        resolved.learning_rate.get_or_insert(learning_rate);
        resolved.dropout.get_or_insert(if only_binary_blocks(task) { 0.5 } else { 0.0 });
        // With batches the learning rate falls: the last updates are the best.
        let patience = if is_batched(task, network) { MAX_BATCH_UPDATES } else { 50 };
        resolved.patience.get_or_insert(patience);
        resolved
    }

    fn config(&self, task: &Task<'_>, network: Network) -> TrainingConfig {
        let (epoch, max_updates) = match is_batched(task, network) {
            true => (50, MAX_BATCH_UPDATES),
            false => (10, 600),
        };
        TrainingConfig {
            stopping: EarlyStopping { epoch, max_updates, patience: self.patience.unwrap_or(50) },
            models: self.models,
            unvalidated_updates: 60,
            criterion: Criterion::AllMetrics,
        }
    }
}

impl Method for SvgaP {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: "svga-p",
            title: "SVGA on a propagation prior",
            about: "Blends several propagations into a prior for every cell, as if it were unknown, and learns where the prior is wrong with a graph network and SVGA's Gaussian Markov random field. Needs a tenth of SVGA's updates.",
            reference: "",
            edges: "its prior also propagates along out-arcs and along in-arcs, its network takes edges as undirected; edge weights count",
            parameters: SvgaP::PARAMETERS,
        }
    }

    fn fit_task(&self, task: &Task<'_>) -> Result<Box<dyn Fitted>> {
        match WideFitted::fit(self, task)? {
            Some(fitted) => Ok(Box::new(fitted)),
            None => self.fit_whole(task),
        }
    }

    fn label_use(&self) -> LabelUse {
        LabelUse::Learned
    }

    fn expected_seconds(&self, task: &Task<'_>) -> Option<f64> {
        Some(expected_seconds(task))
    }

    fn restore(&self, task: &Task<'_>, state: &TensorStore) -> Result<Box<dyn Fitted>> {
        match WideFitted::restore(self, task, state)? {
            Some(fitted) => Ok(Box::new(fitted)),
            None => self.restore_whole(task, state),
        }
    }
}

impl SvgaP {
    /// Fits one model to a table.
    pub(super) fn fit_whole(&self, task: &Task<'_>) -> Result<Box<dyn Fitted>> {
        let network = match evidence::is_there(task, task.unknown) {
            true => Network::Rows,
            false => Network::Graph,
        };
        let method = self.resolved(task, network);
        let config = method.config(task, network);
        let model = SvgaPModel::new(method, task, network, None)?;
        Ok(Box::new(TrainedImputer::fit(&model, &config, task)?))
    }

    /// The saved model of a whole table.
    pub(super) fn restore_whole(
        &self,
        task: &Task<'_>,
        state: &TensorStore,
    ) -> Result<Box<dyn Fitted>> {
        let saved = SavedModel::read(state, task)?;
        // The folds of the prior follow the seed: the same estimates need the same folds.
        let context = Context { seed: saved.seed, ..task.context.clone() };
        let task = &Task { context: &context, ..*task };
        let prior = SavedPrior::read(state)?;
        let (method, network) = (self.configured(&saved.parameters)?, prior.network());
        let saved = Some((saved.likelihoods, prior));
        let model = SvgaPModel::new(method, task, network, saved)?;
        Ok(Box::new(TrainedImputer::restore(&model, task, state)?))
    }
}

/// Whether an update sees a batch of rows rather than all.
fn is_batched(task: &Task<'_>, network: Network) -> bool {
    network == Network::Rows && task.features.rows() > MAX_ROWS_AT_ONCE
}

/// The inputs of programs, by name.
type Inputs = Vec<(String, Vec<f32>)>;

struct SvgaPModel {
    /// Resolved.
    method: SvgaP,
    graph: NormalisedGraph,
    /// The likelihoods and the prior of a saved model.
    saved: Option<(Likelihoods, SavedPrior)>,
    nodes: usize,
    classes: usize,
    network: Network,
    /// What the row network sees, and how many batches it has, as last prepared.
    rows: RefCell<Option<(RowInput, usize)>>,
    /// The names of all batches that there may be.
    batches: Vec<Names>,
    /// Of the graph, when it is first needed.
    embedding: OnceCell<Embedding>,
}

impl SvgaPModel {
    fn new(
        method: SvgaP,
        task: &Task<'_>,
        network: Network,
        saved: Option<(Likelihoods, SavedPrior)>,
    ) -> Result<Self> {
        let graph = NormalisedGraph::new(task.graph)?;
        Ok(SvgaPModel {
            method,
            graph,
            saved,
            nodes: task.graph.nodes(),
            classes: task.labels.map_or(0, |labels| labels.classes.len()),
            network,
            rows: RefCell::new(None),
            batches: (0..MAX_TRAINING_ROWS / BATCH_ROWS).map(Names::of).collect(),
            embedding: OnceCell::new(),
        })
    }

    /// The spectral embedding of the graph, where the prior has a use for it: for numbers of rows that are
    /// known or unknown as a whole.
    fn embedding(&self, task: &Task<'_>, unknown: &CellMask) -> Option<&Embedding> {
        let features = task.features;
        let has_values = features.groups().iter().any(|group| is_value(&group.kind));
        let partly = |row: usize| !unknown.is_whole(row) && !unknown.cells(row).is_empty();
        let rows = features.rows();
        let is_wanted = self.network == Network::Graph
            && has_values
            && features.width() <= MAX_FIELD_FEATURES
            && spectral::is_possible(task.graph, rows - unknown.whole_rows())
            && !(0..rows).any(partly);
        is_wanted.then(|| self.embedding.get_or_init(|| Embedding::of(task.graph)))
    }

    fn width(&self) -> usize {
        self.method.hidden.unwrap_or(256)
    }

    fn learning_rate(&self) -> f32 {
        self.method.learning_rate.unwrap_or(0.002)
    }

    /// The programs where rows have known cells of their own: one of an update by all rows, or one for
    /// each batch of them and one of the step. Predictions need none.
    fn row_programs(
        &self,
        task: &Task<'_>,
        unknown: &CellMask,
        (likelihoods, prior, trees): (&Likelihoods, &[f32], Option<&[f32]>),
        input: RowInput,
        purpose: Purpose,
    ) -> Result<(Vec<Recorded>, Inputs)> {
        let from = self.learning_rate();
        let model = RowModel {
            width: self.width(),
            context: input.context.len() / self.nodes.max(1),
            has_trees: trees.is_some(),
            cells: evidence::cells_of(task.features),
            hidden_rows: evidence::hidden_rows(task.features, unknown),
            schedule: match is_batched(task, self.network) {
                true => Schedule::Cosine { from, to: 0.1 * from, steps: MAX_BATCH_UPDATES },
                false => Schedule::Constant(from),
            },
        };
        let batches = match purpose {
            Purpose::Training => batches(task, unknown),
            Purpose::Inference => Vec::new(),
        };
        let count = batches.len();
        let kind = if count > 1 { Batches::Many } else { Batches::One };
        let columns = [&input.values, &input.known, &input.context, prior].into_iter().chain(trees);
        let columns: Vec<(&[f32], usize)> =
            columns.map(|values| (values, values.len() / self.nodes.max(1))).collect();
        let labels = task.labels.filter(|labels| labels.known() > 0);
        let (mut programs, mut inputs) = (Vec::new(), Vec::new());
        for (names, rows) in self.batches.iter().zip(batches) {
            let of_inputs =
                [&names.values, &names.known, &names.context, &names.offset, &names.trees];
            for (name, &(values, width)) in of_inputs.into_iter().zip(&columns) {
                inputs.push((name.clone(), rows_of(values, &rows, width)));
            }
            let labels = labels.map(|labels| labels_of(labels, &rows)).transpose()?;
            let features = Observed::of_rows(task.features, unknown, likelihoods, rows)?;
            programs.push(model.training(names, &Known { features, labels }, kind)?);
        }
        if kind == Batches::Many {
            programs.push(model.step(labels.map(|_| self.classes))?);
        }
        self.rows.replace(Some((input, count)));
        Ok((programs, inputs))
    }

    /// The programs where rows are known or unknown as a whole.
    fn graph_programs(
        &self,
        task: &Task<'_>,
        unknown: &CellMask,
        (likelihoods, prior): (&Likelihoods, &[f32]),
        (input, columns): (Vec<f32>, usize),
        purpose: Purpose,
    ) -> Result<(Vec<Recorded>, Inputs)> {
        let model = Model {
            width: self.width(),
            inputs: columns,
            dropout: self.method.dropout.unwrap_or(0.0),
            lambda: self.method.lambda,
            beta: self.method.beta,
            learning_rate: self.learning_rate(),
        };
        let mut programs = vec![model.prediction(&self.graph)?];
        let mut inputs = vec![(INPUT.to_owned(), input)];
        if purpose == Purpose::Training {
            let features = Observed::features(task.features, unknown, likelihoods)?;
            let offset = rows_of(prior, &features.rows, task.features.width());
            inputs.push((OFFSET.to_owned(), offset));
            let known = Known { features, labels: Observed::labels(task.labels)? };
            programs.insert(0, model.training(&self.graph, &known)?);
        }
        Ok((programs, inputs))
    }
}

impl TrainableModel for SvgaPModel {
    fn name(&self) -> &'static str {
        "svga-p"
    }

    fn parameters(&self) -> Parameters {
        self.method.parameters()
    }

    /// Where there are batches, the step follows in the next update, so that the losses are those of
    /// the batch.
    fn update(&self, number: u64) -> Vec<&str> {
        match &*self.rows.borrow() {
            Some((_, batches)) if *batches > 1 => {
                vec![STEP, &self.batches[number as usize % batches].program]
            }
            _ => vec![TRAINING],
        }
    }

    fn memory_parameter(&self) -> Lower {
        Lower::halved("the hidden width", "svga-p.hidden".to_owned(), self.width())
    }

    fn prepare(&self, task: &Task<'_>, unknown: &CellMask, purpose: Purpose) -> Result<Prepared> {
        let likelihoods = match &self.saved {
            Some((likelihoods, _)) => likelihoods.clone(),
            None => Likelihoods::fit(task.features, unknown, LikelihoodOptions::PLAIN),
        };
        let saved = self.saved.as_ref().map(|(_, prior)| prior);
        let embedding = self.embedding(task, unknown);
        let prior = Prior::of(task, unknown, &likelihoods, self.network, saved, embedding)?;
        let scores = prior.scores.as_slice();
        let (programs, inputs) = match prior.input {
            Input::Rows(input) => {
                let from = (&likelihoods, scores, prior.trees.as_deref());
                self.row_programs(task, unknown, from, input, purpose)?
            }
            Input::Prior(input, columns) => {
                let from = (&likelihoods, scores);
                self.graph_programs(task, unknown, from, (input, columns), purpose)?
            }
        };
        let trees = prior.trees.map(|trees| (Arc::new(trees), TREES_SCALE));
        let mut losses = vec!["loss", "features"];
        if task.labels.is_some_and(|labels| labels.known() > 0) {
            losses.push("labels");
        }
        if self.network == Network::Graph && self.method.lambda > 0.0 {
            losses.push("gmrf");
        }
        let spec = DecoderSpec {
            prior_logits: [(Arc::new(prior.scores), OFFSET_SCALE)]
                .into_iter()
                .chain(trees)
                .collect(),
            found: prior.saved.write(),
            predictions: match self.network {
                Network::Graph => vec![PREDICTION.to_owned()],
                Network::Rows => Vec::new(),
            },
            ..DecoderSpec::linear(task, PREDICTION, likelihoods, &losses)
        };
        Ok(Prepared { plan: Plan::new(programs)?, inputs, spec })
    }

    /// The row network needs no row but those that are asked for. Its latents are the corrections
    /// Z W themselves, which have fewer columns than Z: the decoder is the identity.
    fn read(
        &self,
        spec: &DecoderSpec,
        session: &mut Session,
        saved: Option<&Tensors>,
        rows: Option<&[u32]>,
    ) -> Result<TrainedModel> {
        let prepared = self.rows.borrow();
        let Some((input, _)) = prepared.as_ref() else { return spec.read(session, saved) };
        let parameter = |name: &str| parameter_of(session, saved, name);
        let network = RowNetwork::of(&parameter)?;
        let bias = parameter("features.bias")?;
        let all: Vec<u32> = (0..self.nodes as u32).collect();
        let corrections =
            network.decoded(input, rows.unwrap_or(&all), &parameter("features.weight")?);
        let latent = match rows {
            None => corrections,
            Some(rows) => scattered(&corrections, rows, self.nodes, bias.len()),
        };
        let has_labels = self.classes > 0 && has_parameter(session, saved, LABEL_WEIGHT);
        let class_logits = match has_labels && rows.is_none() {
            true => {
                let mut logits = network.decoded(input, &all, &parameter(LABEL_WEIGHT)?);
                add_bias(&mut logits, &parameter(LABEL_BIAS)?);
                Some(logits)
            }
            false => None,
        };
        Ok(TrainedModel {
            latent,
            weight: identity(bias.len()),
            bias: Some(bias),
            factors: spec
                .prior_logits
                .iter()
                .map(|(_, scale)| parameter(scale))
                .collect::<Result<_>>()?,
            class_logits,
        })
    }
}

/// The rows of each batch that the row network is trained with. Rows of which nothing is known teach
/// nothing; where all rows are seen at once, they are there all the same.
fn batches(task: &Task<'_>, unknown: &CellMask) -> Vec<Vec<u32>> {
    let all = 0..task.features.rows() as u32;
    if all.len() <= MAX_ROWS_AT_ONCE {
        return vec![all.collect()];
    }
    let seen: Vec<u32> = all.filter(|&row| !unknown.is_whole(row as usize)).collect();
    let mut sample = splits::shuffled(&seen, task.context.seed.wrapping_add(1));
    sample.truncate((seen.len() / BATCH_ROWS * BATCH_ROWS).min(MAX_TRAINING_ROWS));
    match sample.is_empty() {
        true => vec![seen],
        false => sample.chunks(BATCH_ROWS).map(<[u32]>::to_vec).collect(),
    }
}

/// The labels of some rows, in their order.
fn labels_of(labels: &Labels, rows: &[u32]) -> Result<Observed> {
    let code = |&row: &u32| labels.codes[row as usize].unwrap_or(MISSING_CATEGORY);
    let likelihood = Likelihood::new(rows.len());
    let codes = rows.iter().map(code).collect();
    let likelihood = likelihood.categorical(labels.classes.len(), codes, 1.0)?;
    Ok(Observed { rows: (0..rows.len() as u32).collect(), likelihood: Arc::new(likelihood) })
}

fn identity(size: usize) -> Vec<f32> {
    let mut identity = vec![0.0; size * size];
    identity.iter_mut().step_by(size + 1).for_each(|entry| *entry = 1.0);
    identity
}

/// Rows put where they belong among all nodes, the others zero.
fn scattered(values: &[f32], rows: &[u32], nodes: usize, width: usize) -> Vec<f32> {
    let mut all = vec![0.0f32; nodes * width];
    for (&row, values) in rows.iter().zip(values.chunks_exact(width.max(1))) {
        all[row as usize * width..][..width].copy_from_slice(values);
    }
    all
}

/// About how long training takes on this machine, in seconds: the products of all updates, the edges that
/// propagation passes, and trees, at rates that any CPU, or any GPU, of the last years reaches.
fn expected_seconds(task: &Task<'_>) -> f64 {
    let features = task.features.width();
    match wide::plan(task) {
        Some((rest, has_blocks)) => {
            let blocks = if has_blocks { seconds_of(task, features, false) } else { 0.0 };
            blocks + seconds_of(task, rest, true)
        }
        None => seconds_of(task, features, evidence::is_there(task, task.unknown)),
    }
}

/// The same for a table of so many features, whose rows are evidence or not.
fn seconds_of(task: &Task<'_>, features: usize, has_evidence: bool) -> f64 {
    const OPERATIONS_PER_SECOND: f64 = 3e10;
    const EDGE_CELLS_PER_SECOND: f64 = 1e9;
    const GPU_TO_CPU: f64 = 50.0;
    let (nodes, features) = (task.features.rows() as f64, features as f64);
    let products = if has_evidence {
        let (updates, rows) = match nodes > MAX_ROWS_AT_ONCE as f64 {
            true => (MAX_BATCH_UPDATES as f64, BATCH_ROWS as f64),
            false => (600.0, nodes),
        };
        // One model says how long to train, three are averaged.
        4.0 * updates * 6.0 * 128.0 * rows * (5.0 * features + 128.0)
    } else {
        let observed = nodes - task.unknown.whole_rows() as f64;
        let (updates, width, inputs) = (600.0, 256.0, features.min(256.0));
        updates * 6.0 * width * (nodes * (inputs + 2.0 * width) + observed * features)
    };
    let edge_cells = task.graph.all_neighbours().len() as f64 * features * PASSES_OF_EDGES;
    let threads = rayon::current_num_threads().min(8) as f64;
    let seconds = (products / OPERATIONS_PER_SECOND + edge_cells / EDGE_CELLS_PER_SECOND) / threads;
    let seconds = if task.context.device.is_cuda() { seconds / GPU_TO_CPU } else { seconds };
    // The prior is computed twice, on the CPU.
    seconds + 2.0 * correction::core_seconds(task.features) / threads
}
