//! From the columns of a file to a node table: ids, blocks, types, labels, and notes on every guess.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, StringArray};
use arrow_schema::DataType;

use crate::block::{BlockBuilder, BlockLayout};
use crate::cell_mask::CellMask;
use crate::column::{Column, Levels};
use crate::error::{DataError, Place, Result};
use crate::formats::csv::{Delimiter, Dialect};
use crate::formats::edge_columns::position;
use crate::formats::guesses::Guesses;
use crate::formats::lists;
use crate::formats::options::ReadOptions;
use crate::formats::raw_table::{RawCells, RawColumn, RawTable, check_distinct};
use crate::formats::resolve::IdSource;
use crate::hint::{Hint, Setting};
use crate::ids::NodeIds;
use crate::infer::{self, InferOptions, TypedColumn};
use crate::kind::{DeclaredKind, Kind, Unused};
use crate::labels::Labels;
use crate::missing_words::MissingWords;
use crate::note::Note;
use crate::table::{IdColumn, NodeTable};

/// So many 0/1 columns side by side in a text file are one binary block.
pub const MIN_BLOCK_COLUMNS: usize = 100;

/// The table that a node file holds, and what was guessed on the way.
pub(crate) fn assemble(
    mut raw: RawTable,
    id: IdSource,
    options: &ReadOptions,
) -> Result<(NodeTable, Vec<Note>)> {
    let path = raw.path().to_path_buf();
    let names: Vec<String> = raw.columns.iter().map(|column| column.name.clone()).collect();
    for (declared, _) in options.types.iter() {
        position(&path, &names, declared)?;
    }
    check_distinct(&path, &names)?;
    let mut guesses = Guesses::default();
    let (ids, id_column) = take_ids(&mut raw, id)?;
    let label = options.label.as_deref();
    if let Some(label) = label {
        position(&path, &names, label)?;
    }

    let runs = blocks(&raw, &path, options)?;
    let rows = raw.rows();
    let mut columns = Vec::new();
    let mut labels = None;
    let mut waiting: Vec<Option<RawColumn>> = raw.columns.drain(..).map(Some).collect();
    let mut at = 0;
    while at < waiting.len() {
        if let Some(run) = runs.iter().find(|run| run.first == at) {
            let members = waiting[run.first..=run.last].iter_mut().filter_map(Option::take);
            columns.push(block_of(&raw, &run.name, members.collect(), rows, options)?);
            at = run.last + 1;
            continue;
        }
        if let Some(column) = waiting[at].take() {
            if label == Some(column.name.as_str()) {
                let column = label_column(column, options, &mut guesses);
                labels = Some(labels_of(&column));
                columns.push(column);
            } else {
                let typed = single_column(&raw, column, options)?;
                guesses.note(&typed);
                columns.push(typed.column);
            }
        }
        at += 1;
    }
    let mut table = NodeTable::new(id_column, ids, columns, labels)?;
    table.file_metadata = std::mem::take(&mut raw.metadata);
    table.dialect = raw.dialect;
    Ok((table, guesses.into_notes(&options.missing_words)))
}

/// The column of labels. Words for "missing" are classes like others unless the caller gave them.
fn label_column(column: RawColumn, options: &ReadOptions, guesses: &mut Guesses) -> Column {
    let words = &options.missing_words;
    let mut cells = column.cells.into_array();
    if let Some(text) = cells.as_string_opt::<i32>() {
        let rows = |says: &dyn Fn(&str) -> bool| -> Vec<bool> {
            text.iter().map(|cell| cell.is_some_and(says)).collect()
        };
        let given = rows(&|cell| words.is_given(cell));
        let usual = rows(&|cell| words.contains(cell) && !words.is_given(cell));
        if let Some(row) = usual.iter().position(|&said| said) {
            let (word, count) = (text.value(row), usual.iter().filter(|&&said| said).count());
            let found =
                format!("labels: {count} cells such as '{word}' are a class like any other");
            guesses.notes.push(Note::new(found).with(Setting::MissingValue(word.to_owned())));
        }
        if given.contains(&true) {
            cells = Column::new("", Kind::Category, cells).with_hidden_rows(&given).array();
        }
    }
    Column::new(column.name, Kind::Unused(Unused::Label), cells).with_field(column.field)
}

