//! `graphfill datasets`: the paper's data sets, and getting them.

use graphfill::datasets::{self, Cache, DatasetInfo, FileStatus, Mirror};
use serde::Serialize;

use crate::arguments::{Datasets, DatasetsAction, Format, General};
use crate::output;
use crate::output::messages::Messages;
use crate::output::numbers::{bytes, count};
use crate::output::progress::Bars;
use crate::output::text_table::TextTable;

pub(crate) fn run(arguments: &Datasets, general: &General) -> anyhow::Result<()> {
    let cache = Cache::new(arguments.data_dir.as_deref())?;
    match &arguments.action {
        DatasetsAction::List => list(&cache, general.format()),
        DatasetsAction::Path { name } => {
            let info = datasets::find(name)?;
            Ok(output::data(&cache.folder(info).display().to_string())?)
        }
        DatasetsAction::Get { names, mirror } => {
            let wanted: Vec<&DatasetInfo> = if names.iter().any(|name| name == "all") {
                datasets::all().iter().collect()
            } else {
                names.iter().map(|name| datasets::find(name)).collect::<Result<_, _>>()?
            };
            for info in wanted {
                get(info, &cache, mirror.as_ref(), general)?;
            }
            Ok(())
        }
    }
}

fn get(
    info: &DatasetInfo,
    cache: &Cache,
    mirror: Option<&Mirror>,
    general: &General,
) -> anyhow::Result<()> {
    let messages = Messages::new(general.quiet);
    let progress = Bars::new(general);
    let outcome = datasets::download(info, &cache.folder(info), mirror, &progress)?;
    for file in &outcome.files {
        let what = match file.status {
            FileStatus::Downloaded { .. } if info.is_verified() => "downloaded and checked",
            FileStatus::Downloaded { .. } => "downloaded, unverified",
            _ if info.is_verified() => "already there, checked",
            _ => "already there, unverified",
        };
        messages.say(&format!("{}: {what} ({})", file.name, bytes(file.bytes)));
    }
    messages.say(&format!("{}: {}\n{}", info.name, info.licence, info.citation));
    Ok(output::data(&outcome.folder.display().to_string())?)
}

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    title: &'static str,
    nodes: usize,
    edges: usize,
    features: usize,
    classes: Option<usize>,
    source: &'static str,
    files: Vec<String>,
    licence: &'static str,
    citation: &'static str,
    verified: bool,
    here: bool,
}

fn list(cache: &Cache, format: Format) -> anyhow::Result<()> {
    // A folder prepared by hand counts as much as a download.
    let here = |info: &DatasetInfo| {
        cache.is_complete(info) || cache.folder(info).join(format!("{}.npz", info.name)).is_file()
    };
    let listed = datasets::all().iter().map(|info| Listed {
        name: info.name,
        title: info.title,
        nodes: info.nodes,
        edges: info.edges,
        features: info.features,
        classes: info.classes,
        source: info.format.as_str(),
        files: info.files.iter().map(datasets::RemoteFile::url).collect(),
        licence: info.licence,
        citation: info.citation,
        verified: info.is_verified(),
        here: here(info),
    });
    let listed: Vec<Listed> = listed.collect();
    let header = ["name", "nodes", "edges", "features", "classes", "source", "here"];
    let cells = |set: &Listed| {
        vec![
            set.name.to_owned(),
            count(set.nodes),
            count(set.edges),
            count(set.features),
            set.classes.map_or_else(|| "–".to_owned(), |classes| classes.to_string()),
            if set.verified {
                set.source.to_owned()
            } else {
                format!("{} (unverified)", set.source)
            },
            if set.here { "yes" } else { "no" }.to_owned(),
        ]
    };
    match format {
        Format::Json => output::json_list("datasets", &listed),
        Format::Csv => {
            let mut rows = vec![header.map(String::from).to_vec()];
            rows.extend(listed.iter().map(|set| {
                // Plain numbers: the reader is a program.
                cells(set).iter().map(|cell| cell.replace([',', '–'], "")).collect()
            }));
            Ok(output::csv(&rows)?)
        }
        Format::Table => {
            let mut table = TextTable::new(&header).left(&[5, 6]);
            listed.iter().for_each(|set| table.row(cells(set)));
            output::table(&table)?;
            Ok(output::line(&format!("\n  kept under {}", cache.root().display()))?)
        }
    }
}
