//! Numbers as a reader wants them: as many decimals as the step needs, thousands as k, millions
//! as M, a power of ten where a number is very large or very small.

const MINUS: char = '\u{2212}';
/// Keeps thousands apart where k would need too many decimals.
const THIN_SPACE: char = '\u{2009}';

/// The labels of marks that are `step` apart: all of one form.
pub(crate) fn labels(values: &[f64], step: f64) -> Vec<String> {
    let largest = values.iter().fold(0f64, |largest, value| largest.max(value.abs()));
    let form = Form::of(largest, step);
    values.iter().map(|value| form.label(*value, step)).collect()
}

/// The labels of mantissa · 10^exponent.
pub(crate) fn decimal_labels(values: &[(u8, i32)]) -> Vec<String> {
    let plain = values.iter().all(|(_, exponent)| (-3..9).contains(exponent));
    let thousands = values.iter().any(|(_, exponent)| *exponent >= 4);
    values
        .iter()
        .map(|&(mantissa, exponent)| {
            if !plain {
                return match mantissa {
                    1 => format!("10{}", superscript(exponent)),
                    _ => format!("{mantissa}×10{}", superscript(exponent)),
                };
            }
            let (shift, unit) = match exponent {
                6.. => (6, "M"),
                3.. if thousands => (3, "k"),
                _ => (0, ""),
            };
            let decimals = usize::try_from(-exponent).unwrap_or(0);
            let value = f64::from(mantissa) * 10f64.powi(exponent - shift);
            format!("{value:.decimals$}{unit}")
        })
        .collect()
}

/// The form that all labels of an axis share.
enum Form {
    Plain,
    /// In thousands or millions.
    Unit(f64, &'static str),
    /// Digits in groups of three.
    Grouped,
    /// Times this power of ten.
    Power(i32),
}

impl Form {
    fn of(largest: f64, step: f64) -> Form {
        const MAX_DECIMALS: usize = 2;
        if largest >= 1e9 || (largest > 0.0 && largest < 1e-3) {
            return Form::Power((largest.log10() + 1e-9).floor() as i32);
        }
        let (unit, letter) = match largest {
            1e6.. => (1e6, "M"),
            1e4.. => (1e3, "k"),
            _ => return Form::Plain,
        };
        if decimals(step / unit) <= MAX_DECIMALS { Form::Unit(unit, letter) } else { Form::Grouped }
    }

    fn label(&self, value: f64, step: f64) -> String {
        // Half a step from zero is zero: what is left of it is rounding.
        if value.abs() < step / 2.0 && !matches!(self, Form::Plain) {
            return "0".to_owned();
        }
        match *self {
            Form::Plain => fixed(value, step),
            Form::Unit(unit, letter) => fixed(value / unit, step / unit) + letter,
            Form::Grouped => grouped(&fixed(value, step)),
            Form::Power(exponent) => {
                let power = 10f64.powi(exponent);
                format!("{}×10{}", fixed(value / power, step / power), superscript(exponent))
            }
        }
    }
}

/// How many decimals tell multiples of `step` apart.
fn decimals(step: f64) -> usize {
    const MAX_DECIMALS: i32 = 12;
    (-(step.log10() + 1e-9).floor() as i32).clamp(0, MAX_DECIMALS) as usize
}

fn fixed(value: f64, step: f64) -> String {
    let text = format!("{:.*}", decimals(step), value.abs());
    let zero = text.chars().all(|digit| digit == '0' || digit == '.');
    if value < 0.0 && !zero { format!("{MINUS}{text}") } else { text }
}

/// The digits of a number in groups of three.
pub(crate) fn grouped(text: &str) -> String {
    let whole = text.find('.').unwrap_or(text.len());
    let mut grouped = String::with_capacity(text.len() * 2);
    for (index, digit) in text.char_indices() {
        let left = text[index..whole.max(index)].len();
        let after_digit = grouped.chars().next_back().is_some_and(|last| last.is_ascii_digit());
        if left > 0 && left % 3 == 0 && after_digit {
            grouped.push(THIN_SPACE);
        }
        grouped.push(digit);
    }
    grouped
}

/// An exponent in raised digits.
pub(crate) fn superscript(exponent: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    exponent
        .to_string()
        .chars()
        .map(|letter| letter.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        assert_eq!(labels(&[0.0, 0.05, 0.1], 0.05), ["0.00", "0.05", "0.10"]);
        assert_eq!(labels(&[0.0, 5000.0, 10_000.0], 5000.0), ["0", "5k", "10k"]);
        assert_eq!(labels(&[10_000.0, 10_500.0], 500.0), ["10.0k", "10.5k"]);
        assert_eq!(labels(&[0.0, 5e5, 1e6], 5e5), ["0", "0.5M", "1.0M"]);
        let grouped = ["−1\u{2009}000\u{2009}000", "1\u{2009}002\u{2009}000"];
        assert_eq!(labels(&[-1e6, 1_002_000.0], 2000.0), grouped);
        assert_eq!(labels(&[0.0, 5e-5, 1e-4], 5e-5), ["0", "0.5×10⁻⁴", "1.0×10⁻⁴"]);
        assert_eq!(labels(&[1e12, 2e12], 1e12), ["1×10¹²", "2×10¹²"]);
        assert_eq!(labels(&[-0.0, 0.1], 0.1), ["0.0", "0.1"]);
        assert_eq!(labels(&[0.1 + 0.2], 0.1), ["0.3"]);
    }

    #[test]
    fn powers() {
        assert_eq!(decimal_labels(&[(1, -2), (5, 0), (2, 3)]), ["0.01", "5", "2000"]);
        assert_eq!(decimal_labels(&[(1, 3), (1, 4), (2, 6)]), ["1k", "10k", "2M"]);
        assert_eq!(decimal_labels(&[(1, -5), (2, -1)]), ["10⁻⁵", "2×10⁻¹"]);
    }
}
