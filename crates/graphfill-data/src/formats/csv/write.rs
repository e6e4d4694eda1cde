//! Node tables and edges as text, in the dialect of the input. Cells that came from text are written
//! as they were spelt.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use arrow_array::{Array, StringArray};
use csv::{QuoteStyle, Terminator, Writer, WriterBuilder};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::dialect::{COMMENTS, Delimiter, Dialect, LineEnd};
use crate::block::Block;
use crate::column::ColumnData;
use crate::error::{DataError, Result};
use crate::formats::encoding::EncodingWriter;
use crate::formats::output_file::OutputFile;
use crate::formats::raw_table::check_distinct;
use crate::graph::Graph;
use crate::ids::NodeIds;
use crate::table::NodeTable;

/// Writes a node table; compressed where the name ends in `.gz` or `.zst`.
pub(crate) fn write_nodes(table: &NodeTable, path: &Path, dialect: &Dialect) -> Result<OutputFile> {
    write_tables(table, path, dialect, &mut || None)
}

/// Writes a node table and others with the same columns below it.
pub(crate) fn write_tables(
    first: &NodeTable,
    path: &Path,
    dialect: &Dialect,
    next: &mut dyn FnMut() -> Option<NodeTable>,
) -> Result<OutputFile> {
    let id = &first.id_column;
    let mut header = Vec::new();
    for column in first.columns() {
        match column.data() {
            ColumnData::Array(_) => header.push(column.name().to_owned()),
            ColumnData::Block(block) => {
                header.extend((0..block.width()).map(|at| block.column_name(column.name(), at)));
            }
        }
    }
    // Ids that are row numbers stood in no column of the file, and are not added to one.
    let at = id.position.map(|position| position.min(header.len()));
    if let Some(at) = at {
        header.insert(at, id.name.clone());
    }
    check_distinct(path, &header)?;
    let header = if id.headerless { None } else { Some(header.as_slice()) };
    write(path, dialect, None, header, |writer| {
        write_rows(writer, first, at)?;
        while let Some(table) = next() {
            write_rows(writer, &table, at)?;
        }
        Ok(())
    })
}

/// Writes the rows of a table, their ids behind so many cells.
fn write_rows(
    writer: &mut Writer<Box<dyn Write + '_>>,
    table: &NodeTable,
    id_position: Option<usize>,
) -> csv::Result<()> {
    let columns: Vec<TextColumn<'_>> = table.columns().iter().map(TextColumn::of).collect();
    let mut row_cells: Vec<Cow<'_, [u8]>> = Vec::new();
    for row in 0..table.rows() {
        row_cells.clear();
        for column in &columns {
            column.push_cells(row, &mut row_cells);
        }
        if let Some(at) = id_position {
            row_cells.insert(at, Cow::Owned(table.ids().text(row).into_bytes()));
        }
        writer.write_record(&row_cells)?;
    }
    Ok(())
}

/// Writes every arc as it was given, by the ids of its ends.
pub(crate) fn write_edges(
    graph: &Graph,
    ids: &NodeIds,
    path: &Path,
    dialect: &Dialect,
) -> Result<OutputFile> {
    let names = ["source", "target", "weight"].map(str::to_owned);
    let header = if graph.is_weighted() { &names[..] } else { &names[..2] };
    // With comments declared, an id that starts like one is quoted.
    write(path, dialect, Some(COMMENTS[0]), Some(header), |writer| {
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
    dialect: &Dialect,
    comment: Option<u8>,
    header: Option<&[String]>,
    rows: impl FnOnce(&mut Writer<Box<dyn Write + '_>>) -> csv::Result<()>,
) -> Result<OutputFile> {
    let failed = |error: io::Error| DataError::write(path, error);
    let mut file = OutputFile::create(path)?;
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    {
        let compressed: Box<dyn Write + '_> = match ending.as_deref() {
            Some("gz") => Box::new(FinishedGzip(GzEncoder::new(&mut file, Compression::default()))),
            Some("zst") => {
                let encoder = zstd::stream::write::Encoder::new(&mut file, 0).map_err(failed)?;
                Box::new(FinishedZstd(encoder))
            }
            _ => Box::new(&mut file),
        };
        let mut sink: Box<dyn Write + '_> = compressed;
        if dialect.byte_order_mark {
            sink.write_all(dialect.encoding.mark()).map_err(failed)?;
        }
        let mut sink: Box<dyn Write + '_> = Box::new(EncodingWriter::new(sink, dialect.encoding));
        let mut builder = builder(dialect);
        if let Some(names) = header {
            write_header(&mut sink, names, &mut builder).map_err(|error| failed(error.into()))?;
        }
        let mut writer = builder.comment(comment).from_writer(sink);
        rows(&mut writer).map_err(|error| failed(error.into()))?;
        let mut sink = writer.into_inner().map_err(|error| failed(error.into_error()))?;
        sink.flush().map_err(failed)?;
    }
    Ok(file)
}

fn builder(dialect: &Dialect) -> WriterBuilder {
    let mut builder = WriterBuilder::new();
    builder.delimiter(match dialect.delimiter {
        Delimiter::Byte(byte) => byte,
        Delimiter::Whitespace => b' ',
    });
    builder.terminator(match dialect.line_end {
        LineEnd::Lf => Terminator::Any(b'\n'),
        LineEnd::CrLf => Terminator::CRLF,
    });
    builder
}

/// Writes the column names. Where one holds another separator all are quoted, since a reader finds
/// out the separator by counting outside of quotes.
fn write_header(
    sink: &mut dyn Write,
    names: &[String],
    builder: &mut WriterBuilder,
) -> csv::Result<()> {
    let misleading = |name: &String| name.contains([',', '\t', ';', '|']);
    let quotes =
        if names.iter().any(misleading) { QuoteStyle::Always } else { QuoteStyle::Necessary };
    let mut line = Vec::new();
    let mut writer = builder.quote_style(quotes).from_writer(&mut line);
    writer.write_record(names)?;
    writer.flush()?;
    drop(writer);
    builder.quote_style(QuoteStyle::Necessary);
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

/// Zstandard whose frame is ended, and its failure seen, on flush.
struct FinishedZstd<W: Write>(zstd::stream::write::Encoder<'static, W>);

impl<W: Write> Write for FinishedZstd<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.do_finish()
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
