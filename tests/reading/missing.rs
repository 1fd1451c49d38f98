//! Missing values in text, compared with a reference reader on random lines.

use super::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const WIDTH: usize = 6;

/// Spellings of values: missing in any case, numbers, and text that is neither.
const VALUES: [&str; 40] = [
    "nan",
    "NaN",
    "NAN",
    "-nan",
    "+nan",
    "-NaN",
    "NA",
    "na",
    "Na",
    "N/A",
    "n/a",
    "?",
    "",
    "null",
    "NULL",
    "None",
    "none",
    "NONE",
    "0",
    "-0",
    "1",
    "-3.5",
    "1e-3",
    "7.25e2",
    "0.1",
    "123456.789",
    "+2",
    ".5",
    "3.",
    "1e-45", // numbers
    "nano",
    "NAN1",
    "??",
    "-",
    "N",
    "inf",
    "-Infinity",
    "1e39",
    "nil",
    "nan:", // bad
];

/// A random document line, mostly valid, and sometimes damaged at a random place.
fn line(random: &mut ChaCha8Rng) -> String {
    let mut text = format!("{} qid:1", random.random_range(0..5));
    let mut index = 0;
    for _ in 0..random.random_range(0..6) {
        index += random.random_range(1..=3);
        let bad = random.random_range(0..200) == 0;
        let value = VALUES[random.random_range(if bad { 30..40 } else { 0..30 })];
        let space = ["", " ", "\t", "  "][random.random_range(0..4_usize).min(1 + random.random_range(0..3_usize))];
        let space = if space.is_empty() { " " } else { space };
        text += &format!("{space}{}:{value}", index.min(WIDTH as i32));
    }
    if random.random_range(0..30) == 0 {
        let marker =
            ["nan", "?", ":", " :", " nan", " 2:", "2: 3", "1:NA:", " NA:1", "#?", "\t"][random.random_range(0..11)];
        text.insert_str(random.random_range(0..=text.len()), marker);
    }
    text
}

/// The features of a line, `None` if it is not valid: written from the description of the format, without the reader's code.
fn reference(line: &str, left_out: f32, missing: f32) -> Option<[f32; WIDTH]> {
    let data = line.split('#').next().unwrap_or_default();
    let mut words = data.split([' ', '\t']).filter(|word| !word.is_empty());
    let label: f32 = words.next()?.parse().ok().filter(|label: &f32| label.is_finite() && *label >= 0.0)?;
    let _ = label;
    words.next().and_then(|word| word.strip_prefix("qid:")).filter(|id| !id.is_empty())?;
    let mut row = [left_out; WIDTH];
    let mut seen = [false; WIDTH];
    for word in words {
        let (index, value) = word.split_once(':')?;
        if index.is_empty() || !index.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let index: usize = index.parse().ok().filter(|index| (1..=WIDTH).contains(index))?;
        if std::mem::replace(&mut seen[index - 1], true) {
            return None;
        }
        let word = value.to_ascii_lowercase();
        row[index - 1] = match word.trim_start_matches(['+', '-']) {
            "nan" if word.len() <= 4 => missing,
            _ if ["", "?", "na", "n/a", "null", "none"].contains(&&*word) => missing,
            _ => value.parse().ok().filter(|value: &f32| value.is_finite())?,
        };
    }
    Some(row)
}

/// `BURNRANK_FUZZ=1000000 cargo test --release --test reading reference_reader -- --nocapture`
#[test]
fn lines_with_missing_values_are_read_as_by_a_reference_reader() {
    const LINES: u64 = 500;
    let lines = std::env::var("BURNRANK_FUZZ").ok().and_then(|text| text.parse().ok()).unwrap_or(40_000);
    let (mut valid, mut missing_values) = (0, 0);
    for batch in 0..lines / LINES {
        let mut random = ChaCha8Rng::seed_from_u64(batch);
        let lines: Vec<String> = (0..LINES).map(|_| line(&mut random)).collect();
        let text = lines.join("\n");
        let (sparse_missing, null) = [(false, None), (true, None), (false, Some(-7.5))][(batch % 3) as usize];
        let options = ReadOptions {
            lenient: true,
            regroup: true,
            width: Some(WIDTH),
            sparse_missing,
            null,
            block_bytes: 1 << (6 + batch % 10),
            ..strict()
        };
        let missing = null.unwrap_or(f32::NAN);
        let left_out = if sparse_missing { missing } else { 0.0 };
        let report = read_bytes("f", text.as_bytes(), &options).unwrap();
        let rows: Vec<usize> = report.rows.ranges.iter().cloned().flatten().collect();
        // Lines that are only a comment or blank are no documents.
        let is_document =
            |line: &&String| !line.split('#').next().unwrap_or_default().trim_matches([' ', '\t']).is_empty();
        let documents: Vec<&String> = lines.iter().filter(is_document).collect();
        assert_eq!(report.rows.total, documents.len());
        let mut found = vec![None; documents.len()];
        rows.iter().enumerate().for_each(|(place, &row)| found[row] = Some(place));
        for (line, place) in documents.into_iter().zip(found) {
            let expected = reference(line, left_out, missing);
            let bits =
                |row: &[f32]| row.iter().map(|x| if x.is_nan() { u32::MAX } else { x.to_bits() }).collect::<Vec<_>>();
            let place = place.map(|place| &report.data.features()[place * WIDTH..][..WIDTH]);
            // Ids of queries may be damaged, too: only features are compared.
            match (expected, place) {
                (Some(expected), Some(found)) => assert_eq!(bits(found), bits(&expected), "{line:?}"),
                (None, None) => {}
                (expected, found) => panic!("{line:?}: {found:?}, not {expected:?}"),
            }
            valid += u64::from(expected.is_some());
            missing_values += expected.map_or(0, |row| row.iter().filter(|x| x.is_nan()).count());
        }
    }
    println!("{lines} lines, {valid} of them valid, with {missing_values} missing values");
    assert!(valid > lines / 2 && valid < lines && missing_values > 1000);
}
