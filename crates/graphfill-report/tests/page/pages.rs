//! What pages must have and must not have.

use graphfill_report::page::*;

use crate::html::check;
use crate::{evaluations, samples};

/// Text that breaks pages which do not escape it.
const HOSTILE: &str =
    "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>&amp;\u{0}\u{b}-->";

fn all_pages() -> Vec<(&'static str, String)> {
    vec![
        ("small", samples::small_page().to_html()),
        ("wide", samples::wide_page(40).to_html()),
        ("empty", FillPage::default().to_html()),
        ("hostile", hostile_page().to_html()),
        ("evaluation", evaluation_page(&evaluations::evaluation(12), &samples::run())),
        ("empty evaluation", evaluation_page(&evaluations::empty(), &RunInfo::default())),
    ]
}

/// Every text of the page is hostile.
fn hostile_page() -> FillPage {
    let mut page = samples::small_page();
    let hostile = || HOSTILE.to_owned();
    page.title = hostile();
    page.warnings = vec![hostile()];
    page.run = RunInfo { command: hostile(), version: hostile(), device: hostile(), ..page.run };
    for group in page.by_hops.iter_mut().chain(&mut page.by_degree) {
        group.label = hostile();
    }
    for column in &mut page.columns {
        (column.name, column.kind, column.method) = (hostile(), hostile(), hostile());
        column.reason = Some(hostile());
        if let Some(error) = &mut column.error {
            error.measure = hostile();
        }
        if let Some(confusion) = &mut column.confusion {
            confusion.levels.iter_mut().for_each(|level| *level = hostile());
        }
        if let Some(Distribution::Levels(levels)) = &mut column.distribution {
            levels.iter_mut().for_each(|level| level.0 = hostile());
        }
    }
    page.missing.columns.iter_mut().for_each(|column| column.0 = hostile());
    page
}

#[test]
fn pages_are_well_formed() {
    for (name, page) in all_pages() {
        assert_eq!(check(&page), Ok(()), "{name}");
    }
}

#[test]
fn pages_load_nothing() {
    for (name, page) in all_pages().into_iter().filter(|(name, _)| *name != "hostile") {
        for word in ["http:", "https:", "src=", "@import", "url(", "<link", "<iframe", "fetch("] {
            assert!(!page.contains(word), "{name} has {word}");
        }
    }
}

#[test]
fn text_is_escaped() {
    let page = hostile_page().to_html();
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script").count(), 2);
    assert!(!page.contains("<img"));
    let mut evaluation = evaluations::evaluation(2);
    evaluation.dataset = HOSTILE.to_owned();
    evaluation.hidden = HOSTILE.to_owned();
    evaluation.methods[0].method = HOSTILE.to_owned();
    evaluation.comparisons[0].against = HOSTILE.to_owned();
    let page = evaluation_page(&evaluation, &RunInfo::default());
    assert_eq!(check(&page), Ok(()));
    assert_eq!(page.matches("<script").count(), 2);
    assert!(!page.contains("<img"));
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    assert_eq!(all_pages(), all_pages());
}

#[test]
fn five_hundred_columns_are_less_than_two_megabytes() {
    const MAX_BYTES: usize = 2_000_000;
    let page = samples::wide_page(500);
    assert!(page.columns.iter().filter(|column| column.cells.len() == 100).count() > 300);
    let html = page.to_html();
    assert!(html.len() < MAX_BYTES, "{} bytes", html.len());
    assert_eq!(check(&html), Ok(()));
    // Every column can be found: drawn, or in the data of the script.
    for column in &page.columns {
        assert!(html.contains(&format!("\"t\":\"{}\"", column.name)), "{}", column.name);
    }
}

#[test]
fn long_names_are_shortened() {
    let mut page = samples::small_page();
    page.columns[0].name = "very_long_name_".repeat(2000);
    page.columns[1].reason = Some("because ".repeat(2000));
    page.title = "title ".repeat(2000);
    page.warnings[0] = "warning ".repeat(2000);
    page.by_hops[0].label = "label ".repeat(2000);
    page.missing.columns[0].0 = page.columns[0].name.clone();
    let html = page.to_html();
    assert!(html.len() < samples::small_page().to_html().len() + 10_000);
    assert!(html.contains("very_long_name_very_long"));
}

