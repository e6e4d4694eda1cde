//! Times feature propagation on one graph and leaves its input and output as plain arrays, so that
//! another program can do the same and compare. Used by `peers/feature_propagation.py`.
//!
//!   propagation FOLDER generate NODES MEAN_DEGREE COLUMNS ROUNDS
//!   propagation FOLDER read FILE.npz ROUNDS
//!
//! Half of the rows are unknown. FOLDER gets `edges.u32` (2 × edges), `known.f32` (rows × columns,
//! zero where unknown, less each column's offset), `is_known.u8` (rows) and `estimate.f32`; the
//! sizes and the seconds of every repetition go to standard output as JSON.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use graphfill::data::formats::ReadOptions;
use graphfill::data::generator::{ColumnSet, GeneratorConfig, generate};
use graphfill::data::{CellMask, Dataset, NoProgress, UndirectedGraph, splits};
use graphfill::datasets::Source;
use graphfill::methods::feature_propagation::FeaturePropagation;
use graphfill::methods::features::{ColumnMeans, Features, Panel, Panels};
use graphfill::methods::{Context, EstimateSink, Estimates, Method, Result, Task};

/// How often the timing is repeated.
const REPETITIONS: usize = 3;

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let text =
        |at: usize| arguments.get(at).map(String::as_str).ok_or("see the usage in the source");
    let folder = Path::new(text(1)?);
    let (dataset, rounds) = match text(2)? {
        "generate" => (example(text(3)?.parse()?, text(4)?.parse()?, text(5)?.parse()?)?, 6),
        "read" => {
            let source = Source::detect(Path::new(text(3)?), None)?;
            (source.read(&ReadOptions::default(), &NoProgress)?, 4)
        }
        other => return Err(format!("'{other}' is neither generate nor read").into()),
    };
    let rounds: f64 = text(rounds)?.parse()?;
    let graph = dataset.graph.undirected();
    let features = Features::of(&dataset.table);
    let known = splits::random(features.rows(), splits::SplitRatio::new(1.0, 0.0, 1.0)?, 0).train;
    let mut is_known = vec![false; features.rows()];
    known.iter().for_each(|&row| is_known[row as usize] = true);
    let unknown = (0..features.rows()).filter(|&row| !is_known[row]);
    let unknown = CellMask::of_rows(features.rows(), features.cells(), unknown);

    fs::create_dir_all(folder)?;
    write_input(folder, &graph, &features, &unknown, &is_known)?;

    let (method, context) = (FeaturePropagation::new().rounds(rounds as usize), Context::default());
    let task = Task::new(&graph, &features, &unknown, &context);
    let offsets = ColumnMeans::of(&features, &unknown).offsets(&features);
    let mut seconds = Vec::new();
    let mut collected = Collected {
        width: features.width(),
        offsets,
        values: vec![0.0; features.rows() * features.width()],
    };
    for _ in 0..REPETITIONS {
        let started = Instant::now();
        method.fit_task(&task)?.estimate(&task, &mut collected)?;
        seconds.push(started.elapsed().as_secs_f64());
    }
    write_floats(&folder.join("estimate.f32"), &collected.values)?;
    #[allow(clippy::print_stdout)]
    {
        println!(
            "{{\"rows\": {}, \"columns\": {}, \"edges\": {}, \"rounds\": {rounds}, \"threads\": {}, \"seconds\": {seconds:?}}}",
            features.rows(),
            features.width(),
            graph.edges(),
            std::thread::available_parallelism()?
        );
    }
    Ok(())
}

fn example(nodes: usize, mean_degree: f64, columns: usize) -> graphfill::data::Result<Dataset> {
    let config = GeneratorConfig {
        nodes,
        mean_degree,
        topics: 0,
        words_per_node: 0.0,
        columns: ColumnSet::Numbers(columns),
        missing_rows: 0.0,
        missing_cells: 0.0,
        ..GeneratorConfig::default()
    };
    Ok(generate(&config)?.dataset)
}

fn write_input(
    folder: &Path,
    graph: &UndirectedGraph,
    features: &Features<'_>,
    unknown: &CellMask,
    is_known: &[bool],
) -> std::result::Result<(), Box<dyn Error>> {
    let mut edges = Vec::with_capacity(graph.edges() * 8);
    graph.iter().for_each(|edge| edges.extend(edge.0.to_le_bytes()));
    graph.iter().for_each(|edge| edges.extend(edge.1.to_le_bytes()));
    fs::write(folder.join("edges.u32"), edges)?;
    fs::write(
        folder.join("is_known.u8"),
        is_known.iter().map(|&k| u8::from(k)).collect::<Vec<u8>>(),
    )?;
    let offsets = ColumnMeans::of(features, unknown).offsets(features);
    let mut known = vec![0.0f32; features.rows() * features.width()];
    for range in Panels::of(features, &vec![true; features.groups().len()]).iter() {
        let panel = Panel::load(features, range.clone(), unknown, &offsets);
        for row in 0..features.rows() {
            let from = &panel.values[row * panel.width..row * panel.width + range.len()];
            let at = row * features.width();
            known[at + range.start..at + range.end].copy_from_slice(from);
        }
    }
    write_floats(&folder.join("known.f32"), &known)?;
    Ok(())
}

fn write_floats(path: &Path, values: &[f32]) -> std::io::Result<()> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    fs::write(path, bytes)
}

/// The estimates of all rows, less the offsets.
struct Collected {
    width: usize,
    offsets: Vec<f64>,
    values: Vec<f32>,
}

impl EstimateSink for Collected {
    fn accept(&mut self, estimates: &Estimates<'_>) -> Result<()> {
        let features = estimates.features();
        for (row, out) in self.values.chunks_exact_mut(self.width).enumerate() {
            for feature in features.clone() {
                out[feature] = (estimates.mean(row, feature) - self.offsets[feature]) as f32;
            }
        }
        Ok(())
    }
}
