//! Node tables and edges as text. Cells that came from text are written as they were spelt.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use arrow_array::{Array, StringArray};
use csv::{QuoteStyle, Writer, WriterBuilder};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::{COMMENT, SEPARATORS};
use crate::atomic_file::AtomicFile;
use crate::block::Block;
use crate::column::ColumnData;
use crate::error::{DataError, Result};
use crate::formats::raw_table::check_distinct;
use crate::graph::Graph;
use crate::ids::NodeIds;
use crate::table::NodeTable;

/// Writes a node table; gzipped where the name ends in `.gz`.
pub(crate) fn write_nodes(table: &NodeTable, path: &Path, delimiter: u8) -> Result<AtomicFile> {
    let columns: Vec<TextColumn<'_>> = table.columns().iter().map(TextColumn::of).collect();
    let id = &table.id_column;
    let mut header = Vec::new();
    for (column, cells) in table.columns().iter().zip(&columns) {
        match cells {
            TextColumn::Cells(_) => header.push(column.name().to_owned()),
            TextColumn::Block(block) => {
                header.extend((0..block.width()).map(|at| block.column_name(column.name(), at)));
            }
        }
    }
    let at = id.position.min(header.len());
    header.insert(at, id.name.clone());
    check_distinct(path, &header)?;
    write(path, delimiter, None, &header, |writer| {
        let mut row_cells: Vec<Cow<'_, [u8]>> = Vec::with_capacity(header.len());
        for row in 0..table.rows() {
            row_cells.clear();
            for column in &columns {
                column.push_cells(row, &mut row_cells);
            }
            row_cells.insert(at, Cow::Owned(table.ids().text(row).into_bytes()));
            writer.write_record(&row_cells)?;
        }
        Ok(())
    })
}

/// Writes every arc as it was given, by the ids of its ends.
pub(crate) fn write_edges(
    graph: &Graph,
    ids: &NodeIds,
    path: &Path,
    delimiter: u8,
) -> Result<AtomicFile> {
    let names = ["source", "target", "weight"].map(str::to_owned);
    let header = if graph.is_weighted() { &names[..] } else { &names[..2] };
    // With comments declared, an id that starts like one is quoted.
    write(path, delimiter, Some(COMMENT), header, |writer| {
        for (source, target, weight) in graph.iter() {
            writer.write_field(ids.text(source as usize))?;
            writer.write_field(ids.text(target as usize))?;
            if graph.is_weighted() {
                writer.write_field(weight.to_string())?;
            }
            writer.write_record(None::<&[u8]>)?;
        }
        Ok(())
    })
}

fn write(
    path: &Path,
    delimiter: u8,
    comment: Option<u8>,
    header: &[String],
    rows: impl FnOnce(&mut Writer<Box<dyn Write + '_>>) -> csv::Result<()>,
) -> Result<AtomicFile> {
    let failed = |error: io::Error| DataError::write(path, error);
    let mut file = AtomicFile::create(path)?;
    let gzipped = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
    {
        let mut sink: Box<dyn Write + '_> = if gzipped {
            Box::new(FinishedGzip(GzEncoder::new(&mut file, Compression::default())))
        } else {
            Box::new(&mut file)
        };
        write_header(&mut sink, header, delimiter).map_err(|error| failed(error.into()))?;
        let mut builder = WriterBuilder::new();
        let mut writer = builder.delimiter(delimiter).comment(comment).from_writer(sink);
        rows(&mut writer).map_err(|error| failed(error.into()))?;
        let mut sink = writer.into_inner().map_err(|error| failed(error.into_error()))?;
        sink.flush().map_err(failed)?;
    }
    Ok(file)
}

/// Writes the column names. Where one holds another separator all are quoted, since a reader finds
/// out the separator by counting outside of quotes.
fn write_header(sink: &mut dyn Write, names: &[String], delimiter: u8) -> csv::Result<()> {
    let misleading = |name: &String| name.bytes().any(|byte| SEPARATORS.contains(&byte));
    let quotes =
        if names.iter().any(misleading) { QuoteStyle::Always } else { QuoteStyle::Necessary };
    let mut line = Vec::new();
    let mut builder = WriterBuilder::new();
    let mut writer = builder.delimiter(delimiter).quote_style(quotes).from_writer(&mut line);
    writer.write_record(names)?;
    writer.flush()?;
    drop(writer);
    Ok(sink.write_all(&line)?)
}

/// Gzip whose trailer is written, and its failure seen, on flush.
struct FinishedGzip<W: Write>(GzEncoder<W>);

impl<W: Write> Write for FinishedGzip<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.try_finish()
    }
}

enum TextColumn<'a> {
    Cells(StringArray),
    Block(&'a Block),
}

impl<'a> TextColumn<'a> {
    fn of(column: &'a crate::column::Column) -> Self {
        match column.data() {
            ColumnData::Array(_) => TextColumn::Cells(column.text()),
            ColumnData::Block(block) => TextColumn::Block(block),
        }
    }

    fn push_cells<'b>(&'b self, row: usize, cells: &mut Vec<Cow<'b, [u8]>>) {
        const EMPTY: Cow<'static, [u8]> = Cow::Borrowed(b"");
        match self {
            TextColumn::Cells(text) if text.is_null(row) => cells.push(EMPTY),
            TextColumn::Cells(text) => cells.push(Cow::Borrowed(text.value(row).as_bytes())),
            TextColumn::Block(block) => {
                let start = cells.len();
                cells.resize(start + block.width(), Cow::Borrowed(b"0"));
                for (column, value) in block.cells(row) {
                    cells[start + column as usize] = Cow::Owned(block.spell(value).into_bytes());
                }
                for (column, cell) in cells[start..].iter_mut().enumerate() {
                    if let Some(text) = block.spelling(row, column) {
                        *cell = Cow::Borrowed(text.as_bytes());
                    }
                }
                if block.missing().is_whole(row) {
                    cells[start..].fill(EMPTY);
                }
                for &column in block.missing().cells(row) {
                    cells[start + column as usize] = EMPTY;
                }
            }
        }
    }
}
