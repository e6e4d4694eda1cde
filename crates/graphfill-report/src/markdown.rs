//! Tables in Markdown, as GitHub reads it: pipes, one alignment per column.
//!
//! Columns are padded, so that the source is a table, too. Numbers are given as text: how many
//! digits they deserve is the caller's to say.

use std::fmt;

/// Where the text of a column stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Alignment {
    /// At the left: words.
    #[default]
    Left,
    /// At the right: numbers.
    Right,
}

/// One cell: Markdown that cannot leave its cell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell(String);

impl Cell {
    /// Text as it is: characters with a meaning in Markdown are escaped.
    pub fn plain(text: impl AsRef<str>) -> Cell {
        Cell(escape(text.as_ref()))
    }

    /// Bold text.
    pub fn bold(text: impl AsRef<str>) -> Cell {
        match escape(text.as_ref()) {
            text if text.is_empty() => Cell::default(),
            text => Cell(format!("**{text}**")),
        }
    }

    /// Text in a code font.
    pub fn code(text: impl AsRef<str>) -> Cell {
        let text = one_line(text.as_ref());
        if text.is_empty() {
            return Cell::default();
        }
        let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest + 1);
        // A backtick at an end would join the fence.
        let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
        Cell(format!("{fence}{space}{}{space}{fence}", text.replace('|', "\\|")))
    }

    fn width(&self) -> usize {
        self.0.chars().count()
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::plain(text)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::plain(text)
    }
}

/// A table: a header, rows, and one alignment per column.
///
/// Rows that are too short end in empty cells; columns without an alignment stand at the left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// The names of the columns.
    pub header: Vec<Cell>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
    /// Where the text of each column stands.
    pub alignment: Vec<Alignment>,
}

impl Table {
    /// A table without rows: each column's name and alignment.
    pub fn new<C: Into<Cell>>(columns: impl IntoIterator<Item = (C, Alignment)>) -> Table {
        let (header, alignment) =
            columns.into_iter().map(|(cell, alignment)| (cell.into(), alignment)).unzip();
        Table { header, rows: Vec::new(), alignment }
    }

    /// Adds a row.
    pub fn push<C: Into<Cell>>(&mut self, row: impl IntoIterator<Item = C>) {
        self.rows.push(row.into_iter().map(Into::into).collect());
    }
}

/// The table's Markdown; every line ends in a line end. Nothing for a table without columns.
impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = || std::iter::once(&self.header).chain(&self.rows);
        let columns = lines().map(Vec::len).max().unwrap_or(0);
        if columns == 0 {
            return Ok(());
        }
        let alignment = |column| self.alignment.get(column).copied().unwrap_or_default();
        // GitHub wants at least three characters below a header.
        let widths: Vec<usize> = (0..columns)
            .map(|column| lines().filter_map(|row| row.get(column)).map(Cell::width).max())
            .map(|width| width.unwrap_or(0).max(3))
            .collect();
        for (number, row) in lines().enumerate() {
            for (column, &width) in widths.iter().enumerate() {
                let text = row.get(column).map_or("", |cell| &cell.0);
                match alignment(column) {
                    Alignment::Left => write!(formatter, "| {text:<width$} ")?,
                    Alignment::Right => write!(formatter, "| {text:>width$} ")?,
                }
            }
            formatter.write_str("|\n")?;
            if number == 0 {
                for (column, &width) in widths.iter().enumerate() {
                    match alignment(column) {
                        Alignment::Left => write!(formatter, "| {:-<width$} ", "")?,
                        Alignment::Right => {
                            write!(formatter, "| {:-<inner$}: ", "", inner = width - 1)?;
                        }
                    }
                }
                formatter.write_str("|\n")?;
            }
        }
        Ok(())
    }
}

/// Line ends and other controls as spaces, none at the ends.
fn one_line(text: &str) -> String {
    let text: String =
        text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    text.trim().to_owned()
}

/// Text whose characters all stand for themselves in a table's cell.
fn escape(text: &str) -> String {
    let letters: Vec<char> = one_line(text).chars().collect();
    let word = |index: Option<usize>| {
        index.and_then(|index| letters.get(index)).is_some_and(|letter| letter.is_alphanumeric())
    };
    let mut escaped = String::with_capacity(letters.len());
    for (index, &letter) in letters.iter().enumerate() {
        let special = match letter {
            '\\' | '`' | '*' | '<' | '[' | ']' | '|' | '~' => true,
            // Inside a word an underscore is one; `a_b` stays readable in the source.
            '_' => !(word(index.checked_sub(1)) && word(Some(index + 1))),
            '&' => word(Some(index + 1)) || letters.get(index + 1) == Some(&'#'),
            _ => false,
        };
        if special {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_in_the_source() {
        let mut table = Table::new([
            ("method", Alignment::Left),
            ("Recall@10", Alignment::Right),
            ("is", Alignment::Left),
        ]);
        table.push([Cell::code("svga"), Cell::bold("0.1718"), Cell::plain("±")]);
        table.push([Cell::code("mean"), Cell::plain("0.02")]);
        let expected = "\
| method |  Recall@10 | is  |
| ------ | ---------: | --- |
| `svga` | **0.1718** | ±   |
| `mean` |       0.02 |     |
";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn cells_stay_in_their_cells() {
        assert_eq!(Cell::plain("a|b\nc").0, "a\\|b c");
        assert_eq!(Cell::plain("p < 0.05 *").0, "p \\< 0.05 \\*");
        assert_eq!(
            Cell::plain("row_gaussian _x_ R&D & &lt;").0,
            "row_gaussian \\_x\\_ R\\&D & \\&lt;"
        );
        assert_eq!(Cell::bold("a\\").0, "**a\\\\**");
        assert_eq!(Cell::bold("").0, "");
        assert_eq!(Cell::code("a|b").0, "`a\\|b`");
        assert_eq!(Cell::code("a``b`").0, "``` a``b` ```");
    }

    #[test]
    fn tables_without_columns_or_of_ragged_rows() {
        assert_eq!(Table::default().to_string(), "");
        let mut table = Table::new([("a", Alignment::Left)]);
        table.push(["1", "2"]);
        assert_eq!(table.to_string(), "| a   |     |\n| --- | --- |\n| 1   | 2   |\n");
    }
}
