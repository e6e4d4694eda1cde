//! Figures: panels beside each other, with one legend, as SVG.
//!
//! The text of a figure depends on nothing but what is drawn. It names no fonts that would have to
//! be fetched and no styles from outside, and it has a white ground of its own.
//!
//! ```
//! use graphfill_report::figure::{Axis, Drawn, Figure, Panel, Series};
//!
//! let panel = Panel {
//!     title: "(a) Cora".to_owned(),
//!     x: Axis::linear("edges"),
//!     y: Axis::linear("time a step (ms)"),
//!     series: vec![
//!         Series::new("ours", Drawn::Markers, [(1e4, 2.1), (2e4, 4.0), (4e4, 8.2)]).fitted(),
//!         Series::rule("theirs", 9.0, Some(0.5)),
//!     ],
//! };
//! let svg = Figure::new("Time of a step", [panel]).to_svg();
//! assert!(svg.starts_with("<svg"));
//! ```

mod fits;
pub(crate) mod interval;
mod layout;
mod legend;
mod marks;
pub(crate) mod numbers;
mod panel;
mod plot;
mod series;
mod style;
pub(crate) mod svg;
pub(crate) mod text;
mod thinning;
pub(crate) mod ticks;

pub use panel::{Axis, Panel, Scale};
pub use series::{Drawn, Point, Series};

use layout::Layout;
use legend::Legend;
use style::Styles;
use svg::{Escaped, INK, Rounded, Svg};

/// Fonts that readers have, the first of them that is there.
const FONTS: &str = "Helvetica Neue, Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif";

/// Where the legend stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LegendPosition {
    /// Below the panels.
    #[default]
    Below,
    /// Above the panels.
    Above,
}

/// Panels with one legend.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figure {
    /// What the figure shows, in a few words. It is not drawn: programs that read aloud say it.
    pub title: String,
    /// What there is to see in it, for those who don't see it; where empty, what is on the axes.
    pub description: String,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// How many panels stand in a row, from 1 to 3; none: as many as look well.
    pub panels_per_row: Option<usize>,
    /// Where the legend stands.
    pub legend: LegendPosition,
    /// The names of series that have the first colours, dashes and markers, in this order, whether
    /// they are drawn here or not: so a method looks the same in all figures of a report. Names
    /// that are not here follow in the order of the panels.
    pub order: Vec<String>,
}

impl Figure {
    /// A figure with its legend below.
    pub fn new(title: impl Into<String>, panels: impl IntoIterator<Item = Panel>) -> Figure {
        let panels = panels.into_iter().collect();
        Figure { title: title.into(), panels, ..Figure::default() }
    }

    /// The figure as the text of an SVG file.
    pub fn to_svg(&self) -> String {
        let series = self.panels.iter().flat_map(|panel| &panel.series);
        let styles = Styles::of(&self.order, series.clone());
        let width = layout::width(self.columns());
        let legend = Legend::of(&series, &styles, width - 2.0 * layout::EDGE);
        let layout = Layout::of(&self.panels, self.columns(), self.legend, legend.height());

        let mut svg = Svg::default();
        let (wide, high) = (Rounded(width), Rounded(layout.height));
        svg.add(format_args!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" role="img" font-family="{FONTS}" fill="{INK}">"#
        ));
        svg.add(format_args!("<title>{}</title>", Escaped(&self.title)));
        svg.add(format_args!("<desc>{}</desc>", Escaped(&self.spoken())));
        svg.add(format_args!(r##"<rect width="{wide}" height="{high}" fill="#fff"/>"##));
        for (plot, area) in &layout.plots {
            plot.draw(&mut svg, *area, &styles);
        }
        legend.draw(&mut svg, width / 2.0, layout.legend_top);
        svg.add(format_args!("</svg>"));
        svg.finish()
    }

    fn columns(&self) -> usize {
        let suitable = match self.panels.len() {
            0 | 1 => 1,
            2 | 4 => 2,
            _ => 3,
        };
        self.panels_per_row.unwrap_or(suitable).clamp(1, 3).min(self.panels.len().max(1))
    }

    /// The description, or what is on the axes.
    fn spoken(&self) -> String {
        if !self.description.trim().is_empty() {
            return self.description.clone();
        }
        let panels: Vec<String> = self
            .panels
            .iter()
            .map(|panel| {
                let names: Vec<&str> = panel.series.iter().map(|series| &*series.name).collect();
                let title = match panel.title.trim() {
                    "" => String::new(),
                    title => format!("{title}: "),
                };
                format!(
                    "{title}{} against {} for {}.",
                    panel.y.label,
                    panel.x.label,
                    names.join(", ")
                )
            })
            .collect();
        panels.join(" ")
    }
}
