//! Plots drawn as SVG text. The page's script draws the same text from the same data, so that every
//! change here needs its counterpart in `script.js`; a browser test compares the two.

use std::fmt::Write;

use super::plot::{Axis, Frame, Mark, Plot};
use crate::figure::svg::Escaped;

/// The radius of dots.
const CROSS: f64 = 3.0;

/// The drawing of a plot.
pub(super) fn svg(plot: &Plot) -> String {
    let canvas = Canvas { plot, frame: plot.frame() };
    let (width, height) = (canvas.frame.width, canvas.frame.height);
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\"><title>{}</title><desc>{}</desc>",
        Escaped(&plot.title),
        Escaped(&plot.description)
    );
    canvas.axes(&mut out);
    for mark in &plot.marks {
        canvas.mark(mark, &mut out);
    }
    out + "</svg>"
}

/// The drawing as an image of its own: with a size, colours and fonts.
pub(super) fn standalone(plot: &Plot) -> String {
    let frame = plot.frame();
    let drawing = svg(plot);
    let content = drawing.split_once('>').map_or("", |(_, content)| content);
    let style = include_str!("style.css");
    let colours = style.split_once(":root {").and_then(|(_, rest)| rest.split_once('}'));
    let colours = colours.map_or("", |(colours, _)| colours);
    let marks = style.split_once("svg text {").map_or("", |(_, marks)| marks);
    let marks = marks.split_once("@media").map_or(marks, |(marks, _)| marks);
    let (width, height) = (frame.width, frame.height);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\"><style>svg {{{colours}}} \
         svg text {{{marks}</style><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>{content}"
    )
}

/// A coordinate, to a tenth.
fn r(value: f64) -> f64 {
    // Adding zero turns -0 into 0.
    (value * 10.0).round() / 10.0 + 0.0
}

struct Canvas<'a> {
    plot: &'a Plot,
    frame: Frame,
}

