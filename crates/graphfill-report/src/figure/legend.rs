//! The legend that all panels share: a sample and a name an entry, in centred rows.

use super::marks::{BAND, LINE, MARKER, THIN};
use super::series::{Drawn, Series};
use super::style::{Style, Styles};
use super::svg::{Anchor, Rounded, Svg, Text};
use super::text::{self, LEADING, MEDIUM};

/// The width of a sample.
const SAMPLE: f64 = 34.0;
/// Between a sample and its name.
const NAME_GAP: f64 = 7.0;
/// Between entries of a row.
const ENTRY_GAP: f64 = 24.0;
/// Between rows.
const ROW_GAP: f64 = 6.0;
/// Half the height of a sample's band.
const BAND_HALF: f64 = 5.0;

#[derive(Debug)]
struct Entry {
    style: Style,
    drawn: Drawn,
    spread: Has,
    fit: Has,
    name: Vec<String>,
    width: f64,
}

/// Whether a sample shows something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Has {
    Yes,
    No,
}

impl From<bool> for Has {
    fn from(has: bool) -> Has {
        if has { Has::Yes } else { Has::No }
    }
}

/// Rows of entries.
#[derive(Debug)]
pub(crate) struct Legend(Vec<Vec<Entry>>);

impl Legend {
    /// The named series, each name once, in rows of at most `width`.
    pub(crate) fn of<'a>(
        series: impl Iterator<Item = &'a Series> + Clone,
        styles: &Styles<'_>,
        width: f64,
    ) -> Legend {
        let mut names: Vec<&str> = Vec::new();
        let mut rows: Vec<Vec<Entry>> = Vec::new();
        let mut used = 0.0;
        for first in series.clone() {
            let name = first.name.as_str();
            if name.trim().is_empty() || names.contains(&name) {
                continue;
            }
            names.push(name);
            let mut same = series.clone().filter(|series| series.name == name);
            let spread = same.clone().any(|series| {
                series.points.iter().any(|point| point.spread.is_some_and(|spread| spread != 0.0))
            });
            let fit = same.any(|series| series.fit.is_some());
            let lines = text::wrapped(name, MEDIUM, width - SAMPLE - NAME_GAP);
            let longest = lines.iter().map(|line| text::width(line, MEDIUM)).fold(0.0, f64::max);
            let entry = Entry {
                style: styles.style(name),
                drawn: first.drawn,
                spread: spread.into(),
                fit: fit.into(),
                name: lines,
                width: SAMPLE + NAME_GAP + longest,
            };
            match rows.last_mut() {
                Some(row) if used + ENTRY_GAP + entry.width <= width => {
                    used += ENTRY_GAP + entry.width;
                    row.push(entry);
                }
                _ => {
                    used = entry.width;
                    rows.push(vec![entry]);
                }
            }
        }
        Legend(rows)
    }

    /// The height of all rows; zero without entries.
    pub(crate) fn height(&self) -> f64 {
        let gaps = self.0.len().saturating_sub(1) as f64 * ROW_GAP;
        self.0.iter().map(|row| row_height(row)).sum::<f64>() + gaps
    }

    /// Draws the rows, centred on `middle`, from `top` on.
    pub(crate) fn draw(&self, svg: &mut Svg, middle: f64, top: f64) {
        let mut top = top;
        for row in &self.0 {
            let gaps = (row.len() - 1) as f64 * ENTRY_GAP;
            let width = row.iter().map(|entry| entry.width).sum::<f64>() + gaps;
            let mut left = middle - width / 2.0;
            for entry in row {
                entry.draw(svg, left, top);
                left += entry.width + ENTRY_GAP;
            }
            top += row_height(row) + ROW_GAP;
        }
    }
}

fn row_height(row: &[Entry]) -> f64 {
    row.iter().map(|entry| entry.name.len()).max().unwrap_or(0) as f64 * MEDIUM * LEADING
}

impl Entry {
    fn draw(&self, svg: &mut Svg, left: f64, top: f64) {
        let middle = top + MEDIUM * LEADING / 2.0;
        let centre = left + SAMPLE / 2.0;
        let (colour, dashes) = (self.style.colour(), self.style.dashes());
        let (x, y, wide) = (Rounded(left), Rounded(middle), Rounded(SAMPLE));
        let line = self.drawn != Drawn::Markers;
        if self.spread == Has::Yes {
            let (band_top, high) = (Rounded(middle - BAND_HALF), Rounded(2.0 * BAND_HALF));
            if line {
                svg.add(format_args!(
                    r#"<rect x="{x}" y="{band_top}" width="{wide}" height="{high}" fill="{colour}" {BAND}/>"#
                ));
            } else {
                let centre = Rounded(centre);
                let (up, down) = (Rounded(middle - 8.0), Rounded(middle + 8.0));
                svg.add(format_args!(
                    r#"<path d="M{centre} {up}V{down}" {THIN} stroke="{colour}"/>"#
                ));
            }
        }
        if line || self.fit == Has::Yes {
            let look = if line { LINE } else { THIN };
            svg.add(format_args!(
                r#"<path d="M{x} {y}h{wide}" {look} stroke="{colour}"{dashes}/>"#
            ));
        }
        if matches!(self.drawn, Drawn::Markers | Drawn::LineWithMarkers) {
            let marker = self.style.markers(&[(centre, middle)]);
            svg.add(format_args!(r#"<path d="{marker}" fill="{colour}" {MARKER}/>"#));
        }
        let look = Text::new(MEDIUM, Anchor::Start);
        svg.text(&self.name, left + SAMPLE + NAME_GAP, middle + MEDIUM * 0.35, look);
    }
}
