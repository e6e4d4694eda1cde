//! Where panels and legend stand. Plots of a column are equally wide and start at one line, plots of
//! a row are equally high; what is left of the width, after ticks and names, is theirs.

use super::LegendPosition;
use super::panel::Panel;
use super::plot::{Naming, Plot};
use super::svg::Rectangle;

/// Around everything.
pub(crate) const EDGE: f64 = 14.0;
/// Between a plot and what belongs to its right neighbour, at the least.
const COLUMN_GAP: f64 = 22.0;
/// Between rows of panels.
const ROW_GAP: f64 = 22.0;
/// Between panels and legend.
const LEGEND_GAP: f64 = 16.0;

/// The width of a figure with so many panels in a row. None is wider than a page on GitHub, which
/// would shrink it, and its text with it.
pub(crate) fn width(columns: usize) -> f64 {
    match columns {
        1 => 560.0,
        2 => 860.0,
        _ => 920.0,
    }
}

/// The height of a plot.
fn plot_height(columns: usize) -> f64 {
    match columns {
        1 => 310.0,
        2 => 260.0,
        _ => 210.0,
    }
}

/// Where everything is.
#[derive(Debug)]
pub(crate) struct Layout<'a> {
    pub(crate) plots: Vec<(Plot<'a>, Rectangle)>,
    pub(crate) legend_top: f64,
    pub(crate) height: f64,
}

impl<'a> Layout<'a> {
    pub(crate) fn of(
        panels: &'a [Panel],
        columns: usize,
        position: LegendPosition,
        legend_height: f64,
    ) -> Layout<'a> {
        let height = plot_height(columns);
        let plots: Vec<Plot<'a>> = panels
            .iter()
            .enumerate()
            .map(|(index, panel)| {
                let same = index % columns > 0 && panels[index - 1].y.label == panel.y.label;
                Plot::new(panel, if same { Naming::Neighbours } else { Naming::Own }, height)
            })
            .collect();
        let lefts: Vec<f64> = (0..columns)
            .map(|column| {
                let column = plots.iter().skip(column).step_by(columns);
                column.map(Plot::left).fold(0.0, f64::max)
            })
            .collect();
        // How far labels stand out depends on the width, which depends on it; a first guess of the
        // width, on the narrow side, is near enough.
        let guess = (width(columns) - 2.0 * EDGE) / columns as f64 - 60.0;
        let out = plots.iter().map(|plot| plot.right(guess)).fold(0.0, f64::max);
        let gap = COLUMN_GAP.max(out + 6.0);
        let right_edge = EDGE.max(out + 4.0);
        let free = width(columns) - EDGE - right_edge - lefts.iter().sum::<f64>();
        // Labels of absurd length must not turn a plot inside out.
        let plot_width = ((free - gap * (columns - 1) as f64) / columns as f64).max(80.0);

        let legend_room = if legend_height > 0.0 { legend_height + LEGEND_GAP } else { 0.0 };
        let mut top = match position {
            LegendPosition::Above => EDGE + legend_room,
            LegendPosition::Below => EDGE,
        };
        let mut areas = Vec::with_capacity(plots.len());
        for (number, row) in plots.chunks(columns).enumerate() {
            if number > 0 {
                top += ROW_GAP;
            }
            // Without a title the uppermost label still needs room.
            let above = row.iter().map(|plot| plot.above(plot_width)).fold(4.0, f64::max);
            let below = row.iter().map(|plot| plot.below(plot_width)).fold(0.0, f64::max);
            let mut left = EDGE;
            for (column, _) in row.iter().enumerate() {
                left += lefts[column];
                areas.push(Rectangle { left, top: top + above, width: plot_width, height });
                left += plot_width + gap;
            }
            top += above + height + below;
        }
        let (legend_top, bottom) = match position {
            LegendPosition::Above => (EDGE, top),
            LegendPosition::Below => (top + LEGEND_GAP, top + legend_room),
        };
        let plots = plots.into_iter().zip(areas).collect();
        Layout { plots, legend_top, height: bottom + EDGE }
    }
}