fn single_column(raw: &RawTable, column: RawColumn, options: &ReadOptions) -> Result<TypedColumn> {
    let declared = options.types.get(&column.name).or(column.declared);
    let cells = column.cells.into_array();
    let is_list = matches!(
        cells.data_type(),
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(_, _)
    );
    let made = if is_list && declared != Some(DeclaredKind::Unused) {
        lists::block_column(&column.name, &cells).map(TypedColumn::new)
    } else {
        infer::interpret(&column.name, cells, declared, &infer_options(raw, options))
    };
    let field = column.field;
    let with_field =
        |typed: TypedColumn| TypedColumn { column: typed.column.with_field(field), ..typed };
    made.map(with_field).map_err(|invalid| {
        let place = raw.place(invalid.row).column(&column.name);
        DataError::malformed(place, invalid.found, invalid.hint)
    })
}

fn infer_options<'a>(raw: &RawTable, options: &'a ReadOptions) -> InferOptions<'a> {
    let semicolons = |dialect: &Dialect| dialect.delimiter == Delimiter::Byte(b';');
    InferOptions {
        missing_words: &options.missing_words,
        decimal: options.decimal,
        date_order: options.date_order,
        unusable: options.unusable_values,
        semicolons: raw.dialect.as_ref().is_some_and(semicolons),
    }
}

fn take_ids(raw: &mut RawTable, id: IdSource) -> Result<(NodeIds, IdColumn)> {
    let path = raw.path().to_path_buf();
    let headerless = raw.headerless;
    let IdSource::Column(position) = id else {
        let id_column = IdColumn { position: None, headerless, ..IdColumn::default() };
        return Ok((NodeIds::numbered(raw.rows()), id_column));
    };
    let column = &raw.columns[position];
    let Some(ids) = ids_of(&column.cells, raw.is_text()) else {
        let missing = first_missing(&column.cells);
        let place = raw.place(missing.unwrap_or(0)).column(&column.name);
        return Err(match missing {
            Some(_) => DataError::malformed(place, "the row has no id", "give every row an id"),
            None => DataError::malformed(
                Place::file(&path).column(&column.name),
                "ids are text or whole numbers",
                "name another id column, or turn its values into whole numbers or text",
            ),
        });
    };
    if let Err(row) = ids.index() {
        return Err(DataError::DuplicateId {
            place: raw.place(row).column(&column.name),
            id: ids.text(row),
            hint: Hint::new(
                "every node needs one row: remove the repeated row, or name another id column",
            ),
        });
    }
    let column = raw.columns.remove(position);
    Ok((
        ids,
        IdColumn { name: column.name, position: Some(position), field: column.field, headerless },
    ))
}

/// The cells as ids; none where one is missing or the type is no id. Only a text file leaves open
/// whether digits are a number: a typed one says so, and edges are then written in that type.
pub(crate) fn ids_of(cells: &RawCells, from_text: bool) -> Option<NodeIds> {
    if first_missing(cells).is_some() {
        return None;
    }
    match cells {
        RawCells::Bytes(_) => cells.text().map(NodeIds::from_text),
        RawCells::Array(array) => match array.data_type() {
            DataType::Utf8 if from_text => cells.text().map(NodeIds::from_text),
            DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Dictionary(_, _) => {
                let text = arrow_cast::cast(array, &DataType::Utf8).ok()?;
                Some(NodeIds::Strings(StringArray::from(text.to_data())))
            }
            other if other.is_integer() => {
                let numbers = arrow_cast::cast(array, &DataType::Int64).ok()?;
                let numbers = numbers.as_primitive::<Int64Type>();
                (numbers.null_count() == 0).then(|| NodeIds::Integers(numbers.values().to_vec()))
            }
            _ => None,
        },
    }
}

fn first_missing(cells: &RawCells) -> Option<usize> {
    match cells {
        RawCells::Bytes(bytes) => bytes.iter().position(|&byte| byte == 0),
        RawCells::Array(array) => {
            let nulls = array.logical_nulls()?;
            (0..array.len()).find(|&row| nulls.is_null(row))
        }
    }
}

