//! GraphRNA: a recurrent network that reads attributed random walks.
//!
//! Walks step from a node to a neighbour with probability α, else to one of its known attributes, and
//! from an attribute to one of its nodes. What is known of the places of a node's walks is read both
//! ways by gated recurrent units; the mean of all states beside that of the first ones is the node's
//! latent, and a linear layer decodes it to all columns. α = 0.4, walks of 5 places, dropout 0.5, how
//! states are pooled and how far gradients are shortened are as in the authors' program, which
//! classifies nodes whose attributes are all known. What is ours:
//! - A node without known attributes takes part in walks as a node, with zeros for its attributes.
//! - Walks don't see the attributes of the node where they begin (`own_attributes`), since those are
//!   what is estimated: a network that reads them repeats them, and has learnt nothing about nodes
//!   without. Cora's recall at 10 is 0.127 if they are seen, hardly that of the column mean.
//! - Rows of known attributes have length 1, in place of batch normalisation, and there is no weight
//!   decay, lest it outweigh the small gradients of a mean over all cells.
//! - States have a width of 32 each way, which makes the 64 of the comparison with other methods.
//! - Walks are drawn beforehand, five a node for each of several updates, which take turns; estimates
//!   have walks of their own.

mod learner;
mod model;
mod places;
mod settings;
mod walks;

use graphfill_engine::TensorStore;

use learner::GraphRnaLearner;
use settings::{NAME, PARAMETERS, Settings};

use crate::error::Result;
use crate::learning::{Learnt, Saved};
use crate::method::{Fitted, Method, MethodInfo, Task};
use crate::tuning::{Axis, AxisValues};

/// Huang and others' method.
#[derive(Debug, Clone, Copy)]
pub struct GraphRna;

impl Method for GraphRna {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: NAME,
            title: "Graph recurrent network with attributed random walks",
            about: "Walks at random over nodes and attributes, reads the walks of a node both ways with a recurrent network, and decodes the mean of what was read to all columns.",
            reference: "Huang, Song, Li and Hu: Graph Recurrent Networks with Attributed Random Walks, KDD 2019",
            parameters: PARAMETERS,
        }
    }

    fn fit<'a>(&self, task: &Task<'a>) -> Result<Box<dyn Fitted + 'a>> {
        let learner = GraphRnaLearner::new(Settings::of(task)?, task);
        Ok(Box::new(Learnt::fit(&learner, &learner.settings.config, task)?))
    }

    fn grid(&self) -> &'static [Axis] {
        &[
            Axis { name: "alpha", values: AxisValues::Numbers(&[0.2, 0.4, 0.6, 0.8]) },
            Axis { name: "length", values: AxisValues::Numbers(&[3.0, 5.0, 8.0]) },
            Axis { name: "hidden", values: AxisValues::Numbers(&[32.0, 64.0]) },
            Axis { name: "dropout", values: AxisValues::Numbers(&[0.0, 0.5]) },
            Axis { name: "learning_rate", values: AxisValues::Numbers(&[1e-3, 5e-3]) },
        ]
    }

    fn restore<'a>(&self, task: &Task<'a>, saved: &TensorStore) -> Result<Box<dyn Fitted + 'a>> {
        let Saved { fixed, scales, seed, .. } = Saved::read(saved, task)?;
        // Walks follow the seed: the same estimates need the same walks.
        let task = &Task { seed, ..*task };
        let settings = Settings::of(&Task { fixed: &fixed, ..*task })?;
        let mut learner = GraphRnaLearner::new(settings, task);
        learner.scales = Some(scales);
        Ok(Box::new(Learnt::restore(&learner, task, saved)?))
    }
}
