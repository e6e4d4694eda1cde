//! The method chosen per column: why, its error, and how much better it is than the baseline.

use std::collections::BTreeMap;

use serde_json::json;

use super::card::PlotData;
use super::data::{ColumnPage, FillPage};
use super::document::paragraph;
use super::format::{self, count};
use super::plot::{Axis, Data, Mark, Plot};
use super::reliability::hundredths;
use super::table::{Cell, Table};
use crate::figure::Axis as Scaled;
use crate::figure::interval::{AtZero, Interval, Room};

/// The columns of the plot of gains; the table has all.
const MAX_COLUMNS: usize = 20;
/// The methods of the plot of methods.
const MAX_METHODS: usize = 12;
const ROOM: Room = Room { margin: 0.05, zero_below: 1.0, at_zero: AtZero::Touches };

/// The section's HTML.
pub(super) fn section(page: &FillPage, order: &[usize], plots: &mut PlotData) -> String {
    let columns: Vec<&ColumnPage> = order.iter().map(|index| &page.columns[*index]).collect();
    if columns.is_empty() {
        return String::new();
    }
    let mut html = paragraph(
        "The baseline is the mean of the column, or its most frequent level. Errors and hit rates are \
         measured on observed cells that were hidden from both. A hit rate is the share of cells whose \
         level was estimated right. Better by 40% means four tenths less error or fewer misses than \
         the baseline.",
    );
    let cards: Vec<Plot> = gains(&columns).into_iter().chain(methods(&columns)).collect();
    html += &plots.cards(&cards);
    html += &table(page);
    html
}

fn gains(columns: &[&ColumnPage]) -> Option<Plot> {
    let mut rows: Vec<(&ColumnPage, f64)> = columns
        .iter()
        .filter_map(|column| Some((*column, column.error.as_ref()?.gain()?)))
        .collect();
    let all = rows.len();
    rows.truncate(MAX_COLUMNS);
    if rows.is_empty() {
        return None;
    }
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut data = Data::new(["column", "better than the baseline (%)", "method"]);
    for (column, gain) in &rows {
        let (name, method) = (format::name(&column.name), format::name(&column.method));
        data.rows.push(vec![json!(name), hundredths(*gain), json!(method)]);
    }
    let names: Vec<String> = rows.iter().map(|(column, _)| column.name.clone()).collect();
    let values = (0..rows.len()).map(|row| data.number(row, 1)).chain([0.0]);
    let better = rows.iter().filter(|(_, gain)| *gain > 0.0).count();
    let range = Interval::of(&Scaled::linear(""), values, ROOM);
    let count = rows.len();
    Some(Plot {
        id: "gains".to_owned(),
        title: "Better than the baseline".to_owned(),
        note: match all > count {
            true => format!("The {count} columns with the most missing cells of {all}."),
            false => format!("{} with a measured error.", format::counted(count, "column")),
        },
        description: format!("{better} of {count} columns are better than the baseline."),
        x: Axis::numeric("better than the baseline (%)", &range, false),
        y: Axis::rows("", &names),
        marks: vec![
            Mark::Bars { class: "ob", x: 1, slot: 0, slots: 1 },
            Mark::Line { class: "rf", points: vec![(0.0, 0.0), (0.0, count as f64)] },
        ],
        data,
    })
}

fn methods(columns: &[&ColumnPage]) -> Option<Plot> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for column in columns {
        *counts.entry(&column.method).or_default() += 1;
    }
    if columns.len() < 2 {
        return None;
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.truncate(MAX_METHODS);
    let mut data = Data::new(["method", "columns"]);
    for (method, columns) in &counts {
        data.rows.push(vec![json!(format::name(method)), json!(columns)]);
    }
    let names: Vec<String> = counts.iter().map(|(method, _)| (*method).to_owned()).collect();
    let most = counts.first().map_or(1, |(_, count)| *count);
    let range = Interval::of(&Scaled::linear(""), [0.0, most as f64], ROOM);
    let words: Vec<String> = counts
        .iter()
        .map(|(method, columns)| format!("{}: {}", format::name(method), count(*columns)))
        .collect();
    Some(Plot {
        id: "methods".to_owned(),
        title: "Methods chosen".to_owned(),
        note: "Number of columns that each method estimated.".to_owned(),
        description: words.join(", ") + ".",
        x: Axis::numeric("columns", &range, false),
        y: Axis::rows("", &names),
        marks: vec![Mark::Bars { class: "ob", x: 1, slot: 0, slots: 1 }],
        data,
    })
}

fn table(page: &FillPage) -> String {
    let mut table = Table::new(
        "Method per column",
        ["Column", "Kind", "Missing", "Method", "Measure", "Value", "Baseline", "Better by", "Why"],
    );
    for column in &page.columns {
        let error = column.error.as_ref();
        table.rows.push(vec![
            Cell::name(&column.name),
            Cell::name(&column.kind),
            Cell::count(column.missing),
            Cell::name(&column.method),
            Cell::Text(error.map_or_else(|| "–".to_owned(), |error| format::name(&error.measure))),
            Cell::number(error.map_or(f64::NAN, |error| error.method)),
            Cell::number(error.map_or(f64::NAN, |error| error.baseline)),
            error.and_then(super::data::ColumnError::gain).map_or(Cell::Empty, |gain| {
                Cell::Number(gain, format!("{:.1}%", gain * 100.0).replace('-', "−"))
            }),
            Cell::Text(column.reason.as_deref().map_or_else(|| "–".to_owned(), format::sentence)),
        ]);
    }
    table.to_html()
}
