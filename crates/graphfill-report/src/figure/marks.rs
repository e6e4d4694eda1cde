//! What stands for the points: bands, lines, whiskers, markers, fitted lines.

use super::fits;
use super::plot::Plot;
use super::series::{Drawn, Point, Series};
use super::style::{Style, Styles};
use super::svg::{Anchor, Rectangle, Rounded, Svg, Text};
use super::text::MEDIUM;
use super::thinning::{Place, thinned};

/// Lines are drawn with so many points at the most: about one a pixel.
const MAX_POINTS: usize = 300;
/// So many markers on a line are all drawn; of more, about this many are.
const MAX_MARKERS: usize = 14;
/// How far lines may stand out of the plot, so that they are whole where they touch an axis.
const OVERHANG: f64 = 2.0;
/// Half the width of a whisker's cap.
const CAP: f64 = 3.0;

pub(crate) const BAND: &str = r#"fill-opacity="0.16""#;
pub(crate) const LINE: &str = r#"fill="none" stroke-width="1.8" stroke-linejoin="round""#;
pub(crate) const THIN: &str = r#"fill="none" stroke-width="1.3""#;
/// A white edge keeps markers apart that lie over each other.
pub(crate) const MARKER: &str = r##"stroke="#fff" stroke-width="0.7""##;

/// A point on the plot: its place, and the heights of the upper and the lower end of its spread.
#[derive(Debug, Clone, Copy)]
struct Placed {
    x: f64,
    y: f64,
    upper: f64,
    lower: f64,
    inside: bool,
}

/// Whether a line of so many points has a marker at each.
pub(crate) fn every_marker(points: usize) -> bool {
    points <= MAX_MARKERS
}

