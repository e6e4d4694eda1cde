//! The legend that all panels share: a sample and a name an entry. Entries that do not fit into one
//! row stand in columns.

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
const ENTRY_GAP: f64 = 26.0;
/// Between rows.
const ROW_GAP: f64 = 6.0;
/// Half the height of a sample's band and of its whisker.
const BAND_HALF: f64 = 5.0;
const WHISKER_HALF: f64 = 8.0;

/// What a sample may show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Band,
    Whisker,
    Line,
    FittedLine,
    Marker,
}

#[derive(Debug)]
struct Entry {
    style: Style,
    parts: Vec<Part>,
    name: Vec<String>,
    width: f64,
}

/// The entries and their rows.
#[derive(Debug)]
pub(crate) struct Legend {
    entries: Vec<Entry>,
    per_row: usize,
}

impl Legend {
    /// The named series, each name once, in rows of at most `width`.
    pub(crate) fn of<'a>(
        series: &(impl Iterator<Item = &'a Series> + Clone),
        styles: &Styles<'_>,
        width: f64,
    ) -> Legend {
        let mut names: Vec<&str> = Vec::new();
        for series in series.clone() {
            if !series.name.trim().is_empty() && !names.contains(&series.name.as_str()) {
                names.push(&series.name);
            }
        }
        let entries: Vec<Entry> = names
            .into_iter()
            .map(|name| {
                let parts = series.clone().filter(|series| series.name == name).flat_map(parts);
                Entry::new(name, styles.style(name), parts.collect(), width)
            })
            .collect();
        let gaps = entries.len().saturating_sub(1) as f64 * ENTRY_GAP;
        let one_row = entries.iter().map(|entry| entry.width).sum::<f64>() + gaps <= width;
        let per_row = if one_row {
            entries.len()
        } else {
            let widest = entries.iter().map(|entry| entry.width).fold(0.0, f64::max);
            let most = (((width + ENTRY_GAP) / (widest + ENTRY_GAP)) as usize).max(1);
            // As many in each row, as far as it goes.
            entries.len().div_ceil(entries.len().div_ceil(most))
        };
        Legend { entries, per_row: per_row.max(1) }
    }

    /// The height of all rows; zero without entries.
    pub(crate) fn height(&self) -> f64 {
        let rows = self.entries.chunks(self.per_row);
        let gaps = rows.len().saturating_sub(1) as f64 * ROW_GAP;
        rows.map(row_height).sum::<f64>() + gaps
    }

    /// Draws the rows, centred on `middle`, from `top` on.
    pub(crate) fn draw(&self, svg: &mut Svg, middle: f64, top: f64) {
        let rows = self.entries.chunks(self.per_row);
        let columns: Vec<f64> = (0..self.per_row)
            .map(|column| {
                let column = self.entries.iter().skip(column).step_by(self.per_row);
                column.map(|entry| entry.width).fold(0.0, f64::max)
            })
            .collect();
        let width = columns.iter().sum::<f64>() + (columns.len() - 1) as f64 * ENTRY_GAP;
        let mut top = top;
        for row in rows {
            let mut left = middle - width / 2.0;
            for (entry, column) in row.iter().zip(&columns) {
                entry.draw(svg, left, top);
                left += column + ENTRY_GAP;
            }
            top += row_height(row) + ROW_GAP;
        }
    }
}

fn row_height(row: &[Entry]) -> f64 {
    row.iter().map(|entry| entry.name.len()).max().unwrap_or(0) as f64 * MEDIUM * LEADING
}

/// What a series is drawn with.
fn parts(series: &Series) -> Vec<Part> {
    let spreads = |spread: f64| spread.is_finite() && spread != 0.0;
    let spread = series.points.iter().any(|point| point.spread.is_some_and(spreads));
    let mut parts = match series.drawn {
        Drawn::Line | Drawn::Rule => vec![Part::Line],
        Drawn::LineWithMarkers => vec![Part::Line, Part::Marker],
        Drawn::Markers => vec![Part::Marker],
    };
    if spread {
        parts.push(if series.drawn == Drawn::Markers { Part::Whisker } else { Part::Band });
    }
    if series.fit.is_some() && series.drawn == Drawn::Markers {
        parts.push(Part::FittedLine);
    }
    parts
}

impl Entry {
    fn new(name: &str, style: Style, parts: Vec<Part>, width: f64) -> Entry {
        let name = text::wrapped(name, MEDIUM, width - SAMPLE - NAME_GAP);
        let longest = name.iter().map(|line| text::width(line, MEDIUM)).fold(0.0, f64::max);
        Entry { style, parts, name, width: SAMPLE + NAME_GAP + longest }
    }

    fn draw(&self, svg: &mut Svg, left: f64, top: f64) {
        let middle = top + MEDIUM * LEADING / 2.0;
        let centre = left + SAMPLE / 2.0;
        let (colour, dashes) = (self.style.colour(), self.style.dashes());
        let (x, y, wide) = (Rounded(left), Rounded(middle), Rounded(SAMPLE));
        let shows = |part: Part| self.parts.contains(&part);
        if shows(Part::Band) {
            let (band_top, high) = (Rounded(middle - BAND_HALF), Rounded(2.0 * BAND_HALF));
            svg.add(format_args!(
                r#"<rect x="{x}" y="{band_top}" width="{wide}" height="{high}" fill="{colour}" {BAND}/>"#
            ));
        }
        if shows(Part::Whisker) {
            let (up, down) = (Rounded(middle - WHISKER_HALF), Rounded(middle + WHISKER_HALF));
            let (centre, cap) = (Rounded(centre), Rounded(centre - 3.0));
            svg.add(format_args!(
                r#"<path d="M{centre} {up}V{down}M{cap} {up}h6M{cap} {down}h6" {THIN} stroke="{colour}"/>"#
            ));
        }
        if shows(Part::Line) || shows(Part::FittedLine) {
            let look = if shows(Part::Line) { LINE } else { THIN };
            svg.add(format_args!(
                r#"<path d="M{x} {y}h{wide}" {look} stroke="{colour}"{dashes}/>"#
            ));
        }
        if shows(Part::Marker) {
            let marker = self.style.markers(&[(centre, middle)]);
            svg.add(format_args!(r#"<path d="{marker}" fill="{colour}" {MARKER}/>"#));
        }
        let look = Text::new(MEDIUM, Anchor::Start);
        svg.text(&self.name, left + SAMPLE + NAME_GAP, middle + MEDIUM * 0.35, look);
    }
}
