//! The arguments of `graphfill bench`.

use clap::{Args, ValueEnum};
use graphfill::engine::cuda::Launching;

use super::device::DeviceArguments;
use super::lists::item;
use super::quantities::memory_size;

/// What to time.
#[derive(Args)]
#[command(before_help = "Examples:
  graphfill bench                                       all eight shapes, as JSON
  graphfill bench --shapes cora,arxiv --format table
  graphfill bench --shapes cora --nodes 20000 --edges 80000
  graphfill bench --shapes cora --profile               where the time of an update goes
  graphfill bench --shapes photo --device cuda --precision bf16
  graphfill bench --shapes arxiv --variant fp           a round of feature propagation")]
pub(crate) struct Bench {
    /// The sizes of these data sets: cora, citeseer, photo, computers, steam, pubmed, coauthor, arxiv [default: all]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', value_parser = item)]
    pub(crate) shapes: Vec<String>,
    /// Which update, or which round of propagation
    #[arg(long, value_enum, default_value_t = BenchVariant::Svga)]
    pub(crate) variant: BenchVariant,
    /// Another number of nodes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub(crate) nodes: Option<u32>,
    /// Another number of edges
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=4_000_000_000))]
    pub(crate) edges: Option<u32>,
    /// Another number of columns of the table
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) features: Option<u32>,
    /// Another width of hidden and latent rows; not for rounds of propagation
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) hidden: Option<u32>,
    /// Say where the time of an update goes, operation by operation, instead
    #[arg(long)]
    pub(crate) profile: bool,
    /// How long to repeat the update of each shape; at least three times
    #[arg(long, value_name = "S", default_value = "3", value_parser = duration)]
    pub(crate) seconds: f64,
    /// Fail before starting if more memory of the device is needed, such as 4GiB or 500MB; not for rounds of propagation [default: what is free there]
    #[arg(long, value_name = "SIZE", value_parser = memory_size)]
    pub(crate) memory_limit: Option<u64>,
    #[command(flatten)]
    pub(crate) device: DeviceArguments,
    /// How a GPU is given an update: captured (as a whole, once) or eager (operation by operation, each time)
    #[arg(long, value_name = "HOW", default_value_t = Launching::Captured, help_heading = "Device")]
    pub(crate) launch: Launching,
}

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BenchVariant {
    /// One encoder, latents as they are
    Svga,
    /// Two encoders, latents drawn from a distribution
    SvgaU,
    /// A round of feature propagation on 64 columns
    Fp,
    /// A round of ARB on 64 columns
    Arb,
}

fn duration(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("must be a number of seconds, at most 86400".to_owned()),
    }
}
