//! What `graphfill inspect` says about one column: values for programs, and a phrase for people.

use graphfill::data::{BlockKind, Column, ColumnData, Kind};
use serde::Serialize;

use crate::output::escape::short_value;
use crate::output::numbers::{count, significant};

/// More levels than this are counted rather than listed.
const MAX_LEVELS: usize = 100;
/// So many levels are named in the phrase.
const NAMED_LEVELS: usize = 4;

/// A column; what its kind has not is left out.
#[derive(Serialize)]
pub(super) struct AboutColumn {
    pub(super) name: String,
    pub(super) kind: &'static str,
    /// The number of columns of a block, else 1.
    pub(super) width: usize,
    pub(super) missing: usize,
    #[serde(flatten)]
    pub(super) values: Values,
}

/// The values of a column that are not missing.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Values {
    /// Numbers and counts; none of the three where every cell is missing.
    Numbers { min: Option<f64>, max: Option<f64>, mean: Option<f64> },
    /// Dates, as `2021-03-04`.
    Dates { min: Option<String>, max: Option<String> },
    /// Names with their numbers of cells, the most frequent first.
    Category { level_count: usize, levels: Vec<Level> },
    /// The share of true cells; none where every cell is missing.
    Boolean { true_share: Option<f64> },
    /// The share of cells of a block that are not zero.
    Block { density: Option<f64> },
    /// Why the column is not used.
    Unused { reason: String },
}

/// A level of a category.
#[derive(Serialize)]
pub(super) struct Level {
    name: String,
    count: usize,
}

impl AboutColumn {
    pub(super) fn of(column: &Column) -> Self {
        let (width, values) = match (column.kind(), column.data()) {
            (_, ColumnData::Block(block)) => {
                let observed = block.rows() * block.width() - block.missing().count();
                (block.width(), Values::Block { density: share(block.stored(), observed) })
            }
            (Kind::Unused(reason), _) => (1, Values::Unused { reason: reason.to_string() }),
            (Kind::Category, _) => (1, Values::category(column)),
            (Kind::Boolean, _) => {
                let numbers = column.numbers();
                let known = numbers.iter().filter(|value| !value.is_nan()).count();
                let ones = numbers.iter().filter(|&&value| value == 1.0).count();
                (1, Values::Boolean { true_share: share(ones, known) })
            }
            (Kind::Date, _) => (1, Values::dates(&column.numbers())),
            _ => (1, Values::numbers(&column.numbers())),
        };
        AboutColumn {
            name: column.name().to_owned(),
            kind: column.kind().as_str(),
            width,
            missing: column.missing_count(),
            values,
        }
    }

    /// The values in words.
    pub(super) fn phrase(&self) -> String {
        let percent = |share: &Option<f64>| {
            share.map_or_else(|| "–".to_owned(), |share| format!("{}%", significant(100.0 * share)))
        };
        match &self.values {
            Values::Numbers { min: Some(min), max: Some(max), mean: Some(mean) } => {
                let [min, max, mean] = [min, max, mean].map(|value| significant(*value));
                format!("{min} to {max}, mean {mean}")
            }
            Values::Dates { min: Some(min), max: Some(max) } => format!("{min} to {max}"),
            Values::Numbers { .. } | Values::Dates { .. } => "every cell is missing".to_owned(),
            Values::Category { level_count, levels } => {
                let named = levels.iter().take(NAMED_LEVELS).map(|level| short_value(&level.name));
                let more = if *level_count > NAMED_LEVELS { ", …" } else { "" };
                let named = named.collect::<Vec<_>>().join(", ");
                format!("{} levels: {named}{more}", count(*level_count))
            }
            Values::Boolean { true_share } => format!("{} true", percent(true_share)),
            Values::Block { density } => {
                let is_binary = self.kind == Kind::Block(BlockKind::Binary).as_str();
                let word = if is_binary { "ones" } else { "not zero" };
                format!("{} columns, {} {word}", count(self.width), percent(density))
            }
            Values::Unused { reason } => reason.clone(),
        }
    }

    /// The values as the cells of [`HEADER`].
    pub(super) fn cells(&self) -> Vec<String> {
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let mut cells = vec![
            self.name.clone(),
            self.kind.to_owned(),
            self.width.to_string(),
            self.missing.to_string(),
        ];
        cells.resize(HEADER.len(), String::new());
        match &self.values {
            Values::Numbers { min, max, mean } => {
                cells[4..7].clone_from_slice(&[*min, *max, *mean].map(number));
            }
            Values::Dates { min, max } => {
                cells[4] = min.clone().unwrap_or_default();
                cells[5] = max.clone().unwrap_or_default();
            }
            Values::Category { level_count, .. } => cells[7] = level_count.to_string(),
            Values::Boolean { true_share } => cells[8] = number(*true_share),
            Values::Block { density } => cells[9] = number(*density),
            Values::Unused { reason } => cells[10].clone_from(reason),
        }
        cells
    }
}

/// The header of `--format csv`.
pub(super) const HEADER: [&str; 11] = [
    "column",
    "kind",
    "width",
    "missing",
    "min",
    "max",
    "mean",
    "level_count",
    "true_share",
    "density",
    "reason",
];

impl Values {
    fn dates(days: &[f64]) -> Self {
        let known = || days.iter().copied().filter(|days| !days.is_nan());
        let date = |days: f64| date_of(days.floor() as i64);
        Values::Dates {
            min: known().reduce(f64::min).map(date),
            max: known().reduce(f64::max).map(date),
        }
    }

    fn numbers(numbers: &[f64]) -> Self {
        let known = || numbers.iter().copied().filter(|value| !value.is_nan());
        // Divided before they are added: a sum of huge numbers is infinite, their mean is not.
        let total = known().count() as f64;
        Values::Numbers {
            min: known().reduce(f64::min),
            max: known().reduce(f64::max),
            mean: known().map(|value| value / total).reduce(|one, other| one + other),
        }
    }

    fn category(column: &Column) -> Self {
        let levels = column.levels();
        let mut counts = vec![0usize; levels.names.len()];
        levels.codes.iter().flatten().for_each(|&code| counts[code as usize] += 1);
        let named = levels.names.iter().zip(counts);
        let mut named: Vec<Level> =
            named.map(|(name, count)| Level { name: name.clone(), count }).collect();
        named.sort_by(|one, other| {
            other.count.cmp(&one.count).then_with(|| one.name.cmp(&other.name))
        });
        let level_count = named.len();
        named.truncate(MAX_LEVELS);
        Values::Category { level_count, levels: named }
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The date so many days after 1970-01-01, in the Gregorian calendar.
fn date_of(days: i64) -> String {
    // Years are counted from 1 March, so that the leap day ends them; 400 years have 146,097 days.
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        for (days, date) in
            [(0, "1970-01-01"), (-1, "1969-12-31"), (18690, "2021-03-04"), (11016, "2000-02-29")]
        {
            assert_eq!(date_of(days), date);
        }
    }
}
