//! Writes the own layout.

use std::path::Path;

use arrow_array::Array;

use super::write_array::ArchiveWriter;
use crate::block::{Block, BlockLayout, BlockValues};
use crate::column::{Column, ColumnData};
use crate::error::{DataError, Result};
use crate::graph::{Direction, Graph};
use crate::ids::NodeIds;
use crate::kind::{Kind, Unused};
use crate::table::NodeTable;

/// Writes a graph and its table.
pub(crate) fn write(table: &NodeTable, graph: &Graph, path: &Path) -> Result<()> {
    let mut archive = ArchiveWriter::create(path)?;
    write_graph(&mut archive, graph)?;
    write_features(&mut archive, table, path)?;
    write_missing(&mut archive, table)?;
    write_carried(&mut archive, table)?;
    match table.ids() {
        NodeIds::Integers(ids) => archive.numbers("ids", ids.iter().copied())?,
        NodeIds::Strings(ids) => {
            let ids: Vec<&str> = (0..ids.len()).map(|row| ids.value(row)).collect();
            archive.strings("ids", &ids)?;
        }
    }
    archive.strings("id_name", &[&table.id_column.name])?;
    let position = table.id_column.position.map_or(-1, |at| at as i64);
    archive.numbers("id_position", std::iter::once(position))?;
    if let Some(labels) = table.labels() {
        let number = |class: &Option<u32>| class.map_or(-1, i64::from);
        archive.integers("y", labels.codes.iter().map(number))?;
        archive.strings("y_names", &labels.classes)?;
        archive.strings("y_name", &[&labels.name])?;
    }
    archive.commit()
}

fn write_graph(archive: &mut ArchiveWriter<'_>, graph: &Graph) -> Result<()> {
    let edges: Vec<(u32, u32, f32)> = graph.undirected().iter().collect();
    archive.indices("edge_src", edges.iter().map(|edge| edge.0))?;
    archive.indices("edge_dst", edges.iter().map(|edge| edge.1))?;
    if graph.is_weighted() {
        archive.numbers("edge_weight", edges.iter().map(|edge| edge.2))?;
    }
    if graph.direction() == Direction::Directed {
        let arcs: Vec<(u32, u32, f32)> = graph.iter().collect();
        archive.indices("dir_src", arcs.iter().map(|arc| arc.0))?;
        archive.indices("dir_dst", arcs.iter().map(|arc| arc.1))?;
        if graph.is_weighted() {
            archive.numbers("dir_weight", arcs.iter().map(|arc| arc.2))?;
        }
    }
    Ok(())
}

/// A used column, ready to give its cells row by row.
enum Feature<'a> {
    Values(Vec<f64>),
    Block(&'a Block),
}

fn write_features(archive: &mut ArchiveWriter<'_>, table: &NodeTable, path: &Path) -> Result<()> {
    let has_cells = |column: &&Column| match column.data() {
        ColumnData::Block(block) => block.width() > 0,
        ColumnData::Array(_) => true,
    };
    let used: Vec<&Column> = table.used_columns().filter(has_cells).collect();
    let mut names: Vec<String> = Vec::new();
    let mut types: Vec<&str> = Vec::new();
    let mut blocks: Vec<(String, i64, i64, u8)> = Vec::new();
    let mut features = Vec::new();
    for column in &used {
        let at = names.len();
        match column.data() {
            ColumnData::Block(block) => {
                let last = at + block.width() - 1;
                let is_list =
                    matches!(block.layout(), BlockLayout::List | BlockLayout::TypedList(_));
                blocks.push((column.name().to_owned(), at as i64, last as i64, u8::from(is_list)));
                let binary = *block.values() == BlockValues::Ones;
                for position in 0..block.width() {
                    names.push(block.column_name(column.name(), position));
                    types.push(if binary { "binary" } else { "continuous" });
                }
                features.push(Feature::Block(block));
            }
            ColumnData::Array(_) => {
                let word = match column.kind() {
                    Kind::Count => "count",
                    Kind::Boolean => "binary",
                    Kind::Category => "categorical",
                    // Days since 1970-01-01.
                    Kind::Date => "date",
                    Kind::Number | Kind::Block(_) | Kind::Unused(_) => "continuous",
                };
                let values = if *column.kind() == Kind::Category {
                    let levels = column.levels();
                    archive.strings(&format!("levels_{at}"), &levels.names)?;
                    levels.codes.iter().map(|level| level.map_or(f64::NAN, f64::from)).collect()
                } else {
                    column.numbers()
                };
                if values.iter().any(|value| value.abs() > 9_007_199_254_740_992.0)
                    && word == "count"
                {
                    return Err(DataError::request(
                        format!(
                            "{}: column '{}' has whole numbers beyond 2⁵³, which .npz features cannot hold exactly",
                            path.display(),
                            column.name()
                        ),
                        "write Parquet or CSV instead",
                    ));
                }
                names.push(column.name().to_owned());
                types.push(word);
                features.push(Feature::Values(values));
            }
        }
    }
    let one_block = used.len() == 1 && blocks.len() == 1;
    if one_block {
        if blocks[0].3 == 0 {
            archive.strings("col_names", &names)?;
        }
        if blocks[0].0 != "x" {
            archive.strings("block_names", &[&blocks[0].0])?;
        }
    } else {
        archive.strings("col_names", &names)?;
        archive.strings("col_types", &types)?;
        if !blocks.is_empty() {
            let names: Vec<&str> = blocks.iter().map(|block| block.0.as_str()).collect();
            archive.strings("block_names", &names)?;
            archive.numbers("block_first", blocks.iter().map(|block| block.1))?;
            archive.numbers("block_last", blocks.iter().map(|block| block.2))?;
            archive.numbers("block_lists", blocks.iter().map(|block| block.3))?;
        }
    }
    write_rows(archive, table.rows(), names.len(), &features)
}

