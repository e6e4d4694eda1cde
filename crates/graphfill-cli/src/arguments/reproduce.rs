//! The arguments of `reproduce`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use graphfill::engine::cuda::Precision;
use graphfill::eval::experiments::Experiment;

use super::device::{DeviceArguments, DeviceChoice};
use super::lists::item;
use super::quantities::{memory_size, time};
use super::scope::{Scoped, scoped};
use super::seeds::{Seeds, seeds};

/// The default of `--trials`.
const DEFAULT_TRIALS: u16 = 10;

/// Repeat an experiment of the paper, its figures beside ours
#[derive(Args)]
#[command(before_help = "Examples:
  graphfill reproduce table2 --datasets cora,photo
  graphfill reproduce table4 --datasets cora --methods svga,svga-p,sat --seeds 0..2
  graphfill reproduce ablation --max-updates 1000 --jobs 4 -o results

Writes EXPERIMENT.md (the paper's figures, ours and the difference), EXPERIMENT.csv (every seed),
EXPERIMENT.json (what later runs add to) and, for figures, EXPERIMENT.svg to the folder DIR, and README.md
with all experiments that are there. A run on some data sets or methods replaces their rows and keeps the
others. Finished jobs are stored in DIR/jobs: the same command goes on where it was stopped. Jobs of table4
contain those of table2 and table3: run it first, and nothing is trained twice.

Tables have two columns for each metric: \"as published\", with the parameters of the published runs, and
\"tuned\", with the best of --trials settings on validation nodes, as many for every method.")]
pub(crate) struct Reproduce {
    /// Which experiment
    #[arg(value_enum)]
    pub(crate) experiment: ExperimentName,
    /// Data sets [default: those of the paper's experiment; what is not there is named and left out]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', value_parser = item)]
    pub(crate) datasets: Vec<String>,
    /// Methods [default: all that the experiment compares; see graphfill methods]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', value_parser = item)]
    pub(crate) methods: Vec<String>,
    /// Seeds: one, a list 0,3,7, a range 0..9 or none; for a method, a data set or both alone as in sat=0..2, @pubmed=0..2 or sat@pubmed=none (repeatable)
    #[arg(long, value_name = "[SCOPE=]SEEDS", default_value = "0..9", value_parser = scoped(seeds_or_none))]
    pub(crate) seeds: Vec<Scoped<Seeds>>,
    /// Where parameters come from [default: both for tables, published for figures]
    #[arg(long, value_enum)]
    pub(crate) protocol: Option<ProtocolName>,
    /// The number of settings that tuning compares for each method, split and seed, the defaults among them
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TRIALS, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) trials: u16,
    /// The number of jobs that run at a time; they share the threads (timings always run alone)
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: u16,
    /// The folder that holds data sets [default: the cache folder]
    #[arg(long, value_name = "DIR", env = "GRAPHFILL_DATA")]
    pub(crate) data_dir: Option<PathBuf>,
    /// The folder for results and finished jobs
    #[arg(long, short, value_name = "DIR", default_value = "reproduction")]
    pub(crate) output: PathBuf,
    /// Where to write the page with all experiments of the folder [default: DIR/README.md]
    #[arg(long, value_name = "FILE")]
    pub(crate) page: Option<PathBuf>,
    /// Fix a parameter of a method instead of choosing it by validation (repeatable)
    #[arg(long, value_name = "METHOD.NAME=VALUE")]
    pub(crate) param: Vec<String>,
    /// The largest number of updates of a model; for a method or a data set alone as with --seeds (repeatable) [default: as published; ablation: 2000]
    #[arg(long, value_name = "[SCOPE=]N", value_parser = scoped(updates), help_heading = "Training")]
    pub(crate) max_updates: Vec<Scoped<u64>>,
    /// End the training of a model after this time, such as 90s, 10m or 1.5h, and use the best so far
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Training")]
    pub(crate) time_limit: Option<Duration>,
    /// Leave a job out if it needs more memory of the device, such as 4GiB or 500MB [default: what is free there]
    #[arg(long, value_name = "SIZE", value_parser = memory_size, help_heading = "Training")]
    pub(crate) memory_limit: Option<u64>,
    #[command(flatten)]
    pub(crate) device: DeviceArguments,
}

impl Reproduce {
    /// The command that gives the same results, wherever the data and the results are.
    pub(crate) fn command_line(&self) -> String {
        let mut words =
            vec![format!("graphfill reproduce {}", self.experiment.experiment().name())];
        let mut add = |flag: &str, value: String| words.push(format!("--{flag} {value}"));
        if !self.datasets.is_empty() {
            add("datasets", self.datasets.join(","));
        }
        if !self.methods.is_empty() {
            add("methods", self.methods.join(","));
        }
        self.seeds.iter().for_each(|seeds| add("seeds", seeds.to_string()));
        if let Some(protocol) = self.protocol.and_then(|own| own.to_possible_value()) {
            add("protocol", protocol.get_name().to_owned());
        }
        if self.trials != DEFAULT_TRIALS {
            add("trials", self.trials.to_string());
        }
        self.param.iter().for_each(|param| add("param", param.clone()));
        self.max_updates.iter().for_each(|updates| add("max-updates", updates.to_string()));
        if let Some(limit) = self.time_limit {
            add("time-limit", format!("{}s", limit.as_secs_f64()));
        }
        let DeviceArguments { device, precision } = &self.device;
        if *device != DeviceChoice::Auto {
            add("device", device.to_string());
        }
        if *precision != Precision::default() {
            add("precision", precision.to_string());
        }
        words.join(" ")
    }
}

fn seeds_or_none(text: &str) -> Result<Seeds, String> {
    if text == "none" { Ok(Seeds(Vec::new())) } else { seeds(text) }
}

fn updates(text: &str) -> Result<u64, String> {
    let updates = text.trim().parse().ok().filter(|updates| *updates > 0);
    updates.ok_or_else(|| format!("'{text}' is no number of updates: a whole number from 1 on"))
}

/// Where parameters come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProtocolName {
    /// Those of the published runs, else defaults
    Published,
    /// The best of as many settings for every method, on validation nodes
    Tuned,
    /// Both, side by side
    Both,
}

/// An experiment of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExperimentName {
    /// Recall and nDCG on binary tables, all methods
    Table2,
    /// RMSE and R² on continuous tables, all methods
    Table3,
    /// Accuracy of classifiers that learn from estimated features
    Table4,
    /// Scores against the share of labels that SVGA may learn from
    Labels,
    /// Time of an inference and of an update against the number of edges
    Scaling,
    /// Training and test curves of SVGA, SVGA-R and SVGA-U
    Ablation,
}

impl ExperimentName {
    /// The experiment itself.
    pub(crate) fn experiment(self) -> Experiment {
        match self {
            ExperimentName::Table2 => Experiment::Table2,
            ExperimentName::Table3 => Experiment::Table3,
            ExperimentName::Table4 => Experiment::Table4,
            ExperimentName::Labels => Experiment::Labels,
            ExperimentName::Scaling => Experiment::Scaling,
            ExperimentName::Ablation => Experiment::Ablation,
        }
    }
}
