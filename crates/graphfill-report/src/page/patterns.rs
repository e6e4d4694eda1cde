//! The matrix of missingness patterns: columns across, one line per pattern with its number of rows.

use std::fmt::Write;

use serde_json::json;

use super::data::MissingCells;
use super::format::{self, count, shortened};
use super::missing::by_share;
use super::plot::{Data, TEXT};
use crate::figure::svg::Escaped;
use crate::figure::text;

/// The columns drawn: those with the largest share of missing cells.
const MAX_COLUMNS: usize = 24;
/// The patterns drawn, the commonest.
const MAX_PATTERNS: usize = 20;
/// The longest label of a column, in characters.
const MAX_LABEL: usize = 18;
/// The height of a line.
const LINE: f64 = 17.0;
/// The width of the bars of the numbers of rows, and of the numbers beside them.
const BARS: f64 = 110.0;

/// The drawing and its data; none without patterns.
pub(super) fn drawing(missing: &MissingCells) -> Option<(String, Data)> {
    let mut columns = by_share(missing);
    columns.truncate(MAX_COLUMNS);
    columns.sort_unstable();
    let patterns = &missing.patterns[..missing.patterns.len().min(MAX_PATTERNS)];
    if patterns.is_empty() || columns.is_empty() {
        return None;
    }
    let names: Vec<String> =
        columns.iter().map(|column| format::name(&missing.columns[*column].0)).collect();
    let mut data = Data { header: names.clone(), ..Data::default() };
    data.header.push("rows".to_owned());
    for pattern in patterns {
        let missing = |column: &usize| pattern.missing.get(*column).copied().unwrap_or(false);
        let mut row: Vec<_> =
            columns.iter().map(|column| json!(u8::from(missing(column)))).collect();
        row.push(json!(pattern.rows));
        data.rows.push(row);
    }
    let labels: Vec<String> = names.iter().map(|name| shortened(name, MAX_LABEL)).collect();
    Some((svg(&labels, &data), data))
}

fn svg(labels: &[String], data: &Data) -> String {
    let columns = labels.len();
    let step = (300.0 / columns as f64).clamp(14.0, 30.0);
    let widest = labels.iter().map(|label| text::width(label, TEXT)).fold(0.0, f64::max);
    let top = (widest * 0.75).ceil() + 22.0;
    let matrix = columns as f64 * step;
    // Slanted labels lean beyond the last column.
    let width = (4.0 + matrix + BARS).max(4.0 + matrix + widest * 0.75).ceil();
    let height = (top + data.rows.len() as f64 * LINE + 24.0).ceil();
    let rows = |line: usize| data.number(line, columns);
    let most = (0..data.rows.len()).map(rows).fold(1.0, f64::max);
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" style=\"max-width:{:.0}px\">\
         <title>Patterns of missing cells</title><desc>{}</desc>",
        width * 1.25,
        Escaped(&description(labels, data))
    );
    for (column, label) in labels.iter().enumerate() {
        let x = 4.0 + (column as f64 + 0.6) * step;
        let (y, label) = (top - 8.0, Escaped(label));
        let _ = write!(
            out,
            "<text class=\"st\" transform=\"translate({x:.1} {y})rotate(-48)\">{label}</text>"
        );
    }
    let (mut present, mut absent, mut bars) = (String::new(), String::new(), String::new());
    let mut numbers = String::new();
    let bar_left = 4.0 + matrix + 8.0;
    for line in 0..data.rows.len() {
        let y = top + line as f64 * LINE;
        for column in 0..columns {
            let x = 4.0 + column as f64 * step;
            let is_missing = data.number(line, column) > 0.0;
            let squares = if is_missing { &mut absent } else { &mut present };
            let inset = if is_missing { 1.0 } else { 2.0 };
            let (across, down) = (step - 2.0 * inset, LINE - 2.0 * inset - 1.0);
            let _ = write!(
                squares,
                "M{:.1} {:.1}h{across:.1}v{down:.1}h{:.1}z",
                x + inset,
                y + inset,
                -across
            );
        }
        let length = (rows(line) / most * (BARS - 58.0)).max(1.0);
        let _ = write!(
            bars,
            "M{bar_left:.1} {:.1}h{length:.1}v{:.1}h{:.1}z",
            y + 2.0,
            LINE - 5.0,
            -length
        );
        let _ = write!(
            numbers,
            "<text class=\"st\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            bar_left + length + 4.0,
            y + LINE * 0.68,
            count(rows(line) as usize)
        );
    }
    let _ = write!(
        out,
        "<path class=\"pp\" d=\"{present}\"></path><path class=\"pm\" d=\"{absent}\"></path>\
         <path class=\"ob\" d=\"{bars}\"></path>{numbers}\
         <text class=\"st lb\" x=\"4\" y=\"{y}\">columns (filled: missing)</text>\
         <text class=\"st lb\" x=\"{bar_left:.1}\" y=\"{y}\">rows</text></svg>",
        y = height - 6.0
    );
    out
}

fn description(labels: &[String], data: &Data) -> String {
    const DESCRIBED: usize = 5;
    let columns = labels.len();
    let mut words = Vec::new();
    for line in 0..data.rows.len().min(DESCRIBED) {
        let missing: Vec<&str> = (0..columns)
            .filter(|column| data.number(line, *column) > 0.0)
            .map(|column| labels[column].as_str())
            .collect();
        let missing = if missing.is_empty() { "nothing".to_owned() } else { missing.join(" and ") };
        let rows = count(data.number(line, columns) as usize);
        words.push(format!("{missing} missing in {rows} rows"));
    }
    words.join("; ") + "."
}