fn write_rows(
    archive: &mut ArchiveWriter<'_>,
    rows: usize,
    width: usize,
    features: &[Feature<'_>],
) -> Result<()> {
    let mut offsets = vec![0i64];
    let mut columns: Vec<u32> = Vec::new();
    let mut values: Vec<f64> = Vec::new();
    for row in 0..rows {
        let mut at = 0;
        for feature in features {
            match feature {
                Feature::Values(all) => {
                    if all[row] != 0.0 && !all[row].is_nan() {
                        columns.push(at);
                        values.push(all[row]);
                    }
                    at += 1;
                }
                Feature::Block(block) => {
                    for (column, value) in block.cells(row) {
                        columns.push(at + column);
                        values.push(value);
                    }
                    at += block.width() as u32;
                }
            }
        }
        offsets.push(columns.len() as i64);
    }
    archive.numbers("x_shape", [rows as i64, width as i64].into_iter())?;
    archive.numbers("x_indptr", offsets.into_iter())?;
    archive.indices("x_indices", columns.iter().copied())?;
    let values = values.iter().copied();
    if values.clone().all(|value| value == 1.0) {
        archive.numbers("x_data", values.map(|value| value as u8))
    } else if values.clone().all(|value| f64::from(value as f32) == value) {
        archive.numbers("x_data", values.map(|value| value as f32))
    } else {
        archive.numbers("x_data", values)
    }
}

fn write_missing(archive: &mut ArchiveWriter<'_>, table: &NodeTable) -> Result<()> {
    let missing = table.missing();
    if missing.is_empty() {
        return Ok(());
    }
    let whole: Vec<u32> =
        (0..missing.rows()).filter(|&row| missing.is_whole(row)).map(|row| row as u32).collect();
    archive.indices("missing_rows", whole.iter().copied())?;
    let mut offsets = vec![0i64];
    let mut cells: Vec<u32> = Vec::new();
    for row in 0..missing.rows() {
        cells.extend_from_slice(missing.cells(row));
        offsets.push(cells.len() as i64);
    }
    archive.numbers("missing_indptr", offsets.into_iter())?;
    archive.indices("missing_indices", cells.iter().copied())
}

fn write_carried(archive: &mut ArchiveWriter<'_>, table: &NodeTable) -> Result<()> {
    let mut names = Vec::new();
    for column in table.columns().iter().filter(|column| !column.kind().is_used()) {
        if *column.kind() == Kind::Unused(Unused::NodeType) {
            let text = column.text();
            let types: Vec<&str> = (0..text.len()).map(|row| text.value(row)).collect();
            archive.strings("node_type", &types)?;
            continue;
        }
        let text = column.text();
        let array = format!("text_{}", names.len());
        let cell = |row: usize| if text.is_null(row) { "" } else { text.value(row) };
        let cells: Vec<&str> = (0..text.len()).map(cell).collect();
        archive.strings(&array, &cells)?;
        let missing: Vec<u8> = (0..text.len()).map(|row| u8::from(text.is_null(row))).collect();
        archive.numbers(&format!("{array}_missing"), missing.into_iter())?;
        names.push(column.name().to_owned());
    }
    if names.is_empty() { Ok(()) } else { archive.strings("text_names", &names) }
}
