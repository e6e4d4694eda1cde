//! The paper's experiments by one command, on data of one's own.

use graphfill::data::generator::GeneratorConfig;

use crate::support::{Place, real_data, town};

const METHODS: &str = "--methods column-mean,neighbour-mean";

/// A folder of data sets with one in it: data/town.
fn prepared() -> Place {
    let place = town(&GeneratorConfig { nodes: 150, ..GeneratorConfig::default() });
    std::fs::create_dir_all(place.path("data/town")).expect("a folder");
    place.succeed("convert nodes.csv -o data/town/town.npz");
    place
}

#[test]
fn tables_and_every_seed_are_written_and_the_rest_is_named() {
    let place = prepared();
    let call = format!("reproduce table2 --datasets town,photo --data-dir data {METHODS}");
    let done = place.succeed(&format!("{call} --seeds 0..1 --seeds neighbour-mean=0"));
    assert!(done.err.contains("graphfill datasets get photo --data-dir data"), "{}", done.err);
    let text = place.read("reproduction/table2.md");
    assert_eq!(done.out, text, "what is written is shown");
    let seeds = |method: &str| {
        let row = text.lines().find(|line| line.contains(method)).expect("a row");
        row.split('|').nth(2).map(|cell| cell.trim().to_owned())
    };
    assert_eq!(seeds("`column-mean`").as_deref(), Some("2"));
    assert_eq!(seeds("`neighbour-mean`").as_deref(), Some("1"));
    assert!(text.contains("not there: photo"), "{text}");
    assert!(!text.contains("--data-dir"), "paths of this machine stay out of it");
    assert_eq!(place.read("reproduction/table2.csv").lines().count(), 4);
    assert!(place.read("reproduction/README.md").contains("## Table 2"));
}

#[test]
fn a_second_run_finds_everything_done() {
    let place = prepared();
    let call = format!("reproduce table2 --datasets town --data-dir data {METHODS} --jobs 2");
    let first = place.succeed(&format!("{call} --seeds 0..1"));
    assert!(first.err.contains("[4/4]"), "{}", first.err);
    let table = place.read("reproduction/table2.csv");
    let second = place.succeed(&format!("{call} --seeds 0..1"));
    assert!(!second.err.contains("/4]"), "{}", second.err);
    assert_eq!(place.read("reproduction/table2.csv"), table);
    // Another setting is another job.
    let call = call.replace(METHODS, "--methods column-mean,arb --param arb.alpha=0.9");
    let other = place.succeed(&format!("{call} --seeds 0"));
    assert!(other.err.contains("[2/2]"), "{}", other.err);
}

/// A run on some methods or data sets leaves the rows of the others in the table, with their commands.
#[test]
fn a_part_of_the_grid_keeps_the_other_rows() {
    let place = prepared();
    std::fs::create_dir_all(place.path("data/village")).expect("a folder");
    place.succeed("convert nodes.csv -o data/village/village.npz");
    let call = "reproduce table2 --data-dir data --datasets";
    place.succeed(&format!("{call} town,village {METHODS} --seeds 0..1"));
    let rows = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with("| `")).map(str::to_owned).collect()
    };
    let before = place.read("reproduction/table2.md");
    let count = rows(&before).len();
    let done = place.succeed(&format!("{call} village --methods fp,column-mean --seeds 0"));
    let after = place.read("reproduction/table2.md");
    assert_eq!(done.out, after, "what is written is shown");
    assert!(rows(&after).len() > count, "{after}");
    let (town, village) = after.split_once("### village").expect("both data sets");
    let (old_town, _) = before.split_once("### village").expect("both data sets");
    assert_eq!(rows(town), rows(old_town), "town was not run again");
    let seeds = |method: &str| {
        let row = village.lines().find(|line| line.contains(method)).expect("a row");
        row.split('|').nth(2).map(|cell| cell.trim().to_owned())
    };
    assert_eq!(seeds("`column-mean`").as_deref(), Some("1"), "replaced: {village}");
    assert_eq!(seeds("`neighbour-mean`").as_deref(), Some("2"), "kept: {village}");
    assert_eq!(seeds("`fp`").as_deref(), Some("1"), "added: {village}");
    for command in
        ["--datasets town,village --methods column-mean", "--datasets village --methods fp"]
    {
        assert!(after.contains(command), "{command}: {after}");
    }
    // 2 methods × 2 seeds of town; of village 2 seeds of one method and 1 seed of two.
    assert_eq!(place.read("reproduction/table2.csv").lines().count(), 1 + 4 + 2 + 2);
    assert!(place.read("reproduction/README.md").contains("### town"));
    place.write("reproduction/table2.json", "{}");
    let damaged = place.run(&format!("{call} town {METHODS} --seeds 0"));
    assert_eq!(damaged.code, 1, "{}", damaged.err);
    assert!(damaged.err.contains("table2.json: expected results"), "{}", damaged.err);
    assert_eq!(place.read("reproduction/table2.md"), after);
}

