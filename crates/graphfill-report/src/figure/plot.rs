//! A panel on its place: intervals, ticks, grid, axes, names.

use super::interval::{AtZero, Interval, Room};
use super::marks;
use super::panel::Panel;
use super::series::{Drawn, Series};
use super::style::Styles;
use super::svg::{Anchor, Rectangle, Rounded, Svg, Text, Weight};
use super::text::{self, LARGE, LEADING, MEDIUM, SMALL};
use super::ticks::{self, Tick};

const GRID: &str = "#e6e6e6";
const SPINE: &str = "#555";
/// How far ticks reach out of the plot.
const TICK: f64 = 4.0;
/// Between ticks, their labels and the name of the axis.
const GAP: f64 = 5.0;
/// Between two labels beside each other.
const LABEL_GAP: f64 = 13.0;

/// Whether a panel says what its vertical axis is, or leaves it to its left neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    Own,
    Neighbours,
}

/// A panel with its intervals.
#[derive(Debug)]
pub(crate) struct Plot<'a> {
    pub(crate) panel: &'a Panel,
    pub(crate) x: Interval,
    pub(crate) y: Interval,
    y_ticks: Vec<Tick>,
    y_name: Vec<String>,
}

impl<'a> Plot<'a> {
    pub(crate) fn new(panel: &'a Panel, naming: Naming, height: f64) -> Plot<'a> {
        // Lines may touch the axes, markers may not.
        let markers = panel.series.iter().any(|series| series.drawn == Drawn::Markers);
        let few = panel.series.iter().any(|series| {
            series.drawn == Drawn::LineWithMarkers && marks::every_marker(series.points.len())
        });
        let margin = if markers || few { 0.04 } else { 0.0 };
        let x_room = Room { margin, zero_below: 0.12, at_zero: AtZero::Margin };
        let y_room = Room { margin: 0.06, zero_below: 0.3, at_zero: AtZero::Touches };
        let x = Interval::of(&panel.x, panel.series.iter().flat_map(horizontal), x_room);
        let y = Interval::of(&panel.y, vertical(&panel.series), y_room);
        let y_ticks = ticks::ticks(&y, (height / 40.0) as usize);
        let y_name = match naming {
            Naming::Own => text::wrapped(&panel.y.label, MEDIUM, height),
            Naming::Neighbours => Vec::new(),
        };
        Plot { panel, x, y, y_ticks, y_name }
    }

    /// The room left of the plot.
    pub(crate) fn left(&self) -> f64 {
        let labels = self.y_ticks.iter().map(|tick| text::width(&tick.label, SMALL));
        let name = match self.y_name.len() {
            0 => 0.0,
            lines => lines as f64 * MEDIUM * LEADING + GAP,
        };
        TICK + GAP + labels.fold(0.0, f64::max) + name
    }

    /// The room right of a plot of a width: half a label may stand out.
    pub(crate) fn right(&self, width: f64) -> f64 {
        let last = self.x_ticks(width).pop();
        last.map_or(0.0, |tick| text::width(&tick.label, SMALL) / 2.0 - (1.0 - tick.place) * width)
    }

    /// The room above a plot of a width.
    pub(crate) fn above(&self, width: f64) -> f64 {
        match self.title(width).len() {
            0 => 0.0,
            lines => lines as f64 * LARGE * LEADING + GAP,
        }
    }

    /// The room below a plot of a width.
    pub(crate) fn below(&self, width: f64) -> f64 {
        let name = match self.x_name(width).len() {
            0 => 0.0,
            lines => lines as f64 * MEDIUM * LEADING + GAP,
        };
        TICK + GAP + SMALL + name
    }

    fn title(&self, width: f64) -> Vec<String> {
        text::wrapped(&self.panel.title, LARGE * 1.06, width)
    }

    fn x_name(&self, width: f64) -> Vec<String> {
        text::wrapped(&self.panel.x.label, MEDIUM, width)
    }

    /// As many ticks as have room for their labels.
    fn x_ticks(&self, width: f64) -> Vec<Tick> {
        let most = ((width / 45.0) as usize).clamp(2, 6);
        let apart = |pair: &[Tick]| {
            let labels = text::width(&pair[0].label, SMALL) + text::width(&pair[1].label, SMALL);
            (pair[1].place - pair[0].place) * width >= labels / 2.0 + LABEL_GAP
        };
        (2..=most)
            .rev()
            .map(|most| ticks::ticks(&self.x, most))
            .find(|ticks| ticks.windows(2).all(apart))
            .unwrap_or_else(|| ticks::ticks(&self.x, 2).into_iter().take(1).collect())
    }

    /// Draws the panel; `area` is the plot between the axes.
    pub(crate) fn draw(&self, svg: &mut Svg, area: Rectangle, styles: &Styles<'_>) {
        let Rectangle { left, top, width, height } = area;
        let (right, bottom) = (left + width, top + height);
        let x_ticks = self.x_ticks(width);
        let across = |tick: &Tick| left + tick.place * width;
        let down = |tick: &Tick| bottom - tick.place * height;

        let mut grid = String::new();
        for tick in &self.y_ticks {
            grid += &format!("M{} {}H{}", Rounded(left), Rounded(down(tick)), Rounded(right));
        }
        for tick in &x_ticks {
            grid += &format!("M{} {}V{}", Rounded(across(tick)), Rounded(top), Rounded(bottom));
        }
        svg.add(format_args!(r#"<path d="{grid}" fill="none" stroke="{GRID}"/>"#));

        let mut spines =
            format!("M{} {}V{}H{}", Rounded(left), Rounded(top), Rounded(bottom), Rounded(right));
        let y_marks = self.y_ticks.iter().map(|tick| (tick.place, TICK));
        for (place, long) in y_marks.chain(ticks::minor(&self.y).into_iter().map(|at| (at, 2.5))) {
            spines += &format!(
                "M{} {}h-{}",
                Rounded(left),
                Rounded(bottom - place * height),
                Rounded(long)
            );
        }
        let x_marks = x_ticks.iter().map(|tick| (tick.place, TICK));
        for (place, long) in x_marks.chain(ticks::minor(&self.x).into_iter().map(|at| (at, 2.5))) {
            spines += &format!(
                "M{} {}v{}",
                Rounded(left + place * width),
                Rounded(bottom),
                Rounded(long)
            );
        }
        svg.add(format_args!(r#"<path d="{spines}" fill="none" stroke="{SPINE}"/>"#));

        for tick in &self.y_ticks {
            let label = std::slice::from_ref(&tick.label);
            // A third of the size below: the middle of digits is at the tick.
            let (x, y) = (left - TICK - GAP, down(tick) + SMALL * 0.35);
            svg.text(label, x, y, Text::new(SMALL, Anchor::End));
        }
        let labels_at = bottom + TICK + GAP + SMALL * 0.8;
        for tick in &x_ticks {
            let label = std::slice::from_ref(&tick.label);
            svg.text(label, across(tick), labels_at, Text::new(SMALL, Anchor::Middle));
        }
        self.draw_names(svg, area);
        marks::draw(svg, self, area, styles);
    }

    fn draw_names(&self, svg: &mut Svg, area: Rectangle) {
        let Rectangle { left, top, width, height } = area;
        let middle = left + width / 2.0;
        let title = self.title(width);
        let title_top = top - self.above(width);
        let look = Text { size: LARGE, anchor: Anchor::Middle, weight: Weight::Bold };
        svg.text(&title, middle, title_top + LARGE * 0.9, look);

        let named = Text::new(MEDIUM, Anchor::Middle);
        let name_top = top + height + TICK + GAP + SMALL + GAP;
        svg.text(&self.x_name(width), middle, name_top + MEDIUM, named);

        if !self.y_name.is_empty() {
            let (x, y) = (Rounded(left - self.left()), Rounded(top + height / 2.0));
            svg.add(format_args!(r#"<g transform="translate({x} {y}) rotate(-90)">"#));
            svg.text(&self.y_name, 0.0, MEDIUM * 0.9, named);
            svg.add(format_args!("</g>"));
        }
    }
}

/// The values that the horizontal axis must hold.
fn horizontal(series: &Series) -> impl Iterator<Item = f64> {
    let drawn = match series.drawn {
        Drawn::Rule => [].iter(),
        _ => series.points.iter(),
    };
    drawn.filter(|point| point.y.is_finite()).map(|point| point.x)
}

/// The values that the vertical axis must hold. Where no point is below zero, no spread draws the
/// axis there: times and scores have no negative values, though mean − deviation may be one.
fn vertical(series: &[Series]) -> Vec<f64> {
    let points =
        || series.iter().flat_map(|series| &series.points).filter(|point| point.x.is_finite());
    let floor = if points().any(|point| point.y < 0.0) { f64::NEG_INFINITY } else { 0.0 };
    points()
        .flat_map(|point| {
            let spread = point.spread.filter(|spread| spread.is_finite()).unwrap_or(0.0).abs();
            [point.y, (point.y - spread).max(floor.min(point.y)), point.y + spread]
        })
        .collect()
}
