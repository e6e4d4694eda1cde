//! The HTML document around a report: head, style sheet, script, contents and sections.

use std::fmt::Write;

use super::card::PlotData;
use super::data::RunInfo;
use super::format;
use crate::figure::svg::Escaped;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Warnings that are always open; the others are behind a summary.
const MAX_WARNINGS: usize = 8;

/// A page: what it leads with, then sections.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub(super) title: String,
    /// The words above the title.
    pub(super) kind: &'static str,
    /// One paragraph of plain text.
    pub(super) summary: String,
    /// What the reader should know first.
    pub(super) warnings: Vec<String>,
    /// The figures of the page in short: name and value.
    pub(super) facts: Vec<(&'static str, String)>,
    /// The sections, as HTML.
    pub(super) sections: Vec<Section>,
    /// The data of the plots.
    pub(super) plots: PlotData,
}

/// A section of a page.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) id: &'static str,
    pub(super) title: String,
    pub(super) html: String,
}

impl Document {
    /// Adds a section; one without content is left out.
    pub(super) fn section(&mut self, id: &'static str, title: &str, html: String) {
        if !html.is_empty() {
            self.sections.push(Section { id, title: title.to_owned(), html });
        }
    }

    /// The page.
    pub(super) fn to_html(&self) -> String {
        let title = Escaped(&self.title);
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = write!(
            out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"generator\" content=\"graphfill\">\n\
             <title>{title} – {kind}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#main\">Skip to the report</a>\n\
             <header><p class=\"kind\">{kind}</p><h1>{title}</h1>\n<p class=\"summary\">{}</p>\n",
            Escaped(&self.summary),
            kind = Escaped(self.kind),
        );
        self.write_facts(&mut out);
        self.write_warnings(&mut out);
        out += "</header>\n<nav aria-label=\"Contents\"><ol>";
        for section in &self.sections {
            let title = Escaped(&section.title);
            let _ = write!(out, "<li><a href=\"#{}\">{title}</a></li>", section.id);
        }
        out += "</ol></nav>\n<main id=\"main\">\n";
        for Section { id, title, html } in &self.sections {
            let title = Escaped(title);
            let _ = write!(
                out,
                "<section id=\"{id}\" aria-labelledby=\"h-{id}\"><h2 id=\"h-{id}\">{title}</h2>\n{html}</section>\n"
            );
        }
        let _ = write!(
            out,
            "</main>\n<script type=\"application/json\" id=\"data\">{}</script>\n\
             <script>\n{SCRIPT}</script>\n</body>\n</html>\n",
            self.plots.to_json()
        );
        out
    }

    fn write_facts(&self, out: &mut String) {
        if self.facts.is_empty() {
            return;
        }
        *out += "<dl class=\"facts\">";
        for (name, value) in &self.facts {
            let (name, value) = (Escaped(name), Escaped(value));
            let _ = write!(out, "<div><dt>{name}</dt><dd>{value}</dd></div>");
        }
        *out += "</dl>\n";
    }

    fn write_warnings(&self, out: &mut String) {
        if self.warnings.is_empty() {
            return;
        }
        let title = match self.warnings.len() {
            1 => "1 note or warning".to_owned(),
            count => format!("{count} notes and warnings"),
        };
        let _ = write!(
            out,
            "<section class=\"warnings\" aria-labelledby=\"h-warnings\"><h2 id=\"h-warnings\">{title}</h2><ul>"
        );
        let (first, others) = self.warnings.split_at(self.warnings.len().min(MAX_WARNINGS));
        for warning in first {
            let _ = write!(out, "<li>{}</li>", Escaped(warning));
        }
        *out += "</ul>";
        if !others.is_empty() {
            let more = format::counted(others.len(), "more warning");
            let _ = write!(out, "<details><summary>{more}</summary><ul>");
            for warning in others {
                let _ = write!(out, "<li>{}</li>", Escaped(warning));
            }
            *out += "</ul></details>";
        }
        *out += "</section>\n";
    }
}

/// The section on how the run was started.
pub(super) fn run_section(run: &RunInfo) -> String {
    let mut out = String::from("<dl class=\"run\">");
    let unknown = |text: &str| if text.is_empty() { "unknown".to_owned() } else { text.to_owned() };
    let command = unknown(&run.command);
    let _ = write!(out, "<dt>Command</dt><dd><pre><code>{}</code></pre></dd>", Escaped(&command));
    for (name, value) in [
        ("Version", unknown(&run.version)),
        ("Seed", run.seed.to_string()),
        ("Time", format::duration(run.seconds)),
        ("Device", unknown(&run.device)),
    ] {
        let _ = write!(out, "<dt>{name}</dt><dd>{}</dd>", Escaped(&value));
    }
    out + "</dl>\n"
}

/// A paragraph of plain text.
pub(super) fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", Escaped(text))
}
