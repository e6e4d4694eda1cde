//! What a reader sees.

use graphfill_report::figure::{Axis, Drawn, Figure, Panel, Point, Series};

use crate::well_formed::check;

fn panel(series: Vec<Series>) -> Panel {
    Panel { title: "(a) Cora".to_owned(), x: Axis::linear("x"), y: Axis::linear("y"), series }
}

fn count(svg: &str, part: &str) -> usize {
    svg.matches(part).count()
}

#[test]
fn a_figure_without_panels_is_a_figure() {
    let svg = Figure::default().to_svg();
    assert_eq!(check(&svg), Ok(()));
}

#[test]
fn panels_without_points_say_so() {
    let unusable = [(f64::NAN, 1.0), (1.0, f64::INFINITY)];
    let series = vec![Series::new("a", Drawn::Line, unusable)];
    let svg = Figure::new("", [panel(Vec::new()), panel(series)]).to_svg();
    assert_eq!(count(&svg, ">no data<"), 2);
}

#[test]
fn points_that_are_not_positive_have_no_place_on_a_logarithmic_axis() {
    let points = [(1.0, 1.0), (0.0, 1.0), (-5.0, 1.0), (10.0, -1.0), (100.0, 10.0)];
    let mut logarithmic = panel(vec![Series::new("", Drawn::Markers, points)]);
    logarithmic.x = Axis::logarithmic("x");
    logarithmic.y = Axis::logarithmic("y");
    let svg = Figure::new("", [logarithmic]).to_svg();
    // A circle has two arcs of 8 pixels each.
    assert_eq!(count(&svg, "0 1 0 8 0a"), 2);
}

#[test]
fn series_of_one_name_share_an_entry_and_a_look() {
    let of = |names: [&str; 2]| {
        panel(names.map(|name| Series::new(name, Drawn::Line, [(0.0, 0.0), (1.0, 1.0)])).to_vec())
    };
    let svg = Figure::new("", [of(["svga", "sat"]), of(["sat", "svga"])]).to_svg();
    assert_eq!(count(&svg, ">svga</text>"), 1);
    assert_eq!(count(&svg, ">sat</text>"), 1);
    // Two lines and a sample each.
    assert_eq!(count(&svg, "stroke=\"#0072B2\""), 3);
    assert_eq!(count(&svg, "stroke=\"#D55E00\""), 3);
}

#[test]
fn a_name_of_the_order_keeps_its_look_without_the_others() {
    let series = Series::new("sat", Drawn::Line, [(0.0, 0.0), (1.0, 1.0)]);
    let order = vec!["svga".to_owned(), "sat".to_owned()];
    let svg = Figure { order, ..Figure::new("", [panel(vec![series])]) }.to_svg();
    assert_eq!(count(&svg, "stroke=\"#D55E00\""), 2);
    assert_eq!(count(&svg, "svga"), 0);
}

#[test]
fn long_lines_are_small_files() {
    let points = (0..100_000).map(|update| {
        let x = f64::from(update);
        Point::new(x, (x / 9e3).sin()).with_spread(0.1)
    });
    let svg = Figure::new("", [panel(vec![Series::new("a", Drawn::Line, points)])]).to_svg();
    assert!(svg.len() < 20_000, "{}", svg.len());
}

#[test]
fn a_label_that_a_neighbour_bears_is_not_repeated() {
    let svg = Figure::new("", [panel(Vec::new()), panel(Vec::new())]).to_svg();
    assert_eq!((count(&svg, ">x</text>"), count(&svg, ">y</text>")), (2, 1));
}

#[test]
fn no_text_is_smaller_than_eleven_pixels_and_none_leaves_the_figure() {
    let series = (0..12)
        .map(|index| format!("a method with quite a long name, number {index}"))
        .map(|name| Series::new(name, Drawn::Markers, [(0.0, 1.0), (3e5, 2.0)]).fitted());
    let svg = Figure::new("", [panel(series.collect())]).to_svg();
    let number = |line: &str, name: &str| -> f64 {
        let (_, value) = line.split_once(&format!(" {name}=\"")).unwrap();
        value.split_once('"').unwrap().0.parse().unwrap()
    };
    let root = svg.lines().next().unwrap();
    for line in svg.lines().filter(|line| line.starts_with("<text")) {
        assert!(number(line, "font-size") >= 11.0);
        assert!((0.0..number(root, "width")).contains(&number(line, "x")));
        assert!((0.0..number(root, "height")).contains(&number(line, "y")));
    }
}

#[test]
fn those_who_hear_it_are_told_what_it_is() {
    let series = Series::new("a & b", Drawn::Line, [(0.0, 0.0)]);
    let mut figure = Figure::new("Scores <here>", [panel(vec![series])]);
    let svg = figure.to_svg();
    assert!(svg.contains("role=\"img\""));
    assert!(svg.contains("<title>Scores &lt;here&gt;</title>"));
    assert!(svg.contains("<desc>(a) Cora: y against x for a &amp; b.</desc>"));
    figure.description = "It rises.".to_owned();
    assert!(figure.to_svg().contains("<desc>It rises.</desc>"));
}
