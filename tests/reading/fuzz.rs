//! A fuzzer of the reader: near-valid texts, cut, spliced and spoilt, seeded and in parallel.

use burnrank::{ReadOptions, WriteOptions, Zeros, parse_qrels, parse_run, parse_scores, read_bytes, write_to};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// Reads `bytes` in ways that must agree, and writes back what is good. Tells whether it was.
///
/// # Panics
/// When two ways disagree, or the data changes on its way through a file.
pub fn check(bytes: &[u8]) -> bool {
    let strict = ReadOptions::default();
    let first = read_bytes("f", bytes, &strict);
    let in_blocks = read_bytes("f", bytes, &ReadOptions { block_bytes: 7, ..strict.clone() });
    match (&first, &in_blocks) {
        (Ok(a), Ok(b)) => assert_eq!(a, b),
        (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string()),
        _ => panic!("blocks matter"),
    }
    let lenient = ReadOptions { lenient: true, regroup: bytes.len().is_multiple_of(2), ..strict.clone() };
    match (&first, read_bytes("f", bytes, &lenient)) {
        (Ok(a), Ok(b)) => assert_eq!(a, &b),
        (Ok(_), Err(error)) => panic!("lenient is stricter: {error}"),
        (Err(_), Ok(b)) => assert!(b.skipped.lines > 0 || lenient.regroup),
        (Err(_), Err(_)) => {}
    }
    let Ok(report) = first else { return false };
    // Wide matrices would make this a test of memory.
    if report.data.features().len() < 10_000 {
        let mut text = Vec::new();
        write_to(&mut text, &report.data, &WriteOptions { first_index: 1, zeros: Zeros::Omit }).unwrap();
        assert_eq!(read_bytes("f", &text, &strict).unwrap().data, report.data);
    }
    true
}

/// One line, mostly good.
fn line(rng: &mut impl Rng, to: &mut Vec<u8>) {
    let pick = |rng: &mut dyn Rng, from: &[&'static str]| from[rng.random_range(0..from.len())];
    if rng.random_range(0..20) == 0 {
        to.extend_from_slice(pick(rng, &["", "#", "# c", " ", "\t#x", "\u{feff}", "docid = 3"]).as_bytes());
    } else {
        to.extend_from_slice(pick(rng, &["0", "1", "2", "0.5", "4", "1e0", "-0"]).as_bytes());
        to.extend_from_slice(pick(rng, &[" qid:", " qid:", " qid:", "\tqid:", "  qid:"]).as_bytes());
        to.extend_from_slice(pick(rng, &["1", "1", "1", "1", "2", "q", "3\u{e9}"]).as_bytes());
        let mut index = 0;
        for _ in 0..rng.random_range(0..6) {
            index += rng.random_range(0..30_u32).saturating_sub(24).max(1);
            to.extend_from_slice(format!(" {index}:").as_bytes());
            let value = match rng.random_range(0..6) {
                0 => f32::from_bits(rng.random()).to_string(),
                1 => format!("{:e}", f32::from_bits(rng.random())),
                2 => format!("{:.6}", rng.random::<f32>()),
                3 => f64::from_bits(rng.random::<u64>() & !(1 << 62)).to_string().chars().take(30).collect(),
                _ => rng.random_range(-99..99).to_string(),
            };
            to.extend_from_slice(value.as_bytes());
        }
        to.extend_from_slice(pick(rng, &["", "", "", " ", " # docid = d1 inc = 2", "#docid=", " # x"]).as_bytes());
    }
    to.extend_from_slice(pick(rng, &["\n", "\n", "\n", "\r\n"]).as_bytes());
}

/// Spoils a few bytes, tokens or stretches.
fn mutate(rng: &mut impl Rng, bytes: &mut Vec<u8>) {
    const TOKENS: [&[u8]; 24] = [
        b"nan",
        b"inf",
        b"1e999",
        b"-",
        b":",
        b"qid:",
        b"#",
        b"\n",
        b"\r",
        b"\t",
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"999999:1",
        b"0:1",
        b"99999999999:1",
        b"1:1 1:1",
        b" ",
        b"docid",
        b"=",
        b"1000000:2",
        b"1e-45",
        b".",
        b"+",
    ];
    for _ in 0..rng.random_range(0..4) {
        let at = rng.random_range(0..=bytes.len());
        let end = (at + rng.random_range(0..12)).min(bytes.len());
        match rng.random_range(0..6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.random_range(0..8),
            1 if at < bytes.len() => bytes[at] = rng.random(),
            2 => drop(bytes.drain(at..end)),
            3 => bytes.truncate(at),
            4 => {
                let copy = bytes[at..end].to_vec();
                let to = rng.random_range(0..=bytes.len());
                bytes.splice(to..to, copy);
            }
            _ => {
                let token = TOKENS[rng.random_range(0..TOKENS.len())];
                bytes.splice(at..at, token.iter().copied());
            }
        }
    }
}

/// Calls `with` with `count` inputs that depend on `seed` alone.
pub fn inputs(seed: u64, count: u64, mut with: impl FnMut(&[u8])) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut bytes = Vec::new();
    for _ in 0..count {
        bytes.clear();
        for _ in 0..rng.random_range(0..5) {
            line(&mut rng, &mut bytes);
        }
        mutate(&mut rng, &mut bytes);
        with(&bytes);
    }
}

/// Checks `count` inputs and tells how many were good files.
fn run(count: u64) -> u64 {
    const BATCH: u64 = 10_000;
    let good = AtomicU64::new(0);
    (0..count.div_ceil(BATCH)).into_par_iter().for_each(|batch| {
        inputs(batch, BATCH.min(count - batch * BATCH), |bytes| {
            if std::panic::catch_unwind(|| good.fetch_add(u64::from(check(bytes)), Ordering::Relaxed)).is_err() {
                panic!("on the input b\"{}\"", bytes.escape_ascii());
            }
            // The other readers see the same bytes; only a panic matters.
            let _ = (parse_run("f", bytes), parse_qrels("f", bytes), parse_scores("f", bytes));
        });
    });
    good.into_inner()
}

#[test]
fn spoilt_files_never_make_it_panic() {
    let good = run(30_000);
    // Both ways through the reader must have been taken.
    assert!((3_000..27_000).contains(&good), "{good} good inputs");
}

/// `cargo test --release --test reading -- --ignored --nocapture`
#[test]
#[ignore = "takes minutes"]
fn ten_million_spoilt_files_never_make_it_panic() {
    let start = std::time::Instant::now();
    let inputs = 10_500_000;
    let good = run(inputs);
    println!("{inputs} inputs, {good} of them good files, no panic, {:.0} s", start.elapsed().as_secs_f64());
}
