//! `--model`: a model that was trained fills again, without training.

use graphfill::data::generator::GeneratorConfig;

use crate::support::{Place, is_complete, town};

fn people() -> Place {
    town(&GeneratorConfig {
        nodes: 120,
        topics: 12,
        words_per_node: 3.0,
        ..GeneratorConfig::default()
    })
}

/// Trains a method for a short time, and keeps the model under its name.
fn train(place: &Place, method: &str) {
    let learner = if method == "auto" { "svga-p" } else { method };
    place.succeed(&format!(
        "fill nodes.csv --label community --method {method} --param {learner}.hidden=16 --max-updates 60 --seed 3 -o {method}.csv --checkpoint {method}.model"
    ));
}

/// Adds people who know the first ones, and of whom nothing is known but a note, which is no feature.
fn with_newcomers(place: &Place, count: usize) {
    let (mut nodes, mut edges) = (place.read("nodes.csv"), place.read("nodes.edges.csv"));
    let header = nodes.lines().next().expect("a header").to_owned();
    for newcomer in 0..count {
        let cells = header
            .split(',')
            .skip(1)
            .map(|name| if name == "note" { ",just arrived" } else { "," });
        nodes += &format!("new{newcomer}{}\n", cells.collect::<String>());
        edges += &format!("new{newcomer},n{newcomer}\nnew{newcomer},n{}\n", newcomer + 1);
    }
    place.write("later.csv", &nodes);
    place.write("later.edges.csv", &edges);
    place.write("later.types.toml", &place.read("nodes.types.toml"));
}

#[test]
fn the_model_gives_the_same_table_again() {
    let place = people();
    for method in
        ["vae", "gcn", "gnn", "sat", "graph-rna", "svga", "svga-r", "svga-u", "svga-p", "auto"]
    {
        train(&place, method);
        let model = std::fs::read(place.path(&format!("{method}.model"))).expect("a model");
        place.succeed(&format!(
            "fill nodes.csv --label community --model {method}.model -o again.csv"
        ));
        assert_eq!(place.read(&format!("{method}.csv")), place.read("again.csv"), "{method}");
        let after = std::fs::read(place.path(&format!("{method}.model"))).expect("a model");
        assert!(model == after, "{method}: the model was touched");
    }
}

#[test]
fn svga_p_fills_nodes_that_arrived_later() {
    let place = people();
    with_newcomers(&place, 4);
    for method in ["svga-p", "auto"] {
        train(&place, method);
        let done = place.succeed(&format!(
            "fill later.csv --label community --model {method}.model -o later-filled.csv"
        ));
        let note = "4 nodes arrived since the model was trained";
        assert!(done.err.contains(note), "{method}: {}", done.err);
        let filled = place.read("later-filled.csv");
        assert_eq!(filled.lines().count(), 125, "{method}");
        assert!(is_complete(&filled), "{method}: {filled}");
        assert!(filled.lines().nth(121).expect("a row").starts_with("new0,"), "{filled}");
    }
}

#[test]
fn svga_refuses_another_graph_and_names_who_does_not() {
    let place = people();
    with_newcomers(&place, 1);
    for method in ["svga", "svga-u"] {
        train(&place, method);
        let done = place.run(&format!(
            "fill later.csv --label community --model {method}.model -o later-filled.csv"
        ));
        assert_eq!(done.code, 1, "{}", done.err);
        for part in
            ["the model was trained on another graph, of 120 nodes", "svga-p estimates nodes"]
        {
            assert!(done.err.contains(part), "{method}: {}", done.err);
        }
        assert!(!place.path("later-filled.csv").exists());
    }
}

/// Every method but those that need their own graph fills later tables.
#[test]
fn propagation_is_saved_too() {
    let place = people();
    with_newcomers(&place, 2);
    for method in ["column-mean", "arb"] {
        place.succeed(&format!(
            "fill nodes.csv --label community --method {method} -o {method}.csv --checkpoint {method}.model"
        ));
        place.succeed(&format!(
            "fill nodes.csv --label community --model {method}.model -o again.csv"
        ));
        assert_eq!(place.read(&format!("{method}.csv")), place.read("again.csv"), "{method}");
        place.succeed(&format!(
            "fill later.csv --label community --model {method}.model -o later-filled.csv"
        ));
        assert_eq!(place.read("later-filled.csv").lines().count(), 123, "{method}");
    }
}

