//! Reads the own layout.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, StringArray};

use super::array::ElementType;
use super::columns::{one_block, typed_columns};
use super::{Archive, read_arcs, shape};
use crate::cell_mask::CellMask;
use crate::column::Column;
use crate::dataset::Dataset;
use crate::error::{DataError, Place, Result};
use crate::formats::options::ReadOptions;
use crate::graph::Direction;
use crate::ids::NodeIds;
use crate::infer;
use crate::kind::{Kind, Unused};
use crate::labels::Labels;
use crate::note::Note;
use crate::progress::Progress;
use crate::table::{IdColumn, NodeTable};

/// Reads a graph and its table.
pub(crate) fn read(path: &Path, options: &ReadOptions, progress: &dyn Progress) -> Result<Dataset> {
    let mut archive = Archive::open_within(path, options.memory_limit)?;
    archive.check_total()?;
    let (rows, width) = shape(&mut archive, "x_shape")?;
    // Claimed sizes are believed only as far as arrays of that length are there.
    let offsets = archive.stream("x_indptr")?.len();
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
    let list = read_arcs(&archive, ends, weight, rows, progress)?;
    let of_file = if directed { Direction::Directed } else { Direction::Undirected };
    let direction = options.direction.unwrap_or(of_file);
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into());
    let graph = list.into_graph(rows, direction)?;
    let mut dataset = Dataset::new(&name, "graphfill .npz", table, graph)?;
    if direction == Direction::Directed && !directed {
        dataset.notes.push(Note::warning(
            "the archive has no arcs (dir_src, dir_dst): every edge was taken as one arc from its edge_src to its edge_dst",
        ));
    }
    Ok(dataset)
}

fn mismatch(path: &Path, array: &str, found: usize, wanted: usize) -> DataError {
    DataError::malformed(
        Place::file(path).column(array),
        format!("the array has {found} entries, the others call for {wanted}"),
        "the arrays of the archive don't belong together: write it again",
    )
}

pub(super) fn checked_length<T>(
    path: &Path,
    array: &str,
    values: Vec<T>,
    wanted: usize,
) -> Result<Vec<T>> {
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
    let stream = archive.stream("aux")?;
    let (narrow, found) = (stream.element() == ElementType::Float(4), stream.len());
    drop(stream);
    // Names and rows are in the file, their product need not be.
    if rows.checked_mul(count) != Some(found) {
        return Err(mismatch(&path, "aux", found, rows.saturating_mul(count)));
    }
    let values = archive.floats("aux")?;
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
