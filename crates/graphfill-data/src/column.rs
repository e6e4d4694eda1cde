//! One column of a node table: the cells exactly as the file had them, and what they mean.
//!
//! Cells stay in the file's own type (CSV cells as their text), so that writing a table back
//! changes nothing but the missing cells. Methods see numbers and levels through the views here.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, StringArray};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, FieldRef, TimeUnit};

use serde::{Deserialize, Serialize};

use crate::block::Block;
use crate::date_style::{DAY, DateStyle};
use crate::kind::Kind;
use crate::number_style::NumberStyle;
use crate::spelling;

/// A named column.
#[derive(Debug, Clone)]
pub struct Column {
    name: String,
    kind: Kind,
    data: ColumnData,
    style: CellStyle,
    field: Option<FieldRef>,
    /// Cells of another table that show how this column is written, where its own show nothing.
    examples: Vec<String>,
}

/// How text cells spell what they mean.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) enum CellStyle {
    /// Digits and a point, or plain words.
    #[default]
    Plain,
    /// Numbers with decimal commas, thousands separators or units.
    Number(NumberStyle),
    /// Dates.
    Date(DateStyle),
}

/// How a column writes its values, to be kept with a model: decimal commas, units, patterns of dates, and
/// some of its cells as examples.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ColumnStyle {
    cells: CellStyle,
    examples: Vec<String>,
}

/// How many different cells of a column are kept as examples.
const MAX_EXAMPLES: usize = 20;

/// The cells of a column.
#[derive(Debug, Clone)]
pub enum ColumnData {
    /// One value a row; null (or NaN) where it is missing.
    Array(ArrayRef),
    /// Many values a row.
    Block(Block),
}

/// The levels of a category column.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// The name of each level, in order.
    pub names: Vec<String>,
    /// The level of each row, as a position in `names`; none where it is missing.
    pub codes: Vec<Option<u32>>,
}

impl Column {
    /// A column of single values.
    pub fn new(name: impl Into<String>, kind: Kind, cells: ArrayRef) -> Self {
        let (data, style) = (ColumnData::Array(cells), CellStyle::Plain);
        Column { name: name.into(), kind, data, style, field: None, examples: Vec::new() }
    }

