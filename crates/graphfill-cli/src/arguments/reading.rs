//! Arguments that say how input files are read.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use graphfill::data::formats::{Delimiter, Encoding, Header, UnknownNodes};
use graphfill::data::{DateOrder, DecimalMark, DeclaredKind, DuplicateEdges};

use super::lists::item;

/// How to read the input.
#[derive(Args)]
pub(crate) struct Reading {
    /// The id column of the nodes [default: the column whose values the edges name]
    #[arg(long, value_name = "COLUMN", help_heading = "Reading")]
    pub(crate) id: Option<String>,
    /// The source column of the edges [default: by name (source, src, from, …) and by its match with the ids]
    #[arg(long, value_name = "COLUMN", help_heading = "Reading")]
    pub(crate) source: Option<String>,
    /// The target column of the edges [default: by name (target, dst, to, …) and by its match with the ids]
    #[arg(long, value_name = "COLUMN", help_heading = "Reading")]
    pub(crate) target: Option<String>,
    /// The weight column of the edges, or none to ignore weights [default: weight, if there is one]
    #[arg(long, value_name = "COLUMN", help_heading = "Reading")]
    pub(crate) weight: Option<String>,
    /// The column of the nodes that holds their class: balances splits, is not estimated
    #[arg(long, value_name = "COLUMN", help_heading = "Reading")]
    pub(crate) label: Option<String>,
    /// Declare a column's type instead of inferring it: number, count, boolean, category, date, unused (repeatable)
    #[arg(long = "type", value_name = "COLUMN=TYPE", value_parser = column_type, help_heading = "Reading")]
    pub(crate) type_: Vec<(String, DeclaredKind)>,
    /// A TOML file with declared types and blocks [default: NODES' name with .types.toml, if it is there]
    #[arg(long, value_name = "FILE", help_heading = "Reading")]
    pub(crate) types_file: Option<PathBuf>,
    /// Further words or numbers that mean "missing", beside NA, N/A, NaN, null, NULL, None, -, ?, ., #N/A, …; with none among them, the usual words are values
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', value_parser = item, allow_hyphen_values = true, help_heading = "Reading")]
    pub(crate) missing_values: Vec<String>,
    /// What separates the cells of text nodes: a character, tab or space [default: as the first lines show]
    #[arg(long, value_name = "CHAR", value_parser = Delimiter::from_str, help_heading = "Reading")]
    pub(crate) delimiter: Option<Delimiter>,
    /// What separates the cells of text edges
    #[arg(long, value_name = "CHAR", value_parser = Delimiter::from_str, help_heading = "Reading")]
    pub(crate) edges_delimiter: Option<Delimiter>,
    /// Whether the first line of text nodes has the names of the columns: yes or no [default: as its cells show]
    #[arg(long, value_name = "YES|NO", value_parser = Header::from_str, help_heading = "Reading")]
    pub(crate) header: Option<Header>,
    /// Whether the first line of text edges has the names of the columns: yes or no
    #[arg(long, value_name = "YES|NO", value_parser = Header::from_str, help_heading = "Reading")]
    pub(crate) edges_header: Option<Header>,
    /// The character encoding of text nodes: utf-8, utf-16, utf-16be or latin-1 [default: as the first bytes show]
    #[arg(long, value_name = "NAME", value_parser = Encoding::from_str, help_heading = "Reading")]
    pub(crate) encoding: Option<Encoding>,
    /// The character encoding of text edges
    #[arg(long, value_name = "NAME", value_parser = Encoding::from_str, help_heading = "Reading")]
    pub(crate) edges_encoding: Option<Encoding>,
    /// The mark before the decimals of numbers in text: . or , [default: as the cells of a column show]
    #[arg(long, value_name = "MARK", value_parser = DecimalMark::from_str, help_heading = "Reading")]
    pub(crate) decimal: Option<DecimalMark>,
    /// The order of dates such as 03/04/2021, where the cells leave it open: day-first or month-first
    #[arg(long, value_name = "ORDER", value_parser = DateOrder::from_str, help_heading = "Reading")]
    pub(crate) dates: Option<DateOrder>,
    /// Edges point from source to target: methods tell out-neighbours from in-neighbours [default: as the file says, else undirected]
    #[arg(long, help_heading = "Reading", conflicts_with = "undirected")]
    pub(crate) directed: bool,
    /// Edges have no direction, even in a file of arcs
    #[arg(long, help_heading = "Reading")]
    pub(crate) undirected: bool,
    /// The weight of an edge that stands several times or in both directions: max, sum or mean of its weights
    #[arg(long, value_name = "WHAT", default_value = "max", value_parser = DuplicateEdges::from_str, help_heading = "Reading")]
    pub(crate) duplicate_edges: DuplicateEdges,
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
