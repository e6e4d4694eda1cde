//! Settings that would help with an error or change a guess, spelled as keywords of Python.

use graphfill::data::{Hint, Note, Setting, Severity};
use graphfill::methods::MethodSetting;

/// A note with the keywords that would change what was done.
pub(crate) fn of_note(note: &Note) -> (bool, String, Vec<String>) {
    let is_warning = note.severity == Severity::Warning;
    (is_warning, without_flags(&note.text), of_hint(&note.hint))
}

/// The keywords of a hint, such as `id="user_id"`.
pub(crate) fn of_hint(hint: &Hint) -> Vec<String> {
    hint.settings.iter().flat_map(of_setting).collect()
}

/// The keywords of a method's setting.
pub(crate) fn of_method(setting: &MethodSetting) -> Vec<String> {
    match setting {
        MethodSetting::Parameter { name, value } => vec![format!("param={{\"{name}\": {value}}}")],
        MethodSetting::Checkpoint => vec!["checkpoint=FILE".to_owned()],
        MethodSetting::Data(setting) => of_setting(setting),
        _ => Vec::new(),
    }
}

/// A setting as a keyword, or as several of which one is to be taken.
fn of_setting(setting: &Setting) -> Vec<String> {
    let one = |keyword: String| vec![keyword];
    let choices = |name: &str, values: &[&str]| -> Vec<String> {
        values.iter().map(|value| format!("{name}=\"{value}\"")).collect()
    };
    match setting {
        Setting::Id(column) => one(format!("id={}", quoted(column))),
        Setting::EdgeColumns { source, target } => {
            one(format!("source={}, target={}", quoted(source), quoted(target)))
        }
        Setting::Weight(None) => one("weight=\"none\"".to_owned()),
        Setting::Weight(Some(column)) => one(format!("weight={}", quoted(column))),
        Setting::Label(column) => one(format!("label={}", quoted(column))),
        Setting::Type { column, kind } => {
            one(format!("type={{{}: \"{}\"}}", quoted(column), kind.as_str()))
        }
        Setting::MissingValue(cell) => one(format!("missing_values=[{}]", quoted(cell))),
        Setting::NoMissingValues => one("missing_values=[\"none\"]".to_owned()),
        Setting::Delimiter => choices("delimiter", &[","]),
        Setting::Header => choices("header", &["yes", "no"]),
        Setting::Encoding => choices("encoding", &["latin-1"]),
        Setting::Decimal => choices("decimal", &[".", ","]),
        Setting::DateOrder => choices("dates", &["day-first", "month-first"]),
        Setting::UnknownNodes => choices("unknown_nodes", &["skip", "add"]),
        Setting::DuplicateEdges => choices("duplicate_edges", &["max", "sum", "mean"]),
        Setting::MemoryLimit(bytes) => one(format!("memory_limit=\"{bytes}\"")),
        Setting::Seeds => one("seeds=…".to_owned()),
        Setting::SplitsFile => one("splits_file=…".to_owned()),
        Setting::DataDir => one("data_dir=…".to_owned()),
        _ => Vec::new(),
    }
}

/// A text as a literal of Python.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A message of the command line with its flags spelled as keywords: `--max-updates` is `max_updates`.
pub(crate) fn without_flags(text: &str) -> String {
    let mut spelled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("--") {
        let (before, after) = rest.split_at(at);
        spelled.push_str(before);
        let after = &after[2..];
        let is_name = |letter: char| letter.is_ascii_lowercase() || letter == '-';
        let end = after.find(|letter: char| !is_name(letter)).unwrap_or(after.len());
        let name = after[..end].trim_end_matches('-');
        match name.is_empty() {
            true => spelled.push_str("--"),
            false => spelled.push_str(&name.replace('-', "_")),
        }
        rest = &after[name.len()..];
    }
    spelled.push_str(rest);
    spelled
}
