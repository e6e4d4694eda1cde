//! The arguments of the program and its subcommands.

mod bench;
mod color;
mod device;
mod lists;
mod quantities;
mod reading;
mod reproduce;
mod scope;
mod seeds;
mod training;
mod uncertainty;

use std::fmt;
use std::path::PathBuf;

pub(crate) use bench::{Bench, BenchVariant};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
pub(crate) use color::ColorChoice;
pub(crate) use device::{DeviceArguments, DeviceChoice};
use graphfill::data::splits::SplitRatio;
use graphfill::datasets::Mirror;
use lists::{depth, item};
use quantities::memory_size;
pub(crate) use reading::Reading;
pub(crate) use reproduce::{ProtocolName, Reproduce};
pub(crate) use scope::value_for;
pub(crate) use seeds::Seeds;
use seeds::seeds;
pub(crate) use training::{Checkpoint, Training};
use uncertainty::coverage;
pub(crate) use uncertainty::{Uncertainty, ascending};

/// What `--version` prints behind the name; `-V` prints the version alone.
const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit: ",
    env!("GRAPHFILL_COMMIT"),
    "\ntarget: ",
    env!("GRAPHFILL_TARGET"),
    "\nfeatures: ",
    env!("GRAPHFILL_FEATURES"),
);

/// graphfill fills in what a graph doesn't know about its nodes: given a graph and a node table
/// with missing rows or cells, it estimates the values and shows how good the estimates are.
#[derive(Parser)]
#[command(
    name = "graphfill",
    version,
    long_version = LONG_VERSION,
    before_help = "Examples:
  graphfill demo                                        everything in a minute, no files needed
  graphfill inspect nodes.csv edges.csv                 what is in these files?
  graphfill fill nodes.csv edges.csv -o filled.csv      estimate every missing cell
  graphfill evaluate nodes.csv edges.csv                hide known values, score the methods",
    after_help = "Exit codes:
  0    done
  1    the job failed
  2    the call is wrong: it names something that does not exist (a file, column, method,
       parameter, data set, device, seed or split), or it makes no sense
  130  stopped by Ctrl-C
  143  stopped by SIGTERM
Ctrl-C and SIGTERM stop at the next safe place, and the best estimates so far are written where
there are any; a second signal ends the program at once.

Environment:
  GRAPHFILL_CACHE_DIR  the folder for downloaded data sets and compiled GPU kernels
                       [default: graphfill in the user's cache folder]
  GRAPHFILL_DATA       the folder that holds data sets, as --data-dir
  GRAPHFILL_DEVICE     the device to train on, as --device
  GRAPHFILL_MIRROR     another server for data sets, as --mirror
  NO_COLOR             no colours, as --color never"
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
    /// Print no notes and no progress, only warnings and errors
    #[arg(long, short, global = true, conflicts_with = "verbose", help_heading = "General")]
    pub(crate) quiet: bool,
    /// Say what is being done, in place of progress bars; -vv says more
    #[arg(long, short, global = true, action = ArgAction::Count, help_heading = "General")]
    pub(crate) verbose: u8,
    /// Whether to print colours
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto, help_heading = "General")]
    pub(crate) color: ColorChoice,
    /// The number of threads [default: as many as the machine has]
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
    /// The CPU and the NVIDIA GPUs here, and what is missing to use them
    Devices(Devices),
    /// Fill and evaluate an example graph that is generated on the spot, in one minute
    Demo(Demo),
    /// Write man pages and the completion scripts of all shells
    Generate(Generate),
}

impl Command {
    /// The word that calls it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Command::Fill(_) => "fill",
            Command::Evaluate(_) => "evaluate",
            Command::Reproduce(_) => "reproduce",
            Command::Inspect(_) => "inspect",
            Command::Convert(_) => "convert",
            Command::Datasets(_) => "datasets",
            Command::Methods(_) => "methods",
            Command::Bench(_) => "bench",
            Command::Devices(_) => "devices",
            Command::Demo(_) => "demo",
            Command::Generate(_) => "generate",
        }
    }
}

