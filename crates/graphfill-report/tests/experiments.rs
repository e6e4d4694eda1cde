//! What experiments look like: figures beside the paper's, the best in bold, a sentence on what differs.

use graphfill_eval::experiments::{Competitor, Experiment, Failure, Job, JobResult, Outcome, Work};
use graphfill_eval::protocols::Protocol;
use graphfill_methods::Parameters;
use graphfill_report::experiments::{About, Report, report};

fn outcome(method: &str, seed: u64, metrics: &[(&str, f64)]) -> Outcome {
    Outcome {
        dataset: "cora".to_owned(),
        method: method.to_owned(),
        protocol: Protocol::Published,
        seed,
        labels: 0.0,
        metrics: metrics.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        series: Default::default(),
        parameters: Parameters::default().with("hidden", 64.0).with("backbone", "gat"),
        gpu: None,
        seconds: 1.5,
        ended_early: false,
    }
}

fn ran(label: &str, seed: u64, work: Work, outcome: Result<Outcome, Failure>) -> JobResult {
    let competitor = Competitor::find(label).expect("a competitor");
    let protocol = outcome.as_ref().map_or(Protocol::Published, |outcome| outcome.protocol);
    (Job { benchmark: 0, competitor, protocol, seed, work, max_updates: None }, outcome)
}

fn reported(experiment: Experiment, ran: &[JobResult]) -> Report {
    let about = About {
        experiment,
        datasets: &["cora".to_owned()],
        measures: &["recall@10".to_owned()],
        missing: &["citeseer".to_owned()],
        command: "graphfill reproduce",
        version: "0.0.0",
    };
    report(&about, ran)
}

const ESTIMATION: Work = Work::Estimation { labels: 0.0 };

fn row<'a>(text: &'a str, method: &str) -> Vec<&'a str> {
    let line = text.lines().find(|line| line.contains(&format!("`{method}`"))).expect("a row");
    line.split('|').map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

#[test]
fn the_papers_figure_ours_and_the_difference_stand_in_a_row() {
    let of = |method: &str, seed: u64, recall: f64| {
        ran(method, seed, ESTIMATION, Ok(outcome(method, seed, &[("recall@10", recall)])))
    };
    let jobs = [
        of("svga", 0, 0.17),
        of("svga", 1, 0.18),
        of("sat", 0, 0.20),
        of("svga-p", 0, 0.19),
        ran("arwmf", 0, ESTIMATION, Err(Failure::Memory("it needs 3 TiB".to_owned()))),
    ];
    let Report { markdown, csv, svg } = reported(Experiment::Table2, &jobs);
    assert_eq!(
        row(&markdown, "svga"),
        ["`svga`", "2", "**0.1718**", "0.1750 ± 0.0071", "+1.9%", "–", "–"][..5],
    );
    assert_eq!(row(&markdown, "sat")[2..5], ["0.1653", "**0.2000**", "+21.0%"]);
    assert_eq!(row(&markdown, "svga-p")[2..5], ["–", "0.1900", "–"]);
    assert_eq!(row(&markdown, "arwmf")[1..5], ["0", "0.1291", "o.o.m.", "–"]);
    assert!(markdown.contains("- `sat` is better than the paper (R@10 +21.0%)."), "{markdown}");
    assert!(!markdown.contains("- `svga` is"), "1.9% needs no word: {markdown}");
    assert!(markdown.contains("not there: citeseer"));
    assert!(markdown.contains("arwmf on cora: out of memory: it needs 3 TiB"));
    assert_eq!(svg, None);
    assert_eq!(csv.lines().count(), 5);
    assert_eq!(
        csv.lines().nth(1),
        Some("cora,svga,0,published,0,0.17,1.500,false,backbone=gat hidden=64")
    );
}

#[test]
fn gpus_are_named_where_any_was_used() {
    let gpu = Some("cuda:0, A card, tf32".to_owned());
    let on_gpu = Outcome { gpu, ..outcome("svga", 0, &[("recall@10", 0.17)]) };
    let on_processor = outcome("arb", 0, &[("recall@10", 0.18)]);
    let jobs =
        [ran("svga", 0, ESTIMATION, Ok(on_gpu)), ran("arb", 0, ESTIMATION, Ok(on_processor))];
    let Report { csv, .. } = reported(Experiment::Table2, &jobs);
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].ends_with(",parameters,gpu"), "{csv}");
    assert!(lines[1].ends_with("hidden=64,\"cuda:0, A card, tf32\""), "{csv}");
    assert!(lines[2].ends_with("hidden=64,"), "{csv}");
}

#[test]
fn both_selections_of_the_epoch_are_told() {
    let metrics = [
        ("mlp_best_epoch", 0.85),
        ("mlp_inner_validation", 0.80),
        ("gcn_best_epoch", 0.86),
        ("gcn_inner_validation", 0.82),
    ];
    let jobs = [ran("svga", 0, Work::Classification, Ok(outcome("svga", 0, &metrics)))];
    let text = reported(Experiment::Table4, &jobs).markdown;
    assert!(text.contains("MLP, best epoch, paper") && text.contains("MLP, inner validation"));
    assert_eq!(row(&text, "svga")[2..6], ["**0.8431**", "**0.8500**", "+0.8%", "**0.8000**"]);
}

