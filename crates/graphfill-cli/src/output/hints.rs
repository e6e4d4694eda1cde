//! Settings that would help with an error, spelled as the flags of the subcommand that ran.

use std::sync::OnceLock;

use clap::CommandFactory;
use graphfill::data::{DataError, Hint, Setting};
use graphfill::methods::{MethodError, MethodSetting};

use crate::arguments::Arguments;

static SUBCOMMAND: OnceLock<String> = OnceLock::new();

/// Spells flags of this subcommand from now on.
pub(crate) fn use_subcommand(name: &str) {
    let _ = SUBCOMMAND.set(name.to_owned());
}

/// The flags that would help, such as `--id user_id, or --id rank`.
pub(crate) fn flags_for(error: &anyhow::Error) -> Option<String> {
    let settings = match (error.downcast_ref::<MethodError>(), error.downcast_ref::<DataError>()) {
        (Some(error), _) => error.settings(),
        (None, Some(error)) => {
            let settings = error.hint().into_iter().flat_map(|hint| hint.settings.clone());
            settings.map(MethodSetting::Data).collect()
        }
        (None, None) => Vec::new(),
    };
    flags(&settings, |flag| has_flag(SUBCOMMAND.get().map_or("", String::as_str), flag))
}

/// The flags of a hint, such as `--missing-values none`.
pub(crate) fn flags_of_hint(hint: &Hint) -> Option<String> {
    let settings: Vec<_> = hint.settings.iter().cloned().map(MethodSetting::Data).collect();
    flags(&settings, |flag| has_flag(SUBCOMMAND.get().map_or("", String::as_str), flag))
}

/// Settings as flags; those that the subcommand does not have are left out.
fn flags(settings: &[MethodSetting], is_known: impl Fn(&str) -> bool) -> Option<String> {
    let spelled = settings.iter().flat_map(flags_of);
    let known = spelled.filter(|text| {
        let flag = text.trim_start_matches('-').split(' ').next().unwrap_or_default();
        is_known(flag)
    });
    let known: Vec<String> = known.collect();
    (!known.is_empty()).then(|| known.join(", or "))
}

fn has_flag(subcommand: &str, flag: &str) -> bool {
    let command = Arguments::command();
    let own = command.find_subcommand(subcommand);
    own.is_some_and(|own| own.get_arguments().any(|argument| argument.get_long() == Some(flag)))
}

/// A setting as a flag, or as several of which one is to be taken.
fn flags_of(setting: &MethodSetting) -> Vec<String> {
    match setting {
        MethodSetting::Parameter { name, value } => vec![format!("--param {name}={value}")],
        MethodSetting::Checkpoint => vec!["--checkpoint FILE".to_owned()],
        MethodSetting::Data(setting) => flags_of_data(setting),
        _ => Vec::new(),
    }
}

fn flags_of_data(setting: &Setting) -> Vec<String> {
    let one = |flag: String| vec![flag];
    match setting {
        Setting::Id(column) => one(format!("--id {}", quoted(column))),
        Setting::EdgeColumns { source, target } => {
            one(format!("--source {} --target {}", quoted(source), quoted(target)))
        }
        Setting::Weight(None) => one("--weight none".to_owned()),
        Setting::Weight(Some(column)) => one(format!("--weight {}", quoted(column))),
        Setting::Label(column) => one(format!("--label {}", quoted(column))),
        Setting::Type { column, kind } => {
            one(format!("--type {}", quoted(&format!("{column}={}", kind.as_str()))))
        }
        Setting::MissingValue(cell) => one(format!("--missing-values {}", quoted(cell))),
        Setting::NoMissingValues => one("--missing-values none".to_owned()),
        Setting::Delimiter => {
            ["--delimiter CHAR", "--edges-delimiter CHAR"].map(str::to_owned).to_vec()
        }
        Setting::Header => ["--header yes|no", "--edges-header yes|no"].map(str::to_owned).to_vec(),
        Setting::Encoding => {
            ["--encoding NAME", "--edges-encoding NAME"].map(str::to_owned).to_vec()
        }
        Setting::Decimal => ["--decimal .", "--decimal ,"].map(str::to_owned).to_vec(),
        Setting::DateOrder => {
            ["--dates day-first", "--dates month-first"].map(str::to_owned).to_vec()
        }
        Setting::UnknownNodes => {
            ["skip", "add"].map(|what| format!("--unknown-nodes {what}")).to_vec()
        }
        Setting::DuplicateEdges => one("--duplicate-edges max|sum|mean".to_owned()),
        Setting::MemoryLimit(bytes) => one(format!("--memory-limit {bytes}")),
        Setting::Seeds => one("--seeds SEEDS".to_owned()),
        Setting::SplitsFile => one("--splits-file FILE".to_owned()),
        Setting::DataDir => one("--data-dir DIR".to_owned()),
        Setting::Overwrite => one("--overwrite".to_owned()),
        _ => Vec::new(),
    }
}

/// A value as a shell takes it.
fn quoted(value: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-./:=@%+".contains(letter);
    match !value.is_empty() && value.chars().all(is_plain) {
        true => value.to_owned(),
        false => format!("'{}'", value.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use graphfill::data::DeclaredKind;

    #[test]
    fn settings_are_flags_that_a_shell_takes() {
        let data = |settings: Vec<Setting>| {
            let settings: Vec<_> = settings.into_iter().map(MethodSetting::Data).collect();
            flags(&settings, |flag| has_flag("fill", flag)).unwrap_or_default()
        };
        let columns = vec![Setting::Id("user_id".into()), Setting::Id("last name".into())];
        assert_eq!(data(columns), "--id user_id, or --id 'last name'");
        let edges = Setting::EdgeColumns { source: "from".into(), target: "it's".into() };
        assert_eq!(data(vec![edges]), "--source from --target 'it'\\''s'");
        let kind = Setting::Type { column: "age".into(), kind: DeclaredKind::Number };
        assert_eq!(data(vec![kind]), "--type age=number");
        assert_eq!(
            data(vec![Setting::UnknownNodes]),
            "--unknown-nodes skip, or --unknown-nodes add"
        );
        assert_eq!(data(Vec::new()), "");
    }

    #[test]
    fn flags_of_other_subcommands_are_left_out() {
        let seeds = [MethodSetting::Data(Setting::Seeds)];
        assert_eq!(
            flags(&seeds, |flag| has_flag("evaluate", flag)).as_deref(),
            Some("--seeds SEEDS")
        );
        assert_eq!(flags(&seeds, |flag| has_flag("fill", flag)), None);
    }
}
