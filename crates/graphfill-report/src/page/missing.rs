//! What was missing: the share per column, patterns of columns, columns that are missing together.

use serde_json::json;

use super::card::PlotData;
use super::data::{FillPage, MissingCells};
use super::document::paragraph;
use super::format::{self, count, percent};
use super::patterns;
use super::plot::{Axis, Data, Mark, Plot};
use super::reliability::hundredths;
use super::table::{Cell, Table};
use crate::figure::Scale;
use crate::figure::interval::Interval;

/// The columns of the plot of shares; the table has all.
const MAX_COLUMNS: usize = 20;
/// The pairs of the table of columns that are missing together.
const MAX_PAIRS: usize = 100;

/// The section's HTML.
pub(super) fn section(page: &FillPage, plots: &mut PlotData) -> String {
    let missing = &page.missing;
    let mut html = String::new();
    if missing.columns.is_empty() {
        return html;
    }
    html += &paragraph(
        "Which cells had no value before. Values that are missing together, or missing for a reason \
         that depends on the value itself, are harder to estimate than values missing at random.",
    );
    html += "<div class=\"pair\">";
    if let Some((svg, data)) = patterns::drawing(missing) {
        let rows: usize = missing.patterns.iter().map(|pattern| pattern.rows).sum();
        let note = format!(
            "Each line of squares is a pattern of missing columns, the bar is its number of rows. {} \
             have one of the patterns drawn, {} another.",
            format::counted(rows, "row"),
            count(missing.other_rows)
        );
        html += &plots.drawing("patterns", ("Patterns of missing cells", &note), &svg, &data);
    }
    html += &plots.card(&shares(missing));
    html += "</div>\n";
    html += &together(missing);
    html += &table(page);
    html
}

/// The position of every column, those with the largest share of missing cells first.
pub(super) fn by_share(missing: &MissingCells) -> Vec<usize> {
    let mut order: Vec<usize> = (0..missing.columns.len()).collect();
    let share = |index: usize| {
        let share = missing.columns[index].1;
        if share.is_nan() { 0.0 } else { share }
    };
    order.sort_by(|a, b| share(*b).total_cmp(&share(*a)).then(a.cmp(b)));
    order
}

fn shares(missing: &MissingCells) -> Plot {
    let order = by_share(missing);
    let shown = &order[..order.len().min(MAX_COLUMNS)];
    let mut data = Data::new(["column", "missing (%)"]);
    let mut highest = 0f64;
    for index in shown {
        let (name, share) = &missing.columns[*index];
        if share.is_finite() {
            highest = highest.max(share * 100.0);
        }
        data.rows.push(vec![json!(format::name(name)), hundredths(*share)]);
    }
    let names: Vec<String> =
        shown.iter().map(|index| format::name(&missing.columns[*index].0)).collect();
    let high = if highest > 50.0 { 100.0 } else { (highest * 1.05).max(1.0) };
    let range = Interval { low: 0.0, high, scale: Scale::Linear };
    let note = match order.len() {
        all if all > shown.len() => {
            format!("The {} columns with the most missing cells of {all}.", shown.len())
        }
        _ => "Columns with missing cells.".to_owned(),
    };
    let first = shown.first().map(|index| &missing.columns[*index]);
    let description = first.map_or(String::new(), |(name, share)| {
        format!(
            "Share of missing cells per column; most are missing in {}: {}.",
            format::name(name),
            percent(*share)
        )
    });
    Plot {
        id: "missing".to_owned(),
        title: "Missing cells per column".to_owned(),
        note,
        description,
        x: Axis::numeric("missing (% of nodes)", &range, false),
        y: Axis::rows("", &names),
        marks: vec![Mark::Bars { class: "es solid", x: 1, slot: 0, slots: 1 }],
        data,
    }
}

fn together(missing: &MissingCells) -> String {
    let caption = "Columns that are missing together";
    let header = ["Column", "With", "Correlation"];
    let mut table = Table::new(caption, header);
    let name = |index: usize| missing.columns.get(index).map_or("?", |(name, _)| name.as_str());
    for (first, second, correlation) in missing.together.iter().take(MAX_PAIRS) {
        table.rows.push(vec![
            Cell::name(name(*first)),
            Cell::name(name(*second)),
            match correlation.is_finite() {
                true => Cell::Bar(
                    *correlation,
                    format!("{correlation:.2}").replace('-', "−"),
                    correlation.abs(),
                ),
                false => Cell::Empty,
            },
        ]);
    }
    if table.rows.is_empty() {
        return String::new();
    }
    format!(
        "<h3 class=\"sub\">{caption}</h3>\n<p>Correlation of missingness, the strongest first: 1 where \
         two columns are always missing together, −1 where one is missing wherever the other is not.</p>\n<div class=\"narrow short\">{}</div>\n",
        table.to_html()
    )
}

fn table(page: &FillPage) -> String {
    let mut table =
        Table::new("Missing cells per column, as a table", ["Column", "Missing (% of nodes)"]);
    for index in by_share(&page.missing) {
        let (name, share) = &page.missing.columns[index];
        table.rows.push(vec![Cell::name(name), Cell::Bar(*share, percent(*share), *share)]);
    }
    table.to_details()
}
