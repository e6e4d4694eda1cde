//! Plots as data: a table of rows, two axes and marks that refer to the table's columns.
//!
//! A plot is drawn as SVG here ([`super::draw`]) or by the page's script, from the JSON of
//! [`Plot::to_json`]. Both give the same text. The table is what "Copy as CSV" copies.

use serde_json::{Map, Value, json};

use super::date;
use super::format::shortened;
use crate::figure::Scale;
use crate::figure::interval::Interval;
use crate::figure::text;
use crate::figure::ticks::{Tick, ticks};

/// The size of the text along axes, in the units of the drawing.
pub(super) const TEXT: f64 = 11.0;
/// The width of a drawing.
const WIDTH: f64 = 280.0;
/// The height of a drawing whose vertical axis is a number.
const HEIGHT: f64 = 210.0;
/// The height of one category on a vertical axis of categories.
const ROW_HEIGHT: f64 = 20.0;
/// The ticks of an axis of numbers, where they have room.
const MAX_TICKS: usize = 5;
/// The longest label of a category, in characters.
const MAX_LABEL: usize = 20;

/// A plot with a title.
#[derive(Debug, Clone)]
pub(super) struct Plot {
    /// Unique on the page.
    pub(super) id: String,
    pub(super) title: String,
    /// What stands below the title.
    pub(super) note: String,
    /// The text alternative, without the title.
    pub(super) description: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) marks: Vec<Mark>,
    pub(super) data: Data,
}

/// The numbers behind a plot.
#[derive(Debug, Clone, Default)]
pub(super) struct Data {
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<Value>>,
    /// The columns that are days since 1970-01-01.
    pub(super) dates: Vec<usize>,
}