/// Estimate every missing cell of a node table
#[derive(Args)]
#[command(before_help = "Examples:
  graphfill fill nodes.csv edges.csv -o filled.csv
  graphfill fill people.parquet friends.parquet -o filled.parquet --id user_id
  graphfill fill graph.npz -o filled.csv --method arb --param arb.alpha=0.98
  graphfill fill nodes.csv edges.csv -o filled.csv --intervals 0.9 --report report.html
  graphfill fill nodes.csv edges.csv -o filled.csv --checkpoint town.model      (survives being killed)
  graphfill fill later.csv edges.csv -o filled.csv --model town.model           (no training)

Observed cells come back unchanged. An empty CSV cell, a Parquet null and NaN are missing.")]
pub(crate) struct Fill {
    /// The node table, or a file or folder that holds nodes and edges
    pub(crate) nodes: PathBuf,
    /// The edges [default: edges.csv beside nodes.csv, X.edges.csv beside X.csv]
    pub(crate) edges: Option<PathBuf>,
    /// Where to write the filled table; the ending says the format: .csv, .tsv (also with .gz or .zst), .parquet, .npz; - is standard output
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
    pub(crate) uncertainty: Uncertainty,
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
  graphfill evaluate --dataset cora --methods svga --label-share 0.5 --history curves.csv
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
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', value_parser = item)]
    pub(crate) methods: Vec<String>,
    /// Fix a parameter of a method instead of choosing it by validation (repeatable)
    #[arg(long, value_name = "METHOD.NAME=VALUE")]
    pub(crate) param: Vec<String>,
    /// Seeds: one, a list 0,3,7 or a range 0..9, both ends included
    #[arg(long, default_value = "0", value_parser = seeds)]
    pub(crate) seeds: Seeds,
    /// A file of splits (train_S, val_S, test_S) [default: splits.npz beside the data set]
    #[arg(long, value_name = "FILE")]
    pub(crate) splits_file: Option<PathBuf>,
    /// Shares of rows to observe, validate on and test; by class where there are labels [default: the splits file, else 4:1:5]
    #[arg(long, value_name = "A:B:C", conflicts_with = "splits_file")]
    pub(crate) split: Option<SplitRatio>,
    /// Hide single cells at this rate instead of whole rows
    #[arg(long, value_name = "RATE", conflicts_with_all = ["splits_file", "split"])]
    pub(crate) hide_cells: Option<f64>,
    /// The k of recall@k and nDCG@k; the first selects [default: 10,20,50; 3,5,10 below 100 columns and for steam; 1,2,3 below 20]
    #[arg(long, value_name = "K,…", value_delimiter = ',', value_parser = depth)]
    pub(crate) top_k: Vec<u16>,
    /// The share of the nodes whose labels methods may learn from, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(crate) label_share: f64,
    /// Also score intervals and prediction sets that cover the truth with this probability, or with several; takes twice the time
    #[arg(long, value_name = "LEVEL,…", value_delimiter = ',', value_parser = coverage, help_heading = "Uncertainty")]
    pub(crate) intervals: Vec<f64>,
    /// Write a report to this HTML file: methods side by side
    #[arg(long, value_name = "FILE", help_heading = "Uncertainty")]
    pub(crate) report: Option<PathBuf>,
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
    /// Fail if reading would take more memory, such as 4GiB or 500MB [default: half of the RAM]
    #[arg(long, value_name = "SIZE", value_parser = memory_size, help_heading = "Reading")]
    pub(crate) memory_limit: Option<u64>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// Convert between the supported formats
#[derive(Args)]
#[command(before_help = "Examples:
  graphfill convert nodes.csv edges.csv -o graph.npz
  graphfill convert planetoid/ind.cora -o cora.csv      (and cora.edges.csv, cora.types.toml)
  graphfill convert graph.npz -o nodes.parquet          (and nodes.edges.parquet)

Reads CSV, TSV, Parquet, .npz (graphfill's and gnn-benchmark's), planetoid, OGB and Steam folders;
writes CSV, TSV (both also gzipped), Parquet and .npz.")]
pub(crate) struct Convert {
    /// The node table, or a file or folder that holds nodes and edges
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// The edges [default: edges.csv beside nodes.csv, X.edges.csv beside X.csv]
    pub(crate) edges: Option<PathBuf>,
    /// Where to write; the ending says the format: .csv, .tsv (also with .gz or .zst), .parquet, .npz
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace files beside the output that an earlier conversion did not write
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Fail if reading would take more memory, such as 4GiB or 500MB [default: half of the RAM]
    #[arg(long, value_name = "SIZE", value_parser = memory_size, help_heading = "Reading")]
    pub(crate) memory_limit: Option<u64>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// The paper's data sets
#[derive(Args)]
#[command(before_help = "Examples:
  graphfill datasets list
  graphfill datasets get cora citeseer
  graphfill datasets get all --data-dir data
  graphfill datasets path cora

Downloads are kept in the folder GRAPHFILL_CACHE_DIR unless --data-dir names another.")]
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
    #[command(before_help = "Examples:
  graphfill datasets list
  graphfill datasets list --format json")]
    List,
    /// Download and check data sets; goes on where an earlier download stopped
    #[command(before_help = "Examples:
  graphfill datasets get cora citeseer
  graphfill datasets get all --data-dir data")]
    Get {
        /// Their names, or all
        #[arg(required = true)]
        names: Vec<String>,
        /// Another server that has the same paths, as http://host:port
        #[arg(long, value_name = "URL", env = "GRAPHFILL_MIRROR")]
        mirror: Option<Mirror>,
    },
    /// Print the folder of a data set
    #[command(before_help = "Examples:
  graphfill datasets path cora
  ls \"$(graphfill datasets path cora)\"")]
    Path {
        /// Its name
        name: String,
    },
}

