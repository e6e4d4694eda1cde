//! Arguments that say how input files are read.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use graphfill::data::DeclaredKind;
use graphfill::data::formats::UnknownNodes;

/// How to read the input.
#[derive(Args)]
pub(crate) struct Reading {
    /// The id column of the nodes [default: id, node_id, nodeId, node, or a first column of distinct values]
    #[arg(long, value_name = "COLUMN", help_heading = "Reading")]
    pub(crate) id: Option<String>,
    /// The source column of the edges [default: source, src, from, …, or the first]
    #[arg(long, value_name = "COLUMN", help_heading = "Reading")]
    pub(crate) source: Option<String>,
    /// The target column of the edges [default: target, dst, to, …, or the second]
    #[arg(long, value_name = "COLUMN", help_heading = "Reading")]
    pub(crate) target: Option<String>,
    /// The weight column of the edges, or none to ignore weights [default: weight, if there is one]
    #[arg(long, value_name = "COLUMN", help_heading = "Reading")]
    pub(crate) weight: Option<String>,
    /// The column of the nodes that holds their class: balances splits, is not estimated
    #[arg(long, value_name = "COLUMN", help_heading = "Reading")]
    pub(crate) label: Option<String>,
    /// Declare a column's type instead of inferring it: number, count, boolean, category, unused (repeatable)
    #[arg(long = "type", value_name = "COLUMN=TYPE", value_parser = column_type, help_heading = "Reading")]
    pub(crate) type_: Vec<(String, DeclaredKind)>,
    /// A TOML file with declared types and blocks [default: NODES' name with .types.toml, if it is there]
    #[arg(long, value_name = "FILE", help_heading = "Reading")]
    pub(crate) types_file: Option<PathBuf>,
    /// Further spellings of "missing" in text files, beside the empty cell and NaN
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', help_heading = "Reading")]
    pub(crate) missing_values: Vec<String>,
    /// The separator of text files: a character, or tab
    #[arg(long, value_name = "CHAR", value_parser = delimiter, help_heading = "Reading")]
    pub(crate) delimiter: Option<u8>,
    /// Edges point one way (kept on conversion; methods use both ways)
    #[arg(long, help_heading = "Reading")]
    pub(crate) directed: bool,
    /// What to do with an edge to a node that has no row: error, skip (leave it out), add (a new row)
    #[arg(long, value_name = "WHAT", default_value = "error", value_parser = UnknownNodes::from_str, help_heading = "Reading")]
    pub(crate) unknown_nodes: UnknownNodes,
}

fn column_type(text: &str) -> Result<(String, DeclaredKind), String> {
    let (column, kind) = text
        .rsplit_once('=')
        .ok_or_else(|| format!("'{text}' is not of the form COLUMN=TYPE, as in price=number"))?;
    Ok((column.to_owned(), kind.parse()?))
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] if byte.is_ascii() && *byte != b'"' => Ok(*byte),
        b"tab" | b"\\t" => Ok(b'\t'),
        _ => Err("a separator is one ASCII character, or tab".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_may_have_an_equals_sign() {
        assert_eq!(column_type("a=b=count"), Ok(("a=b".to_owned(), DeclaredKind::Count)));
        assert!(column_type("price").is_err());
        assert!(column_type("price=integer").is_err());
    }
}
