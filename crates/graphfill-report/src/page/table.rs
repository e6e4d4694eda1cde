//! HTML tables that readers sort by a click on a header and filter by text.

use std::fmt::Write;

use super::format;
use crate::figure::svg::Escaped;

/// Tables of this many rows have a filter box.
const MIN_FILTERED: usize = 6;

/// A cell of a table.
#[derive(Debug, Clone)]
pub(super) enum Cell {
    /// Words.
    Text(String),
    /// A number, with the text that shows it.
    Number(f64, String),
    /// A number with a bar whose length is a share of the cell.
    Bar(f64, String, f64),
    /// The best number of its column or row.
    Best(f64, String),
    /// Nothing.
    Empty,
}

impl Cell {
    /// A name, shortened where it is very long.
    pub(super) fn name(text: &str) -> Cell {
        Cell::Text(format::name(text))
    }

    /// A number with four digits.
    pub(super) fn number(value: f64) -> Cell {
        if value.is_nan() { Cell::Empty } else { Cell::Number(value, format::number(value)) }
    }

    /// A count.
    pub(super) fn count(count: usize) -> Cell {
        Cell::Number(count as f64, format::count(count))
    }

    /// A share, in percent.
    pub(super) fn percent(share: f64) -> Cell {
        if share.is_nan() { Cell::Empty } else { Cell::Number(share, format::percent(share)) }
    }

    fn write(&self, out: &mut String) {
        // Writing to a string cannot fail.
        let _ = match self {
            Cell::Text(text) => write!(out, "<td>{}</td>", Escaped(text)),
            Cell::Number(value, text) => {
                write!(out, "<td class=\"n\" data-v=\"{}\">{}</td>", key(*value), Escaped(text))
            }
            Cell::Best(value, text) => write!(
                out,
                "<td class=\"n best\" data-v=\"{}\"><b>{}</b> <abbr title=\"best\">◆</abbr></td>",
                key(*value),
                Escaped(text)
            ),
            Cell::Bar(value, text, share) => write!(
                out,
                "<td class=\"n bar\" data-v=\"{}\" style=\"--s:{:.1}%\"><span>{}</span></td>",
                key(*value),
                if share.is_finite() { share.clamp(0.0, 1.0) * 100.0 } else { 0.0 },
                Escaped(text)
            ),
            Cell::Empty => write!(out, "<td class=\"n\">–</td>"),
        };
    }
}

/// The number that a cell is sorted by, with six digits.
fn key(value: f64) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    let (plain, scientific) = (rounded.to_string(), format!("{rounded:e}"));
    if plain.len() <= scientific.len() { plain } else { scientific }
}

/// A table with a caption.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    pub(super) caption: String,
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub(super) fn new<const N: usize>(caption: &str, header: [&str; N]) -> Table {
        Table {
            caption: caption.to_owned(),
            header: header.map(str::to_owned).to_vec(),
            rows: Vec::new(),
        }
    }

    /// The HTML of the table; nothing where it has no rows.
    pub(super) fn to_html(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let caption = Escaped(&self.caption);
        let mut out = String::from("<div class=\"table\"><p class=\"tools js\">");
        if self.rows.len() >= MIN_FILTERED {
            let _ = write!(
                out,
                "<label>Filter <input type=\"search\" class=\"filter\" aria-label=\"Filter: {caption}\"></label> \
                 <span class=\"shown\" role=\"status\"></span> "
            );
        }
        let _ = write!(
            out,
            "<button type=\"button\" class=\"csv\" aria-label=\"Copy as CSV: {caption}\">Copy as CSV</button></p>\
             <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\">\
             <table><caption>{caption}</caption><thead><tr>"
        );
        for (column, name) in self.header.iter().enumerate() {
            let text = |row: &Vec<Cell>| matches!(row.get(column), Some(Cell::Text(_)));
            let class = if self.rows.iter().any(text) { "" } else { " class=\"n\"" };
            let _ = write!(out, "<th scope=\"col\"{class}>{}</th>", Escaped(name));
        }
        out += "</tr></thead><tbody>\n";
        for row in &self.rows {
            out += "<tr>";
            for cell in row {
                cell.write(&mut out);
            }
            out += "</tr>\n";
        }
        out + "</tbody></table></div></div>\n"
    }

    /// The table behind a summary that opens it.
    pub(super) fn to_details(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let caption = Escaped(&self.caption);
        format!("<details><summary>{caption}</summary>{}</details>\n", self.to_html())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_short_numbers() {
        assert_eq!(key(0.1), "0.1");
        assert_eq!(key(1_234_567.0), "1234570");
        assert_eq!(key(1.5e300), "1.5e300");
        assert_eq!(key(f64::INFINITY), "inf");
    }

    #[test]
    fn cells_are_escaped_and_empty_tables_vanish() {
        let mut table = Table::new("<caption>", ["a & b"]);
        assert_eq!(table.to_html(), "");
        table.rows.push(vec![Cell::Text("</td>".to_owned())]);
        let html = table.to_html();
        assert!(html.contains("&lt;caption&gt;") && html.contains("a &amp; b"));
        assert!(html.contains("<td>&lt;/td&gt;</td>"));
    }
}
