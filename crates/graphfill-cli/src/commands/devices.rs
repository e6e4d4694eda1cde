//! `graphfill devices`: where models can be trained here.

use graphfill::engine::{Device, cuda};
use graphfill::eval::bench::Machine;
use serde::Serialize;

use crate::arguments::{Format, General};
use crate::output;
use crate::output::messages::Messages;
use crate::output::numbers::bytes;
use crate::output::text_table::TextTable;

/// A device; what is not known of it is left out.
#[derive(Serialize)]
struct Line {
    /// As `--device` takes it.
    device: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cores: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vectors: Option<String>,
    memory_bytes: Option<u64>,
    free_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compute_capability: Option<String>,
    /// The highest CUDA version that the driver supports.
    #[serde(skip_serializing_if = "Option::is_none")]
    cuda_version: Option<String>,
    /// What is missing to use it, each with what to do.
    missing: Vec<String>,
}

pub(crate) fn run(general: &General) -> anyhow::Result<()> {
    let messages = Messages::new(general.quiet);
    let (lines, why) = lines();
    if let Some(why) = why {
        messages.note(&format!("no GPU: {why}"));
    }
    match general.format() {
        Format::Json => output::json_list("devices", &lines),
        Format::Csv => Ok(output::csv(&rows(&lines))?),
        Format::Table => print(&lines),
    }
}

/// Every device, and why there is no GPU.
fn lines() -> (Vec<Line>, Option<String>) {
    match cuda::cards() {
        Ok(gpus) => (std::iter::once(cpu()).chain(gpus.into_iter().map(gpu)).collect(), None),
        Err(why) => (vec![cpu()], Some(why.to_string())),
    }
}

/// The devices as JSON, and why there is no GPU.
pub(crate) fn json() -> anyhow::Result<String> {
    let (devices, no_gpu) = lines();
    Ok(serde_json::to_string(&serde_json::json!({ "devices": devices, "no_gpu": no_gpu }))?)
}

fn cpu() -> Line {
    let Machine { processor, cores, vectors, memory_bytes, .. } = Machine::here();
    Line {
        device: Device::cpu().name(),
        name: processor.unwrap_or_else(|| "unknown processor".to_owned()),
        cores: Some(cores),
        vectors: Some(vectors),
        memory_bytes,
        free_bytes: Device::cpu().available_memory(),
        compute_capability: None,
        cuda_version: None,
        missing: Vec::new(),
    }
}

fn gpu(gpu: cuda::CardInfo) -> Line {
    Line {
        device: format!("cuda:{}", gpu.number),
        name: gpu.name,
        cores: None,
        vectors: None,
        memory_bytes: Some(gpu.memory),
        free_bytes: Some(gpu.free),
        compute_capability: Some(gpu.capability),
        cuda_version: Some(gpu.driver),
        missing: gpu.missing,
    }
}

const HEADER: [&str; 9] = [
    "device",
    "name",
    "cores",
    "vectors",
    "memory_bytes",
    "free_bytes",
    "compute_capability",
    "cuda_version",
    "missing",
];

fn rows(lines: &[Line]) -> Vec<Vec<String>> {
    let number = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let mut rows = vec![HEADER.map(String::from).to_vec()];
    rows.extend(lines.iter().map(|line| {
        vec![
            line.device.clone(),
            line.name.clone(),
            line.cores.map_or_else(String::new, |cores| cores.to_string()),
            line.vectors.clone().unwrap_or_default(),
            number(line.memory_bytes),
            number(line.free_bytes),
            line.compute_capability.clone().unwrap_or_default(),
            line.cuda_version.clone().unwrap_or_default(),
            line.missing.join("; "),
        ]
    }));
    rows
}

fn print(lines: &[Line]) -> anyhow::Result<()> {
    let header = ["device", "name", "memory", "free", "details"];
    let mut table = TextTable::new(&header).left(&[0, 1, 4]);
    for line in lines {
        let size = |size: Option<u64>| size.map_or_else(|| "–".to_owned(), bytes);
        let details = [
            line.cores.map(|cores| format!("{cores} cores")),
            line.vectors.as_ref().map(|vectors| format!("vectors of {vectors}")),
            line.compute_capability.as_ref().map(|text| format!("compute capability {text}")),
            line.cuda_version.as_ref().map(|text| format!("CUDA up to {text}")),
        ];
        let details: Vec<String> = details.into_iter().flatten().collect();
        table.row(vec![
            line.device.clone(),
            line.name.clone(),
            size(line.memory_bytes),
            size(line.free_bytes),
            details.join(", "),
        ]);
    }
    output::table(&table)?;
    for line in lines {
        for missing in &line.missing {
            output::line(&format!("\n{} cannot be used: {missing}", line.device))?;
        }
    }
    Ok(())
}
