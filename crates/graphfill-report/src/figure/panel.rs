//! One pair of axes and what is drawn between them.

use super::series::Series;

/// How values become places along an axis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equally long.
    #[default]
    Linear,
    /// Equal ratios are equally long; what is not positive has no place.
    Logarithmic,
}

/// An axis: its label with the unit, its scale, its range.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Axis {
    /// What is measured, with its unit: "time a step (ms)".
    pub label: String,
    /// How values become places.
    pub scale: Scale,
    /// The lowest and the highest value shown. Without one, or where it makes no sense (not finite,
    /// not positive on a logarithmic axis, of no length), the axis fits what is drawn. Spreads below
    /// zero are then cut off where no point is below zero.
    pub range: Option<(f64, f64)>,
}

impl Axis {
    /// A linear axis that fits what is drawn.
    pub fn linear(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), scale: Scale::Linear, range: None }
    }

    /// A logarithmic axis that fits what is drawn.
    pub fn logarithmic(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), scale: Scale::Logarithmic, range: None }
    }

    /// The axis from `low` to `high`; what lies beyond is cut off.
    pub fn within(self, low: f64, high: f64) -> Axis {
        Axis { range: Some((low, high)), ..self }
    }
}

/// A plot of a figure: a title such as "(a) Cora", two axes, series.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Panel {
    /// What stands above the plot; may be empty.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis. In a row of panels a label that its left neighbour bears is not repeated.
    pub y: Axis,
    /// What is drawn; the first lies on top.
    pub series: Vec<Series>,
}
