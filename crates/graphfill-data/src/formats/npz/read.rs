//! Reads the own layout.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Float32Array, Float64Array, Int64Array, StringArray,
    TimestampMillisecondArray,
};

use super::array::ElementType;
use super::{Archive, read_arcs, read_rows, shape};
use crate::block::{BlockBuilder, BlockLayout};
use crate::cell_mask::CellMask;
use crate::column::Column;
use crate::dataset::Dataset;
use crate::date_style::DAY;
use crate::error::{DataError, Place, Result};
use crate::formats::options::ReadOptions;
use crate::graph::Direction;
use crate::ids::NodeIds;
use crate::infer;
use crate::kind::{DeclaredKind, Kind, Unused};
use crate::labels::Labels;
use crate::progress::Progress;
use crate::table::{IdColumn, NodeTable};

/// Reads a graph and its table.
pub(crate) fn read(path: &Path, options: &ReadOptions, progress: &dyn Progress) -> Result<Dataset> {
    let mut archive = Archive::open(path)?;
    let (rows, width) = shape(&mut archive, "x_shape")?;
    // Claimed sizes are believed only as far as arrays of that length are there.
    let offsets: usize = archive.stream("x_indptr")?.shape().iter().product();
    if offsets != rows + 1 {
        return Err(mismatch(path, "x_indptr", offsets, rows + 1));
    }
    let missing = missing_cells(&mut archive, rows, width)?;
    let names = if archive.has("col_names") { Some(archive.strings("col_names")?) } else { None };
    if let Some(names) = &names
        && names.len() != width
    {
        return Err(mismatch(path, "col_names", names.len(), width));
    }
    let mut columns = if archive.has("col_types") {
        typed_columns(&mut archive, names, &missing, options, progress)?
    } else if width == 0 {
        Vec::new()
    } else {
        vec![one_block(&mut archive, names, &missing, progress)?]
    };
    columns.extend(auxiliary_columns(&mut archive, rows, options)?);
    carried_columns(&mut archive, rows, &mut columns)?;

    let (ids, id_column) = ids(&mut archive, rows)?;
    let labels = labels(&mut archive, rows)?;
    let table = NodeTable::new(id_column, ids, columns, labels)?;
    let directed = archive.has("dir_src");
    let (ends, weight) = if directed {
        (("dir_src", "dir_dst"), "dir_weight")
    } else {
        (("edge_src", "edge_dst"), "edge_weight")
    };
    let weight = archive.has(weight).then_some(weight);
    let list = read_arcs(path, ends, weight, rows, progress)?;
    let direction = if directed { Direction::Directed } else { options.direction };
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into());
    Dataset::new(&name, "graphfill .npz", table, list.into_graph(rows, direction)?)
}

fn mismatch(path: &Path, array: &str, found: usize, wanted: usize) -> DataError {
    DataError::malformed(
        Place::file(path).column(array),
        format!("the array has {found} entries, the others call for {wanted}"),
        "the arrays of the archive don't belong together: write it again",
    )
}

fn checked_length<T>(path: &Path, array: &str, values: Vec<T>, wanted: usize) -> Result<Vec<T>> {
    if values.len() == wanted {
        Ok(values)
    } else {
        Err(mismatch(path, array, values.len(), wanted))
    }
}

/// The cells that the archive declares missing.
fn missing_cells(archive: &mut Archive, rows: usize, width: usize) -> Result<CellMask> {
    let path = archive.path().to_path_buf();
    let outside = |array: &str| {
        DataError::malformed(
            Place::file(&path).column(array),
            "an entry lies outside the table",
            "write the archive again",
        )
    };
    let mut whole = CellMask::none(rows, width);
    if archive.has("missing_rows") {
        let inside = |row: i64| usize::try_from(row).ok().filter(|&row| row < rows);
        let listed = archive.integers("missing_rows")?.into_iter().map(inside);
        let listed = listed.collect::<Option<Vec<usize>>>();
        whole = CellMask::of_rows(rows, width, listed.ok_or_else(|| outside("missing_rows"))?);
    }
    if !archive.has("missing_indptr") {
        return Ok(whole);
    }
    let offsets = archive.integers("missing_indptr")?;
    let cells = archive.integers("missing_indices")?;
    let offsets = checked_length(&path, "missing_indptr", offsets, rows + 1)?;
    let ordered = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
    if !ordered || offsets[0] != 0 || offsets[rows] != cells.len() as i64 {
        return Err(outside("missing_indptr"));
    }
    if cells.iter().any(|&cell| usize::try_from(cell).is_ok_and(|c| c >= width) || cell < 0) {
        return Err(outside("missing_indices"));
    }
    let single = CellMask::build(rows, width, |row, list| {
        let own = &cells[offsets[row] as usize..offsets[row + 1] as usize];
        list.extend(own.iter().map(|&cell| cell as u32));
    });
    Ok(whole.union(&single))
}

