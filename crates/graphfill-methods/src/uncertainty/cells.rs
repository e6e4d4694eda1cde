//! One row per estimated cell: id, column, estimate, interval, probability, set, method, hops.

use std::sync::Arc;

use graphfill_data::arrow::array::{Array, Float64Array, Int64Array, StringArray};
use graphfill_data::{
    Column, ColumnData, IdColumn, Kind, NodeIds, NodeTable, UndirectedGraph, Unused,
};

use super::distributions::{ColumnCells, ColumnDistributions, Uncertainty};
use super::surroundings::hops;
use super::table::{block_value, level_names, rounded, spelt_set, suffixes};
use crate::error::Result;
use crate::features::Features;
use crate::method::Choice;

/// Where the cells come from.
pub struct CellSource<'a> {
    /// The table before it was filled.
    pub table: &'a NodeTable,
    /// The filled table.
    pub filled: &'a NodeTable,
    /// The features of the table.
    pub features: &'a Features<'a>,
    /// The graph.
    pub graph: &'a UndirectedGraph,
    /// What was chosen for each column.
    pub choices: &'a [Choice],
}

/// The columns of the list while it grows.
#[derive(Default)]
struct CellList {
    rows: Vec<u32>,
    columns: Vec<String>,
    estimates: Vec<String>,
    /// Lower and upper ends, one pair per level of coverage.
    ends: Vec<[Vec<Option<String>>; 2]>,
    probabilities: Vec<Option<f64>>,
    /// One list per level of coverage.
    sets: Vec<Vec<Option<String>>>,
    methods: Vec<String>,
    hops: Vec<Option<i64>>,
}

impl Uncertainty {
    /// A table with one row per estimated cell. Of 0/1 blocks it has the estimated ones.
    pub fn cells(&self, source: &CellSource<'_>, coverages: &[f64]) -> Result<NodeTable> {
        let mut list = CellList {
            ends: vec![[Vec::new(), Vec::new()]; coverages.len()],
            sets: vec![Vec::new(); coverages.len()],
            ..CellList::default()
        };
        let missing = source.features.missing();
        for own in &self.columns {
            self.add_cells(own, source, coverages, &mut list)?;
            let method = source.choices.iter().find(|choice| choice.group == own.name);
            let method = method.map(|choice| choice.method.clone()).unwrap_or_default();
            list.methods.resize(list.rows.len(), method);
            match &own.cells {
                ColumnCells::Numbers(features) => {
                    list.add_hops(features.iter().flatten().map(|cell| cell.surroundings.hops));
                }
                ColumnCells::Levels(cells) => {
                    list.add_hops(cells.iter().map(|cell| cell.surroundings.hops));
                }
                ColumnCells::Ones(cells) => {
                    let block = missing.slice(source.features.groups()[own.group].cells.clone());
                    let observed: Vec<bool> =
                        (0..block.rows()).map(|row| !block.is_whole(row)).collect();
                    let hops = hops(source.graph, &observed);
                    list.add_hops(cells.iter().map(|cell| hops[cell.row as usize]));
                }
            }
        }
        list.table(source, coverages)
    }

