//! Directed graphs: what makes a graph one, and what is said of it.

use serde_json::Value;

use crate::support::Place;

/// Sixty people in pairs that follow each other and are alike, and ten who follow many and are not.
fn place() -> Place {
    let place = Place::new();
    let mut nodes = String::from("id,height\n");
    let mut edges = String::from("source,target\n");
    for node in 0..60 {
        let height = match node % 9 {
            4 => String::new(),
            _ => format!("{}.5", 150 + node / 2 * 17 % 53),
        };
        nodes += &format!("p{node},{height}\n");
        edges += &format!("p{node},p{}\n", node ^ 1);
        for step in [0, 3, 4] {
            edges += &format!("p{},p{node}\n", 60 + (node + step) % 10);
        }
    }
    for node in 60..70 {
        nodes += &format!("p{node},{}.5\n", 150 + node * 29 % 47);
    }
    place.write("nodes.csv", &nodes);
    place.write("edges.csv", &edges);
    // The same edges in both directions.
    let arcs = edges.lines().skip(1).map(|line| line.split_once(',').expect("two ids"));
    let both =
        arcs.flat_map(|(one, other)| [format!("{one},{other}\n"), format!("{other},{one}\n")]);
    place.write("both.csv", &format!("source,target\n{}", both.collect::<String>()));
    place
}

fn json(place: &Place, arguments: &str) -> Value {
    serde_json::from_str(&place.succeed(arguments).out).expect("JSON")
}

#[test]
fn inspect_tells_how_asymmetric_a_graph_is() {
    let place = place();
    let out = place.succeed("inspect nodes.csv edges.csv --directed").out;
    // 180 of 240 arcs.
    assert!(out.contains("direction   75.0% of arcs without a reverse\n"), "{out}");
    let out = place.succeed("inspect nodes.csv both.csv --directed").out;
    assert!(out.contains("every arc has a reverse of the same weight: methods use it as"), "{out}");
    assert!(!place.succeed("inspect nodes.csv edges.csv").out.contains("direction "));
    let about = json(&place, "inspect nodes.csv edges.csv --directed --format json");
    assert_eq!(about["one_way_share"], 0.75);
    assert_eq!((&about["direction"], &about["asymmetric"]), (&"directed".into(), &true.into()));
    let about = json(&place, "inspect nodes.csv edges.csv --format json");
    assert_eq!((&about["one_way_share"], &about["asymmetric"]), (&Value::Null, &false.into()));
}

#[test]
fn a_file_of_arcs_is_directed_and_can_be_taken_as_undirected() {
    let place = place();
    place.succeed("convert nodes.csv edges.csv -o arcs.npz --directed");
    place.succeed("convert nodes.csv edges.csv -o edges.npz");
    let direction = |arguments: &str| json(&place, arguments)["direction"].clone();
    assert_eq!(direction("inspect arcs.npz --format json --quiet"), "directed");
    assert_eq!(direction("inspect arcs.npz --undirected --format json --quiet"), "undirected");
    let done = place.succeed("inspect edges.npz --directed");
    assert!(done.err.contains("the archive has no arcs"), "{}", done.err);
    place.write("nodes.types.toml", "[graph]\ndirected = true\n");
    assert_eq!(direction("inspect nodes.csv edges.csv --format json --quiet"), "directed");
    let done = place.run("inspect nodes.csv edges.csv --directed --undirected");
    assert_eq!(done.code, 2, "{}", done.err);
}

#[test]
fn fill_says_which_neighbours_it_listened_to() {
    let place = place();
    for method in ["neighbour-mean", "fp", "arb", "pcfi"] {
        let call = format!("fill nodes.csv edges.csv -o directed.csv --method {method}");
        let done = place.succeed(&format!("{call} --directed"));
        assert!(done.err.contains("the graph is directed, 75.0% of arcs without"), "{}", done.err);
        let told = done.err.contains("in_share 0 (out-neighbours only)")
            || done.err.contains("in_share 0.25 (mostly out-neighbours)");
        assert!(told, "{method}: {}", done.err);
        let directed = place.read("directed.csv");
        let done = place.succeed(&call);
        assert!(!done.err.contains("in_share"), "{}", done.err);
        assert_ne!(directed, place.read("directed.csv"), "{method}");
    }
}

/// A list of both arcs of every edge gives the same bytes with and without directions.
#[test]
fn a_symmetric_list_is_filled_as_before() {
    let place = place();
    for method in ["neighbour-mean", "arb", "svga-p"] {
        let call = format!("fill nodes.csv both.csv -o OUT --method {method} --max-updates 20");
        place.succeed(&call.replace("OUT", "undirected.csv"));
        let done = place.succeed(&format!("{} --directed", call.replace("OUT", "directed.csv")));
        assert!(done.err.contains("it is used as undirected"), "{}", done.err);
        assert_eq!(place.read("undirected.csv"), place.read("directed.csv"), "{method}");
    }
}

/// A model of a directed graph fills it again with the same bytes.
#[test]
fn models_remember_directions() {
    let place = place();
    for method in ["arb", "svga-p"] {
        let call = format!("fill nodes.csv edges.csv --directed --method {method}");
        place.succeed(&format!("{call} -o once.csv --max-updates 20 --checkpoint {method}.model"));
        let model = format!("--model {method}.model");
        place.succeed(&format!("fill nodes.csv edges.csv --directed -o again.csv {model}"));
        assert_eq!(place.read("once.csv"), place.read("again.csv"), "{method}");
        let done = place.succeed(&format!("fill nodes.csv edges.csv -o other.csv {model}"));
        assert!(done.err.contains("the graph is not the one"), "{method}: {}", done.err);
    }
}

/// Without edges, nothing is said of their reverses.
#[test]
fn no_arcs_are_not_called_symmetric() {
    let place = place();
    place.write("none.csv", "source,target\n");
    let done = place.succeed("fill nodes.csv none.csv --directed -o out.csv --method fp");
    assert!(done.err.contains("there are no edges"), "{}", done.err);
    assert!(!done.err.contains("reverse"), "{}", done.err);
}
