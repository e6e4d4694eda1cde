//! What the documents promise: the README's example, and links that lead somewhere.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::Place;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn the_readme_shows_what_fill_writes() {
    let place = Place::new();
    let (nodes, edges) = (text("docs/example/nodes.csv"), text("docs/example/edges.csv"));
    place.write("nodes.csv", &nodes);
    place.write("edges.csv", &edges);
    place.succeed("fill nodes.csv edges.csv -o filled.csv");
    let filled = place.read("filled.csv");
    let readme = text("README.md");
    for (before, after) in nodes.lines().zip(filled.lines()) {
        let line = format!("{before:<23}{after}");
        assert!(readme.lines().any(|shown| shown == line), "README.md lacks the line\n{line}");
    }
}

/// The code blocks of a language in a Markdown file.
fn blocks<'a>(markdown: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    let blocks = markdown.split(&fence).skip(1);
    blocks.filter_map(|rest| Some(rest.split_once("```")?.0)).collect()
}

#[test]
fn the_commands_of_directed_graphs_give_what_is_shown() {
    let place = Place::new();
    let document = text("docs/directed-graphs.md");
    let tables = blocks(&document, "csv");
    place.write("people.csv", tables[0]);
    place.write("follows.csv", tables[1]);
    let mut compared = 0;
    for line in blocks(&document, "sh")[0].lines() {
        let (command, shown) = line.split_once('#').unwrap_or((line, ""));
        let command = command.trim().strip_prefix("graphfill ").expect("a command");
        place.succeed(command);
        if !shown.is_empty() {
            let filled = place.read("filled.csv");
            assert!(filled.lines().any(|row| row == shown.trim()), "{line}\n{filled}");
            compared += 1;
        }
    }
    assert_eq!(compared, 4);
}

/// The targets of links in a Markdown file, without code blocks.
fn links(markdown: &str) -> Vec<String> {
    let prose = markdown.split("```").step_by(2).collect::<String>();
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target.to_owned()).collect()
}

/// The anchors of a Markdown file's headings, as forges derive them.
fn anchors(markdown: &str) -> Vec<String> {
    let headings = markdown.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn links_between_documents_lead_somewhere() {
    let folders = ["", "docs", "docs/reproduction", "fuzz", "peers"];
    let mut seen = 0;
    for folder in folders.map(|folder| root().join(folder)) {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_none_or(|extension| extension != "md") {
                continue;
            }
            let markdown = fs::read_to_string(&path).expect("a document");
            for link in links(&markdown).iter().filter(|link| !link.contains("://")) {
                let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
                let target = if file.is_empty() { path.clone() } else { folder.join(file) };
                assert!(target.exists(), "{}: there is no {link}", path.display());
                if !anchor.is_empty() {
                    let anchors = anchors(&fs::read_to_string(&target).expect("a document"));
                    assert!(anchors.contains(&anchor.into()), "{}: no {link}", path.display());
                }
                seen += 1;
            }
        }
    }
    assert!(seen > 30, "only {seen} links were found");
}
