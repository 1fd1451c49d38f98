//! A fuzzer of the reader: nearly valid text, truncated, spliced and damaged, seeded and in parallel.

use burnrank::data::trec::{parse_qrels, parse_run};
use burnrank::data::{Chunks, Rows, Skipped, Zeros, parse_scores, write_to};
use burnrank::data::{ReadReport, read_bytes};
use burnrank::{Dataset, ReadOptions, WriteOptions, read};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::io::{Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::NamedTempFile;

/// Reads `bytes` in ways that must agree, and writes back what is valid. Returns whether it was.
///
/// # Panics
/// If two ways disagree, or if a round trip through a file changes the data.
pub fn check(bytes: &[u8]) -> bool {
    check_as(bytes, None, None)
}

/// Like [`check`], with a stated number of features, which keeps matrices small, and through `file` if it is given.
fn check_as(bytes: &[u8], width: Option<usize>, file: Option<&mut NamedTempFile>) -> bool {
    let strict = ReadOptions { width, ..ReadOptions::default() };
    let first = read_bytes("f", bytes, &strict);
    let in_blocks = read_bytes("f", bytes, &ReadOptions { block_bytes: 7, ..strict.clone() });
    match (&first, &in_blocks) {
        (Ok(a), Ok(b)) => assert_eq!(a, b),
        (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string()),
        _ => panic!("blocks matter"),
    }
    let lenient = ReadOptions { lenient: true, ..strict.clone() };
    let kept = read_bytes("f", bytes, &lenient);
    let regroup = ReadOptions { regroup: true, ..lenient.clone() };
    for other in [&kept, &read_bytes("f", bytes, &regroup)] {
        match (&first, other) {
            (Ok(a), Ok(b)) => assert_eq!(a, b),
            (Ok(_), Err(error)) => panic!("lenient is stricter: {error}"),
            (Err(_), Ok(b)) => assert!(b.skipped.lines > 0 || b.rows.ranges.len() > 1),
            (Err(_), Err(_)) => {}
        }
    }
    // Uncompressed input that looks compressed is only for the other readers.
    let plain = !looks_packed(bytes);
    for (whole, options) in [(&first, &strict), (&kept, &lenient)] {
        if plain {
            agree(whole, in_chunks(bytes.to_vec(), 1 + bytes.len() % 50, options));
        }
    }
    // Compression and files are slower: alternately one of them strictly, the other leniently.
    let (mut one, mut other) = ((&first, &strict), (&kept, &lenient));
    if bytes.len() % 4 < 2 {
        std::mem::swap(&mut one, &mut other);
    }
    agree(one.0, in_chunks(packed(bytes), 1 + bytes.len() % 70, one.1));
    if let Some(file) = file.filter(|_| plain) {
        through_file(other.0, bytes, file, other.1);
    }
    let Ok(report) = first else { return false };
    // Wide matrices would only test memory.
    if report.data.features().len() < 10_000 {
        let mut text = Vec::new();
        write_to(&mut text, &report.data, &WriteOptions { first_index: 1, zeros: Zeros::Omit }).unwrap();
        assert_eq!(read_bytes("f", &text, &strict).unwrap().data, report.data);
    }
    true
}

/// Whether the first bytes are those of an archive or a compressed file.
fn looks_packed(bytes: &[u8]) -> bool {
    [&b"\x1f\x8b"[..], b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"BZh", b"\xfd7zX"]
        .iter()
        .any(|head| bytes.starts_with(head))
        || matches!(bytes, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Returns the bytes as gzip or Zstandard, alternating.
fn packed(bytes: &[u8]) -> Vec<u8> {
    if bytes.len().is_multiple_of(2) {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        encoder.write_all(bytes).unwrap();
        return encoder.finish().unwrap();
    }
    // One raw block: a separate encoder for each input would be most of the work.
    let mut frame = b"\x28\xb5\x2f\xfd\x20".to_vec();
    if bytes.len() > 255 {
        return zstd::encode_all(bytes, 1).unwrap();
    }
    frame.push(bytes.len() as u8);
    frame.extend_from_slice(&((bytes.len() as u32) << 3 | 1).to_le_bytes()[..3]);
    frame.extend_from_slice(bytes);
    frame
}

/// Result of reading in chunks.
struct Chunked {
    parts: burnrank::Result<Vec<Dataset>>,
    skipped: Skipped,
    rows: Rows,
}

fn in_chunks(bytes: Vec<u8>, size: usize, options: &ReadOptions) -> Chunked {
    let chunks = Chunks::from_reader("f", std::io::Cursor::new(bytes), options);
    let mut chunks = chunks.expect("text, or what we packed").with_chunk_bytes(size);
    let mut parts = Ok(Vec::new());
    let mut rows = Rows::default();
    while let Some(chunk) = chunks.next() {
        match (chunk, &mut parts) {
            (Ok(chunk), Ok(all)) => all.push(chunk),
            (Err(error), _) => parts = Err(error),
            (Ok(_), Err(_)) => panic!("more after an error"),
        }
        for range in chunks.rows() {
            match rows.ranges.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => rows.ranges.push(range.clone()),
            }
        }
    }
    rows.total = chunks.total_rows();
    Chunked { parts, skipped: chunks.skipped().clone(), rows }
}

/// Checks that chunks give the documents, or the error, of the whole file.
fn agree(whole: &burnrank::Result<ReadReport>, chunked: Chunked) {
    match (whole, chunked.parts) {
        (Ok(whole), Ok(parts)) => {
            assert_eq!((&whole.skipped, &whole.rows), (&chunked.skipped, &chunked.rows));
            let mut first = 0;
            for query in parts.iter().flat_map(|part| part.queries().map(move |query| (part, query))) {
                let (part, query) = query;
                let rows = first..first + query.rows.len();
                assert_eq!(whole.data.labels()[rows.clone()], *query.labels);
                let ids = |data: &Dataset, row| data.document_id(row).unwrap_or_default().to_owned();
                rows.clone().zip(query.rows).for_each(|(a, b)| assert_eq!(ids(&whole.data, a), ids(part, b)));
                if part.n_features() == whole.data.n_features() {
                    let width = part.n_features();
                    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
                    let whole = &whole.data.features()[rows.start * width..rows.end * width];
                    assert_eq!(bits(whole), bits(&query.features));
                }
                first = rows.end;
            }
            assert_eq!(first, whole.data.n_documents());
            assert!(parts.iter().flat_map(Dataset::query_ids).eq(whole.data.query_ids()));
        }
        (Err(whole), Err(parts)) => assert_eq!(whole.to_string(), parts.to_string()),
        (whole, parts) => panic!("{whole:?} but {parts:?}"),
    }
}

/// Checks that a file is read like the same bytes in memory.
fn through_file(whole: &burnrank::Result<ReadReport>, bytes: &[u8], file: &mut NamedTempFile, options: &ReadOptions) {
    // Not truncated first: some file systems then write the file to disk at once.
    file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(bytes)).unwrap();
    file.as_file().set_len(bytes.len() as u64).unwrap();
    match (whole, read(file.path(), &ReadOptions { block_bytes: 9, ..options.clone() })) {
        (Ok(a), Ok(b)) => {
            let mark = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
            assert_eq!((&a.data, &a.rows, bytes.len() as u64 - mark), (&b.data, &b.rows, b.bytes));
        }
        (Err(a), Err(b)) => {
            let b = b.to_string().replace(&*file.path().to_string_lossy(), "f");
            assert_eq!(a.to_string(), b);
        }
        (a, b) => panic!("{a:?} but {b:?}"),
    }
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

/// Damages a few bytes, tokens or ranges.
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

/// Calls `with` with `count` inputs that depend only on `seed`.
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

/// Checks `count` inputs and returns the number of valid files.
fn run(count: u64) -> u64 {
    const BATCH: u64 = 1_000;
    let (next, good) = (AtomicU64::new(0), AtomicU64::new(0));
    let work = &|| {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        loop {
            let batch = next.fetch_add(1, Ordering::Relaxed);
            if batch * BATCH >= count {
                return;
            }
            let mut number = 0_u64;
            inputs(batch, BATCH.min(count - batch * BATCH), |bytes| {
                number += 1;
                // Mostly with a stated width: a million columns per document would be most of the work.
                let width = (!number.is_multiple_of(64)).then_some(64);
                let check = || u64::from(check_as(bytes, width, Some(&mut file)));
                let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(check));
                let Ok(is_good) = checked else { panic!("on the input b\"{}\"", bytes.escape_ascii()) };
                good.fetch_add(is_good, Ordering::Relaxed);
                // The other readers get the same bytes; only panics matter.
                let _ = (parse_run("f", bytes), parse_qrels("f", bytes), parse_scores("f", bytes));
            });
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            // A pool of one thread each, because the work is too small for several.
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            scope.spawn(move || pool.install(work));
        }
    });
    good.into_inner()
}

/// Reads every input as a whole, from memory and from a file, and in chunks, plain and compressed.
///
/// `BURNRANK_FUZZ=10000000 cargo test --release --test reading spoilt_files -- --nocapture`
#[test]
fn spoilt_files_never_make_it_panic() {
    let inputs = std::env::var("BURNRANK_FUZZ").ok().and_then(|text| text.parse().ok()).unwrap_or(10_000);
    let start = std::time::Instant::now();
    let good = run(inputs);
    println!("{inputs} inputs, {good} of them good files, no panic, {:.0} s", start.elapsed().as_secs_f64());
    // Both valid and invalid inputs must have occurred.
    assert!((inputs / 10..inputs / 10 * 9).contains(&good), "{good} good inputs");
}