/// Draws all series; what lies outside the plot is cut off.
pub(crate) fn draw(svg: &mut Svg, plot: &Plot<'_>, area: Rectangle, styles: &Styles<'_>) {
    let Rectangle { left, top, width, height } = area;
    let series: Vec<(&Series, Style, Vec<Placed>)> = plot
        .panel
        .series
        .iter()
        .map(|series| (series, styles.style(&series.name), placed(series, plot, width, height)))
        .collect();
    if series.iter().all(|(_, _, points)| points.is_empty()) {
        let (x, y) = (left + width / 2.0, top + height / 2.0);
        let (ground_left, ground_top) = (Rounded(x - 36.0), Rounded(y - 12.0));
        svg.add(format_args!(
            r##"<rect x="{ground_left}" y="{ground_top}" width="72" height="24" fill="#fff"/>"##
        ));
        svg.text(&["no data".to_owned()], x, y + MEDIUM * 0.35, Text::new(MEDIUM, Anchor::Middle));
        return;
    }
    // An inner <svg> cuts off what is outside, without names that another figure might bear, too.
    let (x, y) = (Rounded(left - OVERHANG), Rounded(top - OVERHANG));
    let (wide, high) = (Rounded(width + 2.0 * OVERHANG), Rounded(height + 2.0 * OVERHANG));
    let edge = Rounded(-OVERHANG);
    svg.add(format_args!(
        r#"<svg x="{x}" y="{y}" width="{wide}" height="{high}" viewBox="{edge} {edge} {wide} {high}">"#
    ));
    // All bands lie below all lines; the first series is drawn last, on top of the others.
    for (series, style, points) in series.iter().rev() {
        draw_band(svg, series.drawn, *style, points, width);
    }
    for (series, style, points) in series.iter().rev() {
        fits::draw_line(svg, series, *style, plot, width, height);
        draw_line(svg, series.drawn, *style, points, width);
    }
    svg.add(format_args!("</svg>"));
    // Markers at the edge are whole.
    let (x, y) = (Rounded(left), Rounded(top));
    svg.add(format_args!(r#"<g transform="translate({x} {y})">"#));
    let mut obstacles = Vec::new();
    for (series, style, points) in series.iter().rev() {
        draw_markers(svg, series.drawn, *style, points, height);
        obstacles.extend(points.iter().map(|point| (point.x, point.y)));
    }
    fits::draw_key(svg, plot, styles, &obstacles, width, height);
    svg.add(format_args!("</g>"));
}

/// The points that can be drawn, in pixels from the plot's upper left corner.
fn placed(series: &Series, plot: &Plot<'_>, width: f64, height: f64) -> Vec<Placed> {
    let down = |place: f64| (1.0 - place) * height;
    let place = |point: &Point| {
        let across = match series.drawn {
            Drawn::Rule => 0.0,
            _ => plot.x.place(point.x)?,
        };
        let up = plot.y.place(point.y)?;
        let spread = point.spread.filter(|spread| spread.is_finite()).unwrap_or(0.0).abs();
        // On a logarithmic axis a spread may reach down to what has no place: to the very bottom.
        let lower = plot.y.place(point.y - spread).unwrap_or(-1.0).min(up);
        let upper = plot.y.place(point.y + spread).unwrap_or(up);
        let on_the_plot = |place: f64| (-1e-9..=1.0 + 1e-9).contains(&place);
        Some(Placed {
            x: across * width,
            y: down(up),
            upper: down(upper),
            lower: down(lower),
            inside: on_the_plot(across) && on_the_plot(up),
        })
    };
    series.points.iter().filter_map(place).collect()
}

/// What is drawn of a line, by the height that `height` takes of a point: few enough points, none
/// of them far beyond the plot's sides. A rule goes from side to side.
fn course(
    drawn: Drawn,
    points: &[Placed],
    width: f64,
    height: impl Fn(&Placed) -> f64,
) -> Vec<Place> {
    if drawn == Drawn::Rule {
        return points
            .first()
            .map_or(Vec::new(), |point| vec![(0.0, height(point)), (width, height(point))]);
    }
    // Beside the points on the plot, those that lead there.
    let beside = |index: usize| points.get(index).is_some_and(|p| (0.0..=width).contains(&p.x));
    let near: Vec<Place> = points
        .iter()
        .enumerate()
        .filter(|(index, _)| (index.saturating_sub(1)..=index + 1).any(beside))
        .map(|(_, point)| (point.x, height(point)))
        .collect();
    thinned(&near, MAX_POINTS)
}

fn path(places: impl IntoIterator<Item = Place>) -> String {
    let mut path = String::new();
    for (x, y) in places {
        let letter = if path.is_empty() { "M" } else { " " };
        path += &format!("{letter}{} {}", Rounded(x), Rounded(y));
    }
    path
}

fn draw_band(svg: &mut Svg, drawn: Drawn, style: Style, points: &[Placed], width: f64) {
    let spreads = points.iter().any(|point| point.lower > point.upper);
    if drawn == Drawn::Markers || !spreads {
        return;
    }
    let upper = course(drawn, points, width, |point| point.upper);
    let lower = course(drawn, points, width, |point| point.lower);
    let outline = path(upper.into_iter().chain(lower.into_iter().rev()));
    let colour = style.colour();
    svg.add(format_args!(r#"<path d="{outline}z" fill="{colour}" {BAND}/>"#));
}

fn draw_line(svg: &mut Svg, drawn: Drawn, style: Style, points: &[Placed], width: f64) {
    let places = course(drawn, points, width, |point| point.y);
    if drawn == Drawn::Markers || places.len() < 2 {
        return;
    }
    let (line, colour, dashes) = (path(places), style.colour(), style.dashes());
    svg.add(format_args!(r#"<path d="{line}" {LINE} stroke="{colour}"{dashes}/>"#));
}

fn draw_markers(svg: &mut Svg, drawn: Drawn, style: Style, points: &[Placed], height: f64) {
    let inside = points.iter().filter(|point| point.inside);
    let shown: Vec<&Placed> = match drawn {
        Drawn::Markers => inside.collect(),
        Drawn::LineWithMarkers if every_marker(points.len()) => inside.collect(),
        // Each series starts elsewhere, so that their markers do not meet.
        Drawn::LineWithMarkers => {
            let stride = points.len().div_ceil(MAX_MARKERS - 4);
            inside.skip((2 * style.number + 1) * stride / 6 % stride).step_by(stride).collect()
        }
        // A line of one point would not be seen.
        Drawn::Line if points.len() == 1 => inside.collect(),
        Drawn::Line | Drawn::Rule => Vec::new(),
    };
    if shown.is_empty() {
        return;
    }
    let colour = style.colour();
    let mut whiskers = String::new();
    if drawn == Drawn::Markers {
        for point in shown.iter().filter(|point| point.lower > point.upper) {
            let x = Rounded(point.x);
            let ends = [point.upper, point.lower].map(|end| end.clamp(0.0, height));
            whiskers += &format!("M{x} {}V{}", Rounded(ends[0]), Rounded(ends[1]));
            for (end, clamped) in [point.upper, point.lower].into_iter().zip(ends) {
                if end == clamped {
                    let (left, wide) = (Rounded(point.x - CAP), Rounded(2.0 * CAP));
                    whiskers += &format!("M{left} {}h{wide}", Rounded(end));
                }
            }
        }
    }
    if !whiskers.is_empty() {
        svg.add(format_args!(r#"<path d="{whiskers}" {THIN} stroke="{colour}"/>"#));
    }
    let places: Vec<Place> = shown.iter().map(|point| (point.x, point.y)).collect();
    let markers = style.markers(&places);
    svg.add(format_args!(r#"<path d="{markers}" fill="{colour}" {MARKER}/>"#));
}
