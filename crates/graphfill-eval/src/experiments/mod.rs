//! The paper's experiments: which jobs they have, running them, and the paper's own figures.
//!
//! An [`Experiment`] is a grid of [`Job`]s: data sets × competitors × protocols × seeds. [`run`] runs the
//! jobs that a [`JobStore`] does not have yet, several at a time.

mod benchmark;
mod grid;
mod job;
mod key;
pub mod published;
#[cfg(test)]
mod source_hash;
mod store;
mod work;

pub use benchmark::Benchmark;
pub use grid::{GridOptions, GridProgress, GridState, JobResult, run};
pub use job::{Competitor, Failure, Job, Outcome, Work, all_methods, find_method};
pub use store::JobStore;

use graphfill_methods::{LabelUse, Method, Result};

use crate::protocols::Protocol;

/// An experiment of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Experiment {
    /// Table 2: recall and nDCG on binary tables.
    Table2,
    /// Table 3: RMSE and R² on continuous tables.
    Table3,
    /// Table 4: accuracy of classifiers on estimated features.
    Table4,
    /// Scores against the share of observed labels.
    Labels,
    /// Times against the number of edges.
    Scaling,
    /// Training and test curves of SVGA, SVGA-R and SVGA-U.
    Ablation,
}

/// How much is done for one data set and method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extent {
    /// The seeds.
    pub seeds: Vec<u64>,
    /// The largest number of updates of one model, where they are limited.
    pub max_updates: Option<u64>,
}

/// Methods that tables compare only if they are named: parts of others, variants, and those for single
/// cells.
const ON_REQUEST: [&str; 7] = ["gcn", "sage", "gat", "svga-r", "svga-u", "grape", "auto"];

/// The shares of nodes whose labels are observed.
const LABEL_SHARES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

impl Experiment {
    /// All of them, in the order of the paper.
    pub const ALL: [Experiment; 6] = [
        Experiment::Table2,
        Experiment::Table3,
        Experiment::Table4,
        Experiment::Labels,
        Experiment::Scaling,
        Experiment::Ablation,
    ];

    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Experiment::Table2 => "table2",
            Experiment::Table3 => "table3",
            Experiment::Table4 => "table4",
            Experiment::Labels => "labels",
            Experiment::Scaling => "scaling",
            Experiment::Ablation => "ablation",
        }
    }

    /// The data sets of the paper's experiment.
    pub fn datasets(self) -> &'static [&'static str] {
        match self {
            Experiment::Table2 => &published::RANKED,
            Experiment::Table3 => &published::CONTINUOUS,
            Experiment::Table4 => &published::CLASSIFIED,
            Experiment::Labels => &["cora", "computers"],
            Experiment::Scaling => &["photo", "computers", "steam", "coauthor", "arxiv"],
            Experiment::Ablation => &["cora"],
        }
    }

    /// The methods that take part, those of the paper first and in its order.
    pub fn methods(self) -> Result<Vec<&'static dyn Method>> {
        match self {
            Experiment::Labels => ["svga", "sat"].into_iter().map(find_method).collect(),
            Experiment::Scaling => Ok(vec![find_method("svga")?]),
            Experiment::Ablation => {
                ["svga", "svga-r", "svga-u"].into_iter().map(find_method).collect()
            }
            _ => {
                let place = |method: &&dyn Method| {
                    let name = method.info().name;
                    let place = published::METHODS.iter().position(|known| *known == name);
                    place.unwrap_or(published::METHODS.len())
                };
                let mut methods: Vec<&'static dyn Method> = all_methods()
                    .filter(|method| !ON_REQUEST.contains(&method.info().name))
                    .collect();
                methods.sort_by_key(place);
                Ok(methods)
            }
        }
    }

    /// The rows that its tables have for some methods.
    pub fn competitors(self, methods: &[&'static dyn Method]) -> Result<Vec<Competitor>> {
        let mut competitors = Vec::new();
        for &method in methods {
            competitors.push(Competitor::new(method));
            if matches!(self, Experiment::Table2 | Experiment::Table3) {
                competitors.extend(Competitor::variants(method)?);
            }
        }
        Ok(competitors)
    }

    /// The protocols that it can be run under: figures are of the published models alone.
    pub fn protocols(self) -> &'static [Protocol] {
        match self {
            Experiment::Table2 | Experiment::Table3 | Experiment::Table4 => {
                &[Protocol::Published, Protocol::Tuned]
            }
            _ => &[Protocol::Published],
        }
    }

    /// Its jobs under some protocols, where `extent` says how much is done for a data set and a method.
    pub fn jobs(
        self,
        benchmarks: &[Benchmark],
        competitors: &[Competitor],
        protocols: &[Protocol],
        extent: &dyn Fn(&Benchmark, &dyn Method) -> Extent,
    ) -> Vec<Job> {
        let mut jobs = Vec::new();
        for (benchmark, about) in benchmarks.iter().enumerate() {
            for &competitor in competitors {
                let method = competitor.method;
                let Extent { mut seeds, max_updates } = extent(about, method);
                if self == Experiment::Scaling {
                    // Repetitions are part of a job.
                    seeds.truncate(1);
                }
                let protocols = match Protocol::are_equal(method, &about.name) {
                    true => &[Protocol::Both],
                    false => protocols,
                };
                for (turn, &seed) in seeds.iter().enumerate() {
                    for &protocol in protocols {
                        for work in self.works(method, about) {
                            let job =
                                Job { benchmark, competitor, protocol, seed, work, max_updates };
                            jobs.push((turn, job));
                        }
                    }
                }
            }
        }
        // Every method's first seed before any second one, so that tables have all rows early.
        jobs.sort_by_key(|(turn, _)| *turn);
        jobs.into_iter().map(|(_, job)| job).collect()
    }

    fn works(self, method: &dyn Method, benchmark: &Benchmark) -> Vec<Work> {
        match self {
            Experiment::Table2 | Experiment::Table3 => vec![Work::Estimation { labels: 0.0 }],
            Experiment::Table4 | Experiment::Labels if !benchmark.has_labels() => Vec::new(),
            Experiment::Table4 => vec![Work::Classification],
            Experiment::Labels if method.label_use() == LabelUse::Learned => {
                LABEL_SHARES.map(|labels| Work::Estimation { labels }).to_vec()
            }
            Experiment::Labels => vec![Work::Estimation { labels: 0.0 }],
            Experiment::Scaling => vec![Work::Timing],
            Experiment::Ablation => vec![Work::Curves],
        }
    }
}
