//! Formatting of numbers.

/// Formats a value with a fixed number of decimals, or as a dash if it is not finite. Values that round to zero have no sign.
pub fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "-".into();
    }
    let text = format!("{value:.decimals$}");
    let zero = text.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
    if zero { text.trim_start_matches('-').to_owned() } else { text }
}

/// Formats a value as [`fixed`] does, with a sign unless it is zero.
pub fn signed(value: f64, decimals: usize) -> String {
    let text = fixed(value, decimals);
    let zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    if value > 0.0 && !zero && value.is_finite() { format!("+{text}") } else { text }
}

/// Formats a number with four significant digits and without trailing zeros, such as 0.0985 or 12.5; in scientific notation if
/// it is very small or large, and as a dash if it is not finite.
///
/// ```
/// use burnrank::internal::text::number;
/// assert_eq!([0.3, 0.098_512, 12_345.6, 1e-7].map(number), ["0.3", "0.09851", "12346", "1.0e-7"]);
/// ```
pub fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || !size.is_finite() {
        return if size == 0.0 { "0".into() } else { "-".into() };
    }
    if !(1e-5..1e9).contains(&size) {
        return format!("{value:.1e}");
    }
    let before = size.log10().floor() as i32 + 1;
    let text = format!("{value:.*}", usize::try_from(4 - before).unwrap_or(0));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Formats a number with three significant digits, including trailing zeros.
pub fn three_digits(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v if v >= 1.0 => format!("{v:.2}"),
        v if v >= 0.1 => format!("{v:.3}"),
        v if v >= 0.01 => format!("{v:.4}"),
        v if v >= 0.001 => format!("{v:.5}"),
        v => format!("{v:.2e}"),
    }
}

/// Formats a large number in thousands, millions or billions, such as 2.35 M.
pub fn large(value: f64) -> String {
    match value {
        v if v >= 1e9 => format!("{:.2} G", v / 1e9),
        v if v >= 1e6 => format!("{:.2} M", v / 1e6),
        v if v >= 1e3 => format!("{:.1} k", v / 1e3),
        v => format!("{v:.1}"),
    }
}

/// Formats a p-value with four decimals, or as <0.0001.
pub fn p_value(p: Option<f64>) -> String {
    match p {
        None => "-".into(),
        Some(p) if p < 1e-4 => "<0.0001".into(),
        Some(p) => fixed(p, 4),
    }
}

/// Formats a fraction as a percentage, such as 12.5%.
pub fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// Formats an integer with thousands separators, such as 1,234,567.
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a count with its noun, such as "1 query" or "1,234 queries".
pub fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// Formats a duration in seconds, or in minutes from 2 minutes.
pub fn duration(seconds: f64) -> String {
    if seconds < 10.0 {
        return format!("{seconds:.1} s");
    }
    match seconds.round() as u64 {
        whole @ 0..120 => format!("{whole} s"),
        whole => format!("{} min", (whole + 30) / 60),
    }
}

/// Returns the number of decimals for which the largest value has four significant digits.
pub fn decimals_for(values: impl IntoIterator<Item = f64>) -> usize {
    let largest = values.into_iter().fold(0.0, |max: f64, value| max.max(value.abs()));
    if largest > 0.0 { (3 - largest.log10().floor() as i32).clamp(0, 12) as usize } else { 4 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted() {
        let written = [0.1, 10.0, 0.0985, -0.0, -0.012_345, 12_345.6, 1e-7, 0.300_000_000_04, f64::NAN].map(number);
        assert_eq!(written, ["0.1", "10", "0.0985", "0", "-0.01235", "12346", "1.0e-7", "0.3", "-"]);
        let written = [1.0, 0.009_921_4, 459.0, 99.0].map(number);
        assert_eq!(written, ["1", "0.009921", "459", "99"]);
        let texts = [fixed(-0.0, 4), fixed(-1e-9, 2), fixed(-0.25, 2), fixed(f64::NAN, 2), fixed(1234.5, 1)];
        assert_eq!(texts, ["0.0000", "0.00", "-0.25", "-", "1234.5"]);
        let texts = [signed(0.25, 2), signed(-0.25, 2), signed(1e-9, 2), signed(-0.0, 2), signed(f64::INFINITY, 2)];
        assert_eq!(texts, ["+0.25", "-0.25", "0.00", "0.00", "-"]);
        assert_eq!([p_value(Some(0.0123)), p_value(Some(9e-6)), p_value(None)], ["0.0123", "<0.0001", "-"]);
    }

    #[test]
    fn counts_have_separators() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (12_345, "12,345"), (1_234_567, "1,234,567")] {
            assert_eq!(count(number), text);
        }
        assert_eq!((counted(1, "query", "queries"), percent(0.125)), ("1 query".into(), "12.5%".into()));
    }

    #[test]
    fn measurements_have_three_digits() {
        assert_eq!([123.4, 1.234, 0.012_34, 0.000_123_4].map(three_digits), ["123", "1.23", "0.0123", "1.23e-4"]);
        assert_eq!([1.5e9, 2.345e6, 7_000.0, 12.0].map(large), ["1.50 G", "2.35 M", "7.0 k", "12.0"]);
        assert_eq!([1.26, 119.4, 150.0].map(duration), ["1.3 s", "119 s", "3 min"]);
    }

    #[test]
    fn decimals_are_chosen_for_the_largest_number() {
        assert_eq!((decimals_for([0.0123, -0.5]), decimals_for([0.0]), decimals_for([12.0])), (4, 4, 2));
    }
}