/// All features as one block; a stored NaN is a missing cell.
fn one_block(
    archive: &mut Archive,
    names: Option<Vec<String>>,
    missing: &CellMask,
    progress: &dyn Progress,
) -> Result<Column> {
    let width = missing.width();
    let layout = names.map_or(BlockLayout::List, BlockLayout::Columns);
    let mut builder = BlockBuilder::new(width, layout);
    let mut unknown: Vec<(usize, u32)> = Vec::new();
    read_rows(archive.path(), "x_", progress, |row, cells| {
        let holes = cells.iter().filter(|(_, value)| value.is_nan());
        unknown.extend(holes.map(|(column, _)| (row, *column)));
        cells.retain(|&(column, value)| !value.is_nan() && !missing.contains(row, column as usize));
        builder.push_row(cells);
        Ok(())
    })?;
    let unknown = mask_of(&unknown, missing.rows(), width);
    let name = match archive.has("block_names") {
        true => archive.strings("block_names")?.into_iter().next().unwrap_or_default(),
        false => "x".to_owned(),
    };
    Ok(Column::block(name, builder.finish(missing.union(&unknown))))
}

/// The mask of cells `(row, column)` that are listed by row.
fn mask_of(cells: &[(usize, u32)], rows: usize, width: usize) -> CellMask {
    let mut left = cells.iter().peekable();
    CellMask::build(rows, width, |row, columns| {
        while let Some((_, column)) = left.next_if(|cell| cell.0 == row) {
            columns.push(*column);
        }
    })
}

