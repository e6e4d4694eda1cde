//! GraphRNA's programs for a table: some that learn, each from walks of its own from some of the known
//! nodes, and some that predict, each a run of nodes.

use graphfill_data::CellMask;
use graphfill_engine::random::{Key, uniforms};
use graphfill_engine::{Lower, Plan, Session, TensorStore};

use super::places::Places;
use super::settings::{NAME, Settings};
use super::walks::{Manner, Walks};
use crate::error::{MethodError, Result};
use crate::learning::{
    BinaryLoss, Counts, Learner, NumericBlocks, Observed, Outlet, Prepared, ScaleOptions, Scales,
    TrainedModel, texts,
};
use crate::method::Task;
use crate::parameters::Parameters;

/// The most nodes that one update learns from.
const BATCH: usize = 2048;
/// Updates that learn from walks of their own, at least.
const LEAST_PROGRAMS: usize = 4;
/// Places that one program predicts from.
const PREDICTED_PLACES: usize = 1 << 16;
/// The stream that shuffles nodes, and the set that predictions walk.
const SHUFFLE: u32 = 0x5348_5546;
const PREDICTION_SET: u64 = u32::MAX as u64;

pub(super) struct GraphRnaLearner {
    pub(super) settings: Settings,
    /// Those of a saved model.
    pub(super) scales: Option<Scales>,
    updates: Vec<String>,
    predictions: Vec<String>,
    nodes: usize,
    observed: usize,
}

impl GraphRnaLearner {
    pub(super) fn new(settings: Settings, task: &Task<'_>) -> Self {
        let nodes = task.graph.nodes();
        // The number of programs may not depend on which of the cells are hidden for validation.
        let observed = (0..nodes).filter(|&row| !task.unknown.is_whole(row)).count();
        let updates = observed.div_ceil(BATCH).max(LEAST_PROGRAMS);
        let predictions = nodes.div_ceil(nodes_at_once(settings.manner)).max(1);
        GraphRnaLearner {
            settings,
            scales: None,
            updates: (0..updates).map(|number| format!("training {number}")).collect(),
            predictions: (0..predictions).map(|number| format!("prediction {number}")).collect(),
            nodes,
            observed,
        }
    }

    fn programs(&self, task: &Task<'_>, unknown: &CellMask, scales: &Scales) -> Result<Plan> {
        let Settings { model, manner, .. } = self.settings;
        let (places, inputs) = Places::new(task.graph, task.features, unknown);
        if places.attribute_links() == 0 {
            return Err(MethodError::Table(
                "graph-rna walks over attributes, and no known cell is one: all are zero, or each column's are all the same\n  take another method, as neighbour-mean".to_owned(),
            ));
        }
        let seen = |row: &u32| !unknown.is_whole(*row as usize);
        let observed: Vec<u32> = (0..self.nodes as u32).filter(seen).collect();
        let mut programs = Vec::new();
        let batches = self.observed.div_ceil(BATCH).max(1);
        for (number, name) in self.updates.iter().enumerate() {
            let rows = batch(&observed, number, batches, task.seed);
            let walks = Walks::draw(&places, &rows, manner, task.seed, number as u64);
            let binary = BinaryLoss::BalancedBernoulli;
            let known = Observed::of_rows(task.features, unknown, scales, binary, rows)?;
            programs.push(model.training(name, &inputs, &walks, &known)?);
        }
        let all: Vec<u32> = (0..self.nodes as u32).collect();
        for (name, rows) in self.predictions.iter().zip(all.chunks(nodes_at_once(manner))) {
            let walks = Walks::draw(&places, rows, manner, task.seed, PREDICTION_SET);
            programs.push(model.prediction(name, &inputs, &walks)?);
        }
        Ok(Plan::new(programs)?)
    }
}

fn nodes_at_once(manner: Manner) -> usize {
    (PREDICTED_PLACES / (manner.paths * manner.length)).max(1)
}

/// The nodes of one update: all of them, or every so-many'th of a shuffle that each round makes anew.
fn batch(observed: &[u32], number: usize, batches: usize, seed: u64) -> Vec<u32> {
    if batches == 1 {
        return observed.to_vec();
    }
    let mut numbers = vec![0.0f32; observed.len()];
    uniforms(Key::new(seed, SHUFFLE, (number / batches) as u64), &mut numbers);
    let mut order: Vec<usize> = (0..observed.len()).collect();
    order.sort_by(|&one, &other| numbers[one].total_cmp(&numbers[other]));
    let own = order.iter().skip(number % batches).step_by(batches);
    let mut rows: Vec<u32> = own.map(|&at| observed[at]).collect();
    rows.sort_unstable();
    rows
}

impl Learner for GraphRnaLearner {
    fn name(&self) -> &'static str {
        NAME
    }

    fn update(&self, number: u64) -> Vec<&str> {
        vec![&self.updates[(number % self.updates.len() as u64) as usize]]
    }

    fn memory_parameter(&self) -> Lower {
        Lower::halved("the number of walks", format!("{NAME}.paths"), self.settings.manner.paths)
    }

    fn prepare(&self, task: &Task<'_>, unknown: &CellMask) -> Result<Prepared> {
        let options =
            ScaleOptions { blocks: NumericBlocks::Standardised, counts: Counts::Logarithmic };
        let own = || Scales::of(task.features, unknown, options);
        let scales = self.scales.clone().unwrap_or_else(own);
        let plan = self.programs(task, unknown, &scales)?;
        let losses = vec!["loss".to_owned()];
        let outlet = Outlet { offsets: Vec::new(), scales, losses, found: TensorStore::default() };
        Ok(Prepared { plan, inputs: Vec::new(), outlet })
    }

    fn trained(&self, session: &mut Session) -> Result<TrainedModel> {
        let mut latent = Vec::new();
        for name in &self.predictions {
            session.run(name)?;
            latent.extend(session.read(name, "latent")?);
        }
        Ok(TrainedModel {
            latent,
            weight: session.buffer("features.weight")?,
            bias: Some(session.buffer("features.bias")?),
            factors: Vec::new(),
        })
    }

    fn parameters(&self) -> Parameters {
        self.settings.parameters()
    }

    fn about(&self, task: &Task<'_>, outlet: &Outlet) -> TensorStore {
        let models = self.settings.config.models;
        let texts = texts(NAME, models, &self.parameters(), &outlet.scales, task);
        TensorStore { texts, ..TensorStore::default() }
    }
}
