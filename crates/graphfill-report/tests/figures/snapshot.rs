//! One small figure, to the letter.

use graphfill_report::figure::{Axis, Drawn, Figure, Panel, Point, Series};

#[test]
fn a_small_figure() {
    let measured =
        [(1e4, 2.1), (2e4, 4.0), (4e4, 8.2)].map(|(x, y)| Point::new(x, y).with_spread(0.4));
    let panel = Panel {
        title: "(a) Cora".to_owned(),
        x: Axis::linear("edges"),
        y: Axis::linear("time a step (ms)"),
        series: vec![
            Series::new("ours", Drawn::Markers, measured).fitted(),
            Series::new("others", Drawn::Line, [(0.0, 1.0), (4e4, 5.0)]),
            Series::rule("limit", 9.0, Some(0.5)),
        ],
    };
    insta::assert_snapshot!(Figure::new("Time of a step", [panel]).to_svg());
}
