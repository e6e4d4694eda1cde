//! How long a large edge list takes to load, and how much memory beyond the graph itself.
//!
//! `cargo run --release -p graphfill-data --example load_edges -- [alone|table] [edges] [nodes]`
//!
//! `alone` lets the edges name the nodes, `table` gives a node table beside them. The files are
//! made first, line by line; the peak is that of the whole process, as Linux counts it.
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use graphfill_data::formats::{Input, ReadOptions};
use graphfill_data::{Direction, NoProgress};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |at: usize, usual: u64| arguments.get(at).map_or(Ok(usual), |text| text.parse());
    let with_table = arguments.get(1).is_some_and(|word| word == "table");
    let (edges, nodes) = (number(2, 10_000_000)?, number(3, 1_000_000)?);

    let folder = tempfile::tempdir()?;
    let edge_file = folder.path().join("edges.csv");
    write_edges(&edge_file, edges, nodes)?;
    let input = if with_table {
        let node_file = folder.path().join("nodes.csv");
        write_nodes(&node_file, nodes)?;
        Input::detect(&node_file, Some(&edge_file))?
    } else {
        Input::detect(&edge_file, None)?
    };
    let before = peak_bytes();
    let start = Instant::now();
    let options = ReadOptions { direction: Some(Direction::Directed), ..ReadOptions::default() };
    let dataset = input.read(&options, &NoProgress)?;
    let seconds = start.elapsed().as_secs_f64();

    let result = dataset.graph.bytes();
    println!("{} nodes, {} arcs", dataset.graph.nodes(), dataset.graph.arcs());
    println!("load: {seconds:.2} s");
    println!("graph: {:.1} MB", megabytes(result));
    if let (Some(before), Some(peak)) = (before, peak_bytes()) {
        let ratio = peak as f64 / result as f64;
        println!("peak before: {:.1} MB", megabytes(before));
        println!("peak: {:.1} MB, {ratio:.2} times the graph", megabytes(peak));
    }
    Ok(())
}

fn write_edges(path: &Path, edges: u64, nodes: u64) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    writeln!(file, "source,target")?;
    let mut state = 1u64;
    let mut node = || {
        // Knuth's linear congruential generator: enough to scatter the ends.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % nodes
    };
    for _ in 0..edges {
        writeln!(file, "{},{}", node(), node())?;
    }
    file.flush()
}

fn write_nodes(path: &Path, nodes: u64) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    writeln!(file, "id,size")?;
    for node in 0..nodes {
        writeln!(file, "{node},{}", node % 10)?;
    }
    file.flush()
}

/// The most memory that the process has held, where the system tells.
fn peak_bytes() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kibibytes: usize = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024)
}

fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}
