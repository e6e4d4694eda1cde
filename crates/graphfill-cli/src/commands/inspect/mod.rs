//! `graphfill inspect`: what is in these files.

mod column;

use column::{AboutColumn, HEADER};
use graphfill::data::formats::{ReadOptions, UnusableValues, splits_file};
use graphfill::data::{Dataset, Direction, UndirectedGraph};
use graphfill::datasets::Source;
use serde::Serialize;

use crate::arguments::{Format, General, Inspect};
use crate::output::messages::Messages;
use crate::output::numbers::{count, percent};
use crate::output::progress::Bars;
use crate::output::text_table::TextTable;
use crate::{input, output};

/// More columns than this are summed up rather than listed.
const MAX_LISTED: usize = 60;

pub(crate) fn run(arguments: &Inspect, general: &General) -> anyhow::Result<()> {
    let messages = Messages::new(general.quiet);
    let progress = Bars::new(general);
    let source = match Source::detect(&arguments.nodes, arguments.edges.as_deref()) {
        Ok(source) => source,
        Err(error) => {
            return match splits_file::seeds(&arguments.nodes) {
                Ok(seeds) => inspect_splits(&seeds, arguments, general.format()),
                Err(_) => Err(error.into()),
            };
        }
    };
    let options = ReadOptions {
        unusable_values: UnusableValues::Warn,
        ..input::read_options(&arguments.reading, arguments.memory_limit)?
    };
    let dataset = input::read(source, &options, &messages, &progress)?;
    let about = About::of(&dataset);
    match general.format() {
        Format::Json => output::json(&about),
        Format::Csv => Ok(output::csv(&about.rows())?),
        Format::Table => {
            print(&about)?;
            about.warnings.iter().for_each(|warning| messages.warning(warning));
            Ok(())
        }
    }
}

fn inspect_splits(seeds: &[u64], arguments: &Inspect, format: Format) -> anyhow::Result<()> {
    #[derive(Serialize)]
    struct Splits<'a> {
        format: &'static str,
        seeds: &'a [u64],
        train: usize,
        validation: usize,
        test: usize,
    }
    let [train, validation, test] = splits_file::sizes(&arguments.nodes, seeds[0])?;
    let splits = Splits { format: "splits .npz", seeds, train, validation, test };
    if format == Format::Json {
        return output::json(&splits);
    }
    Ok(output::line(&format!(
        "{}: splits for {} seeds ({} to {}): {} rows to train, {} to validate, {} to test\n  pass it with --splits-file to graphfill evaluate",
        arguments.nodes.display(),
        seeds.len(),
        seeds[0],
        seeds[seeds.len() - 1],
        count(splits.train),
        count(splits.validation),
        count(splits.test)
    ))?)
}

#[derive(Serialize)]
struct About {
    name: String,
    format: String,
    found: Option<output::FoundJson>,
    nodes: usize,
    arcs: usize,
    edges: usize,
    direction: &'static str,
    /// The share of arcs without a reverse arc; none for an undirected graph.
    one_way_share: Option<f64>,
    /// Whether methods can tell out-neighbours from in-neighbours.
    asymmetric: bool,
    /// How asymmetric the graph is, in words.
    #[serde(skip)]
    asymmetry: Option<String>,
    weighted: bool,
    self_loops: usize,
    duplicate_arcs: usize,
    mean_degree: f64,
    max_degree: usize,
    isolated_nodes: usize,
    components: usize,
    largest_component: usize,
    features: usize,
    missing_cells: usize,
    missing_rows: usize,
    labels: Option<AboutLabels>,
    columns: Vec<AboutColumn>,
    notes: Vec<String>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct AboutLabels {
    name: String,
    classes: usize,
    known: usize,
}

impl About {
    fn of(dataset: &Dataset) -> Self {
        let graph = dataset.graph.undirected();
        let (component, components) = graph.components();
        let mut sizes = vec![0usize; components];
        component.iter().for_each(|&component| sizes[component as usize] += 1);
        let degrees = || (0..graph.nodes()).map(|node| graph.degree(node));
        let missing = dataset.table.missing();
        let is_directed = dataset.graph.direction() == Direction::Directed;
        let mut about = About {
            name: dataset.name.clone(),
            format: dataset.format.clone(),
            found: dataset.found.as_ref().map(output::FoundJson::of),
            nodes: graph.nodes(),
            arcs: dataset.graph.arcs(),
            edges: graph.edges(),
            direction: if is_directed { "directed" } else { "undirected" },
            one_way_share: is_directed.then(|| graph.one_way_share()),
            asymmetric: graph.is_directed(),
            asymmetry: is_directed.then(|| input::about_direction(&graph)),
            weighted: dataset.graph.is_weighted(),
            self_loops: graph.self_loops(),
            duplicate_arcs: graph.duplicate_arcs(),
            mean_degree: 2.0 * graph.edges() as f64 / graph.nodes().max(1) as f64,
            max_degree: degrees().max().unwrap_or(0),
            isolated_nodes: degrees().filter(|&degree| degree == 0).count(),
            components,
            largest_component: sizes.into_iter().max().unwrap_or(0),
            features: dataset.table.features(),
            missing_cells: missing.count(),
            missing_rows: if missing.width() > 0 { missing.whole_rows() } else { 0 },
            labels: dataset.table.labels().map(|labels| AboutLabels {
                name: labels.name.clone(),
                classes: labels.classes.len(),
                known: labels.known(),
            }),
            columns: dataset.table.columns().iter().map(AboutColumn::of).collect(),
            notes: dataset.notes.iter().map(|note| note.text.clone()).collect(),
            warnings: Vec::new(),
        };
        about.warn(&graph, dataset);
        about
    }

