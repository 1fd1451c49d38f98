//! Parsing decimal text to the nearest `f32`, bit for bit as `str::parse` does, but several times faster.
//!
//! A number of up to 19 digits is `w * 10^e` with a 64-bit integer `w`. Computed in f64 from a table of powers, it has an error of
//! a few units in the last of 53 bits, which affects the 24 bits of an f32 only next to the midpoint of two adjacent f32. Those
//! rare numbers, and every unusual spelling, are left to the standard library.

/// 10^-30 to 10^30.
#[rustfmt::skip]
const POWERS: [f64; 61] = [
    1e-30, 1e-29, 1e-28, 1e-27, 1e-26, 1e-25, 1e-24, 1e-23, 1e-22, 1e-21, 1e-20, 1e-19, 1e-18, 1e-17, 1e-16, 1e-15,
    1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1,
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30,
];

/// 10^0 to 10^8, to shift a mantissa.
const SHIFTS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Bits of an f64 mantissa below those of an f32.
const LOW_BITS: u64 = (1 << 29) - 1;

/// Low bits of the midpoint of two adjacent f32.
const MIDPOINT: u64 = 1 << 28;

/// Upper bound on the error of the f64 product in units in the last place: 1/2 each for the conversion of the integer, the table
/// entry and the product, at most doubled by the ratio of relative error to units in the last place.
const MAX_ERROR: u64 = 8;

/// Why text is not a finite number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadNumber {
    /// The text is not a number.
    Text,
    /// The text is "nan".
    Nan,
    /// The text is "inf", or the number exceeds the largest f32.
    Infinite,
}

/// Parses all of `text` as the nearest finite `f32`.
pub(crate) fn parse_f32(text: &[u8]) -> Result<f32, BadNumber> {
    let value = match scan_f32(text) {
        Some((value, length)) if length == text.len() => value,
        _ => {
            let text = std::str::from_utf8(text).map_err(|_| BadNumber::Text)?;
            text.parse::<f32>().map_err(|_| BadNumber::Text)?
        }
    };
    match value {
        _ if value.is_nan() => Err(BadNumber::Nan),
        _ if value.is_infinite() => Err(BadNumber::Infinite),
        _ => Ok(value),
    }
}

/// Words for missing values, in any case.
const MISSING: [&[u8]; 7] = [b"", b"?", b"na", b"nan", b"n/a", b"null", b"none"];

/// Whether the text means that a value is missing: it is empty, `?`, `NA`, `N/A`, `null`, `None` or `NaN`, with or without a
/// sign.
pub(crate) fn is_missing(text: &[u8]) -> bool {
    MISSING.iter().any(|word| text.eq_ignore_ascii_case(word)) || parse_f32(text) == Err(BadNumber::Nan)
}

/// Parses all of `text` as the nearest finite `f64`.
pub(crate) fn parse_f64(text: &[u8]) -> Result<f64, BadNumber> {
    let text = std::str::from_utf8(text).map_err(|_| BadNumber::Text)?;
    match text.parse::<f64>().map_err(|_| BadNumber::Text)? {
        value if value.is_nan() => Err(BadNumber::Nan),
        value if value.is_infinite() => Err(BadNumber::Infinite),
        value => Ok(value),
    }
}

/// Parses the number at the start of `tail`. Returns it with its length, or `None` if its spelling or value is unusual.
#[inline(always)]
pub(super) fn scan_f32(tail: &[u8]) -> Option<(f32, usize)> {
    let negative = *tail.first()? == b'-';
    let whole = usize::from(negative);
    let (mut mantissa, mut at) = digits(tail, whole, 0);
    let mut count = at - whole;
    let mut exponent = 0_isize;
    if tail.get(at) == Some(&b'.') {
        let fraction = at + 1;
        (mantissa, at) = digits(tail, fraction, mantissa);
        count += at - fraction;
        exponent = fraction as isize - at as isize;
    }
    if count == 0 || count > 19 {
        return None;
    }
    if let Some(b'e' | b'E') = tail.get(at) {
        let (shift, end) = scan_exponent(tail, at + 1)?;
        exponent += shift;
        at = end;
    }
    let magnitude = nearest(mantissa, exponent)?;
    Some((if negative { -magnitude } else { magnitude }, at))
}

/// Parses the decimal exponent at `at`. Returns it with its end.
fn scan_exponent(tail: &[u8], at: usize) -> Option<(isize, usize)> {
    let sign = *tail.get(at)?;
    let start = at + usize::from(sign == b'-' || sign == b'+');
    let (value, end) = digits(tail, start, 0);
    if end == start || end - start > 4 {
        return None;
    }
    let value = value as isize;
    Some((if sign == b'-' { -value } else { value }, end))
}

/// Returns the f32 nearest to `mantissa * 10^exponent`, or `None` if the f64 product is too close to a midpoint.
#[inline(always)]
fn nearest(mantissa: u64, exponent: isize) -> Option<f32> {
    let power = *POWERS.get(usize::try_from(exponent + 30).ok()?)?;
    let product = mantissa as f64 * power;
    let distance = (product.to_bits() & LOW_BITS).abs_diff(MIDPOINT);
    // Midpoints of subnormal f32 have other low bits; zero is exact.
    let tiny = product < 2.0 * f64::from(f32::MIN_POSITIVE) && mantissa != 0;
    if distance <= MAX_ERROR || tiny { None } else { Some(product as f32) }
}

