//! What a panel shows: named points and the way they are drawn.

use crate::fit::Line;

/// One measured point; `spread` is the half height of its band or whisker, such as the standard
/// deviation over seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Where it is along the horizontal axis.
    pub x: f64,
    /// Where it is along the vertical axis.
    pub y: f64,
    /// How far it spreads above and below.
    pub spread: Option<f64>,
}

impl Point {
    /// A point without spread.
    pub fn new(x: f64, y: f64) -> Point {
        Point { x, y, spread: None }
    }

    /// The point with a spread above and below.
    pub fn with_spread(self, spread: f64) -> Point {
        Point { spread: Some(spread), ..self }
    }
}

impl From<(f64, f64)> for Point {
    fn from((x, y): (f64, f64)) -> Point {
        Point::new(x, y)
    }
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drawn {
    /// A line through the points in their order; spread is a band around it.
    Line,
    /// A line with markers: at every point where they are few, at some where they are many.
    LineWithMarkers,
    /// A marker a point; spread is a whisker.
    Markers,
    /// A horizontal line over the whole width, at the height of the first point that can be drawn;
    /// its x is of no account; spread is a band.
    Rule,
}

/// Named points. Series of one name look the same in all panels and are one entry of the legend;
/// a series without a name is not in the legend.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// The points; those that cannot be drawn (not finite, not positive on a logarithmic axis) are
    /// left out.
    pub points: Vec<Point>,
    /// How they are drawn.
    pub drawn: Drawn,
    /// A line drawn through the markers, as far as they reach, with its R² in the panel. On a
    /// logarithmic axis it is the same line, and so a curve.
    pub fit: Option<Line>,
}

impl Series {
    /// A series without a fitted line.
    pub fn new<P: Into<Point>>(
        name: impl Into<String>,
        drawn: Drawn,
        points: impl IntoIterator<Item = P>,
    ) -> Series {
        let points = points.into_iter().map(Into::into).collect();
        Series { name: name.into(), points, drawn, fit: None }
    }

    /// A horizontal line at `height`, with a band where `spread` is given.
    pub fn rule(name: impl Into<String>, height: f64, spread: Option<f64>) -> Series {
        Series::new(name, Drawn::Rule, [Point { x: 0.0, y: height, spread }])
    }

    /// The series with the line of least squares through its finite points, where there is one.
    pub fn fitted(self) -> Series {
        let points: Vec<(f64, f64)> = self
            .points
            .iter()
            .map(|point| (point.x, point.y))
            .filter(|(x, y)| x.is_finite() && y.is_finite())
            .collect();
        Series { fit: Line::least_squares(&points), ..self }
    }
}