/// What is drawn. `class` is the class of the style sheet; columns are those of [`Data`].
#[derive(Debug, Clone)]
pub(super) enum Mark {
    /// Hidden cells: columns 0 to 3 are observed value, estimate, lower and upper bound.
    Cells,
    /// A dot per row.
    Dots { class: &'static str, x: usize, y: usize },
    /// A line through fixed points, independent of the table.
    Line { class: &'static str, points: Vec<(f64, f64)> },
    /// A histogram: columns 0 and 1 are the bounds of the bins, `y` times `scale` is the height.
    Steps { class: &'static str, y: usize, scale: f64 },
    /// Horizontal bars from zero, one per row, in the `slot`-th of `slots` parts of the row's band.
    Bars { class: &'static str, x: usize, slot: usize, slots: usize },
    /// A dot per row, with a line from `low` to `high` where these are columns.
    Ranges { class: &'static str, x: usize, bounds: Option<(usize, usize)> },
    /// Counts of pairs of levels: row by row, column 2 is the count.
    Matrix,
}

/// An axis. It runs from `low` to `high`, which are logarithms where `log` is set.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    pub(super) label: String,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) log: bool,
    /// Whether the values are days since 1970-01-01.
    pub(super) dates: bool,
    pub(super) ticks: Vec<(f64, String)>,
    /// The number of categories; zero for an axis of numbers.
    pub(super) categories: usize,
}

impl Axis {
    /// An axis of numbers, or of days since 1970-01-01.
    pub(super) fn numeric(label: impl Into<String>, interval: &Interval, dates: bool) -> Axis {
        // Values that cannot be told apart, or no numbers, have no axis of their own.
        let valid = (interval.high - interval.low).is_finite() && interval.low < interval.high;
        let unit = Interval { low: 0.0, high: 1.0, scale: Scale::Linear };
        let Interval { low, high, scale } = if valid { *interval } else { unit };
        let log = scale == Scale::Logarithmic;
        let axis =
            Axis { label: label.into(), low, high, log, dates, ticks: Vec::new(), categories: 0 };
        axis.with_ticks(MAX_TICKS)
    }

    /// The axis of numbers with about this many ticks.
    fn with_ticks(mut self, max: usize) -> Axis {
        let scale = if self.log { Scale::Logarithmic } else { Scale::Linear };
        let interval = Interval { low: self.low, high: self.high, scale };
        let found = if self.dates { date::ticks(&interval, max) } else { ticks(&interval, max) };
        self.ticks =
            found.into_iter().map(|Tick { place, label }| (rounded(place), label)).collect();
        self
    }

    /// Whether labels beside each other overlap on an axis of this length.
    fn crowded(&self, length: f64) -> bool {
        const GAP: f64 = 10.0;
        self.ticks.windows(2).any(|pair| {
            let [(first, left), (second, right)] = pair else { return false };
            let letters = (text::width(left, TEXT) + text::width(right, TEXT)) / 2.0;
            letters + GAP > (second - first).abs() * length
        })
    }

    /// A vertical axis of categories, the first at the top.
    pub(super) fn rows(label: impl Into<String>, names: &[String]) -> Axis {
        let count = names.len();
        Axis {
            low: count.max(1) as f64,
            high: 0.0,
            ..Axis::categories(label, names, |index| {
                1.0 - (index as f64 + 0.5) / count.max(1) as f64
            })
        }
    }

    /// A horizontal axis of categories.
    pub(super) fn columns(label: impl Into<String>, names: &[String]) -> Axis {
        let count = names.len().max(1) as f64;
        Axis::categories(label, names, |index| (index as f64 + 0.5) / count)
    }

    fn categories(
        label: impl Into<String>,
        names: &[String],
        place: impl Fn(usize) -> f64,
    ) -> Axis {
        let ticks = names.iter().enumerate();
        let ticks = ticks.map(|(index, name)| (rounded(place(index)), shortened(name, MAX_LABEL)));
        Axis {
            label: label.into(),
            low: 0.0,
            high: names.len().max(1) as f64,
            log: false,
            dates: false,
            ticks: ticks.collect(),
            categories: names.len(),
        }
    }

    /// Where a value lies: 0 at the low end, 1 at the high end; values beyond lie at the ends.
    pub(super) fn place(&self, value: f64) -> f64 {
        let value = if self.log { value.max(f64::MIN_POSITIVE).log10() } else { value };
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// The widest label, in the units of the drawing.
    fn widest(&self) -> f64 {
        self.ticks.iter().map(|(_, label)| text::width(label, TEXT)).fold(0.0, f64::max)
    }

    /// Whether the labels of a horizontal axis of categories overlap, so that they are slanted.
    fn slanted(&self) -> bool {
        self.categories > 0 && self.widest() > 190.0 / self.categories as f64
    }

    fn to_json(&self) -> Value {
        let mut axis = Map::new();
        axis.insert("l".to_owned(), json!(self.label));
        axis.insert("a".to_owned(), short_json(self.low));
        axis.insert("b".to_owned(), short_json(self.high));
        axis.insert(
            "t".to_owned(),
            self.ticks.iter().map(|(at, label)| json!([short_json(*at), label])).collect(),
        );
        if self.log {
            axis.insert("g".to_owned(), json!(1));
        }
        if self.categories > 0 {
            axis.insert("n".to_owned(), json!(self.categories));
        }
        Value::Object(axis)
    }
}

/// The measures of a drawing: its size and the margins around the plotted area.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Frame {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
    pub(super) left: f64,
    /// Whether labels below the plot are slanted.
    pub(super) slanted: bool,
}

impl Plot {
    /// The plot with as few ticks below it as there is room for.
    pub(super) fn fitted(mut self) -> Plot {
        for max in (2..MAX_TICKS).rev() {
            let frame = self.frame();
            if self.x.categories > 0 || !self.x.crowded(frame.width - frame.left - frame.right) {
                break;
            }
            self.x = self.x.with_ticks(max);
        }
        self
    }

    /// The measures of the drawing.
    pub(super) fn frame(&self) -> Frame {
        let slanted = self.x.slanted();
        let label = if self.y.label.is_empty() { 0.0 } else { 16.0 };
        // Fonts differ: some room more than the letters should need.
        let left = (self.y.widest() * 1.08 + 10.0 + label).ceil().max(28.0);
        let bottom = if slanted { (self.x.widest() * 0.71).ceil() + 36.0 } else { 40.0 };
        let last = self.x.ticks.last().filter(|_| self.x.categories == 0);
        let right = last.map_or(8.0, |(at, label)| {
            let beyond = text::width(label, TEXT) / 2.0 - (1.0 - at) * (WIDTH - left);
            beyond.max(8.0).ceil()
        });
        let top = 8.0;
        let height = match (self.x.categories, self.y.categories) {
            // Both axes show the same values: a square, in which the diagonal is one.
            (0, 0) if self.x.low == self.y.low && self.x.high == self.y.high => {
                top + bottom + WIDTH - left - right
            }
            (0, 0) => HEIGHT,
            (0, rows) => top + bottom + (rows.max(2) as f64 * ROW_HEIGHT * self.slots()),
            // Cells of a matrix are squares as long as they are not too large.
            (_, rows) => top + bottom + ((WIDTH - left - right) * 0.72).max(rows as f64 * 14.0),
        };
        let height = height.round();
        Frame { width: WIDTH, height, top, right, bottom, left, slanted }
    }

    /// How much higher than one bar a category is.
    fn slots(&self) -> f64 {
        let bars = self.marks.iter().any(|mark| matches!(mark, Mark::Bars { slots: 2.., .. }));
        if bars { 1.4 } else { 1.0 }
    }

    /// The plot for the page's script.
    pub(super) fn to_json(&self) -> Value {
        let frame = self.frame();
        let margins = [frame.top, frame.right, frame.bottom, frame.left];
        let mut plot = Map::new();
        plot.insert("t".to_owned(), json!(self.title));
        plot.insert("s".to_owned(), json!(self.note));
        plot.insert("d".to_owned(), json!(self.description));
        plot.insert("f".to_owned(), json!([frame.width as i64, frame.height as i64]));
        plot.insert("m".to_owned(), margins.iter().map(|margin| short_json(*margin)).collect());
        if frame.slanted {
            plot.insert("o".to_owned(), json!(1));
        }
        plot.insert("x".to_owned(), self.x.to_json());
        plot.insert("y".to_owned(), self.y.to_json());
        plot.insert("k".to_owned(), self.marks.iter().map(Mark::to_json).collect());
        self.data.add_to(&mut plot);
        Value::Object(plot)
    }
}

impl Data {
    /// A table with these names of columns.
    pub(super) fn new<const N: usize>(header: [&str; N]) -> Data {
        Data { header: header.map(str::to_owned).to_vec(), ..Data::default() }
    }

    /// The value of a cell as a number; NaN where it has none.
    pub(super) fn number(&self, row: usize, column: usize) -> f64 {
        self.rows[row].get(column).and_then(Value::as_f64).unwrap_or(f64::NAN)
    }

    /// Adds the table to the JSON of a plot.
    pub(super) fn add_to(&self, plot: &mut Map<String, Value>) {
        plot.insert("h".to_owned(), json!(self.header));
        plot.insert("r".to_owned(), json!(self.rows));
        if !self.dates.is_empty() {
            plot.insert("e".to_owned(), json!(self.dates));
        }
    }
}

impl Mark {
    fn to_json(&self) -> Value {
        match self {
            Mark::Cells => json!(["cells"]),
            Mark::Dots { class, x, y } => json!(["dots", class, x, y]),
            Mark::Line { class, points } => {
                let points: Vec<Value> =
                    points.iter().map(|(x, y)| json!([short_json(*x), short_json(*y)])).collect();
                json!(["line", class, points])
            }
            Mark::Steps { class, y, scale } => json!(["steps", class, y, scale]),
            Mark::Bars { class, x, slot, slots } => json!(["bars", class, x, slot, slots]),
            Mark::Ranges { class, x, bounds: None } => json!(["ranges", class, x]),
            Mark::Ranges { class, x, bounds: Some((low, high)) } => {
                json!(["ranges", class, x, low, high])
            }
            Mark::Matrix => json!(["matrix"]),
        }
    }
}

/// A number as JSON, without a fraction where it has none; null where it is not finite.
pub(super) fn short_json(value: f64) -> Value {
    const MAX_EXACT: f64 = 1e15;
    if value.fract() == 0.0 && value.abs() < MAX_EXACT { json!(value as i64) } else { json!(value) }
}

/// A number with as many digits as tell values of a range of this length apart, and four at least.
pub(super) fn rounded_json(value: f64, range: f64) -> Value {
    const DIGITS: f64 = 4.0;
    if !value.is_finite() {
        return Value::Null;
    }
    let magnitude = if range > 0.0 && value != 0.0 { (value / range).abs().log10() } else { 0.0 };
    let digits = (DIGITS + magnitude.ceil()).clamp(DIGITS, 15.0) as usize;
    let text = format!("{value:.*e}", digits - 1);
    short_json(text.parse().unwrap_or(value))
}

/// A place on an axis, to a thousandth.
fn rounded(place: f64) -> f64 {
    (place * 1000.0).round() / 1000.0
}