    fn warn(&mut self, graph: &UndirectedGraph, dataset: &Dataset) {
        let missing = dataset.table.missing();
        if self.edges == 0 {
            self.warnings.push("there are no edges: only column means can be estimated".to_owned());
        }
        if self.features == 0 {
            self.warnings.push("no column can be estimated".to_owned());
        }
        // A missing row without a single observed row in its component has nothing to learn from.
        let (component, components) = graph.components();
        let mut informed = vec![false; components];
        for row in 0..graph.nodes() {
            if missing.width() > 0 && !missing.is_whole(row) {
                informed[component[row] as usize] = true;
            }
        }
        let stranded = (0..graph.nodes()).filter(|&row| {
            missing.width() > 0 && missing.is_whole(row) && !informed[component[row] as usize]
        });
        let stranded = stranded.count();
        if stranded > 0 && self.edges > 0 {
            self.warnings.push(format!(
                "{} missing rows are connected to no observed row: they get column means",
                count(stranded)
            ));
        }
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let mut rows = vec![HEADER.map(String::from).to_vec()];
        rows.extend(self.columns.iter().map(AboutColumn::cells));
        rows
    }
}

fn print(about: &About) -> anyhow::Result<()> {
    let fact = |name: &str, text: String| output::line(&format!("  {name:<11} {text}"));
    output::line(&format!("{}  ({})", about.name, about.format))?;
    fact("nodes", count(about.nodes))?;
    let weights = if about.weighted { ", weighted" } else { "" };
    let dropped = match (about.self_loops, about.duplicate_arcs) {
        (0, 0) => String::new(),
        (loops, merged) => format!(
            "; {} self-loops dropped, {} repeated or reciprocal arcs merged",
            count(loops),
            count(merged)
        ),
    };
    fact("edges", format!("{} ({}{weights}{dropped})", count(about.edges), about.direction))?;
    if let Some(asymmetry) = &about.asymmetry {
        let use_ = if about.asymmetric { "" } else { ": methods use it as undirected" };
        fact("direction", format!("{asymmetry}{use_}"))?;
    }
    fact(
        "degree",
        format!(
            "mean {:.1}, largest {}, {} isolated nodes",
            about.mean_degree,
            count(about.max_degree),
            count(about.isolated_nodes)
        ),
    )?;
    fact(
        "components",
        format!(
            "{}, the largest with {} of the nodes",
            count(about.components),
            percent(about.largest_component, about.nodes)
        ),
    )?;
    fact("features", count(about.features))?;
    fact(
        "missing",
        format!(
            "{} cells ({}), {} whole rows",
            count(about.missing_cells),
            percent(about.missing_cells, about.nodes * about.features),
            count(about.missing_rows)
        ),
    )?;
    if let Some(labels) = &about.labels {
        fact(
            "labels",
            format!("{}: {} classes, {} known", labels.name, labels.classes, count(labels.known)),
        )?;
    }
    if !about.columns.is_empty() {
        output::line("")?;
        let mut table = TextTable::new(&["column", "kind", "missing", "values"]).left(&[1, 3]);
        for column in about.columns.iter().take(MAX_LISTED) {
            table.row(vec![
                column.name.clone(),
                column.kind.to_owned(),
                count(column.missing),
                column.phrase(),
            ]);
        }
        output::table(&table)?;
        if about.columns.len() > MAX_LISTED {
            let more = count(about.columns.len() - MAX_LISTED);
            output::line(&format!("  … and {more} more columns (--format json lists all)"))?;
        }
    }
    Ok(())
}