#[test]
fn a_table_without_a_column_of_the_model_is_refused() {
    let place = people();
    train(&place, "svga-p");
    let (nodes, types) = (place.read("nodes.csv"), place.read("nodes.types.toml"));
    place.write("renamed.csv", &nodes.replacen("income", "incomes", 1));
    place.write("renamed.types.toml", &types.replace("income", "incomes"));
    let done = place
        .run("fill renamed.csv nodes.edges.csv --label community --model svga-p.model -o out.csv");
    assert_eq!(done.code, 1, "{}", done.err);
    let said = "the model was trained with the column 'income', which the table lacks";
    assert!(done.err.contains(said) && done.err.contains("'incomes'"), "{}", done.err);
    assert!(!place.path("out.csv").exists());
}

/// Columns are found by their names: their order does not matter, and others are left alone.
#[test]
fn columns_are_matched_by_name() {
    let place = small_table();
    let reversed: String = place
        .read("people.csv")
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let nickname = if cells[0] == "id" { "nickname" } else { "x1" };
            format!("{},{},{},{},{nickname}\n", cells[3], cells[0], cells[2], cells[1])
        })
        .collect();
    place.write("reversed.csv", &reversed);
    for method in ["svga-p", "auto", "arb"] {
        place.succeed(&format!(
            "fill people.csv friends.csv --method {method} --max-updates 40 -o own.csv --checkpoint {method}.model"
        ));
        place.succeed(&format!("fill reversed.csv friends.csv --model {method}.model -o back.csv"));
        let (own, back) = (place.read("own.csv"), place.read("back.csv"));
        for (own, back) in own.lines().zip(back.lines()).skip(1) {
            let own: Vec<&str> = own.split(',').collect();
            let back: Vec<&str> = back.split(',').collect();
            assert_eq!([own[3], own[0], own[2], own[1]], back[..4], "{method}");
        }
    }
}

/// A later table of a single row, and one that lacks a level and has a new one.
#[test]
fn a_single_row_and_other_levels() {
    let place = small_table();
    place.write("one.csv", "id,age,city,member\nz1,,,yes\n");
    place.write("blank.csv", "id,age,city,member\nz2,,,\n");
    place.write("none.csv", "source,target\n");
    let rows: String = (0..6).map(|at| format!("y{at},3{at},Oslo,no\n")).collect();
    place.write("batch.csv", &format!("id,age,city,member\n{rows}y6,,,no\ny7,40,Bonn,\n"));
    place.write("batch-edges.csv", "source,target\ny0,y6\ny1,y6\ny2,y6\ny3,y7\n");
    for method in ["svga-p", "auto", "arb", "column-mean"] {
        place.succeed(&format!(
            "fill people.csv friends.csv --method {method} --max-updates 40 -o own.csv --checkpoint {method}.model"
        ));
        place.succeed(&format!("fill one.csv none.csv --model {method}.model -o one-filled.csv"));
        let one = place.read("one-filled.csv");
        let cells: Vec<&str> = one.lines().nth(1).expect("a row").split(',').collect();
        let age: f64 = cells[1].parse().expect("an age");
        assert!((20.0..=70.0).contains(&age), "{method}: {one}");
        assert!(["Oslo", "Rome"].contains(&cells[2]), "{method}: {one}");
        assert!(!cells[1].contains('.'), "a count: {one}");
        // Nothing is known of the row: cells are written as they were in training.
        place.succeed(&format!(
            "fill blank.csv none.csv --model {method}.model -o blank-filled.csv"
        ));
        let blank = place.read("blank-filled.csv");
        let member = blank.trim_end().rsplit(',').next().expect("a cell").to_owned();
        assert!(["yes", "no"].contains(&member.as_str()), "{method}: {blank}");
        let done = place
            .succeed(&format!("fill batch.csv batch-edges.csv --model {method}.model -o out.csv"));
        let said = "column 'city' has a level that the model does not know ('Bonn')";
        assert!(done.err.contains(said), "{method}: {}", done.err);
        let batch = place.read("out.csv");
        assert!(batch.contains("\ny7,40,Bonn,"), "{method}: {batch}");
        assert!(is_complete(&batch), "{method}: {batch}");
    }
}