/// The two protocols are two columns; one of them can be run later.
#[test]
fn tuned_scores_stand_beside_published_ones() {
    let place = prepared();
    let call =
        "reproduce table2 --datasets town --data-dir data --methods column-mean,gcn --seeds 0";
    let small = "--max-updates 10 --param gcn.hidden=8 --trials 3";
    place.succeed(&format!("{call} {small} --protocol published"));
    let published = place.read("reproduction/table2.md");
    assert!(!published.contains("| tuned"), "{published}");
    let done = place.succeed(&format!("{call} {small} --protocol tuned"));
    assert!(done.err.contains("[2/2]") && !done.err.contains("[1/2]"), "{}", done.err);
    let both = place.read("reproduction/table2.md");
    let header = both.lines().find(|line| line.contains("R@3")).expect("a header");
    assert!(header.contains("R@3, as published |") && header.contains("tuned |"), "{header}");
    let row = |method: &str| -> Vec<&str> {
        let row = both.lines().find(|line| line.contains(method)).expect("a row");
        row.split('|').map(|cell| cell.trim().trim_matches('*')).collect()
    };
    let (mean, gcn) = (row("`column-mean`"), row("`gcn`"));
    assert_eq!(mean[3], mean[4], "it is the same under both protocols");
    assert!(gcn[3..5].iter().all(|cell| cell.starts_with("0.")), "{gcn:?}");
    let csv = place.read("reproduction/table2.csv");
    let protocols: Vec<&str> =
        csv.lines().skip(1).filter_map(|line| line.split(',').nth(3)).collect();
    assert_eq!(protocols, ["both", "published", "tuned"], "{csv}");
}

#[test]
fn figures_are_drawn_and_shown_on_the_page() {
    let place = prepared();
    let call = "reproduce ablation --datasets town --data-dir data -o results/runs";
    let limits = "--page results/page.md --max-updates 20 --seeds 0..1 --param svga.hidden=8";
    place.succeed(&format!("{call} {limits} --methods svga,svga-r"));
    let figure = place.read("results/runs/ablation.svg");
    assert!(figure.starts_with("<svg") && figure.contains("svga-r"), "{figure}");
    assert!(place.read("results/page.md").contains("](runs/ablation.svg)"));
    assert_eq!(place.read("results/runs/ablation.csv").lines().count(), 1 + 2 * 2 * 2);
}

#[test]
fn without_labels_there_is_nothing_to_classify() {
    let place = prepared();
    let call = "reproduce table4 --datasets town --data-dir data --seeds 0";
    let done = place.run(&format!("{call} {METHODS}"));
    // The town has no labels: there is nothing to classify.
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("labels"), "{}", done.err);
}

