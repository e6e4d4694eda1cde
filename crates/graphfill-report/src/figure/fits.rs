//! Fitted lines, and the key that tells each one's R² in the emptiest corner of the plot.

use super::marks::{MARKER, THIN};
use super::panel::Scale;
use super::plot::Plot;
use super::series::{Drawn, Series};
use super::style::{Style, Styles};
use super::svg::{Anchor, Rectangle, Rounded, Svg, Text};
use super::text::{self, LEADING, SMALL};
use super::thinning::Place;

/// On a logarithmic axis a line is a curve; so many pieces make it smooth.
const PIECES: usize = 48;
/// From the key's edge to its text, and from the plot's edge to the key.
const PADDING: f64 = 6.0;
/// The room of a marker in the key.
const MARKER_ROOM: f64 = 16.0;

/// Draws a series' fitted line as far as its points reach.
pub(crate) fn draw_line(
    svg: &mut Svg,
    series: &Series,
    style: Style,
    plot: &Plot<'_>,
    width: f64,
    height: f64,
) {
    let mut places = course(series, plot, width, height);
    if places.len() < 2 {
        return;
    }
    if plot.x.scale == Scale::Linear && plot.y.scale == Scale::Linear {
        places.drain(1..places.len() - 1);
    }
    let mut line = String::new();
    for (number, (x, y)) in places.into_iter().enumerate() {
        let letter = if number == 0 { "M" } else { " " };
        line += &format!("{letter}{} {}", Rounded(x), Rounded(y));
    }
    let (colour, dashes) = (style.colour(), style.dashes());
    svg.add(format_args!(r#"<path d="{line}" {THIN} stroke="{colour}"{dashes}/>"#));
}

/// Places along a series' fitted line.
fn course(series: &Series, plot: &Plot<'_>, width: f64, height: f64) -> Vec<Place> {
    let Some(fit) = series.fit.filter(|_| series.drawn != Drawn::Rule) else { return Vec::new() };
    let ends = series.points.iter().filter(|point| plot.y.place(point.y).is_some());
    let ends = ends.filter_map(|point| plot.x.place(point.x));
    let (low, high) =
        ends.fold((1f64, 0f64), |(low, high), place| (low.min(place), high.max(place)));
    let (low, high) = (low.max(0.0), high.min(1.0));
    (0..=PIECES)
        .map(|piece| low + (high - low) * piece as f64 / PIECES as f64)
        .filter_map(|x| {
            let y = plot.y.place(fit.at(plot.x.value(x)))?;
            Some((x * width, (1.0 - y) * height))
        })
        .collect()
}

/// Draws the key: a marker and R² for each fitted line. `obstacles` are the places of points.
pub(crate) fn draw_key(
    svg: &mut Svg,
    plot: &Plot<'_>,
    styles: &Styles<'_>,
    obstacles: &[Place],
    width: f64,
    height: f64,
) {
    let fitted: Vec<(&Series, String)> = plot
        .panel
        .series
        .iter()
        .filter(|series| !course(series, plot, width, height).is_empty())
        .filter_map(|series| Some((series, label(series.fit?.r_squared)?)))
        .collect();
    if fitted.is_empty() {
        return;
    }
    let mut taken = obstacles.to_vec();
    for (series, _) in &fitted {
        taken.extend(course(series, plot, width, height));
    }
    let line = SMALL * LEADING;
    let longest = fitted.iter().map(|(_, label)| text::width(label, SMALL)).fold(0.0, f64::max);
    let key_width = MARKER_ROOM + longest + 2.0 * PADDING;
    let key_height = line * fitted.len() as f64 + PADDING;
    let key = emptiest_corner(key_width, key_height, width, height, &taken);

    let (x, y) = (Rounded(key.left), Rounded(key.top));
    let (wide, high) = (Rounded(key.width), Rounded(key.height));
    svg.add(format_args!(
        r##"<rect x="{x}" y="{y}" width="{wide}" height="{high}" rx="3" fill="#fff" fill-opacity="0.85"/>"##
    ));
    for (number, (series, label)) in fitted.into_iter().enumerate() {
        let style = styles.style(&series.name);
        let middle = key.top + PADDING / 2.0 + (number as f64 + 0.5) * line;
        let left = key.left + PADDING;
        let marker = style.markers(&[(left + MARKER_ROOM / 2.0 - 2.0, middle)]);
        let colour = style.colour();
        svg.add(format_args!(r#"<path d="{marker}" fill="{colour}" {MARKER}/>"#));
        let look = Text::new(SMALL, Anchor::Start);
        svg.text(&[label], left + MARKER_ROOM, middle + SMALL * 0.35, look);
    }
}

/// The corner of the plot where a key covers the fewest places; the upper left one of equals.
fn emptiest_corner(
    key_width: f64,
    key_height: f64,
    width: f64,
    height: f64,
    taken: &[Place],
) -> Rectangle {
    let (right, bottom) = (width - key_width - PADDING, height - key_height - PADDING);
    let corners = [(PADDING, PADDING), (right, bottom), (right, PADDING), (PADDING, bottom)];
    let covered = |(left, top): (f64, f64)| {
        let across = left - PADDING..=left + key_width + PADDING;
        let down = top - PADDING..=top + key_height + PADDING;
        taken.iter().filter(|(x, y)| across.contains(x) && down.contains(y)).count()
    };
    let (left, top) =
        corners.into_iter().min_by_key(|corner| covered(*corner)).unwrap_or(corners[0]);
    Rectangle { left, top, width: key_width, height: key_height }
}

/// "R² = 0.998"; what would be rounded to one is not called one.
fn label(r_squared: f64) -> Option<String> {
    if !r_squared.is_finite() {
        return None;
    }
    let nearly = (0.9995..1.0 - 1e-9).contains(&r_squared);
    Some(if nearly {
        "R² > 0.999".to_owned()
    } else {
        format!("R² = {r_squared:.3}").replace('-', "\u{2212}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels() {
        assert_eq!(label(0.9982).unwrap(), "R² = 0.998");
        assert_eq!(label(0.9999).unwrap(), "R² > 0.999");
        assert_eq!(label(1.0).unwrap(), "R² = 1.000");
        assert_eq!(label(f64::NAN), None);
    }

    #[test]
    fn the_key_goes_where_nothing_is() {
        let taken = [(10.0, 10.0), (190.0, 190.0), (190.0, 10.0)];
        let key = emptiest_corner(50.0, 20.0, 200.0, 200.0, &taken);
        assert_eq!((key.left, key.top), (PADDING, 200.0 - 20.0 - PADDING));
    }
}
