//! An update and an inference of SVGA, timed on nine graphs: a data set with a tenth to nine tenths of
//! its edges, all its nodes and its own table.
//!
//! Machines have faster and slower minutes. So every repetition goes through all nine graphs, and what
//! is reported is the median of ten.

use std::time::Instant;

use graphfill_data::{Direction, EdgeList, UndirectedGraph, splits};
use graphfill_engine::{Plan, Session};
use graphfill_methods::features::Features;
use graphfill_methods::learning::{
    Decoded, Likelihoods, NumericBlocks, Observed, TrainedModel, published_likelihoods,
};
use graphfill_methods::svga::{Known, Model, NormalisedGraph, PREDICTION, TRAINING};
use graphfill_methods::{Context, Result, Task};

use super::JobContext;
use crate::bench::{clock, published_model};
use crate::experiments::job::{Outcome, Work};
use crate::run::DiscardEstimates;
use crate::summary::median;

/// The shares of edges, in tenths.
const TENTHS: std::ops::RangeInclusive<usize> = 1..=9;
/// How often each is timed.
const REPETITIONS: usize = 10;

impl JobContext<'_> {
    /// The series `edges`, `update_ms` and `inference_ms`.
    pub(super) fn timing(&self) -> Result<Vec<(Work, Outcome)>> {
        let begin = Instant::now();
        let benchmark = self.benchmark;
        let features = Features::of(&benchmark.dataset.table);
        let hidden =
            benchmark.hiding.for_seed(&benchmark.dataset.table, &features, self.job.seed)?;
        let model = published_model(&benchmark.name);
        let options = published_likelihoods(NumericBlocks::Raw);
        let likelihoods = Likelihoods::fit(&features, &hidden.unknown, options);
        let observed = Observed::features(&features, &hidden.unknown, &likelihoods)?;
        let known = Known { features: observed, labels: None };
        let graphs: Vec<UndirectedGraph> = TENTHS
            .map(|tenths| sampled(&benchmark.graph, tenths as f64 / 10.0, self.job.seed))
            .collect();
        let (mut updates, mut inferences) =
            (vec![Vec::new(); graphs.len()], vec![Vec::new(); graphs.len()]);
        for _ in 0..REPETITIONS {
            for (at, graph) in graphs.iter().enumerate() {
                self.context.progress.check()?;
                let task = Task::new(graph, &features, &hidden.unknown, self.context);
                let mut timed = Timed::new(&model, &task, &known, &likelihoods)?;
                updates[at].push(timed.update()?);
                inferences[at].push(timed.inference(&task)?);
            }
        }
        let series = [
            ("edges", graphs.iter().map(|graph| graph.edges() as f64).collect()),
            ("update_ms", updates.iter_mut().map(|times| median(times)).collect()),
            ("inference_ms", inferences.iter_mut().map(|times| median(times)).collect()),
        ];
        let series = series.into_iter().map(|(name, values)| (name.to_owned(), values)).collect();
        let seconds = begin.elapsed().as_secs_f64();
        Ok(vec![(Work::Timing, Outcome { series, seconds, ..self.empty_outcome(Work::Timing) })])
    }
}

/// A model whose steps are timed.
struct Timed<'a> {
    model: &'a Model,
    session: Session,
    likelihoods: &'a Likelihoods,
}

impl<'a> Timed<'a> {
    fn new(
        model: &'a Model,
        task: &Task<'_>,
        known: &Known,
        likelihoods: &'a Likelihoods,
    ) -> Result<Self> {
        let context: &Context<'_> = task.context;
        let graph = NormalisedGraph::new(task.graph)?;
        let plan = Plan::new(vec![model.training(&graph, known)?, model.prediction(&graph)?])?;
        let mut plan = plan.on(&context.device);
        plan.check_memory(context.memory_limit(), "the number of data sets")?;
        Ok(Timed { model, session: Session::new(plan, 0)?, likelihoods })
    }

    /// Milliseconds of an update, after those that warm up.
    fn update(&mut self) -> Result<f64> {
        clock::warm_up(&mut self.session, TRAINING)?;
        let runs = clock::batch_size(&mut self.session, TRAINING)?;
        Ok(clock::seconds_per_run(&mut self.session, TRAINING, runs)? * 1e3)
    }

    /// Milliseconds from the graph to the estimates of all nodes, after those that warm up.
    fn inference(&mut self, task: &Task<'_>) -> Result<f64> {
        for _ in 0..clock::warming_runs(&self.session) {
            self.inferred(task)?;
        }
        let begin = Instant::now();
        self.inferred(task)?;
        Ok(milliseconds(begin))
    }

    fn inferred(&mut self, task: &Task<'_>) -> Result<()> {
        self.session.run(PREDICTION)?;
        let bias = self.model.decoder_bias.then(|| self.session.buffer("features.bias"));
        let model = TrainedModel {
            latent: self.session.read(PREDICTION, "latent")?,
            weight: self.session.buffer("features.weight")?,
            bias: bias.transpose()?,
            factors: Vec::new(),
            class_logits: None,
        };
        let decoded = Decoded {
            nodes: task.graph.nodes(),
            models: vec![model],
            prior_logits: Vec::new(),
            likelihoods: self.likelihoods.clone(),
            residuals: None,
        };
        decoded.estimate(task.features, &task.wanted(), None, &mut DiscardEstimates)
    }
}

/// The graph with a share of its edges, drawn at random.
fn sampled(graph: &UndirectedGraph, share: f64, seed: u64) -> UndirectedGraph {
    let edges: Vec<(u32, u32, f32)> = graph.iter().collect();
    let places: Vec<u32> = (0..edges.len() as u32).collect();
    let kept = (edges.len() as f64 * share).round() as usize;
    let mut list = EdgeList::weighted();
    for &place in splits::shuffled(&places, seed).iter().take(kept) {
        let (source, target, weight) = edges[place as usize];
        list.push(source, target, weight);
    }
    let sample = list.into_graph(graph.nodes(), Direction::Undirected);
    sample.expect("edges of a graph").undirected()
}

fn milliseconds(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_its_share_of_the_edges() {
        let mut list = EdgeList::unweighted();
        (1..101).for_each(|node| list.push(0, node, 1.0));
        let star = list.into_graph(101, Direction::Undirected).expect("valid arcs").undirected();
        let third = sampled(&star, 0.3, 0);
        assert_eq!((third.nodes(), third.edges()), (101, 30));
        assert_eq!(sampled(&star, 0.3, 0), third);
        assert_ne!(sampled(&star, 0.3, 1), third);
    }
}
