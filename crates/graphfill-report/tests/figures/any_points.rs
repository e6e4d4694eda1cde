//! Points of any kind: never a panic, never NaN or infinity, always well-formed.

use graphfill_report::figure::{Axis, Drawn, Figure, LegendPosition, Panel, Point, Scale, Series};
use graphfill_report::fit::Line;
use proptest::prelude::*;

use crate::well_formed::check;

/// Every kind of number, and more of those near each other than any bits would give.
fn number() -> impl Strategy<Value = f64> {
    let any = prop::num::f64::ANY;
    let special = [0.0, -0.0, 1.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, 1e150, 1e-150];
    prop_oneof![
        any,
        -10.0..10.0f64,
        0.0..1e6f64,
        1.0..1.000_000_1f64,
        prop::sample::select(special.to_vec())
    ]
}

fn axis() -> impl Strategy<Value = Axis> {
    let scale = prop_oneof![Just(Scale::Linear), Just(Scale::Logarithmic)];
    (scale, prop::option::of((number(), number()))).prop_map(|(scale, range)| Axis {
        label: "axis".to_owned(),
        scale,
        range,
    })
}

fn series(name: impl Strategy<Value = String>) -> impl Strategy<Value = Series> {
    let drawn = prop::sample::select(vec![
        Drawn::Line,
        Drawn::LineWithMarkers,
        Drawn::Markers,
        Drawn::Rule,
    ]);
    let point = (number(), number(), prop::option::of(number())).prop_map(|(x, y, spread)| Point {
        x,
        y,
        spread,
    });
    let line = (number(), number(), number()).prop_map(|(slope, intercept, r_squared)| Line {
        slope,
        intercept,
        r_squared,
    });
    (name, drawn, prop::collection::vec(point, 0..30), prop::option::of(line))
        .prop_map(|(name, drawn, points, fit)| Series { name, points, drawn, fit })
}

proptest! {
    #[test]
    fn numbers_are_numbers(
        panels in prop::collection::vec(
            (axis(), axis(), prop::collection::vec(series("[xyz]"), 0..4)),
            0..4,
        ),
        panels_per_row in prop::option::of(0usize..5),
    ) {
        let panels = panels.into_iter()
            .map(|(x, y, series)| Panel { title: "panel".to_owned(), x, y, series });
        let figure = Figure { panels_per_row, ..Figure::new("figure", panels) };
        let svg = figure.to_svg();
        prop_assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        prop_assert_eq!(check(&svg), Ok(()));
    }

    #[test]
    fn fitted_lines_are_drawn(series in series("[xyz]"), x in axis(), y in axis()) {
        let panel = Panel { title: String::new(), x, y, series: vec![series.fitted()] };
        let svg = Figure::new("figure", [panel]).to_svg();
        prop_assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        prop_assert_eq!(check(&svg), Ok(()));
    }

    #[test]
    fn any_text_is_held(texts in prop::array::uniform5(any::<String>()), above: bool) {
        let [title, description, name, label, panel_title] = texts;
        let series = vec![Series::new(name.clone(), Drawn::LineWithMarkers, [(0.0, 1.0), (1.0, 2.0)])];
        let axis = Axis::linear(label);
        let panel = Panel { title: panel_title, x: axis.clone(), y: axis, series };
        let figure = Figure {
            description,
            legend: if above { LegendPosition::Above } else { LegendPosition::Below },
            order: vec![name],
            ..Figure::new(title, [panel])
        };
        prop_assert_eq!(check(&figure.to_svg()), Ok(()));
    }
}
