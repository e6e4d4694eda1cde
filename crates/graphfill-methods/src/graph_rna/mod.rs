//! GraphRNA: a recurrent network that reads attributed random walks.
//!
//! Walks step from a node to a neighbour with probability α, else to one of its known attributes, and
//! from an attribute to one of its nodes. What is known of the places of a node's walks is read both
//! ways by gated recurrent units; the mean of all states beside that of the first ones is the node's
//! latent, and a linear layer decodes it to all columns. α = 0.4, walks of 5 places, dropout 0.5, how
//! states are pooled and how far gradients are shortened are as in the authors' program, which
//! classifies nodes whose attributes are all known.
//!
//! # Differences from the paper
//! - The paper classifies nodes; here the decoder gives the columns, with a mean over known cells as the
//!   loss.
//! - A node without known attributes takes part in walks as a node, with zeros for its attributes.
//! - Walks don't see the attributes of the node where they begin (`own_attributes`), since those are
//!   what is estimated: a network that reads them repeats them, and has learned nothing about nodes
//!   without. Cora's recall at 10 is 0.127 if they are seen, hardly that of the column mean.
//! - Rows of known attributes have length 1, in place of batch normalisation, and there is no weight
//!   decay, lest it outweigh the small gradients of a mean over all cells.
//! - States have a width of 32 each way, which makes the 64 of the comparison with other methods.
//! - Walks are drawn beforehand, five a node for each of several updates, which take turns; estimates
//!   have walks of their own.

mod learner;
mod model;
mod places;
#[cfg(test)]
mod reference;
mod walks;

use graphfill_engine::TensorStore;

use learner::GraphRnaModel;
use model::Model;
pub use walks::OwnAttributes;
use walks::WalkConfig;

use crate::context::Context;
use crate::error::Result;
use crate::learning::{Criterion, EarlyStopping, SavedModel, TrainedImputer, TrainingConfig};
use crate::method::{Fitted, Method, MethodInfo, Task};
use crate::parameters;
use crate::parameters::{Allowed, Tuning};

parameters! {
    /// GraphRNA: a recurrent network over attributed random walks.
    pub struct GraphRna {
        /// width of a recurrent state, in each direction
        hidden: usize = 32, Allowed::Whole { min: 1.0, max: 4096.0 }, tuned Tuning::Numbers(&[32.0, 64.0]);
        /// vertices of a walk
        length: usize = 5, Allowed::Whole { min: 1.0, max: 100.0 }, tuned Tuning::Numbers(&[3.0, 5.0, 8.0]);
        /// walks from each node in an update
        paths: usize = 5, Allowed::Whole { min: 1.0, max: 1000.0 };
        /// probability of a step to a neighbour rather than to an attribute
        alpha: f32 = 0.4, Allowed::Number { min: 0.0, max: 1.0 },
            tuned Tuning::Numbers(&[0.2, 0.4, 0.6, 0.8]);
        /// whether walks see the attributes of the node where they begin
        own_attributes: OwnAttributes = OwnAttributes::Hidden, Allowed::Words(OwnAttributes::WORDS),
            default "hidden";
        /// of Adam
        learning_rate: f32 = 0.005, Allowed::LEARNING_RATE, tuned Tuning::Numbers(&[1e-3, 5e-3]);
        /// share of inputs and latents dropped
        dropout: f32 = 0.5, Allowed::DROPOUT, tuned Tuning::Numbers(&[0.0, 0.5]);
        /// updates without a better validation score before training ends
        patience: u64 = 300, Allowed::UPDATES;
    }
}

impl GraphRna {
    fn model(&self) -> Model {
        let GraphRna { hidden, length, dropout, learning_rate, .. } = *self;
        Model { hidden, length, dropout, learning_rate }
    }

    fn walks(&self) -> WalkConfig {
        let GraphRna { alpha, paths, length, own_attributes: own, .. } = *self;
        WalkConfig { alpha, paths, length, own }
    }

    fn config(&self) -> TrainingConfig {
        TrainingConfig {
            stopping: EarlyStopping { epoch: 20, max_updates: 4_000, patience: self.patience },
            models: 1,
            unvalidated_updates: 400,
            criterion: Criterion::Published,
        }
    }
}

impl Method for GraphRna {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: "graph-rna",
            title: "Graph recurrent network with attributed random walks",
            about: "Walks at random over nodes and attributes, reads the walks of a node both ways with a recurrent network, and decodes the mean of what was read to all columns.",
            reference: "Huang, Song, Li and Hu: Graph Recurrent Networks with Attributed Random Walks, KDD 2019",
            edges: "takes edges as undirected; edge weights count",
            parameters: GraphRna::PARAMETERS,
        }
    }

    fn fit_task(&self, task: &Task<'_>) -> Result<Box<dyn Fitted>> {
        let model = GraphRnaModel::new(self.clone(), task, None);
        Ok(Box::new(TrainedImputer::fit(&model, &self.config(), task)?))
    }

    fn restore(&self, task: &Task<'_>, state: &TensorStore) -> Result<Box<dyn Fitted>> {
        let saved = SavedModel::read(state, task)?;
        // Walks follow the seed: the same estimates need the same walks.
        let context = Context { seed: saved.seed, ..task.context.clone() };
        let task = &Task { context: &context, ..*task };
        let method = self.configured(&saved.parameters)?;
        let model = GraphRnaModel::new(method, task, Some(saved.likelihoods));
        Ok(Box::new(TrainedImputer::restore(&model, task, state)?))
    }
}