impl Canvas<'_> {
    fn bottom(&self) -> f64 {
        self.frame.height - self.frame.bottom
    }

    fn right(&self) -> f64 {
        self.frame.width - self.frame.right
    }

    fn x_at(&self, place: f64) -> f64 {
        r(self.frame.left + place * (self.right() - self.frame.left))
    }

    fn y_at(&self, place: f64) -> f64 {
        r(self.bottom() - place * (self.bottom() - self.frame.top))
    }

    fn x(&self, value: f64) -> f64 {
        self.x_at(self.plot.x.place(value))
    }

    fn y(&self, value: f64) -> f64 {
        self.y_at(self.plot.y.place(value))
    }

    fn axes(&self, out: &mut String) {
        let (frame, bottom, right) = (self.frame, self.bottom(), self.right());
        let mut grid = String::new();
        let mut labels = String::new();
        let numeric = |axis: &Axis| axis.categories == 0;
        for (place, label) in &self.plot.x.ticks {
            let (x, label) = (self.x_at(*place), Escaped(label));
            if numeric(&self.plot.x) {
                let _ = write!(grid, "M{x} {}V{bottom}", frame.top);
            }
            let _ = match frame.slanted {
                true => {
                    let y = bottom + 12.0;
                    write!(
                        labels,
                        "<text class=\"sl\" transform=\"translate({x} {y})rotate(-45)\">{label}</text>"
                    )
                }
                false => {
                    write!(
                        labels,
                        "<text class=\"tx\" x=\"{x}\" y=\"{}\">{label}</text>",
                        bottom + 15.0
                    )
                }
            };
        }
        for (place, label) in &self.plot.y.ticks {
            let (y, label) = (self.y_at(*place), Escaped(label));
            if numeric(&self.plot.y) {
                let _ = write!(grid, "M{} {y}H{right}", frame.left);
            }
            let (x, y) = (frame.left - 6.0, r(y + 3.8));
            let _ = write!(labels, "<text class=\"ty\" x=\"{x}\" y=\"{y}\">{label}</text>");
        }
        let middle = r((frame.left + right) / 2.0);
        let _ = write!(
            out,
            "<path class=\"gr\" d=\"{grid}\"></path><path class=\"fr\" d=\"M{} {}V{bottom}H{right}\"></path>{labels}",
            frame.left, frame.top
        );
        if !self.plot.x.label.is_empty() {
            let (y, label) = (frame.height - 6.0, Escaped(&self.plot.x.label));
            let _ = write!(out, "<text class=\"lx\" x=\"{middle}\" y=\"{y}\">{label}</text>");
        }
        if !self.plot.y.label.is_empty() {
            let (y, label) = (r((frame.top + bottom) / 2.0), Escaped(&self.plot.y.label));
            let _ = write!(
                out,
                "<text class=\"lx\" transform=\"translate(11 {y})rotate(-90)\">{label}</text>"
            );
        }
    }

    fn mark(&self, mark: &Mark, out: &mut String) {
        match mark {
            Mark::Cells => self.cells(out),
            Mark::Dots { class, x, y } => {
                let dots = self.each(|row| {
                    let at = (self.value(row, *x)?, self.value(row, *y)?);
                    Some(format!("M{} {}h0", self.x(at.0), self.y(at.1)))
                });
                path(out, class, &dots);
            }
            Mark::Line { class, points } => {
                let mut line = String::new();
                for (x, y) in points.iter().filter(|(x, y)| x.is_finite() && y.is_finite()) {
                    let letter = if line.is_empty() { 'M' } else { 'L' };
                    let _ = write!(line, "{letter}{} {}", self.x(*x), self.y(*y));
                }
                path(out, class, &line);
            }
            Mark::Steps { class, y, scale } => self.steps(class, *y, *scale, out),
            Mark::Bars { class, x, slot, slots } => self.bars(class, *x, (*slot, *slots), out),
            Mark::Ranges { class, x, bounds } => self.ranges(class, *x, *bounds, out),
            Mark::Matrix => self.matrix(out),
        }
    }

    /// A finite number of the table.
    fn value(&self, row: usize, column: usize) -> Option<f64> {
        Some(self.plot.data.number(row, column)).filter(|value| !value.is_nan())
    }

    fn each(&self, draw: impl Fn(usize) -> Option<String>) -> String {
        (0..self.plot.data.rows.len()).filter_map(draw).collect()
    }

    /// Bars of intervals, dots, and crosses where the interval misses the observed value.
    fn cells(&self, out: &mut String) {
        let (mut bars, mut dots) = ([String::new(), String::new()], [String::new(), String::new()]);
        for row in 0..self.plot.data.rows.len() {
            let (Some(observed), Some(estimate)) = (self.value(row, 0), self.value(row, 1)) else {
                continue;
            };
            let (low, high) = (self.value(row, 2), self.value(row, 3));
            let (x, y) = (self.x(observed), self.y(estimate));
            let bounded = low.is_some() || high.is_some();
            let missed =
                low.is_some_and(|low| observed < low) || high.is_some_and(|high| observed > high);
            if bounded {
                let low = low.map_or(self.y_at(0.0), |low| self.y(low));
                let high = high.map_or(self.y_at(1.0), |high| self.y(high));
                let _ = write!(bars[usize::from(missed)], "M{x} {low}V{high}");
            }
            let dots = &mut dots[usize::from(missed)];
            let _ = match missed {
                false => write!(dots, "M{x} {y}h0"),
                true => {
                    let (left, up, down) = (r(x - CROSS), r(y - CROSS), r(y + CROSS));
                    let right = r(x + CROSS);
                    write!(dots, "M{left} {up}L{right} {down}M{left} {down}L{right} {up}")
                }
            };
        }
        let ([bars_in, bars_out], [dots_in, dots_out]) = (bars, dots);
        path(out, "iv", &bars_in);
        path(out, "iv io", &bars_out);
        path(out, "dt", &dots_in);
        path(out, "cr", &dots_out);
    }

    fn steps(&self, class: &str, column: usize, scale: f64, out: &mut String) {
        let base = self.y_at(0.0);
        let mut line = String::new();
        let mut end = None;
        for row in 0..self.plot.data.rows.len() {
            let (Some(from), Some(to), Some(height)) =
                (self.value(row, 0), self.value(row, 1), self.value(row, column))
            else {
                continue;
            };
            if end.is_none() {
                let _ = write!(line, "M{} {base}", self.x(from));
            }
            let right = self.x(to);
            let _ = write!(line, "V{}H{right}", self.y(height * scale));
            end = Some(right);
        }
        if end.is_some() {
            let _ = write!(line, "V{base}");
        }
        path(out, class, &line);
    }

    /// The middle of a row's band.
    fn band(&self, row: usize) -> f64 {
        self.y(row as f64 + 0.5)
    }

    fn bars(&self, class: &str, column: usize, (slot, slots): (usize, usize), out: &mut String) {
        const FILLED: f64 = 0.68;
        let rows = self.plot.y.categories.max(1) as f64;
        let height = (self.bottom() - self.frame.top) / rows * FILLED;
        let zero = self.x(0.0);
        let bars = self.each(|row| {
            let end = self.x(self.value(row, column)?);
            let top = r(self.band(row) - height / 2.0 + height * slot as f64 / slots as f64);
            let bottom = r(top + height / slots as f64 - if slots > 1 { 1.0 } else { 0.0 });
            Some(format!("M{zero} {top}H{end}V{bottom}H{zero}z"))
        });
        path(out, class, &bars);
    }

    fn ranges(&self, class: &str, x: usize, bounds: Option<(usize, usize)>, out: &mut String) {
        if let Some((low, high)) = bounds {
            let lines = self.each(|row| {
                let ends = (self.value(row, low)?, self.value(row, high)?);
                Some(format!("M{} {}H{}", self.x(ends.0), self.band(row), self.x(ends.1)))
            });
            path(out, "rg", &lines);
        }
        let dots =
            self.each(|row| Some(format!("M{} {}h0", self.x(self.value(row, x)?), self.band(row))));
        path(out, class, &dots);
    }

    /// Counts of observed (down) against estimated levels (across), shaded by the share of the row.
    fn matrix(&self, out: &mut String) {
        const MAX_NUMBERED: usize = 8;
        let size = self.plot.x.categories;
        for (index, observed) in (0..size * size).map(|index| (index, index / size)) {
            let total: f64 =
                (0..size).filter_map(|level| self.value(observed * size + level, 2)).sum();
            let Some(count) = self.value(index, 2) else { continue };
            let share = if total > 0.0 { count / total } else { 0.0 };
            let (column, row) = ((index % size) as f64, observed as f64);
            let (left, right) = (self.x(column), self.x(column + 1.0));
            let (top, bottom) = (self.y(row), self.y(row + 1.0));
            let (width, height) = (r(right - left - 1.0), r(bottom - top - 1.0));
            let shade = (share * 100.0).round() / 100.0;
            let _ = write!(
                out,
                "<rect class=\"mx\" x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill-opacity=\"{shade}\"></rect>"
            );
            if size <= MAX_NUMBERED {
                let (x, y) = (r((left + right) / 2.0), r((top + bottom) / 2.0 + 3.8));
                let class = if shade > 0.5 { "mt on" } else { "mt" };
                let _ = write!(out, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{count}</text>");
            }
        }
    }
}

fn path(out: &mut String, class: &str, line: &str) {
    if !line.is_empty() {
        let _ = write!(out, "<path class=\"{class}\" d=\"{line}\"></path>");
    }
}
