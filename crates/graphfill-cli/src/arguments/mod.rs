//! The arguments of the program and its subcommands.

mod bench;
mod device;
mod quantities;
mod reading;
mod reproduce;
mod scope;
mod seeds;
mod training;

use std::fmt;
use std::path::PathBuf;

pub(crate) use bench::{Bench, BenchVariant};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
pub(crate) use device::{DeviceArguments, DeviceChoice};
use graphfill::data::registry::Mirror;
use graphfill::data::splits::Shares;
pub(crate) use reading::Reading;
pub(crate) use reproduce::Reproduce;
pub(crate) use scope::value_for;
pub(crate) use seeds::Seeds;
use seeds::seeds;
pub(crate) use training::{Checkpoint, Training};

/// graphfill fills in what a graph doesn't know about its nodes: given a graph and a node table
/// with missing rows or cells, it estimates the values and shows how good the estimates are.
#[derive(Parser)]
#[command(
    name = "graphfill",
    version,
    before_help = "Examples:
  graphfill demo                                        everything in a minute, no files needed
  graphfill inspect nodes.csv edges.csv                 what is in these files?
  graphfill fill nodes.csv edges.csv -o filled.csv      estimate every missing cell
  graphfill evaluate nodes.csv edges.csv                hide known values, score the methods",
    after_help = "Exit codes: 0 done, 1 the job failed, 2 the call is wrong, 130 stopped by Ctrl-C."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) general: General,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every subcommand takes.
#[derive(Args)]
pub(crate) struct General {
    /// Say nothing but errors, and show no progress
    #[arg(long, short, global = true, help_heading = "General")]
    pub(crate) quiet: bool,
    /// Use so many threads [default: as many as the machine has]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "General")]
    pub(crate) threads: Option<u16>,
    /// How to print results [default: table; bench: json]
    #[arg(long, global = true, value_enum, help_heading = "General")]
    pub(crate) format: Option<Format>,
}

impl General {
    /// How results are printed, for people unless something else was asked for.
    pub(crate) fn format(&self) -> Format {
        self.format.unwrap_or(Format::Table)
    }
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Table,
    /// For programs
    Json,
    /// For spreadsheets
    Csv,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Estimate every missing cell of a node table
    Fill(Fill),
    /// Hide known values, estimate them, and score methods side by side
    Evaluate(Evaluate),
    /// Repeat an experiment of the paper, its figures beside ours
    Reproduce(Reproduce),
    /// Say what is in these files: sizes, types, missing cells, components, warnings
    Inspect(Inspect),
    /// Convert between the supported formats
    Convert(Convert),
    /// The paper's data sets: where they come from, and getting them
    Datasets(Datasets),
    /// Every method, what it does, and its parameters
    Methods(Methods),
    /// The time and memory of one training update at the paper's sizes, on this machine
    Bench(Bench),
    /// The CPU and the CUDA cards here, and what is missing to use them
    Devices,
    /// Everything in one minute, on an example graph that is made on the spot
    Demo(Demo),
    /// Print a completion script for a shell
    Completions(Completions),
}

/// Estimate every missing cell of a node table
#[derive(Args)]
#[command(before_help = "Examples:
  graphfill fill nodes.csv edges.csv -o filled.csv
  graphfill fill people.parquet friends.parquet -o filled.parquet --id user_id
  graphfill fill graph.npz -o filled.csv --method arb --param arb.alpha=0.98
  graphfill fill nodes.csv edges.csv -o filled.csv --checkpoint town.model      (survives being killed)
  graphfill fill later.csv edges.csv -o filled.csv --model town.model           (no training)

Observed cells come back unchanged. An empty CSV cell, a Parquet null and NaN are missing.")]
pub(crate) struct Fill {
    /// The node table, or a file or folder that holds nodes and edges
    pub(crate) nodes: PathBuf,
    /// The edges [default: edges.csv beside nodes.csv, X.edges.csv beside X.csv]
    pub(crate) edges: Option<PathBuf>,
    /// Where to write the filled table; the ending says the format: .csv, .csv.gz, .tsv, .parquet, .npz
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// The method; see graphfill methods
    #[arg(long, default_value = "auto")]
    pub(crate) method: String,
    /// Fix a parameter of a method instead of choosing it by validation (repeatable)
    #[arg(long, value_name = "METHOD.NAME=VALUE")]
    pub(crate) param: Vec<String>,
    /// The seed of everything random
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) training: Training,
    #[command(flatten)]
    pub(crate) checkpoint: Checkpoint,
    #[command(flatten)]
    pub(crate) device: DeviceArguments,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// Hide known values, estimate them, and score methods side by side
#[derive(Args)]
#[command(before_help = "Examples:
  graphfill evaluate nodes.csv edges.csv
  graphfill evaluate nodes.csv edges.csv --hide-cells 0.2 --methods column-mean,arb
  graphfill evaluate --dataset cora --data-dir data --methods arb,svga,svga-p --seeds 0..9
  graphfill evaluate --dataset cora --methods svga --labels 0.5 --history curves.csv
  graphfill evaluate --dataset cora --methods arb --param arb.alpha=0.98 --format json")]