/// Sixty people in two cities: the young in Oslo, members; the old in Rome, not.
fn small_table() -> Place {
    let place = Place::new();
    let mut nodes = "id,age,city,member\n".to_owned();
    let mut edges = "source,target\n".to_owned();
    for person in 0..60 {
        let (city, age, member) = match person / 30 {
            0 => ("Oslo", 20 + person % 17, "yes"),
            _ => ("Rome", 52 + person % 15, "no"),
        };
        let known =
            |cell: String, every: usize| if person % 7 == every { String::new() } else { cell };
        nodes += &format!(
            "n{person},{},{},{}\n",
            known(age.to_string(), 1),
            known(city.to_owned(), 3),
            known(member.to_owned(), 5)
        );
        for step in [1, 2, 5] {
            edges += &format!("n{person},n{}\n", person / 30 * 30 + (person + step) % 30);
        }
    }
    place.write("people.csv", &nodes);
    place.write("friends.csv", &edges);
    place
}

/// Classes are numbers to a model: others would get wrong names.
#[test]
fn other_labels_are_refused() {
    let place = people();
    let types = place.read("nodes.types.toml");
    let nodes = place.read("nodes.csv");
    let calls = |labels: &str, file: &str, model: &str| {
        format!("fill {file} nodes.edges.csv {labels} --model {model} -o out.csv")
    };
    place.write("renamed.csv", &nodes.replace(",c2,", ",c9,"));
    place.write("fewer.csv", &nodes.replace(",c2,", ",,"));
    place.write("renamed.types.toml", &types);
    place.write("fewer.types.toml", &types);
    for method in ["svga", "svga-p"] {
        train(&place, method);
        let model = format!("{method}.model");
        for file in ["renamed.csv", "fewer.csv"] {
            let done = place.run(&calls("--label community", file, &model));
            assert_eq!(done.code, 1, "{method}, {file}: {}", done.err);
            let said =
                "it knows the classes c0, c1, c2, c3, c4, c5, c6, c7; the table has c0, c1, c3";
            assert!(done.err.contains(said), "{method}, {file}: {}", done.err);
            let flag = "\n  --type community=unused\n";
            assert!(done.err.contains(flag), "{method}, {file}: {}", done.err);
            // As the message says.
            place.succeed(&calls("--type community=unused", file, &model));
        }
        place.succeed(&format!(
            "fill nodes.csv --type community=unused --method {method} --param {method}.hidden=8 --max-updates 20 -o out.csv --checkpoint without-{model}"
        ));
        let done = place.run(&calls("--label community", "nodes.csv", &format!("without-{model}")));
        assert_eq!(done.code, 1, "{method}: {}", done.err);
        assert!(done.err.contains("it was trained without labels"), "{method}: {}", done.err);
    }
}

#[test]
fn what_is_no_model_is_refused() {
    let place = people();
    place.write("empty.model", "");
    for (file, code) in [("nodes.csv", 1), ("empty.model", 1), ("none.model", 2)] {
        let done = place.run(&format!("fill nodes.csv --model {file} -o out.csv"));
        assert_eq!(done.code, code, "{file}: {}", done.err);
        assert!(done.err.starts_with("error: ") && done.err.contains(file), "{}", done.err);
        assert!(!done.err.contains("panicked") && !place.path("out.csv").exists());
    }
}

#[test]
fn a_model_leaves_nothing_to_choose() {
    let place = people();
    train(&place, "svga");
    for wrong in [
        "--method svga",
        "--param svga.hidden=8",
        "--checkpoint svga.model",
        "--max-updates 5",
        "--time-limit 5s",
        "--history history.csv",
    ] {
        let done = place.run(&format!("fill nodes.csv -o out.csv --model svga.model {wrong}"));
        assert_eq!(done.code, 2, "{wrong}: {}", done.err);
        assert!(done.err.contains("cannot be used with"), "{wrong}: {}", done.err);
    }
}