    fn add_cells(
        &self,
        own: &ColumnDistributions,
        source: &CellSource<'_>,
        coverages: &[f64],
        list: &mut CellList,
    ) -> Result<()> {
        let about = &source.features.groups()[own.group];
        let holed = &source.table.columns()[about.column];
        let filled = &source.filled.columns()[about.column];
        match (&own.cells, holed.data()) {
            (ColumnCells::Numbers(of_features), ColumnData::Array(_)) => {
                let text = filled.text();
                let more = self.columns_of(own, holed, filled, source.features, coverages)?;
                let more: Vec<StringArray> = more.iter().map(Column::text).collect();
                for cell in of_features.iter().flatten() {
                    let row = cell.row as usize;
                    list.push(cell.row, own.name.clone(), text.value(row).to_owned());
                    for (ends, texts) in list.ends.iter_mut().zip(more.chunks_exact(2)) {
                        for (end, text) in ends.iter_mut().zip(texts) {
                            end.push((!text.is_null(row)).then(|| text.value(row).to_owned()));
                        }
                    }
                }
            }
            (ColumnCells::Numbers(of_features), ColumnData::Block(block)) => {
                for (feature, cells) in of_features.iter().enumerate() {
                    for cell in cells {
                        let spelt = |value: f64| (value as f32).to_string();
                        let name = block.column_name(&own.name, feature);
                        let estimate = block_value(filled, cell.row as usize, feature);
                        list.push(cell.row, name, spelt(estimate));
                        for (ends, &coverage) in list.ends.iter_mut().zip(coverages) {
                            let interval = self.interval(own.group, feature, cell, coverage);
                            let low = |(low, _): (f64, f64)| spelt(low.min(estimate));
                            let high = |(_, high): (f64, f64)| spelt(high.max(estimate));
                            ends[0].push(interval.map(low));
                            ends[1].push(interval.map(high));
                        }
                    }
                }
            }
            (ColumnCells::Levels(cells), _) => {
                let text = filled.text();
                let names = level_names(holed, &about.kind)?;
                for cell in cells {
                    let estimate = text.value(cell.row as usize).to_owned();
                    list.push(cell.row, own.name.clone(), estimate);
                    list.probabilities.push(cell.probability().map(rounded));
                    for (sets, &coverage) in list.sets.iter_mut().zip(coverages) {
                        let set = self.set(own.group, cell, coverage);
                        sets.push(set.map(|set| spelt_set(&set, &names)));
                    }
                }
            }
            (ColumnCells::Ones(cells), ColumnData::Block(block)) => {
                for cell in cells {
                    let name = block.column_name(&own.name, cell.column as usize);
                    list.push(cell.row, name, "1".to_owned());
                    list.probabilities.push(cell.probability.map(rounded));
                }
            }
            (ColumnCells::Ones(_), ColumnData::Array(_)) => {}
        }
        list.level();
        Ok(())
    }
}

impl CellList {
    fn push(&mut self, row: u32, column: String, estimate: String) {
        self.rows.push(row);
        self.columns.push(column);
        self.estimates.push(estimate);
    }

    fn add_hops(&mut self, hops: impl Iterator<Item = Option<u32>>) {
        self.hops.extend(hops.map(|hops| hops.map(i64::from)));
    }

    /// Adds nothing to the columns that the last cells have no value in.
    fn level(&mut self) {
        let rows = self.rows.len();
        self.ends.iter_mut().flatten().for_each(|end| end.resize(rows, None));
        self.sets.iter_mut().for_each(|sets| sets.resize(rows, None));
        self.probabilities.resize(rows, None);
    }

    fn table(self, source: &CellSource<'_>, coverages: &[f64]) -> Result<NodeTable> {
        let rows = self.rows.len();
        let text =
            |name: String, kind: Kind, cells: StringArray| Column::new(name, kind, Arc::new(cells));
        let unused = || Kind::Unused(Unused::Declared);
        let ids = StringArray::from_iter_values(
            self.rows.iter().map(|&row| source.table.ids().text(row as usize)),
        );
        let mut columns = vec![
            text("id".to_owned(), unused(), ids),
            text("column".to_owned(), unused(), StringArray::from(self.columns)),
            text("estimate".to_owned(), unused(), StringArray::from(self.estimates)),
        ];
        // Numbers, unless there are dates or units among them.
        let is_number =
            |end: &Option<String>| end.as_ref().is_none_or(|end| end.parse::<f64>().is_ok());
        let are_numbers = self.ends.iter().flatten().all(|end| end.iter().all(is_number));
        for (ends, suffix) in self.ends.into_iter().zip(suffixes(coverages)) {
            for (name, end) in ["lower", "upper"].into_iter().zip(ends) {
                let kind = if are_numbers { Kind::Number } else { unused() };
                columns.push(text(format!("{name}{suffix}"), kind, StringArray::from(end)));
            }
        }
        let probabilities = Float64Array::from(self.probabilities);
        columns.push(Column::new("probability", Kind::Number, Arc::new(probabilities)));
        for (sets, suffix) in self.sets.into_iter().zip(suffixes(coverages)) {
            columns.push(text(format!("set{suffix}"), unused(), StringArray::from(sets)));
        }
        columns.push(text("method".to_owned(), unused(), StringArray::from(self.methods)));
        let hops = Int64Array::from(self.hops);
        columns.push(Column::new("hops", Kind::Count, Arc::new(hops)));
        // The ids have their own name, where it is none of the others.
        let id_name = source.table.id_column.name.as_str();
        if columns.iter().all(|column| column.name() != id_name) {
            columns[0] = columns[0].clone().renamed(id_name);
        }
        let id_column = IdColumn { name: "row".to_owned(), position: None, ..IdColumn::default() };
        Ok(NodeTable::new(id_column, NodeIds::numbered(rows), columns, None)?)
    }
}
