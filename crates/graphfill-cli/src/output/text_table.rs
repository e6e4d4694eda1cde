//! Tables for people: aligned columns, a rule under the header, the best values in bold.

use std::io::IsTerminal;

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
    bold: bool,
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
            header: header.iter().map(|&name| name.to_owned()).collect(),
            sides: sides.collect(),
            rows: Vec::new(),
            bold: std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
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
        self.rows.push(cells.into_iter().map(|text| Cell { text, best: false }).collect());
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

    /// The table as text, each line indented by two.
    pub(crate) fn render(&self) -> String {
        let length = |text: &str| text.chars().count();
        let mut widths: Vec<usize> = self.header.iter().map(|name| length(name)).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(length(&cell.text));
            }
        }
        let mut text = String::new();
        let mut push = |cells: Vec<(&str, bool)>| {
            let mut line = String::from("  ");
            for (at, (cell, best)) in cells.into_iter().enumerate() {
                let gap = " ".repeat(widths[at] - length(cell));
                let shown = if best && self.bold {
                    format!("\x1b[1m{cell}\x1b[0m")
                } else {
                    cell.to_owned()
                };
                match self.sides[at] {
                    Side::Left => line.push_str(&format!("{shown}{gap}")),
                    Side::Right => line.push_str(&format!("{gap}{shown}")),
                }
                line.push_str("  ");
            }
            text.push_str(line.trim_end());
            text.push('\n');
        };
        push(self.header.iter().map(|name| (name.as_str(), false)).collect());
        let rules: Vec<String> = widths.iter().map(|&width| "─".repeat(width)).collect();
        push(rules.iter().map(|rule| (rule.as_str(), false)).collect());
        for row in &self.rows {
            push(row.iter().map(|cell| (cell.text.as_str(), cell.best)).collect());
        }
        text.pop();
        text
    }
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
        assert_eq!(table.render(), expected);
    }
}
