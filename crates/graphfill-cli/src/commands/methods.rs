//! `graphfill methods`: every method, what it does, its parameters.

use graphfill::methods::{Method, Registry};
use serde::Serialize;

use crate::arguments::{Format, General, Methods};
use crate::output;

#[derive(Serialize)]
struct Described {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    reference: &'static str,
    /// What it does with the directions and weights of edges.
    edges: &'static str,
    parameters: Vec<DescribedParameter>,
}

#[derive(Serialize)]
struct DescribedParameter {
    name: &'static str,
    about: &'static str,
    default: &'static str,
    allowed: String,
}

pub(crate) fn run(arguments: &Methods, general: &General) -> anyhow::Result<()> {
    let registry = Registry::with_defaults();
    let methods = match &arguments.name {
        Some(name) => vec![registry.find(name)?],
        None => registry.all().to_vec(),
    };
    let described: Vec<Described> = methods.iter().map(|method| describe(&**method)).collect();
    match general.format() {
        Format::Json => output::json_list("methods", &described),
        Format::Csv => {
            let mut rows =
                vec![["name", "title", "about", "reference", "edges"].map(String::from).to_vec()];
            rows.extend(described.iter().map(|method| {
                [method.name, method.title, method.about, method.reference, method.edges]
                    .map(String::from)
                    .to_vec()
            }));
            Ok(output::csv(&rows)?)
        }
        Format::Table => {
            for (position, method) in described.iter().enumerate() {
                if position > 0 {
                    output::line("")?;
                }
                print(method)?;
            }
            Ok(())
        }
    }
}

/// All methods as JSON.
pub(crate) fn json() -> anyhow::Result<String> {
    let registry = Registry::with_defaults();
    let described: Vec<Described> = registry.all().iter().map(|one| describe(&**one)).collect();
    Ok(serde_json::to_string(&described)?)
}

fn describe(method: &dyn Method) -> Described {
    let info = method.info();
    let parameters = info.parameters.iter().map(|parameter| DescribedParameter {
        name: parameter.name,
        about: parameter.about,
        default: parameter.default,
        allowed: parameter.allowed.to_string(),
    });
    Described {
        name: info.name,
        title: info.title,
        about: info.about,
        reference: info.reference,
        edges: info.edges,
        parameters: parameters.collect(),
    }
}

fn print(method: &Described) -> std::io::Result<()> {
    output::line(&format!("{}  ({})", method.name, method.title))?;
    output::line(&format!("  {}", method.about))?;
    if !method.reference.is_empty() {
        output::line(&format!("  {}", method.reference))?;
    }
    output::line(&format!("  edges: {}", method.edges))?;
    let name = |parameter: &DescribedParameter| format!("{}.{}", method.name, parameter.name);
    let width = method.parameters.iter().map(|parameter| name(parameter).len()).max().unwrap_or(0);
    for parameter in &method.parameters {
        let name = name(parameter);
        output::line(&format!(
            "    {name:width$}  {}: {}; default {}",
            parameter.allowed, parameter.about, parameter.default
        ))?;
    }
    Ok(())
}
