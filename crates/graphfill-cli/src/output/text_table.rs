//! Tables for people: aligned columns, a rule under the header, the best values in bold. On a terminal
//! that is too narrow, long texts are shortened.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::escape::escaped;
use super::style::{Stream, Style};

/// No column of texts is shortened to less than this.
const MIN_WIDTH: usize = 8;
/// The spaces between columns, and before the first.
const GAP: usize = 2;

/// On which side a column is flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// A table on its way to the terminal.
pub(crate) struct TextTable {
    header: Vec<String>,
    sides: Vec<Side>,
    rows: Vec<Vec<Cell>>,
}

struct Cell {
    text: String,
    best: bool,
}

impl TextTable {
    /// A table with these columns, the first flush left and the others right.
    pub(crate) fn new(header: &[&str]) -> Self {
        let sides = (0..header.len()).map(|at| if at == 0 { Side::Left } else { Side::Right });
        TextTable {
            header: header.iter().map(|&name| escaped(name)).collect(),
            sides: sides.collect(),
            rows: Vec::new(),
        }
    }

    /// The same table with these columns flush left.
    pub(crate) fn left(mut self, columns: &[usize]) -> Self {
        for &column in columns {
            self.sides[column] = Side::Left;
        }
        self
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        let cell = |text: String| Cell { text: escaped(&text), best: false };
        self.rows.push(cells.into_iter().map(cell).collect());
    }

    /// Marks a cell as the best of its column.
    pub(crate) fn mark_best(&mut self, row: usize, column: usize) {
        self.rows[row][column].best = true;
    }

    /// Marks a cell of the last row as the best of its row.
    pub(crate) fn mark_last_best(&mut self, column: usize) {
        if let Some(row) = self.rows.last_mut() {
            row[column].best = true;
        }
    }

    /// The table as it is printed on a stream: as wide as it is where that is no terminal.
    pub(crate) fn render_for(&self, stream: Stream) -> String {
        self.render(stream.width(), stream.is_coloured())
    }

    /// The table as text, each line indented by two; at most so wide if texts can be shortened enough.
    fn render(&self, width: Option<usize>, bold: bool) -> String {
        let widths = self.widths(width);
        let line = |cells: &mut dyn Iterator<Item = (&str, bool)>| {
            let mut line = " ".repeat(GAP);
            for (at, (cell, best)) in cells.enumerate() {
                let text = fitted(cell, widths[at]);
                let gap = " ".repeat(widths[at] - text.width());
                let text = if best && bold { Style::Bold.apply(&text) } else { text };
                match self.sides[at] {
                    Side::Left => line.extend([text, gap]),
                    Side::Right => line.extend([gap, text]),
                }
                line.push_str(&" ".repeat(GAP));
            }
            line.trim_end().to_owned()
        };
        let rules: Vec<String> = widths.iter().map(|&width| "─".repeat(width)).collect();
        let mut lines = vec![
            line(&mut self.header.iter().map(|name| (name.as_str(), false))),
            line(&mut rules.iter().map(|rule| (rule.as_str(), false))),
        ];
        for row in &self.rows {
            lines.push(line(&mut row.iter().map(|cell| (cell.text.as_str(), cell.best))));
        }
        lines.join("\n")
    }

    /// The width of each column; the widest texts give way where the table is too wide.
    fn widths(&self, most: Option<usize>) -> Vec<usize> {
        let header: Vec<usize> = self.header.iter().map(|name| name.width()).collect();
        let mut widths = header.clone();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.text.width());
            }
        }
        let Some(most) = most else { return widths };
        let total = |widths: &[usize]| widths.iter().map(|width| width + GAP).sum::<usize>();
        while total(&widths) > most {
            let can_shrink = |at: &usize| {
                self.sides[*at] == Side::Left && widths[*at] > header[*at].max(MIN_WIDTH)
            };
            let widest = (0..widths.len()).filter(can_shrink).max_by_key(|&at| widths[at]);
            match widest {
                Some(at) => widths[at] -= 1,
                None => break,
            }
        }
        widths
    }
}

/// The text, or as much of it as fits before `…`.
fn fitted(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut left = width.saturating_sub(1);
    let fits = |letter: &char| {
        let own = letter.width().unwrap_or(0);
        let has_space = own <= left;
        left = left.saturating_sub(own);
        has_space
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = TextTable::new(&["method", "value"]);
        table.row(vec!["arb".into(), "0.5".into()]);
        table.row(vec!["column-mean".into(), "12.25".into()]);
        let expected = "  method       value\n  ───────────  ─────\n  arb            0.5\n  column-mean  12.25";
        assert_eq!(table.render(None, false), expected);
        table.mark_best(1, 1);
        assert!(table.render(None, true).ends_with("column-mean  \u{1b}[1m12.25\u{1b}[0m"));
    }

    #[test]
    fn wide_letters_count_twice_and_control_characters_are_shown() {
        let mut table = TextTable::new(&["city", "n"]);
        table.row(vec!["東京".into(), "1".into()]);
        table.row(vec!["a\u{1b}[2J\nb".into(), "22".into()]);
        let lines = table.render(None, false);
        assert!(lines.contains("  東京          1\n"), "{lines}");
        assert!(lines.contains("  a\\x1b[2J\\nb  22"), "{lines}");
    }

    #[test]
    fn long_texts_give_way_on_a_narrow_terminal_and_numbers_do_not() {
        let mut table = TextTable::new(&["column", "kind", "missing", "why"]).left(&[1, 3]);
        table.row(vec!["a".repeat(40), "number".into(), "1,234,567".into(), "b".repeat(70)]);
        let text = table.render(Some(60), false);
        assert!(text.lines().all(|line| line.width() <= 60), "{text}");
        assert!(text.contains("a…") && text.contains("b…") && text.contains("1,234,567"), "{text}");
        assert_eq!(table.render(Some(500), false), table.render(None, false));
        // What cannot be shortened enough stays readable.
        let text = table.render(Some(5), false);
        assert!(text.contains("aaaaaaa…  number  1,234,567  bbbbbbb…"), "{text}");
    }
}
