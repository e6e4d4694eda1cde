//! How series are told apart: by colour, and without colours by dashes and by the shape of markers.

use std::f64::consts::TAU;

use super::series::Series;
use super::svg::Rounded;
use super::thinning::Place;

/// The colours of Okabe and Ito, which people of all colour vision tell apart, the strong ones
/// first; grey stands for their yellow, which is faint on white.
const COLOURS: [&str; 8] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#808080"];

/// Dashes and gaps, in pixels; the first line is whole.
const DASHES: [&str; 8] =
    ["", "7 3", "2 2.2", "9 3 2 3", "14 3", "5 2 1.5 2 1.5 2", "4 4", "14 3 2 3 2 3"];

/// The size of markers: the radius of the circle.
const RADIUS: f64 = 4.0;

#[derive(Debug, Clone, Copy)]
enum Shape {
    Circle,
    Square,
    Triangle,
    Diamond,
    TriangleDown,
    Plus,
    Cross,
    Star,
}

const SHAPES: [Shape; 8] = [
    Shape::Circle,
    Shape::Square,
    Shape::Triangle,
    Shape::Diamond,
    Shape::TriangleDown,
    Shape::Plus,
    Shape::Cross,
    Shape::Star,
];

/// The look of a series.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    /// Its number: 0 for the first.
    pub(crate) number: usize,
}

impl Style {
    pub(crate) fn colour(self) -> &'static str {
        COLOURS[self.number % COLOURS.len()]
    }

    /// The attribute that makes a line dashed, with a space before it; nothing for a whole line.
    pub(crate) fn dashes(self) -> String {
        match DASHES[self.turned(DASHES.len())] {
            "" => String::new(),
            dashes => format!(" stroke-dasharray=\"{dashes}\""),
        }
    }

    /// The path of markers at places.
    pub(crate) fn markers(self, places: &[Place]) -> String {
        let shape = SHAPES[self.turned(SHAPES.len())];
        places.iter().map(|place| shape.path(*place)).collect()
    }

    /// From the ninth series on colours come again, with other dashes and markers.
    fn turned(self, count: usize) -> usize {
        (self.number + self.number / COLOURS.len()) % count
    }
}

impl Shape {
    /// The outline around a place. Sizes differ a little, so that areas look alike.
    fn path(self, (x, y): Place) -> String {
        if let Shape::Circle = self {
            let (radius, left, y) = (Rounded(RADIUS), Rounded(x - RADIUS), Rounded(y));
            let across = Rounded(2.0 * RADIUS);
            return format!(
                "M{left} {y}a{radius} {radius} 0 1 0 {across} 0a{radius} {radius} 0 1 0 -{across} 0z"
            );
        }
        let corners = self.corners();
        let mut path = String::new();
        for (number, (right, down)) in corners.iter().enumerate() {
            let letter = if number == 0 { 'M' } else { 'L' };
            path += &format!("{letter}{} {}", Rounded(x + right), Rounded(y + down));
        }
        path + "z"
    }

    fn corners(self) -> Vec<Place> {
        match self {
            Shape::Circle => Vec::new(),
            Shape::Square => regular(4, RADIUS * 1.25, 0.125),
            Shape::Triangle => regular(3, RADIUS * 1.4, 0.0),
            Shape::Diamond => regular(4, RADIUS * 1.35, 0.0),
            Shape::TriangleDown => regular(3, RADIUS * 1.4, 0.5),
            Shape::Plus => plus(0.0),
            Shape::Cross => plus(0.125),
            Shape::Star => {
                let outer = regular(5, RADIUS * 1.5, 0.0);
                let inner = regular(5, RADIUS * 0.65, 0.1);
                outer.into_iter().zip(inner).flat_map(|(tip, dent)| [tip, dent]).collect()
            }
        }
    }
}

/// The corners of a regular polygon, the first above the middle, turned by a share of a circle.
fn regular(count: usize, radius: f64, turn: f64) -> Vec<Place> {
    (0..count)
        .map(|corner| TAU * (corner as f64 / count as f64 + turn))
        .map(|angle| (radius * angle.sin(), -radius * angle.cos()))
        .collect()
}

/// A plus with thick arms, turned by a share of a circle.
fn plus(turn: f64) -> Vec<Place> {
    const LONG: f64 = RADIUS * 1.3;
    const THICK: f64 = RADIUS * 0.42;
    let (sine, cosine) = (TAU * turn).sin_cos();
    (0..4)
        .flat_map(|arm| {
            let (down, right) = (TAU * f64::from(arm) / 4.0).sin_cos();
            [(LONG, -THICK), (LONG, THICK), (THICK, THICK)].map(|(along, across)| {
                (along * right - across * down, along * down + across * right)
            })
        })
        .map(|(x, y)| (x * cosine - y * sine, x * sine + y * cosine))
        .collect()
}

/// Which name has which style.
#[derive(Debug)]
pub(crate) struct Styles<'a>(Vec<&'a str>);

impl<'a> Styles<'a> {
    /// The names of `order` have the first styles, whether they appear or not; the others follow as
    /// they appear.
    pub(crate) fn of(order: &'a [String], series: impl Iterator<Item = &'a Series>) -> Styles<'a> {
        let mut names: Vec<&str> = Vec::new();
        for name in order.iter().chain(series.map(|series| &series.name)) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        Styles(names)
    }

    pub(crate) fn style(&self, name: &str) -> Style {
        Style { number: self.0.iter().position(|known| *known == name).unwrap_or(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Drawn;

    #[test]
    fn sixty_four_looks_differ() {
        let looks: std::collections::BTreeSet<_> = (0..64)
            .map(|number| Style { number })
            .map(|style| (style.colour(), style.dashes(), style.markers(&[(0.0, 0.0)])))
            .collect();
        assert_eq!(looks.len(), 64);
    }

    #[test]
    fn a_name_keeps_its_style() {
        let of = |name: &str| Series::new(name, Drawn::Line, [(0.0, 0.0)]);
        let series = [of("b"), of("c"), of("b")];
        let order = ["a".to_owned(), "c".to_owned()];
        let styles = Styles::of(&order, series.iter());
        assert_eq!(["a", "b", "c"].map(|name| styles.style(name).number), [0, 2, 1]);
    }
}