#[test]
fn warnings_stand_between_summary_and_plots() {
    let html = samples::small_page().to_html();
    let at = |text: &str| html.find(text).unwrap_or_else(|| panic!("no {text:?}"));
    assert!(at("class=\"summary\"") < at("14 nodes have no neighbours"));
    assert!(at("14 nodes have no neighbours") < at("id=\"observed\""));
    assert!(at("id=\"observed\"") < at("id=\"missing\""));
}

#[test]
fn many_warnings_are_folded() {
    let mut page = samples::small_page();
    page.warnings = (0..30).map(|number| format!("warning {number} of many")).collect();
    let html = page.to_html();
    assert_eq!(check(&html), Ok(()));
    assert!(html.contains("<summary>22 more warnings</summary>"));
    assert!(html.contains("warning 29 of many"));
}

#[test]
fn the_summary_gives_coverage_and_gain() {
    let html = samples::small_page().to_html();
    assert!(html.contains("9 of 9 measured columns"));
    assert!(html.contains("nominal coverage of 90%"));
    assert!(html.contains("graphfill fill wards.csv --edges"));
}

#[test]
fn levels_have_hit_rates_beside_the_most_frequent_level() {
    let mut page = samples::small_page();
    page.columns.retain(|column| column.kind == "category");
    let html = page.to_html();
    assert!(html.contains("hit rate 0.8200 (most frequent level: 0.5800)"));
    // 18% misses in place of 42%.
    assert!(html.contains(">57.1%</td>") && html.contains("57.1% better than the baseline"));
}

#[test]
fn pages_without_calibration_say_so() {
    let mut page = samples::small_page();
    page.level = None;
    for column in &mut page.columns {
        column.coverage.clear();
        column.cells.iter_mut().for_each(|cell| cell.interval = None);
    }
    let html = page.to_html();
    assert_eq!(check(&html), Ok(()));
    assert!(html.contains("No observed cells were hidden in this run"));
    assert!(html.contains("<strong>Not calibrated:</strong> run with intervals"));
    assert!(!samples::small_page().to_html().contains("ot calibrated"));
}

#[test]
fn dates_are_shown_as_dates() {
    let mut page = samples::small_page();
    page.columns.retain(|column| column.is_date);
    let html = page.to_html();
    assert!(html.contains(">2015</text>") && html.contains("observed (date)"));
    assert!(html.contains("\"e\":[0,1,2,3]"));
}

#[test]
fn plots_have_text_alternatives_and_data() {
    let html = samples::small_page().to_html();
    // Not the script, which draws the same.
    let html = html.split("<script>").next().expect("a page");
    let drawings = html.matches("<svg").count() - html.matches("aria-hidden").count();
    assert!(drawings > 20, "{drawings}");
    for word in ["role=\"img\"", "</title><desc>", "<figure class=\"card\"", "class=\"csv js\""] {
        assert_eq!(html.matches(word).count(), drawings, "{word}");
    }
}

#[test]
fn evaluations_mark_the_best_but_not_coverage() {
    let html = evaluation_page(&evaluations::evaluation(3), &samples::run());
    let table =
        html.split("Mean ± standard deviation over seeds</caption>").nth(1).expect("a table");
    let table = table.split("</table>").next().expect("its end");
    let rows: Vec<&str> = table.split("<tr>").skip(2).collect();
    assert_eq!(rows.len(), 6);
    let cells = |row: usize| rows[row].split("<td").skip(1).collect::<Vec<_>>();
    // The header's order: NRMSE first, then by name.
    let header = table.split("</thead>").next().expect("a header");
    assert!(header.find("NRMSE ↓") < header.find("accuracy ↑"));
    assert!(cells(0)[0].contains("svga") && cells(0)[1].contains("best"));
    for row in 0..6 {
        assert!(!cells(row)[3].contains("best"), "coverage: {}", cells(row)[3]);
    }
    let marked = |column: usize| (0..6).filter(|row| cells(*row)[column].contains("best")).count();
    assert_eq!((marked(1), marked(2), marked(4), marked(5), marked(6)), (1, 1, 1, 1, 1));
    assert!(html.contains("Its lead is more than noise over 4 of 5 other methods."));
}

#[test]
fn evaluations_with_many_columns_stay_small() {
    let html = evaluation_page(&evaluations::evaluation(500), &samples::run());
    assert!(html.len() < 2_000_000, "{} bytes", html.len());
    assert_eq!(check(&html), Ok(()));
}