/// Every method, what it does, and its parameters
#[derive(Args)]
#[command(before_help = "Examples:
  graphfill methods
  graphfill methods arb
  graphfill methods --format json")]
pub(crate) struct Methods {
    /// Only this one
    pub(crate) name: Option<String>,
}

/// Fill and evaluate an example graph that is generated on the spot, in one minute
#[derive(Args)]
#[command(before_help = "Examples:
  graphfill demo
  graphfill demo --nodes 500 -o town                    keep the example's files")]
pub(crate) struct Demo {
    /// The number of people in the example town
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(50..=100_000))]
    pub(crate) nodes: u32,
    /// The seed of the example
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Write the report of the filled table to this HTML file
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Keep the example's files (nodes, edges, filled table, truth) in this folder
    #[arg(long, short, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) device: DeviceArguments,
}

/// The CPU and the NVIDIA GPUs here, and what is missing to use them
#[derive(Args)]
#[command(before_help = "Examples:
  graphfill devices
  graphfill devices --format json")]
pub(crate) struct Devices {}

/// Write man pages and the completion scripts of all shells
#[derive(Args)]
#[command(before_help = "Examples:
  graphfill generate -o generated
  man generated/graphfill-fill.1
  source generated/graphfill.bash")]
pub(crate) struct Generate {
    /// The folder to write to; it is created if it is not there
    #[arg(long, short, value_name = "DIR")]
    pub(crate) output: PathBuf,
}

/// A call that the parser accepts but that makes no sense: exit code 2.
#[derive(Debug)]
pub struct UsageError(pub String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// The machine does not have the device that the call names: exit code 2.
#[derive(Debug)]
pub struct NoDevice(pub String);

impl fmt::Display for NoDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoDevice {}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent() {
        Arguments::command().debug_assert();
    }
}