pub(crate) struct Evaluate {
    /// The node table, or a file or folder that holds nodes and edges
    #[arg(required_unless_present = "dataset", conflicts_with = "dataset")]
    pub(crate) nodes: Option<PathBuf>,
    /// The edges [default: edges.csv beside nodes.csv, X.edges.csv beside X.csv]
    pub(crate) edges: Option<PathBuf>,
    /// A prepared data set: the folder DATA_DIR/NAME with NAME.npz or the files of graphfill datasets get
    #[arg(long, value_name = "NAME")]
    pub(crate) dataset: Option<String>,
    /// The folder that holds data sets [default: the cache folder]
    #[arg(long, value_name = "DIR", env = "GRAPHFILL_DATA")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Methods to compare [default: propagation and svga-p; see graphfill methods]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub(crate) methods: Vec<String>,
    /// Fix a parameter of a method instead of choosing it by validation (repeatable)
    #[arg(long, value_name = "METHOD.NAME=VALUE")]
    pub(crate) param: Vec<String>,
    /// Seeds: one, a list 0,3,7 or a range 0..9, both ends included
    #[arg(long, default_value = "0", value_parser = seeds)]
    pub(crate) seeds: Seeds,
    /// A file of splits (train_S, val_S, test_S) [default: splits.npz beside the data set]
    #[arg(long, value_name = "FILE")]
    pub(crate) splits: Option<PathBuf>,
    /// Shares of rows to observe, validate on and test; by class where there are labels [default: the splits file, else 4:1:5]
    #[arg(long, value_name = "A:B:C", conflicts_with = "splits")]
    pub(crate) split: Option<Shares>,
    /// Hide single cells at this rate instead of whole rows
    #[arg(long, value_name = "RATE", conflicts_with_all = ["splits", "split"])]
    pub(crate) hide_cells: Option<f64>,
    /// The k of recall@k and nDCG@k; the first selects [default: 10,20,50; 3,5,10 below 100 columns and for steam; 1,2,3 below 20]
    #[arg(long, value_name = "K,…", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) at: Vec<u16>,
    /// Show methods the labels of this share of the nodes, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(crate) labels: f64,
    #[command(flatten)]
    pub(crate) training: Training,
    #[command(flatten)]
    pub(crate) device: DeviceArguments,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// Say what is in these files
#[derive(Args)]
#[command(before_help = "Examples:
  graphfill inspect nodes.csv edges.csv
  graphfill inspect graph.npz --format json
  graphfill inspect planetoid/ind.cora")]
pub(crate) struct Inspect {
    /// The node table, or a file or folder that holds nodes and edges
    pub(crate) nodes: PathBuf,
    /// The edges [default: edges.csv beside nodes.csv, X.edges.csv beside X.csv]
    pub(crate) edges: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// Convert between the supported formats
#[derive(Args)]
#[command(before_help = "Examples:
  graphfill convert nodes.csv edges.csv graph.npz
  graphfill convert planetoid/ind.cora cora.csv       (and cora.edges.csv, cora.types.toml)
  graphfill convert graph.npz nodes.parquet           (and nodes.edges.parquet)

Reads CSV, TSV, Parquet, .npz (graphfill's and gnn-benchmark's), planetoid, OGB and Steam folders;
writes CSV, TSV (both also gzipped), Parquet and .npz.")]
pub(crate) struct Convert {
    /// The node table, or a file or folder that holds nodes and edges
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// The edges, if they are in a file of their own; else the output
    #[arg(value_name = "EDGES|OUT")]
    pub(crate) second: PathBuf,
    /// The output, behind the edges
    #[arg(value_name = "OUT")]
    pub(crate) third: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// The paper's data sets
#[derive(Args)]
pub(crate) struct Datasets {
    #[command(subcommand)]
    pub(crate) action: DatasetsAction,
    /// The folder that holds data sets [default: the cache folder]
    #[arg(long, value_name = "DIR", global = true, env = "GRAPHFILL_DATA")]
    pub(crate) data_dir: Option<PathBuf>,
}

#[derive(Subcommand)]
pub(crate) enum DatasetsAction {
    /// Every data set: sizes, source, whether it is here
    List,
    /// Download and check data sets; goes on where an earlier download stopped
    Get {
        /// Their names, or all
        #[arg(required = true)]
        names: Vec<String>,
        /// Another server that has the same paths, as http://host:port
        #[arg(long, value_name = "URL", env = "GRAPHFILL_MIRROR")]
        mirror: Option<Mirror>,
    },
    /// Print the folder of a data set
    Path {
        /// Its name
        name: String,
    },
}

/// Every method, what it does, and its parameters
#[derive(Args)]
pub(crate) struct Methods {
    /// Only this one
    pub(crate) name: Option<String>,
}

/// Everything in one minute, on an example graph that is made on the spot
#[derive(Args)]
pub(crate) struct Demo {
    /// The number of people in the example town
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(50..=100_000))]
    pub(crate) nodes: u32,
    /// The seed of the example
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Keep the example's files (nodes, edges, filled table, truth) in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) device: DeviceArguments,
}

/// Print a completion script for a shell
#[derive(Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: Shell,
}

/// A call that no parser can refuse but that makes no sense: exit code 2.
#[derive(Debug)]
pub(crate) struct UsageError(pub(crate) String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent() {
        Arguments::command().debug_assert();
    }
}