#[test]
fn slips_of_the_pen_are_told_before_anything_runs() {
    let place = prepared();
    let call = "reproduce table2 --datasets town --data-dir data";
    for (slip, said) in [
        ("--methods column-meen", "no method 'column-meen'"),
        ("--methods column-mean --seeds sat=0..2", "no method of this run"),
        ("--methods column-mean --max-updates @tovn=5", "no data set of this run"),
        ("--methods column-mean --max-updates 0", "whole number from 1"),
    ] {
        let done = place.run(&format!("{call} {slip}"));
        assert_eq!(done.code, 2, "{slip}: {}", done.err);
        assert!(done.err.contains(said), "{slip}: {}", done.err);
    }
    let figure = place.run("reproduce ablation --datasets town --data-dir data --protocol tuned");
    assert_eq!(figure.code, 2, "{}", figure.err);
    assert!(figure.err.contains("it is not tuned"), "{}", figure.err);
    let scaling = place.run("reproduce scaling --datasets town --data-dir data --methods sat");
    assert_eq!(scaling.code, 2, "{}", scaling.err);
    let nothing = place.run("reproduce table3 --data-dir data");
    assert_eq!(nothing.code, 2, "{}", nothing.err);
    assert!(nothing.err.contains("graphfill datasets get pubmed coauthor arxiv --data-dir data"));
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_is_finished() {
    let place = prepared();
    let call =
        "reproduce table2 --datasets town --data-dir data --methods column-mean,svga --seeds 0";
    let slow = "--param svga.patience=100000 --param svga.hidden=64";
    let child = place.start(&format!("{call} {slow}"));
    let jobs = place.path("reproduction/jobs");
    let began = std::time::Instant::now();
    let has = |ending: &str| {
        let entries = std::fs::read_dir(&jobs).into_iter().flatten().flatten();
        entries
            .map(|entry| entry.path())
            .any(|path| path.extension().is_some_and(|own| own == ending))
    };
    while !(has("json") && has("checkpoint")) {
        assert!(began.elapsed().as_secs() < 60, "nothing is finished yet");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let told = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(told.expect("kill").success());
    let done = crate::support::done(&child.wait_with_output().expect("ended"));
    assert_eq!(done.code, 130, "{}", done.err);
    assert!(done.err.contains("the same command goes on"), "{}", done.err);
    assert!(has("json") && has("checkpoint"));
}

#[test]
fn published_figures_stand_beside_ours() {
    let Some(folder) = real_data("published figures") else { return };
    let place = Place::new();
    let folder = folder.display();
    let call = format!("reproduce table2 --datasets cora --data-dir {folder}");
    place.succeed(&format!("{call} --methods neighbour-mean --seeds 0..9"));
    let text = place.read("reproduction/table2.md");
    let row = text.lines().find(|line| line.contains("`neighbour-mean`")).expect("a row");
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    assert_eq!(cells[3], "**0.0906**", "the paper's only row is its best: {row}");
    let difference: f64 = cells[5].trim_end_matches('%').parse().expect("a percentage");
    assert!(difference.abs() < 10.0, "{row}");
}

#[test]
fn nothing_is_counted_twice_and_nothing_is_left_behind() {
    let place = prepared();
    let call = "reproduce table2 --datasets town,town --data-dir data --methods gnn,gnn";
    let limits =
        "--seeds 0,0 --protocol published --max-updates 20 --param gnn.hidden=8 --format csv";
    let done = place.succeed(&format!("{call} {limits}"));
    assert_eq!(done.out.lines().count(), 2, "a header and one seed: {}", done.out);
    assert!(done.out.starts_with("dataset,method,seed,"), "{}", done.out);
    let jobs = std::fs::read_dir(place.path("reproduction/jobs")).expect("a folder");
    let endings: Vec<_> = jobs.flatten().map(|entry| entry.path()).collect();
    assert!(endings.iter().all(|path| path.extension().is_some_and(|own| own == "json")));
}

#[test]
fn a_page_leads_to_the_folder_and_never_takes_the_place_of_something_else() {
    let place = prepared();
    let call = format!("reproduce table2 --datasets town --data-dir data {METHODS} --seeds 0");
    std::fs::create_dir_all(place.path("docs")).expect("a folder");
    place.succeed(&format!("{call} -o results --page docs/page.md"));
    assert!(place.read("docs/page.md").contains("](../results/table2.csv)"));
    // The same page may be written again, another text may not.
    place.succeed(&format!("{call} -o results --page docs/page.md"));
    place.write("README.md", "# My project\n");
    let refused = place.run(&format!("{call} -o ."));
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(refused.err.contains("name another place with --page"), "{}", refused.err);
    assert_eq!(place.read("README.md"), "# My project\n");
}
