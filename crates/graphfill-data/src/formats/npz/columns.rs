//! The feature columns of the own layout: one block, or columns of declared types.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Float32Array, Float64Array, Int64Array, StringArray,
    TimestampMillisecondArray,
};

use super::array::ElementType;
use super::read::checked_length;
use super::{Archive, read_rows};
use crate::block::{BlockBuilder, BlockLayout};
use crate::cell_mask::CellMask;
use crate::column::Column;
use crate::date_style::DAY;
use crate::error::{DataError, Place, Result};
use crate::formats::options::ReadOptions;
use crate::hint::{Hint, Setting};
use crate::infer;
use crate::kind::DeclaredKind;
use crate::progress::Progress;

/// All features as one block; a stored NaN is a missing cell.
pub(super) fn one_block(
    archive: &mut Archive,
    names: Option<Vec<String>>,
    missing: &CellMask,
    progress: &dyn Progress,
) -> Result<Column> {
    let width = missing.width();
    let layout = names.map_or(BlockLayout::List, BlockLayout::Columns);
    let mut builder = BlockBuilder::new(width, layout);
    let mut unknown: Vec<(usize, u32)> = Vec::new();
    read_rows(archive, "x_", progress, |row, cells| {
        let holes = cells.iter().filter(|(_, value)| value.is_nan());
        unknown.extend(holes.map(|(column, _)| (row, *column)));
        cells.retain(|&(column, value)| !value.is_nan() && !missing.contains(row, column as usize));
        builder.push_row(cells);
        Ok(())
    })?;
    let unknown = CellMask::of_cells(missing.rows(), width, &unknown);
    let name = match archive.has("block_names") {
        true => archive.strings("block_names")?.into_iter().next().unwrap_or_default(),
        false => "x".to_owned(),
    };
    Ok(Column::block(name, builder.finish(missing.union(&unknown))))
}

/// Features of declared types: single columns, and blocks where the archive says so.
pub(super) fn typed_columns(
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
    let block_of = |column: usize| {
        let block = blocks.partition_point(|block| block.last < column);
        blocks.get(block).is_some_and(|found| found.first <= column).then_some(block)
    };
    let single: Vec<Option<usize>> = {
        let mut next = 0..;
        (0..width).map(|at| if block_of(at).is_some() { None } else { next.next() }).collect()
    };
    let count = single.iter().flatten().count();
    let cells = rows.saturating_mul(count);
    archive.check_memory("x_shape", "cells of single columns", cells, 8)?;
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
    read_rows(archive, "x_", progress, |row, cells| {
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

    let missing = &missing.union(&CellMask::of_cells(rows, width, &unknown));
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
                let (column, kind) = (names[at].clone(), DeclaredKind::Unused);
                let hint = Hint::new("declare another type for the column");
                DataError::malformed(place, found, hint.with(Setting::Type { column, kind }))
            })?);
        } else if let Some(block) = blocks.iter().find(|block| block.first == at)
            && let Some(builder) = builders.next()
        {
            let part = missing.slice(at..block.last + 1);
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
