//! Draws examples of figures into a folder: cargo run -p graphfill-report --example gallery FOLDER
//!
//! Their numbers are made up.

use std::path::Path;
use std::process::ExitCode;

use graphfill_report::figure::{Axis, Drawn, Figure, LegendPosition, Panel, Point, Series};

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        return ExitCode::from(2);
    };
    let folder = Path::new(&folder);
    let figures = [
        ("learning.svg", learning()),
        ("scaling.svg", scaling()),
        ("scaling_logarithmic.svg", logarithmic()),
        ("labels.svg", labels()),
        ("many.svg", many()),
        ("edges.svg", edges()),
    ];
    for (name, figure) in figures {
        if std::fs::write(folder.join(name), figure.to_svg()).is_err() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// A number between −1 and 1 that looks random.
fn noise(seed: u64) -> f64 {
    let mixed = (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((mixed >> 40) as f64 / (1u64 << 23) as f64) - 1.0
}

fn curve(name: &str, top: f64, speed: f64, seed: u64) -> Series {
    let points = (0..=2000u64).map(|update| {
        let x = update as f64;
        let rise = 1.0 - (-x / speed).exp();
        let y = top * rise + 0.002 * noise(update + 10_000 * seed) * rise;
        Point::new(x, y).with_spread(0.007 * (0.6 + (-x / 400.0).exp()) * rise.sqrt())
    });
    Series::new(name, Drawn::Line, points)
}

/// Learning curves with bands.
fn learning() -> Figure {
    let panel = |title: &str, tops: [f64; 3]| Panel {
        title: title.to_owned(),
        x: Axis::linear("update"),
        y: Axis::linear("Recall@10"),
        series: ["SVGA", "SAT", "GCN"]
            .into_iter()
            .zip(tops)
            .enumerate()
            .map(|(index, (name, top))| curve(name, top, 120.0 + 90.0 * index as f64, index as u64))
            .collect(),
    };
    Figure::new(
        "Learning curves",
        [panel("(a) Cora", [0.172, 0.151, 0.128]), panel("(b) Citeseer", [0.096, 0.081, 0.078])],
    )
}

fn timed() -> Vec<Series> {
    [("Cora", 0.9e-3, 5_000.0), ("Photo", 0.55e-3, 24_000.0), ("arXiv (induced)", 0.3e-3, 60_000.0)]
        .into_iter()
        .enumerate()
        .map(|(index, (name, slope, most))| {
            let points = (1..=8u64).map(|share| {
                let edges = most * share as f64 / 4.0;
                let time = 1.5 + slope * edges * (1.0 + 0.04 * noise(share + 100 * index as u64));
                Point::new(edges, time).with_spread(0.3 + 0.03 * time)
            });
            Series::new(name, Drawn::Markers, points).fitted()
        })
        .collect()
}

/// Time against edges, with fitted lines.
fn scaling() -> Figure {
    let panel = Panel {
        title: String::new(),
        x: Axis::linear("number of edges"),
        y: Axis::linear("time of an update (ms)"),
        series: timed(),
    };
    Figure::new("Time of an update against the number of edges", [panel])
}

/// The same on logarithmic axes.
fn logarithmic() -> Figure {
    let panel = Panel {
        title: "One core".to_owned(),
        x: Axis::logarithmic("number of edges"),
        y: Axis::logarithmic("time of an update (ms)"),
        series: timed(),
    };
    Figure::new("Time of an update against the number of edges", [panel])
}

/// Scores against the share of labels, with a rule for a competitor.
fn labels() -> Figure {
    let panel = |title: &str, offset: f64| {
        let scores = |rise: f64, seed: u64| {
            (0..6u64).map(move |step| {
                let share: f64 = [0.0, 0.1, 0.2, 0.4, 0.6, 0.8][step as usize];
                let y = offset + rise * share.sqrt() + 0.001 * noise(seed + step);
                Point::new(share, y).with_spread(0.004)
            })
        };
        Panel {
            title: title.to_owned(),
            x: Axis::linear("share of observed labels"),
            y: Axis::linear("Recall@10"),
            series: vec![
                Series::new("SVGA", Drawn::LineWithMarkers, scores(0.04, 1)),
                Series::new(
                    "SVGA without labels' decoder",
                    Drawn::LineWithMarkers,
                    scores(0.02, 9),
                ),
                Series::rule("best competitor (SAT, no labels)", offset - 0.012, Some(0.003)),
            ],
        }
    };
    let mut figure = Figure::new(
        "Scores against the share of observed labels",
        [panel("(a) Cora", 0.17), panel("(b) Citeseer", 0.095), panel("(c) Photo", 0.12)],
    );
    figure.legend = LegendPosition::Above;
    figure
}

/// Many series, many panels, long names.
fn many() -> Figure {
    let panel = |title: &str, count: u64| Panel {
        title: title.to_owned(),
        x: Axis::linear("number of seen nodes"),
        y: Axis::linear("root mean squared error"),
        series: (0..count)
            .map(|index| {
                let points = (0..400u64).map(|step| {
                    let y = 3.0 + index as f64 + (step as f64 / 60.0 + index as f64).sin();
                    (step as f64 * 300.0, y + 0.1 * noise(step + 1000 * index))
                });
                Series::new(
                    format!("a method with a name, {index}"),
                    Drawn::LineWithMarkers,
                    points,
                )
            })
            .collect(),
    };
    let title = "(e) A title that is so long that it needs more than one line";
    Figure::new(
        "Many",
        [panel("(a)", 8), panel("(b)", 9), panel("(c)", 4), panel("(d)", 2), panel(title, 3)],
    )
}

/// What is at the edge: no points, one, equal ones, very small and very large ones.
fn edges() -> Figure {
    let panel = |title: &str, drawn: Drawn, points: &[(f64, f64)], x: Axis, y: Axis| Panel {
        title: title.to_owned(),
        x,
        y,
        series: vec![Series::new("points", drawn, points.iter().copied())],
    };
    let linear = || Axis::linear("");
    let small = [(0.0, -2e-5), (1e9, 3e-5), (f64::NAN, 1.0), (2e9, 1e-5)];
    let wide = [(1e-3, 1e-8), (0.0, 1.0), (10.0, 1e-3), (1e3, 1e4)];
    let near = [(1_000_000.0, 5.0), (1_000_080.0, 5.0001), (1_000_100.0, 5.0)];
    Figure::new(
        "Edges",
        [
            panel("none", Drawn::Line, &[], linear(), linear()),
            panel("one", Drawn::Line, &[(3.0, 0.17)], linear(), linear()),
            panel("equal", Drawn::Markers, &[(0.0, 0.0); 3], linear(), linear()),
            panel("small", Drawn::LineWithMarkers, &small, linear(), linear()),
            panel(
                "wide",
                Drawn::LineWithMarkers,
                &wide,
                Axis::logarithmic("positive"),
                Axis::logarithmic("y"),
            ),
            panel("near", Drawn::LineWithMarkers, &near, linear(), linear()),
        ],
    )
}