/// Features of declared types: single columns, and blocks where the archive says so.
fn typed_columns(
    archive: &mut Archive,
    names: Option<Vec<String>>,
    missing: &CellMask,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Vec<Column>> {
    let (rows, width) = (missing.rows(), missing.width());
    let path = archive.path().to_path_buf();
    let types = checked_length(&path, "col_types", archive.strings("col_types")?, width)?;
    let names = names.unwrap_or_else(|| (0..width).map(|at| format!("x{at}")).collect());
    let blocks = declared_blocks(archive, width)?;
    let block_of = |column: usize| blocks.iter().position(|b| (b.first..=b.last).contains(&column));
    let single: Vec<Option<usize>> = {
        let mut next = 0..;
        (0..width).map(|at| if block_of(at).is_some() { None } else { next.next() }).collect()
    };
    let count = single.iter().flatten().count();
    let mut dense: Vec<Vec<f64>> = vec![vec![0.0; rows]; count];
    let mut builders: Vec<BlockBuilder> = blocks
        .iter()
        .map(|block| {
            let layout = if block.is_list {
                BlockLayout::List
            } else {
                BlockLayout::Columns(names[block.first..=block.last].to_vec())
            };
            BlockBuilder::new(block.last - block.first + 1, layout)
        })
        .collect();
    let mut block_cells: Vec<Vec<(u32, f64)>> = vec![Vec::new(); blocks.len()];
    let mut unknown: Vec<(usize, u32)> = Vec::new();
    read_rows(&path, "x_", progress, |row, cells| {
        for &(column, value) in cells.iter() {
            let at = column as usize;
            match (single[at], block_of(at)) {
                (Some(position), _) => dense[position][row] = value,
                (None, Some(_)) if value.is_nan() => unknown.push((row, column)),
                (None, Some(_)) if missing.contains(row, at) => {}
                (None, Some(block)) => {
                    block_cells[block].push((column - blocks[block].first as u32, value));
                }
                (None, None) => {}
            }
        }
        for (builder, cells) in builders.iter_mut().zip(&mut block_cells) {
            builder.push_row(cells);
            cells.clear();
        }
        Ok(())
    })?;

    let missing = &missing.union(&mask_of(&unknown, rows, width));
    let narrow = archive.stream("x_data")?.element() != ElementType::Float(8);
    let mut builders = builders.into_iter();
    let mut columns = Vec::new();
    for at in 0..width {
        if let Some(position) = single[at] {
            let mut values = std::mem::take(&mut dense[position]);
            for (row, value) in values.iter_mut().enumerate() {
                if missing.contains(row, at) {
                    *value = f64::NAN;
                }
            }
            let levels = format!("levels_{at}");
            let levels = if archive.has(&levels) { Some(archive.strings(&levels)?) } else { None };
            let given = typed_column(&names[at], &types[at], &values, levels, narrow, options);
            columns.push(given.map_err(|found| {
                let place = Place::file(&path).column(&names[at]);
                DataError::malformed(place, found, "declare another type")
            })?);
        } else if let Some(block) = blocks.iter().find(|block| block.first == at)
            && let Some(builder) = builders.next()
        {
            let width = block.last - block.first + 1;
            let part = CellMask::build(rows, width, |row, cells| {
                let inside = (0..width).filter(|column| missing.contains(row, at + column));
                cells.extend(inside.map(|column| column as u32));
            });
            columns.push(Column::block(&block.name, builder.finish(part)));
        }
    }
    Ok(columns)
}

struct StoredBlock {
    name: String,
    first: usize,
    last: usize,
    is_list: bool,
}

fn declared_blocks(archive: &mut Archive, width: usize) -> Result<Vec<StoredBlock>> {
    if !archive.has("block_names") {
        return Ok(Vec::new());
    }
    let path = archive.path().to_path_buf();
    let names = archive.strings("block_names")?;
    let count = names.len();
    let first = checked_length(&path, "block_first", archive.integers("block_first")?, count)?;
    let last = checked_length(&path, "block_last", archive.integers("block_last")?, count)?;
    let lists = checked_length(&path, "block_lists", archive.integers("block_lists")?, count)?;
    let mut blocks = Vec::new();
    let mut free = 0i64;
    for (at, name) in names.into_iter().enumerate() {
        if first[at] < free || last[at] < first[at] || last[at] >= width as i64 {
            return Err(DataError::malformed(
                Place::file(&path).column("block_first"),
                format!("block '{name}' overlaps another or lies outside the features"),
                "write the archive again",
            ));
        }
        free = last[at] + 1;
        blocks.push(StoredBlock {
            name,
            first: first[at] as usize,
            last: last[at] as usize,
            is_list: lists[at] != 0,
        });
    }
    Ok(blocks)
}

fn typed_column(
    name: &str,
    word: &str,
    values: &[f64],
    levels: Option<Vec<String>>,
    narrow: bool,
    options: &ReadOptions,
) -> std::result::Result<Column, String> {
    let known = || values.iter().filter(|value| !value.is_nan());
    let whole = known().all(|value| value.fract() == 0.0);
    let kind = match word {
        "continuous" => DeclaredKind::Number,
        "count" => DeclaredKind::Count,
        "ordinal" if whole && known().all(|&value| value >= 0.0) => DeclaredKind::Count,
        "ordinal" => DeclaredKind::Number,
        "categorical" => DeclaredKind::Category,
        "binary" => DeclaredKind::Boolean,
        "date" => DeclaredKind::Date,
        other => return Err(format!("the type '{other}' is not known")),
    };
    let some = |value: &f64| (!value.is_nan()).then_some(*value);
    let cells: ArrayRef = match (kind, levels) {
        (DeclaredKind::Category, Some(levels)) => {
            let level = |value: &f64| {
                some(value)
                    .map(|value| {
                        let code = if value >= 0.0 && value.fract() == 0.0 {
                            value as usize
                        } else {
                            usize::MAX
                        };
                        levels.get(code).map(String::as_str).ok_or(value)
                    })
                    .transpose()
            };
            let cells = values.iter().map(level).collect::<std::result::Result<StringArray, f64>>();
            Arc::new(cells.map_err(|value| format!("{value} is no position in its levels"))?)
        }
        (DeclaredKind::Boolean, _) if known().all(|&value| value == 0.0 || value == 1.0) => {
            let cells = values.iter().map(|value| some(value).map(|value| value == 1.0));
            Arc::new(cells.collect::<BooleanArray>())
        }
        (DeclaredKind::Count | DeclaredKind::Category, _) if whole => {
            let cells = values.iter().map(|value| some(value).map(|value| value as i64));
            Arc::new(cells.collect::<Int64Array>())
        }
        (DeclaredKind::Date, _) if whole => {
            let cells = values.iter().map(|value| some(value).map(|days| days as i32));
            Arc::new(cells.collect::<Date32Array>())
        }
        (DeclaredKind::Date, _) => {
            let moment = |days: f64| (days * DAY * 1e3).round() as i64;
            let cells = values.iter().map(|value| some(value).map(moment));
            Arc::new(cells.collect::<TimestampMillisecondArray>())
        }
        _ if narrow => {
            Arc::new(values.iter().map(|v| some(v).map(|v| v as f32)).collect::<Float32Array>())
        }
        _ => Arc::new(values.iter().map(some).collect::<Float64Array>()),
    };
    let declared = options.types.get(name).unwrap_or(kind);
    infer::typed_column(name, cells, Some(declared))
        .map_err(|invalid| format!("row {}: {}", invalid.row, invalid.found))
}

/// The dense columns of `aux`, their types inferred.
fn auxiliary_columns(
    archive: &mut Archive,
    rows: usize,
    options: &ReadOptions,
) -> Result<Vec<Column>> {
    if !archive.has("aux") {
        return Ok(Vec::new());
    }
    let path = archive.path().to_path_buf();
    let names = archive.strings("aux_names")?;
    let count = names.len();
    let narrow = archive.stream("aux")?.element() == ElementType::Float(4);
    let values = checked_length(&path, "aux", archive.floats("aux")?, rows * count)?;
    let mut columns = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let cells = (0..rows).map(|row| values[row * count + at]);
        let cells = cells.map(|value| (!value.is_nan()).then_some(value));
        let cells: ArrayRef = if narrow {
            Arc::new(cells.map(|cell| cell.map(|value| value as f32)).collect::<Float32Array>())
        } else {
            Arc::new(cells.collect::<Float64Array>())
        };
        let made = infer::typed_column(name, cells, options.types.get(name));
        columns.push(made.map_err(|invalid| {
            let place = Place::file(&path).column(name);
            DataError::malformed(
                place,
                format!("row {}: {}", invalid.row, invalid.found),
                invalid.hint,
            )
        })?);
    }
    Ok(columns)
}

