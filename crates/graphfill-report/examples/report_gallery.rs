//! Writes sample report pages into a folder, to look at them: `report_gallery FOLDER`.
#![allow(clippy::print_stdout, reason = "the example tells what it wrote")]

use std::path::PathBuf;

use graphfill_report::page::{FillPage, evaluation_page};

#[allow(dead_code)]
#[path = "../tests/page/samples.rs"]
mod samples;

#[path = "../tests/page/evaluations.rs"]
mod evaluations;

fn main() -> std::io::Result<()> {
    let folder =
        PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "report-gallery".to_owned()));
    std::fs::create_dir_all(&folder)?;
    let mut uncalibrated = samples::small_page();
    uncalibrated.level = None;
    for column in &mut uncalibrated.columns {
        column.coverage.clear();
        column.cells.clear();
        column.confusion = None;
        column.reliability.clear();
    }
    let mut one = samples::small_page();
    one.columns.truncate(1);
    one.missing.columns.truncate(1);
    for (name, html) in [
        ("small", samples::small_page().to_html()),
        ("wide", samples::wide_page(500).to_html()),
        ("uncalibrated", uncalibrated.to_html()),
        ("one", one.to_html()),
        ("empty", FillPage::default().to_html()),
        ("evaluation", evaluation_page(&evaluations::evaluation(12), &samples::run())),
        ("evaluation-empty", evaluation_page(&evaluations::empty(), &samples::run())),
    ] {
        println!("{name}: {} bytes", html.len());
        std::fs::write(folder.join(format!("{name}.html")), html)?;
    }
    Ok(())
}