/// Appends the digits at `at` to `mantissa`, wrapping beyond 19 digits. Returns the mantissa and the end of the digits.
#[inline(always)]
pub(super) fn digits(tail: &[u8], mut at: usize, mut mantissa: u64) -> (u64, usize) {
    while let Some(eight) = tail.get(at..at + 8).and_then(|eight| <[u8; 8]>::try_from(eight).ok()) {
        let (value, count) = leading_digits(u64::from_le_bytes(eight));
        mantissa = mantissa.wrapping_mul(SHIFTS[count]).wrapping_add(value);
        at += count;
        if count < 8 {
            return (mantissa, at);
        }
    }
    while let Some(digit) = tail.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    (mantissa, at)
}

/// Returns the value and the number of leading digits of eight bytes, computed in parallel within a word.
#[inline(always)]
fn leading_digits(eight: u64) -> (u64, usize) {
    let values = eight ^ 0x3030_3030_3030_3030;
    // Bit 7 is set in the first byte that is not a digit. Its carry may corrupt later bytes, which are ignored.
    let others = (values.wrapping_add(0x7676_7676_7676_7676) | values) & 0x8080_8080_8080_8080;
    let count = (others.trailing_zeros() / 8) as usize;
    if count == 0 {
        return (0, 0);
    }
    // Shifts the digits to the high bytes, behind leading zeros.
    let aligned = values << (64 - 8 * count);
    let pairs = (aligned.wrapping_mul(10).wrapping_add(aligned >> 8)) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs.wrapping_mul(100).wrapping_add(pairs >> 16)) & 0x0000_FFFF_0000_FFFF;
    let all = (fours.wrapping_mul(10_000).wrapping_add(fours >> 32)) & 0xFFFF_FFFF;
    (all, count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn assert_like_std(text: &str) {
        let expected = match text.parse::<f32>() {
            Err(_) => Err(BadNumber::Text),
            Ok(value) if value.is_nan() => Err(BadNumber::Nan),
            Ok(value) if value.is_infinite() => Err(BadNumber::Infinite),
            Ok(value) => Ok(value.to_bits()),
        };
        // Also with text after it, so that eight bytes can be loaded at a time.
        let long = format!("{text} 123456789");
        if let Some((value, length)) = scan_f32(long.as_bytes()) {
            assert_eq!(value.to_bits(), text[..length].parse::<f32>().unwrap().to_bits(), "{text}");
        }
        assert_eq!(parse_f32(text.as_bytes()).map(f32::to_bits), expected, "{text}");
    }

    #[test]
    fn all_spellings_parse_as_in_the_standard_library() {
        let texts = [
            "",
            "-",
            "+",
            ".",
            "-.",
            "1.",
            ".5",
            "+1",
            "-0",
            "-0.0",
            "00012",
            "1e5",
            "1E+5",
            "1e-5",
            "1e",
            "1e+",
            "1.5.2",
            "0x1",
            "1_0",
            " 1",
            "1 ",
            "nan",
            "-NaN",
            "inf",
            "-Infinity",
            "1e39",
            "-1e39",
            "1e-46",
            "1e-45",
            "7.0064923e-46",
            "1e99999",
            "0e99999",
            "3.4028235e38",
            "3.4028236e38",
            "340282356779733661637539395458142568447",
            "16777217",
            "16777216.99999999",
            "1.17549435e-38",
            "1.1754942e-38",
            "2.350988e-38",
            "123456789012345678901234567890",
            "0.000000000000000000000000001",
            "18446744073709551615",
            "9999999999999999999",
            "99999999999999999999",
            "1e00005",
            "1e-00005",
            "1é",
        ];
        texts.into_iter().for_each(assert_like_std);
    }

    #[test]
    fn random_numbers_parse_as_in_the_standard_library() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        for _ in 0..400_000 {
            let any = f32::from_bits(rng.random());
            let wide = f64::from_bits(rng.random());
            let unit: f64 = rng.random();
            let places = rng.random_range(0..18);
            let text = match rng.random_range(0..8) {
                0 => format!("{any}"),
                1 => format!("{any:e}"),
                2 => format!("{:.places$}", (unit - 0.5) * 1000.0),
                3 => format!("{unit}"),
                4 => format!("{wide:e}"),
                5 => format!("{}", rng.random::<u64>() >> rng.random_range(0..64)),
                6 => format!("{}.{}e{}", rng.random_range(0..1000), rng.random::<u32>(), rng.random_range(-60..45)),
                // Midpoints of adjacent f32, and the f64 next to them.
                _ => {
                    let midpoint = (f64::from(any.abs()) + f64::from(f32::from_bits(any.abs().to_bits() + 1))) / 2.0;
                    let bits = midpoint.to_bits().wrapping_add(rng.random_range(0..3)).wrapping_sub(1);
                    format!("{}", f64::from_bits(bits))
                }
            };
            assert_like_std(&text);
        }
    }

    #[test]
    fn short_decimals_parse_as_in_the_standard_library() {
        for number in (0..3_000_000).step_by(7) {
            assert_like_std(&format!("{}.{:06}", number / 1_000_000, number % 1_000_000));
        }
    }
}