/// Columns that are not estimated: the node type, and text.
fn carried_columns(archive: &mut Archive, rows: usize, columns: &mut Vec<Column>) -> Result<()> {
    let path = archive.path().to_path_buf();
    if archive.has("node_type") {
        let types = checked_length(&path, "node_type", archive.strings("node_type")?, rows)?;
        let cells: ArrayRef = Arc::new(StringArray::from(types));
        columns.push(Column::new("node_type", Kind::Unused(Unused::NodeType), cells));
    }
    if !archive.has("text_names") {
        return Ok(());
    }
    for (at, name) in archive.strings("text_names")?.into_iter().enumerate() {
        let array = format!("text_{at}");
        let flags = format!("text_{at}_missing");
        let text = checked_length(&path, &array, archive.strings(&array)?, rows)?;
        let missing = checked_length(&path, &flags, archive.integers(&flags)?, rows)?;
        let cells = text.iter().zip(&missing).map(|(text, &gone)| (gone == 0).then_some(text));
        let cells: ArrayRef = Arc::new(cells.collect::<StringArray>());
        columns.push(Column::new(name, Kind::Unused(Unused::Declared), cells));
    }
    Ok(())
}

fn ids(archive: &mut Archive, rows: usize) -> Result<(NodeIds, IdColumn)> {
    if !archive.has("ids") {
        return Ok((NodeIds::numbered(rows), IdColumn::default()));
    }
    let path = archive.path().to_path_buf();
    let text =
        matches!(archive.stream("ids")?.element(), ElementType::Unicode(_) | ElementType::Bytes(_));
    let ids = if text {
        let ids = checked_length(&path, "ids", archive.strings("ids")?, rows)?;
        NodeIds::Strings(StringArray::from(ids))
    } else {
        NodeIds::Integers(checked_length(&path, "ids", archive.integers("ids")?, rows)?)
    };
    let repeated = ids.index().err();
    if let Some(row) = repeated {
        let place = Place::file(&path).column("ids");
        return Err(DataError::DuplicateId {
            place,
            id: ids.text(row),
            hint: "give every node one row".into(),
        });
    }
    let mut column = IdColumn::default();
    if archive.has("id_name") {
        column.name = archive.strings("id_name")?.into_iter().next().unwrap_or_default();
    }
    if archive.has("id_position") {
        let position = archive.integers("id_position")?.first().copied().unwrap_or(0);
        column.position = usize::try_from(position).ok();
    }
    Ok((ids, column))
}

fn labels(archive: &mut Archive, rows: usize) -> Result<Option<Labels>> {
    if !archive.has("y") {
        return Ok(None);
    }
    let path = archive.path().to_path_buf();
    let numbers = checked_length(&path, "y", archive.integers("y")?, rows)?;
    if !archive.has("y_names") {
        return Ok(Labels::from_numbers("y", &numbers));
    }
    let name = match archive.has("y_name") {
        true => archive.strings("y_name")?.into_iter().next().unwrap_or_default(),
        false => "y".to_owned(),
    };
    let classes = archive.strings("y_names")?;
    let class = |&number: &i64| {
        let class = u32::try_from(number).ok();
        class.filter(|&class| (class as usize) < classes.len())
    };
    let codes = numbers.iter().map(class).collect();
    Ok(Some(Labels { name, codes, classes }))
}
