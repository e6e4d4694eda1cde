//! Report pages in a real browser: the script draws what Rust draws, tables sort and filter, data is
//! copied as CSV, nothing is loaded, nothing fails, nothing is wider than a phone.
//!
//! Needs Chromium: the program that CHROMIUM names, or `chromium`, `chromium-browser`,
//! `google-chrome` on the path. Without one the tests pass and say so.
#![allow(clippy::print_stderr, reason = "a skipped test says so")]

#[path = "page/evaluations.rs"]
mod evaluations;
#[path = "page/samples.rs"]
mod samples;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use graphfill_report::page::{FillPage, evaluation_page};
use serde_json::{Value, json};

/// A browser that takes longer is ended.
const MAX_SECONDS: u64 = 90;

/// Runs before the page's script: records what goes wrong.
const RECORDER: &str = "<script>window.problems = [];
addEventListener('error', (event) => problems.push(String(event.message)));
addEventListener('unhandledrejection', (event) => problems.push(String(event.reason)));
console.error = (...words) => problems.push(words.join(' '));</script>";

/// Runs after the page's script and writes what it finds into the page.
const HARNESS: &str = include_str!("browser/harness.js");

fn browser() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CHROMIUM") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|program| program.is_file())
}

/// What the harness finds on a page shown in a window of this width; none without a browser.
fn visit(name: &str, html: &str, width: u32) -> Option<Value> {
    let Some(browser) = browser() else {
        eprintln!("skipped: no Chromium");
        return None;
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("browser-{name}"));
    std::fs::create_dir_all(&folder).expect("a folder");
    let harness = format!("<script>{HARNESS}</script></body>");
    let page = html.replacen("<head>", &format!("<head>{RECORDER}"), 1);
    let page = page.replacen("</body>", &harness, 1);
    let (file, output) = (folder.join("page.html"), folder.join("dom.html"));
    std::fs::write(&file, page).expect("the page is written");
    let mut browser = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--no-first-run", "--disable-extensions", "--virtual-time-budget=10000"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("--window-size={width},900"))
        .arg("--dump-dom")
        .arg(format!("file://{}", file.display()))
        .stdout(std::fs::File::create(&output).expect("a file"))
        .stderr(Stdio::null())
        .spawn()
        .expect("the browser starts");
    let start = Instant::now();
    while browser.try_wait().expect("the browser's state").is_none() {
        if start.elapsed() > Duration::from_secs(MAX_SECONDS) {
            browser.kill().expect("the browser ends");
            let _ = browser.wait();
            panic!("the browser took more than {MAX_SECONDS} s");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let dom = std::fs::read_to_string(&output).expect("the page's text");
    let results = dom
        .rsplit_once("<pre id=\"results\">")
        .and_then(|(_, rest)| rest.split_once("</pre>"))
        .map(|(text, _)| text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"));
    let results = results.unwrap_or_else(|| panic!("no results on {}", file.display()));
    Some(serde_json::from_str(&results).expect("JSON"))
}

/// What must hold on every page.
fn assert_sound(found: &Value) {
    assert_eq!(found["problems"], json!([]));
    assert_eq!(found["resources"], json!([]));
    assert_eq!(found["differences"], json!([]), "the script draws other plots than Rust");
    assert_eq!(found["cut off"], json!([]), "text beyond the edge of its drawing");
    assert_eq!(found["overlapping"], json!([]), "labels of ticks");
    assert_eq!(found["unnamed"], json!([]), "controls without a name");
}

#[test]
fn a_page_of_every_kind_of_column() {
    let Some(found) = visit("small", &samples::small_page().to_html(), 1200) else { return };
    assert_sound(&found);
    assert!(found["compared"].as_u64() > Some(20), "{}", found["compared"]);
    assert_eq!(found["sorted"], json!([true, true, true]));
    assert_eq!(found["aria-sort"], json!(["ascending", "descending", "none"]));
    assert_eq!(found["focus"], json!(true));
    assert_eq!(found["filtered"], json!(["median_income"]));
    assert_eq!(found["filter status"], json!("1 of 9 rows"));
    let csv = found["plot csv"].as_str().expect("text");
    assert!(csv.starts_with("observed,estimate,lower bound,upper bound\n"), "{csv}");
    assert!(csv.lines().count() > 80);
    let dates = found["date csv"].as_str().expect("text");
    let second = dates.lines().nth(1).expect("a row");
    assert!(second.split(',').all(|date| date.len() == 10 && date.starts_with("20")), "{second}");
    let table = found["table csv"].as_str().expect("text");
    assert!(table.starts_with("Column,Kind,Missing,Method,"), "{table}");
}

#[test]
fn a_page_of_many_columns_on_a_phone() {
    let Some(found) = visit("wide", &samples::wide_page(60).to_html(), 375) else { return };
    assert_sound(&found);
    assert_eq!(found["drawn"], json!([12, 13, 60]));
    assert_eq!(found["drawn title"], found["picked"]);
    assert_eq!(found["no such column"], json!("No such column among those not drawn."));
    assert_eq!(found["too wide"], json!(false));
}

#[test]
fn hostile_names_do_nothing() {
    let mut page = samples::wide_page(30);
    for column in &mut page.columns {
        column.name += "</script><img src=x onerror=problems.push('image')>\"&lt;\u{1}";
    }
    page.title = "</title><script>problems.push('title')</script>".to_owned();
    let Some(found) = visit("hostile", &page.to_html(), 900) else { return };
    assert_eq!(found["problems"], json!([]));
    assert_eq!(found["resources"], json!([]));
    assert_eq!(found["differences"], json!([]));
    assert_eq!(found["drawn"], json!([12, 13, 30]));
}

#[test]
fn an_empty_page_and_evaluations() {
    let evaluation = evaluation_page(&evaluations::evaluation(12), &samples::run());
    let empty = evaluation_page(&evaluations::empty(), &samples::run());
    for (name, html) in [
        ("empty", FillPage::default().to_html()),
        ("evaluation", evaluation),
        ("empty-evaluation", empty),
    ] {
        let Some(found) = visit(name, &html, 375) else { return };
        assert_sound(&found);
        assert_eq!(found["too wide"], json!(false), "{name}");
    }
}