#[test]
fn labels_are_a_line_and_a_method_without_them_a_rule() {
    let with = |share: f64, recall: f64| {
        let outcome = Outcome { labels: share, ..outcome("svga", 0, &[("recall@10", recall)]) };
        ran("svga", 0, Work::Estimation { labels: share }, Ok(outcome))
    };
    let sat = ran("sat", 0, ESTIMATION, Ok(outcome("sat", 0, &[("recall@10", 0.165)])));
    let jobs = [with(0.0, 0.171), with(0.5, 0.175), with(1.0, 0.178), sat];
    let Report { markdown, svg, .. } = reported(Experiment::Labels, &jobs);
    assert!(markdown.contains("![Observed labels](labels.svg)"));
    let shares: Vec<&str> = markdown.lines().filter(|line| line.contains("`svga`")).collect();
    assert_eq!(shares.len(), 3);
    assert!(shares[2].contains("100%") && shares[2].contains("**0.1780**"), "{}", shares[2]);
    assert!(svg.is_some_and(|svg| svg.contains("Recall@10") && svg.contains("(a) cora")));
}

#[test]
fn timings_have_a_line_and_its_fit() {
    let mut timing = outcome("svga", 0, &[]);
    let edges: Vec<f64> = (1..10).map(|tenth| f64::from(tenth) * 1000.0).collect();
    let exact: Vec<f64> = edges.iter().map(|edges| 2.0 + edges * 1e-3).collect();
    timing.series.insert("update_ms".to_owned(), exact.clone());
    timing.series.insert("inference_ms".to_owned(), exact);
    timing.series.insert("edges".to_owned(), edges);
    let jobs = [ran("svga", 0, Work::Timing, Ok(timing))];
    let Report { markdown, csv, svg } = reported(Experiment::Scaling, &jobs);
    let row = markdown.lines().find(|line| line.contains("| update")).expect("a row");
    assert!(row.contains("1000 to 9000") && row.contains("100.00") && row.contains("1.0000"));
    assert_eq!(csv.lines().count(), 10);
    assert!(svg.is_some_and(|svg| svg.contains("time (ms)")));
}

#[test]
fn curves_are_means_over_seeds() {
    let curve = |seed: u64, test: [f64; 2]| {
        let mut outcome = outcome("svga", seed, &[]);
        outcome.series.insert("update".to_owned(), vec![10.0, 20.0]);
        outcome.series.insert("training".to_owned(), vec![0.1, 0.3]);
        outcome.series.insert("test".to_owned(), test.to_vec());
        ran("svga", seed, Work::Curves, Ok(outcome))
    };
    let jobs = [curve(0, [0.16, 0.12]), curve(1, [0.18, 0.14])];
    let Report { markdown, svg, .. } = reported(Experiment::Ablation, &jobs);
    let row = row(&markdown, "svga");
    assert_eq!(row[1..4], ["2", "20", "**0.3000 ± 0.0000**"]);
    assert_eq!(row[4..6], ["**0.1300 ± 0.0141**", "**0.1700**"]);
    assert!(svg.is_some_and(|svg| svg.contains("test nodes") && svg.contains("Recall@10")));
}

#[test]
fn tuned_scores_stand_beside_published_ones() {
    let of = |label: &str, protocol: Protocol, recall: f64| {
        let outcome = Outcome { protocol, ..outcome(label, 0, &[("recall@10", recall)]) };
        ran(label, 0, ESTIMATION, Ok(outcome))
    };
    let jobs = [
        of("svga", Protocol::Published, 0.17),
        of("svga", Protocol::Tuned, 0.18),
        of("arb", Protocol::Both, 0.175),
        of("svga-p (one model)", Protocol::Published, 0.16),
    ];
    let Report { markdown, csv, .. } = reported(Experiment::Table2, &jobs);
    assert!(markdown.contains("| tuned |"), "{markdown}");
    assert_eq!(row(&markdown, "svga")[2..], ["**0.1718**", "0.1700", "-1.0%", "**0.1800**"]);
    assert_eq!(row(&markdown, "arb")[2..], ["–", "**0.1750**", "–", "0.1750"]);
    assert_eq!(row(&markdown, "svga-p (one model)")[1..], ["1; 0", "–", "0.1600", "–", "–"]);
    assert!(csv.lines().nth(2).is_some_and(|line| line.starts_with("cora,svga,0,tuned,")), "{csv}");
    // Without tuned rows there is no such column.
    let Report { markdown, .. } = reported(Experiment::Table2, &jobs[2..]);
    assert!(!markdown.contains("| tuned |"), "{markdown}");
}
