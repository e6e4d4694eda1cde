//! Dates and timestamps in text columns: the pattern of the cells, their value in days since
//! 1970-01-01, and estimates written in the same pattern.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

use chrono::{Datelike, Duration, NaiveDate, NaiveDateTime, NaiveTime, Timelike};

/// Seconds of a day.
pub(crate) const DAY: f64 = 86_400.0;

/// Patterns of dates, and whether day and month could be exchanged.
const DATES: [(&str, bool); 13] = [
    ("%Y-%m-%d", false),
    ("%Y/%m/%d", false),
    ("%Y.%m.%d", false),
    ("%d.%m.%Y", false),
    ("%d/%m/%Y", true),
    ("%m/%d/%Y", true),
    ("%d-%m-%Y", true),
    ("%m-%d-%Y", true),
    ("%d %b %Y", false),
    ("%d-%b-%Y", false),
    ("%b %d, %Y", false),
    ("%d %B %Y", false),
    ("%B %d, %Y", false),
];

/// Patterns of times of day behind a date.
const TIMES: [&str; 11] = [
    "",
    " %H:%M",
    " %H:%M:%S",
    " %H:%M:%S%.f",
    "T%H:%M",
    "T%H:%M:%S",
    "T%H:%M:%S%.f",
    "T%H:%M:%SZ",
    "T%H:%M:%S%.fZ",
    " %H:%M:%S UTC",
    " %I:%M %p",
];

/// The order of day and month in a date such as 03/04/2021.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateOrder {
    /// 3 April.
    DayFirst,
    /// 4 March.
    MonthFirst,
}

impl FromStr for DateOrder {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "day-first" => Ok(DateOrder::DayFirst),
            "month-first" => Ok(DateOrder::MonthFirst),
            other => Err(format!("'{other}' is neither day-first nor month-first")),
        }
    }
}

/// The pattern of a column of dates, as `strftime` has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DateStyle {
    pattern: String,
    has_time: bool,
    /// Days and months are written without a leading zero.
    unpadded: bool,
}

/// Whether the cells are dates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DetectedDates {
    Style(DateStyle),
    /// Day and month cannot be told apart.
    Open,
    None,
}