fn labels_of(column: &Column) -> Labels {
    let Levels { names, codes } = column.levels();
    Labels { name: column.name().to_owned(), codes, classes: names }
}

/// A run of neighbouring columns that becomes one block.
struct Run {
    name: String,
    first: usize,
    last: usize,
}

fn blocks(raw: &RawTable, path: &Path, options: &ReadOptions) -> Result<Vec<Run>> {
    let names: Vec<String> = raw.columns.iter().map(|column| column.name.clone()).collect();
    let mut runs = Vec::new();
    for block in &options.blocks {
        let first = position(path, &names, &block.first)?;
        let last = position(path, &names, &block.last)?;
        if last < first {
            return Err(DataError::request(
                format!(
                    "block '{}': column '{}' stands before '{}'",
                    block.name, block.last, block.first
                ),
                "",
            ));
        }
        runs.push(Run { name: block.name.clone(), first, last });
    }
    let taken = |runs: &[Run], at: usize| {
        let column = &raw.columns[at];
        options.types.get(&column.name).is_some()
            || column.declared.is_some()
            || options.label.as_deref() == Some(column.name.as_str())
            || runs.iter().any(|run| (run.first..=run.last).contains(&at))
    };
    // Runs that the file itself declares, then wide runs of zeros and ones.
    for run in consecutive(&raw.columns, |at| {
        let block = raw.columns[at].block.as_deref().filter(|_| !taken(&runs, at));
        block.map(|name| (name.to_owned(), data_type(&raw.columns[at])))
    }) {
        runs.push(Run { name: run.2.0, first: run.0, last: run.1 });
    }
    for (first, last, _) in consecutive(&raw.columns, |at| {
        let column = &raw.columns[at];
        (!taken(&runs, at) && is_zero_or_one(column, &options.missing_words))
            .then(|| data_type(column))
    }) {
        if last + 1 - first >= MIN_BLOCK_COLUMNS {
            runs.push(Run { name: common_name(&names[first..=last]), first, last });
        }
    }
    make_distinct(&mut runs, &names);
    Ok(runs)
}

/// The longest runs of columns with one and the same key, as `(first, last, key)`.
fn consecutive<K: PartialEq>(
    columns: &[RawColumn],
    key: impl Fn(usize) -> Option<K>,
) -> Vec<(usize, usize, K)> {
    let mut runs: Vec<(usize, usize, K)> = Vec::new();
    for at in 0..columns.len() {
        let Some(key) = key(at) else { continue };
        match runs.last_mut() {
            Some((_, last, same)) if *last + 1 == at && *same == key => *last = at,
            _ => runs.push((at, at, key)),
        }
    }
    runs
}

/// The type of a column of a typed file; none for text.
fn data_type(column: &RawColumn) -> Option<DataType> {
    match &column.cells {
        RawCells::Array(cells) if *cells.data_type() != DataType::Utf8 => {
            Some(cells.data_type().clone())
        }
        _ => None,
    }
}

fn is_zero_or_one(column: &RawColumn, words: &MissingWords) -> bool {
    match &column.cells {
        RawCells::Bytes(bytes) => {
            bytes.iter().all(|&byte| matches!(byte, 0 | b'0' | b'1') || says_missing(byte, words))
        }
        RawCells::Array(cells) => {
            let numeric = cells.data_type().is_numeric() || *cells.data_type() == DataType::Boolean;
            numeric && {
                let numbers = Column::new("", Kind::Number, cells.clone()).numbers();
                numbers.iter().all(|&value| value.is_nan() || value == 0.0 || value == 1.0)
            }
        }
    }
}

/// Whether a cell of one byte says "missing".
fn says_missing(byte: u8, words: &MissingWords) -> bool {
    words.contains(char::from(byte).encode_utf8(&mut [0; 4]))
}

/// Gives every run a name that no other run and no single column has.
fn make_distinct(runs: &mut [Run], names: &[String]) {
    let inside = |runs: &[Run], at: usize| runs.iter().any(|r| (r.first..=r.last).contains(&at));
    let mut taken: Vec<String> = names
        .iter()
        .enumerate()
        .filter(|(at, _)| !inside(runs, *at))
        .map(|(_, name)| name.clone())
        .collect();
    for run in runs {
        let stem = run.name.clone();
        let mut number = 2;
        while taken.contains(&run.name) {
            run.name = format!("{stem}_{number}");
            number += 1;
        }
        taken.push(run.name.clone());
    }
}

