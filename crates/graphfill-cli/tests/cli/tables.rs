//! Tables as people have them, through the command line: what is said, and what is refused.

use std::io::Write;
use std::process::Stdio;

use crate::support::Place;

/// Sixty users; ids and ranks are both 1 to 60.
fn users(place: &Place) {
    let mut nodes = String::from("rank,user_id,v,when,price\n");
    for user in 1..=60 {
        let rank = 61 - user;
        let (v, when, price) = match user % 6 {
            0 => ("NA".to_owned(), String::new(), String::new()),
            _ => (
                format!("{}.5", user * 6),
                format!("2021-{:02}-{:02}", 1 + user / 6, 1 + user % 28),
                format!("\"$1,{:03}.50\"", user),
            ),
        };
        nodes.push_str(&format!("{rank},{user},{v},{when},{price}\n"));
    }
    let mut edges = String::from("edge_id,from_user,to_user\n");
    for user in 1..60 {
        edges.push_str(&format!("{user},{user},{}\n", user + 1));
    }
    place.write("nodes.csv", &nodes);
    place.write("edges.csv", &edges);
}

#[test]
fn guesses_are_said_and_estimates_follow_the_neighbours() {
    let place = Place::new();
    users(&place);
    let done = place.run("fill nodes.csv edges.csv -o out.csv --method fp --device cpu");
    assert_eq!(done.code, 0, "{}", done.err);
    let said = done.err;
    for part in [
        "ids: column user_id (all 118 edge ends match); edges: from_user → to_user",
        "10 cells were read as missing because of 'NA'",
        "--missing-values none",
        "'edge_id'",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let out = place.read("out.csv");
    let row = out.lines().find(|line| line.split(',').nth(1) == Some("30")).expect("user 30");
    let cells: Vec<&str> = row.splitn(5, ',').collect();
    let v: f64 = cells[2].parse().expect("a number");
    assert!((150.0..210.0).contains(&v), "{row}");
    assert!(cells[3].starts_with("2021-0"), "{row}");
    assert!(cells[4].starts_with("\"$1,0"), "{row}");
}

#[test]
fn json_names_the_columns_that_were_found() {
    let place = Place::new();
    users(&place);
    let done = place.run("inspect nodes.csv edges.csv --format json");
    let json: serde_json::Value = serde_json::from_str(&done.out).expect("JSON");
    assert_eq!(json["found"]["id"], "user_id");
    assert_eq!(json["found"]["source"], "from_user");
    assert_eq!(json["found"]["matched_ends"], 118);
    let when = &json["columns"][2];
    assert_eq!((&when["kind"], &when["min"]), (&"date".into(), &"2021-01-02".into()));
}

#[test]
fn two_columns_that_fit_equally_well_are_an_error_with_both_flags() {
    let place = Place::new();
    let rows: String = (1..=9).map(|id| format!("{},{id},{}.5\n", 10 - id, id * 6)).collect();
    place.write("n.csv", &format!("first,second,v\n{rows}"));
    place.write("e.csv", "source,target\n1,2\n2,3\n");
    let done = place.run("inspect n.csv e.csv");
    assert_eq!(done.code, 1);
    let said = done.err;
    assert!(said.contains("--id first, or --id second"), "{said}");
}

#[test]
fn tables_go_through_pipes() {
    let place = Place::new();
    users(&place);
    let mut command = place.command("fill - edges.csv -o - --method fp --device cpu");
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("started");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(place.read("nodes.csv").as_bytes()).expect("written");
    drop(stdin);
    let done = child.wait_with_output().expect("ended");
    let out = String::from_utf8_lossy(&done.stdout).into_owned();
    assert_eq!((out.lines().count(), out.lines().next()), (61, Some("rank,user_id,v,when,price")));
    assert!(!out.contains("NA"), "{out}");
}

#[test]
fn masks_of_the_table_are_splits() {
    let place = Place::new();
    let mut nodes = String::from("id,v,train_mask,val_mask,test_mask\n");
    for id in 0..40 {
        let part = |parts: &[u32]| if parts.contains(&(id % 5)) { "True" } else { "False" };
        let masks = [part(&[0, 1, 2]), part(&[3]), part(&[4])].join(",");
        nodes.push_str(&format!("{id},{}.5,{masks}\n", id * 3));
    }
    let edges: String = (1..40).map(|id| format!("{},{id}\n", id - 1)).collect();
    place.write("nodes.csv", &nodes);
    place.write("edges.csv", &format!("source,target\n{edges}"));
    let done = place.run("evaluate nodes.csv edges.csv --methods fp --device cpu");
    assert!(done.err.contains("train_mask"), "{}", done.err);
    assert!(done.out.contains("8 rows") && done.out.contains("24 observed"), "{}", done.out);
    let more = place.run("evaluate nodes.csv edges.csv --methods fp --device cpu --seeds 1");
    assert!(more.err.contains("no split for seed 1"), "{}", more.err);
    assert_eq!(more.code, 2);
}

#[test]
fn files_beside_the_output_of_convert_are_kept() {
    let place = Place::new();
    users(&place);
    place.write("keep.types.toml", "[types]\nv = \"number\"\n");
    let done = place.run("convert nodes.csv edges.csv -o keep.csv");
    let said = done.err;
    assert!(said.contains("keep.types.toml") && said.contains("--overwrite"), "{said}");
    assert_eq!(done.code, 2);
    assert!(!place.path("keep.csv").exists());
    let done = place.run("convert nodes.csv edges.csv -o keep.csv --overwrite");
    assert_eq!(done.code, 0, "{}", done.err);
    // The edges beside the table are an input.
    let done = place.run("fill keep.csv -o keep.edges.csv --device cpu");
    assert!(done.err.contains("also an input"), "{}", done.err);
    assert_eq!(done.code, 2);
}

#[test]
fn a_value_that_no_method_can_use_stops_fill_and_not_convert() {
    let place = Place::new();
    let rows = ["4.8", "5.1", "", "5.3", "4.9", "5.0", "1e160"];
    let rows = rows.iter().enumerate().map(|(id, v)| format!("{id},{v}\n"));
    place.write("n.csv", &format!("id,v\n{}", rows.collect::<String>()));
    place.write("e.csv", "source,target\n0,1\n1,2\n2,3\n");
    let done = place.run("fill n.csv e.csv -o out.csv --device cpu");
    let said = done.err;
    assert!(
        said.contains("line 8, column 'v'") && said.contains("--missing-values 1e160"),
        "{said}"
    );
    assert_eq!(done.code, 1);
    let done = place.run("fill n.csv e.csv -o out.csv --device cpu --missing-values 1e160");
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(place.run("convert n.csv e.csv -o copy.csv").code, 0);
}

#[test]
fn words_for_missing_are_added_to_the_usual_ones() {
    let place = Place::new();
    place.write("n.csv", "id,v,c\n1,5.1,x\n2,-999,NA\n3,4.9,y\n4,NA,x\n5,5.2,y\n6,4.8,x\n7,5,y\n");
    place.write("e.csv", "source,target\n1,2\n2,3\n3,4\n4,5\n5,6\n6,7\n");
    let missing = |flags: &str| -> Vec<u64> {
        let done = place.run(&format!("inspect n.csv e.csv --format json {flags}"));
        let about: serde_json::Value = serde_json::from_str(&done.out).expect("JSON");
        let columns = about["columns"].as_array().expect("columns");
        columns.iter().map(|column| column["missing"].as_u64().expect("a count")).collect()
    };
    assert_eq!(missing(""), [1, 1]);
    assert_eq!(missing("--missing-values -999"), [2, 1]);
    assert_eq!(missing("--missing-values none,-999 --type v=category"), [1, 0]);
}