impl DateStyle {
    /// The one pattern that all cells follow.
    pub(crate) fn detect<'a>(
        mut cells: impl Iterator<Item = &'a str> + Clone,
        order: Option<DateOrder>,
    ) -> DetectedDates {
        let all = cells.clone();
        let Some(first) = cells.next().map(str::trim) else { return DetectedDates::None };
        // Most columns are no dates, and a glance tells.
        let digits = first.bytes().filter(u8::is_ascii_digit).count();
        if digits < 5 || first.len() > 40 || first.bytes().all(|byte| byte.is_ascii_digit()) {
            return DetectedDates::None;
        }
        let mut found: Vec<(DateStyle, bool)> = Vec::new();
        for (date, exchangeable) in DATES {
            for time in TIMES {
                let pattern = format!("{date}{time}");
                let mut style = DateStyle { pattern, has_time: !time.is_empty(), unpadded: false };
                let fits = |cell: &str| style.parse(cell).is_some();
                if fits(first) && all.clone().all(fits) {
                    style.unpadded = all.clone().any(|cell| style.is_unpadded(cell));
                    found.push((style, exchangeable));
                }
            }
        }
        // `%.f` also fits cells without a fraction: the plainer pattern stands first.
        let Some((style, exchangeable)) = found.first().cloned() else {
            return DetectedDates::None;
        };
        let other = found.iter().find(|(other, _)| {
            exchangeable
                && other.pattern[..2] != style.pattern[..2]
                && all.clone().any(|cell| other.parse(cell) != style.parse(cell))
        });
        match (other, order) {
            (None, _) => DetectedDates::Style(style),
            (Some(_), None) => DetectedDates::Open,
            (Some((other, _)), Some(order)) => {
                let wanted = if order == DateOrder::DayFirst { "%d" } else { "%m" };
                let chosen = if style.pattern.starts_with(wanted) { style } else { other.clone() };
                DetectedDates::Style(chosen)
            }
        }
    }

    /// The days since 1970-01-01 that a cell spells.
    pub(crate) fn parse(&self, cell: &str) -> Option<f64> {
        let cell = cell.trim();
        let moment = if self.has_time {
            NaiveDateTime::parse_from_str(cell, &self.pattern).ok()?
        } else {
            NaiveDate::parse_from_str(cell, &self.pattern).ok()?.and_time(NaiveTime::MIN)
        };
        // A year of two digits would be one of antiquity.
        (1000..=9999).contains(&moment.year()).then(|| days_of(moment))
    }

    /// The moment so many days after 1970-01-01.
    pub(crate) fn format(&self, days: f64) -> String {
        let step = match () {
            () if !self.has_time => DAY,
            () if self.pattern.contains("%S") => 1.0,
            () => 60.0,
        };
        let text = moment_at((days * DAY / step).round() * step);
        let pattern = match self.unpadded {
            true => self.pattern.replace("%d", "%-d").replace("%m", "%-m"),
            false => self.pattern.clone(),
        };
        text.format(&pattern).to_string()
    }

    fn is_unpadded(&self, cell: &str) -> bool {
        let date = cell.trim().split([' ', 'T']).next().unwrap_or_default();
        let mut parts = date.split(['/', '-', '.']);
        parts.any(|part| part.len() == 1 && part.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

fn days_of(moment: NaiveDateTime) -> f64 {
    let time = moment.time();
    let seconds = f64::from(time.num_seconds_from_midnight()) + f64::from(time.nanosecond()) * 1e-9;
    let epoch = NaiveDate::default();
    moment.date().signed_duration_since(epoch).num_days() as f64 + seconds / DAY
}

/// The moment so many seconds after 1970-01-01, the first or last that there is where it lies beyond.
fn moment_at(seconds: f64) -> NaiveDateTime {
    let epoch = NaiveDate::default().and_time(NaiveTime::MIN);
    let duration = Duration::try_seconds(seconds as i64);
    let moment = duration.and_then(|duration| epoch.checked_add_signed(duration));
    moment.unwrap_or(if seconds < 0.0 { NaiveDateTime::MIN } else { NaiveDateTime::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(cells: &[&str]) -> DateStyle {
        match DateStyle::detect(cells.iter().copied(), None) {
            DetectedDates::Style(style) => style,
            other => panic!("{cells:?}: {other:?}"),
        }
    }

    #[test]
    fn dates_are_read_and_written_in_their_pattern() {
        for (cells, written) in [
            (vec!["2021-03-04", "2021-12-31"], "2021-03-05"),
            (vec!["04.03.2021", "31.12.2021"], "05.03.2021"),
            (vec!["3/4/2021", "12/31/2021"], "3/5/2021"),
            (vec!["04/03/2021", "31/12/2021"], "05/03/2021"),
            (vec!["04 Mar 2021", "31 Dec 2021"], "05 Mar 2021"),
        ] {
            let style = style(&cells);
            let first = style.parse(cells[0]).expect("a date");
            assert_eq!(first, 18690.0, "{cells:?}");
            assert_eq!(style.format(first), cells[0]);
            assert_eq!(style.format(first + 0.7), written);
        }
        let times = style(&["2021-03-04T12:00:00Z", "2021-03-05T06:30:00Z"]);
        assert_eq!(times.parse("2021-03-04T12:00:00Z"), Some(18690.5));
        assert_eq!(times.format(18690.25), "2021-03-04T06:00:00Z");
    }

    #[test]
    fn what_cannot_be_told_is_left_open() {
        let open = ["03/04/2021", "05/06/2021"];
        assert_eq!(DateStyle::detect(open.into_iter(), None), DetectedDates::Open);
        let given = DateStyle::detect(open.into_iter(), Some(DateOrder::MonthFirst));
        let DetectedDates::Style(style) = given else { panic!("{given:?}") };
        assert_eq!(style.format(18690.0), "03/04/2021");
        for none in
            [["1.5.2", "x"], ["12345", "67890"], ["2021-03-04", "soon"], ["03/04/21", "05/06/21"]]
        {
            assert_eq!(DateStyle::detect(none.into_iter(), None), DetectedDates::None);
        }
    }
}