/// What the names of a block's columns have in common, or else the first and the last.
fn common_name(names: &[String]) -> String {
    let (first, last) = (&names[0], &names[names.len() - 1]);
    let mut common = first.as_str();
    for name in names {
        while !name.starts_with(common) {
            let mut shorter = common.chars();
            shorter.next_back();
            common = shorter.as_str();
        }
    }
    let common = common.trim_end_matches(|c: char| !c.is_alphabetic());
    if common.is_empty() { format!("{first}…{last}") } else { common.to_owned() }
}

fn block_of(
    raw: &RawTable,
    name: &str,
    members: Vec<RawColumn>,
    rows: usize,
    options: &ReadOptions,
) -> Result<Column> {
    let words = &options.missing_words;
    let fields = members.iter().map(|column| column.field.clone()).collect::<Option<Vec<_>>>();
    let layout = match fields {
        Some(fields) => BlockLayout::TypedColumns(fields),
        None => BlockLayout::Columns(members.iter().map(|column| column.name.clone()).collect()),
    };
    let width = members.len();
    let mut cells_of_column = Vec::with_capacity(width);
    let mut texts = Vec::with_capacity(width);
    for member in members {
        texts.push(match &member.cells {
            RawCells::Array(_) if raw.is_text() => member.cells.text(),
            _ => None,
        });
        cells_of_column.push(match member.cells {
            RawCells::Bytes(mut bytes)
                if bytes
                    .iter()
                    .all(|&b| matches!(b, 0 | b'0'..=b'9') || says_missing(b, words)) =>
            {
                let missing = |byte: &u8| !byte.is_ascii_digit();
                bytes.iter_mut().filter(|byte| missing(byte)).for_each(|byte| *byte = 0);
                BlockCells::Digits(bytes)
            }
            cells => BlockCells::Numbers(numbers_of(raw, &member.name, cells, words)?),
        });
    }
    let mut builder = BlockBuilder::new(width, layout);
    let mut cells = Vec::new();
    for row in 0..rows {
        cells.clear();
        for (column, values) in cells_of_column.iter().enumerate() {
            let value = values.value(row);
            if value != 0.0 && !value.is_nan() {
                cells.push((column as u32, value));
            }
        }
        builder.push_row(&mut cells);
    }
    let missing = CellMask::build(rows, width, |row, cells| {
        let columns = cells_of_column.iter().enumerate();
        let holes = columns.filter(|(_, values)| values.value(row).is_nan());
        cells.extend(holes.map(|(column, _)| column as u32));
    });
    Ok(Column::block(name, builder.finish(missing).with_spellings(texts)))
}

enum BlockCells {
    Digits(Vec<u8>),
    Numbers(Vec<f64>),
}

impl BlockCells {
    fn value(&self, row: usize) -> f64 {
        match self {
            BlockCells::Digits(bytes) if bytes[row] == 0 => f64::NAN,
            BlockCells::Digits(bytes) => f64::from(bytes[row] - b'0'),
            BlockCells::Numbers(numbers) => numbers[row],
        }
    }
}

fn numbers_of(
    raw: &RawTable,
    name: &str,
    cells: RawCells,
    words: &MissingWords,
) -> Result<Vec<f64>> {
    let mut column = Column::new(name, Kind::Number, cells.into_array());
    let text = column.text();
    let said = text.iter().map(|cell| cell.is_some_and(|cell| words.contains(cell)));
    let said: Vec<bool> = said.collect();
    if said.contains(&true) {
        column = column.with_hidden_rows(&said);
    }
    let numbers = column.numbers();
    let missing = column.missing();
    let wrong = (0..numbers.len()).find(|&row| !missing[row] && !numbers[row].is_finite());
    match wrong {
        None => Ok(numbers),
        Some(row) => {
            let text = column.text();
            let found = format!("found '{}', which is no finite number", text.value(row));
            Err(DataError::malformed(
                raw.place(row).column(name),
                found,
                "the column belongs to a block of numbers: correct the cell or leave it empty",
            ))
        }
    }
}
