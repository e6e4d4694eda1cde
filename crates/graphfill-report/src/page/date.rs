//! Dates in the ISO form, from days since 1970-01-01, and the ticks of an axis of dates.

use crate::figure::interval::Interval;
use crate::figure::ticks::{Tick, ticks as number_ticks};

/// Days beyond which a number is not shown as a date: the years 0001 to 9999.
const DAYS: std::ops::RangeInclusive<f64> = -719_162.0..=2_932_896.0;

/// A day as "2024-02-29"; none for numbers that are no days of the years 1 to 9999.
pub(super) fn iso(days: f64) -> Option<String> {
    let days = days.floor();
    DAYS.contains(&days).then(|| {
        let (year, month, day) = civil(days as i64);
        format!("{year:04}-{month:02}-{day:02}")
    })
}

/// A step between ticks.
#[derive(Debug, Clone, Copy)]
enum Step {
    Days(i64),
    Months(i64),
    Years(i64),
}

/// From the finest to the coarsest.
const STEPS: [Step; 19] = [
    Step::Days(1),
    Step::Days(2),
    Step::Days(5),
    Step::Days(10),
    Step::Months(1),
    Step::Months(2),
    Step::Months(3),
    Step::Months(6),
    Step::Years(1),
    Step::Years(2),
    Step::Years(5),
    Step::Years(10),
    Step::Years(20),
    Step::Years(50),
    Step::Years(100),
    Step::Years(200),
    Step::Years(500),
    Step::Years(1000),
    Step::Years(2000),
];

/// The ticks of an axis of days, at most `max`: the finest days, months or years that are so few.
pub(super) fn ticks(interval: &Interval, max: usize) -> Vec<Tick> {
    let (low, high) = (interval.low, interval.high);
    if !DAYS.contains(&low) || !DAYS.contains(&high) {
        return number_ticks(interval, max);
    }
    let tick = |(day, label): (i64, String)| Tick {
        place: interval.place(day as f64).unwrap_or(0.0).clamp(0.0, 1.0),
        label,
    };
    for step in STEPS {
        // Whole dates are long.
        let (days, max) = match step {
            Step::Days(days) => (days, max.min(3)),
            Step::Months(months) => (months * 28, max),
            Step::Years(years) => (years * 365, max),
        };
        if (high - low) / days as f64 > (2 * max + 2) as f64 {
            continue;
        }
        let found = step.between(low, high);
        if (1..=max).contains(&found.len()) {
            return found.into_iter().map(tick).collect();
        }
    }
    number_ticks(interval, max)
}

impl Step {
    /// The days of the ticks with their labels.
    fn between(self, low: f64, high: f64) -> Vec<(i64, String)> {
        let (first, last) = (low.ceil() as i64, high.floor() as i64);
        let (first_year, last_year) = (civil(first).0, civil(last).0 + 1);
        let all: Vec<(i64, String)> = match self {
            Step::Days(step) => (first..=last)
                .step_by(step as usize)
                .map(|day| (day, iso(day as f64).unwrap_or_default()))
                .collect(),
            Step::Months(step) => (first_year * 12..=last_year * 12)
                .step_by(step as usize)
                .map(|month| (month.div_euclid(12), month.rem_euclid(12) + 1))
                .map(|(year, month)| (first_day(year, month), format!("{year:04}-{month:02}")))
                .collect(),
            Step::Years(step) => (first_year.div_euclid(step) * step..=last_year)
                .step_by(step as usize)
                .map(|year| (first_day(year, 1), format!("{year:04}")))
                .collect(),
        };
        all.into_iter().filter(|(day, _)| (first..=last).contains(day)).collect()
    }
}

/// Year, month and day of a day, by the algorithm of Howard Hinnant.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// The first day of a month.
fn first_day(year: i64, month: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Scale;

    #[test]
    fn days_become_dates() {
        for (days, date) in [
            (0.0, "1970-01-01"),
            (-1.0, "1969-12-31"),
            (19_782.0, "2024-02-29"),
            (19_782.7, "2024-02-29"),
            (-719_162.0, "0001-01-01"),
            (2_932_896.0, "9999-12-31"),
        ] {
            assert_eq!(iso(days).as_deref(), Some(date));
        }
        assert_eq!(iso(f64::NAN), None);
        assert_eq!(iso(1e9), None);
    }

    #[test]
    fn months_begin_where_the_calendar_says() {
        for day in -800_000..800_000 {
            let (year, month, date) = civil(day);
            assert_eq!(first_day(year, month) + date - 1, day);
        }
    }

    #[test]
    fn ticks_are_few_and_on_the_axis() {
        for length in [1.0, 5.0, 20.0, 90.0, 400.0, 2000.0, 20_000.0, 700_000.0] {
            let interval =
                Interval { low: 10_000.3, high: 10_000.3 + length, scale: Scale::Linear };
            let ticks = ticks(&interval, 5);
            assert!((1..=5).contains(&ticks.len()), "{length}: {ticks:?}");
            assert!(ticks.iter().all(|tick| (0.0..=1.0).contains(&tick.place)));
        }
        let interval = Interval { low: 0.0, high: 3700.0, scale: Scale::Linear };
        let labels: Vec<String> = ticks(&interval, 4).into_iter().map(|tick| tick.label).collect();
        assert_eq!(labels, ["1970", "1975", "1980"]);
    }
}
