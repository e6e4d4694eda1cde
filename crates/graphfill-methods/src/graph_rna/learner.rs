//! GraphRNA's programs for a table: some that learn, each from walks of its own from some of the known
//! nodes, and some that predict, each a run of nodes.

use graphfill_data::CellMask;
use graphfill_engine::random::{Key, uniforms};
use graphfill_engine::{Lower, Plan};

use super::GraphRna;
use super::places::Places;
use super::walks::{WalkConfig, Walks};
use crate::error::{MethodError, Result};
use crate::learning::{
    DecoderSpec, Likelihoods, NumericBlocks, Observed, Prepared, Purpose, TrainableModel,
    published_likelihoods,
};
use crate::method::Task;
use crate::parameters::{Parameterised, Parameters};

/// The most nodes that one update learns from.
const BATCH: usize = 2048;
/// Updates that learn from walks of their own, at least.
const MIN_PROGRAMS: usize = 4;
/// Places that one program predicts from.
const PREDICTED_PLACES: usize = 1 << 16;
/// The stream that shuffles nodes, and the set that predictions walk.
const SHUFFLE: u32 = 0x5348_5546;
const PREDICTION_SET: u64 = u32::MAX as u64;

pub(super) struct GraphRnaModel {
    method: GraphRna,
    /// Those of a saved model.
    likelihoods: Option<Likelihoods>,
    updates: Vec<String>,
    predictions: Vec<String>,
    nodes: usize,
    observed: usize,
}

impl GraphRnaModel {
    pub(super) fn new(method: GraphRna, task: &Task<'_>, likelihoods: Option<Likelihoods>) -> Self {
        let nodes = task.graph.nodes();
        // The number of programs may not depend on which of the cells are hidden for validation.
        let observed = (0..nodes).filter(|&row| !task.unknown.is_whole(row)).count();
        let updates = observed.div_ceil(BATCH).max(MIN_PROGRAMS);
        let predictions = nodes.div_ceil(nodes_at_once(method.walks())).max(1);
        GraphRnaModel {
            method,
            likelihoods,
            updates: (0..updates).map(|number| format!("training {number}")).collect(),
            predictions: (0..predictions).map(|number| format!("prediction {number}")).collect(),
            nodes,
            observed,
        }
    }

    fn programs(
        &self,
        task: &Task<'_>,
        unknown: &CellMask,
        likelihoods: &Likelihoods,
        purpose: Purpose,
    ) -> Result<Plan> {
        let (model, walk_config) = (self.method.model(), self.method.walks());
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
        let updates = if purpose == Purpose::Training { &self.updates[..] } else { &[] };
        for (number, name) in updates.iter().enumerate() {
            let rows = batch(&observed, number, batches, task.context.seed);
            let walks = Walks::draw(&places, &rows, walk_config, task.context.seed, number as u64);
            let known = Observed::of_rows(task.features, unknown, likelihoods, rows)?;
            programs.push(model.training(name, &inputs, &walks, &known)?);
        }
        let all: Vec<u32> = (0..self.nodes as u32).collect();
        for (name, rows) in self.predictions.iter().zip(all.chunks(nodes_at_once(walk_config))) {
            let walks = Walks::draw(&places, rows, walk_config, task.context.seed, PREDICTION_SET);
            programs.push(model.prediction(name, &inputs, &walks)?);
        }
        Ok(Plan::new(programs)?)
    }
}

fn nodes_at_once(walk_config: WalkConfig) -> usize {
    (PREDICTED_PLACES / (walk_config.paths * walk_config.length)).max(1)
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

impl TrainableModel for GraphRnaModel {
    fn name(&self) -> &'static str {
        "graph-rna"
    }

    fn parameters(&self) -> Parameters {
        self.method.parameters()
    }

    fn update(&self, number: u64) -> Vec<&str> {
        vec![&self.updates[(number % self.updates.len() as u64) as usize]]
    }

    fn memory_parameter(&self) -> Lower {
        Lower::halved("the number of walks", "graph-rna.paths".to_owned(), self.method.paths)
    }

    fn prepare(&self, task: &Task<'_>, unknown: &CellMask, purpose: Purpose) -> Result<Prepared> {
        let options = published_likelihoods(NumericBlocks::Standardised);
        let fitted = || Likelihoods::fit(task.features, unknown, options);
        let likelihoods = self.likelihoods.clone().unwrap_or_else(fitted);
        let plan = self.programs(task, unknown, &likelihoods, purpose)?;
        let spec = DecoderSpec {
            predictions: self.predictions.clone(),
            ..DecoderSpec::linear(task, "", likelihoods, &["loss"])
        };
        Ok(Prepared { plan, inputs: Vec::new(), spec })
    }
}