    /// A column that is a block.
    pub fn block(name: impl Into<String>, block: Block) -> Self {
        let kind = Kind::Block(block.kind());
        let (data, style) = (ColumnData::Block(block), CellStyle::Plain);
        Column { name: name.into(), kind, data, style, field: None, examples: Vec::new() }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same cells under another name, as a column of no file.
    #[must_use]
    pub fn renamed(mut self, name: impl Into<String>) -> Self {
        (self.name, self.field) = (name.into(), None);
        self
    }

    /// What it holds.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The same cells, meaning something else.
    #[must_use]
    pub fn with_kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// How its values are written.
    pub fn column_style(&self) -> ColumnStyle {
        let mut examples: Vec<String> = Vec::new();
        if let ColumnData::Array(cells) = &self.data
            && is_text(cells.data_type())
        {
            for cell in as_text(cells).iter().flatten() {
                if examples.len() < MAX_EXAMPLES && !examples.iter().any(|known| known == cell) {
                    examples.push(cell.to_owned());
                }
            }
        }
        ColumnStyle { cells: self.style.clone(), examples }
    }

    /// The same column, which writes its values in this style if its own cells show none.
    #[must_use]
    pub fn with_default_style(mut self, style: &ColumnStyle) -> Self {
        if self.style == CellStyle::Plain && self.missing_count() == self.rows() {
            self.style = style.cells.clone();
            self.examples.clone_from(&style.examples);
        }
        self
    }

    /// Cells that show how the column is written, where its own show nothing.
    pub(crate) fn examples(&self) -> &[String] {
        &self.examples
    }

    /// The same cells, read in another style.
    #[must_use]
    pub(crate) fn with_style(mut self, style: CellStyle) -> Self {
        self.style = style;
        self
    }

    /// The same column with other cells.
    pub(crate) fn with_cells(&self, cells: ArrayRef) -> Self {
        Column { data: ColumnData::Array(cells), ..self.clone() }
    }

    /// The same cells as they stood in a typed file: with this metadata, and null or not.
    #[must_use]
    pub fn with_field(mut self, field: Option<FieldRef>) -> Self {
        self.field = field;
        self
    }

    /// Its field in the typed file that it was read from.
    pub fn field(&self) -> Option<&FieldRef> {
        self.field.as_ref()
    }

    /// The same column with another block.
    #[must_use]
    pub fn with_block(&self, block: Block) -> Self {
        Column { data: ColumnData::Block(block), ..self.clone() }
    }

    /// Its cells.
    pub fn data(&self) -> &ColumnData {
        &self.data
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        match &self.data {
            ColumnData::Array(cells) => cells.len(),
            ColumnData::Block(block) => block.rows(),
        }
    }

    /// The number of missing cells.
    pub fn missing_count(&self) -> usize {
        match &self.data {
            ColumnData::Array(cells) => missing_cells(cells).iter().filter(|&&m| m).count(),
            ColumnData::Block(block) => block.missing().count(),
        }
    }

    /// The cells as numbers: booleans as 0 and 1, dates as days since 1970-01-01; NaN where one is
    /// missing or is no number. A block has no single cell per row: all NaN.
    pub fn numbers(&self) -> Vec<f64> {
        let cells = self.array();
        if is_text(cells.data_type()) {
            let text = as_text(&cells);
            let read = |cell: &str| match (&self.kind, &self.style) {
                (Kind::Boolean, _) => spelling::boolean(cell).map(|b| f64::from(u8::from(b))),
                (_, CellStyle::Date(style)) => style.parse(cell),
                (_, CellStyle::Number(style)) => style.parse(cell),
                (_, CellStyle::Plain) => spelling::number(cell),
            };
            return text.iter().map(|cell| cell.and_then(read).unwrap_or(f64::NAN)).collect();
        }
        let (type_, per_day) = match cells.data_type() {
            DataType::Date32 => (DataType::Int32, Some(1.0)),
            DataType::Date64 => (DataType::Int64, Some(DAY * 1e3)),
            DataType::Timestamp(unit, _) => (DataType::Int64, Some(DAY * per_second(*unit))),
            // A cast from booleans to floats exists only by way of integers.
            DataType::Boolean => (DataType::UInt8, None),
            _ => (DataType::Float64, None),
        };
        let numbers = arrow_cast::cast(&cells, &type_)
            .and_then(|numbers| arrow_cast::cast(&numbers, &DataType::Float64));
        let Ok(numbers) = numbers else { return vec![f64::NAN; cells.len()] };
        let numbers = numbers.as_primitive::<Float64Type>().iter();
        let scaled = |value: f64| per_day.map_or(value, |per_day| value / per_day);
        numbers.map(|cell| cell.map_or(f64::NAN, scaled)).collect()
    }

    /// The cells as levels: by value where they are numbers, alphabetically otherwise. A block has none.
    pub fn levels(&self) -> Levels {
        let missing = missing_cells(&self.array());
        let text = self.text();
        let mut names: Vec<&str> =
            (0..text.len()).filter(|&row| !missing[row]).map(|row| text.value(row)).collect();
        names.sort_unstable();
        names.dedup();
        let mut codes = hashbrown::HashMap::new();
        if let Some(numbers) =
            names.iter().map(|name| spelling::number(name)).collect::<Option<Vec<_>>>()
        {
            let mut order: Vec<usize> = (0..names.len()).collect();
            order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
            names = order.into_iter().map(|position| names[position]).collect();
        }
        for (code, name) in names.iter().enumerate() {
            codes.insert(*name, code as u32);
        }
        let codes = (0..text.len())
            .map(|row| if missing[row] { None } else { codes.get(text.value(row)).copied() })
            .collect();
        Levels { names: names.iter().map(|&name| name.to_owned()).collect(), codes }
    }

    /// The cells as text; null where one is missing, and everywhere in a block.
    pub fn text(&self) -> StringArray {
        let cells = self.array();
        if let Some(text) = cells.as_string_opt::<i32>() {
            return text.clone();
        }
        let missing = missing_cells(&cells);
        let options = FormatOptions::default();
        let Ok(formatter) = ArrayFormatter::try_new(cells.as_ref(), &options) else {
            return StringArray::new_null(cells.len());
        };
        (0..cells.len())
            .map(|row| (!missing[row]).then(|| formatter.value(row).to_string()))
            .collect()
    }

    /// Which rows are missing; in a block, which has no single cell per row, all of them. See
    /// [`Block::missing`] for its cells.
    pub fn missing(&self) -> Vec<bool> {
        missing_cells(&self.array())
    }

    /// The cells; a block has none.
    pub(crate) fn array(&self) -> ArrayRef {
        match &self.data {
            ColumnData::Array(cells) => cells.clone(),
            ColumnData::Block(block) => {
                arrow_array::new_null_array(&DataType::Float64, block.rows())
            }
        }
    }

    pub(crate) fn style(&self) -> &CellStyle {
        &self.style
    }

    /// The same column with the cells of `hidden` missing; a block stays as it is.
    #[must_use]
    pub fn with_hidden_rows(&self, hidden: &[bool]) -> Column {
        let ColumnData::Array(cells) = &self.data else { return self.clone() };
        let mask = BooleanArray::from(hidden.to_vec());
        // The mask has one entry per cell.
        let masked = arrow_select::nullif::nullif(cells, &mask).unwrap_or_else(|_| cells.clone());
        self.with_cells(masked)
    }

    /// The column with `rows` missing rows behind its own.
    #[must_use]
    pub fn with_missing_rows(&self, rows: usize) -> Column {
        match &self.data {
            ColumnData::Block(block) => self.with_block(block.with_missing_rows(rows)),
            ColumnData::Array(cells) => {
                let empty = arrow_array::new_null_array(cells.data_type(), rows);
                let longer = arrow_select::concat::concat(&[cells.as_ref(), empty.as_ref()]);
                // Two arrays of one type always join.
                let longer = longer.unwrap_or_else(|_| cells.clone());
                self.with_cells(longer)
            }
        }
    }
}

/// How many units of a timestamp make a second.
pub(crate) fn per_second(unit: TimeUnit) -> f64 {
    match unit {
        TimeUnit::Second => 1.0,
        TimeUnit::Millisecond => 1e3,
        TimeUnit::Microsecond => 1e6,
        TimeUnit::Nanosecond => 1e9,
    }
}

/// Whether cells of this type are text.
pub(crate) fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// A text column of any layout.
pub(crate) fn as_text(cells: &ArrayRef) -> StringArray {
    let text = arrow_cast::cast(cells, &DataType::Utf8);
    // Layouts of text convert into one another.
    text.map_or_else(|_| StringArray::new_null(cells.len()), |text| text.as_string::<i32>().clone())
}

/// Null, or a number that is not one.
pub(crate) fn missing_cells(cells: &ArrayRef) -> Vec<bool> {
    let is_nan: Box<dyn Fn(usize) -> bool> = match cells.data_type() {
        DataType::Float64 => {
            let numbers = cells.as_primitive::<Float64Type>();
            Box::new(|row| numbers.value(row).is_nan())
        }
        DataType::Float32 => {
            let numbers = cells.as_primitive::<Float32Type>();
            Box::new(|row| numbers.value(row).is_nan())
        }
        DataType::Float16 => {
            let numbers = cells.as_primitive::<Float16Type>();
            Box::new(|row| numbers.value(row).is_nan())
        }
        _ => Box::new(|_| false),
    };
    let nulls = cells.logical_nulls();
    (0..cells.len())
        .map(|row| nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) || is_nan(row))
        .collect()
}
