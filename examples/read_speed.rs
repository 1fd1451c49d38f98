//! How fast and how lean is reading? Prints MB/s for a file of 136 features, next to a plain copy of the same bytes in memory
//! and to one search for line ends over them.
//!
//! `cargo run --release --example read_speed [FILE]`; without a file, one of 150 MB is made in the temporary folder.

use burnrank::{ReadOptions, Result, read};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

const FEATURES: usize = 136;
const BYTES: usize = 150_000_000;
const ROUNDS: usize = 7;

fn main() -> Result<()> {
    let folder = tempfile::tempdir().map_err(|error| burnrank::Error::io("temporary folder", "create", error))?;
    let path = match std::env::args_os().nth(1) {
        Some(path) => PathBuf::from(path),
        None => {
            make(&folder.path().join("speed.txt")).map_err(|error| burnrank::Error::io("speed.txt", "write", error))?
        }
    };
    // The first reading is also the leanest moment of the program, so its peak is the reader's.
    let before = peak();
    let report = read(&path, &ReadOptions::default())?;
    let after = peak();
    let (bytes, matrix) = (report.bytes as f64, report.data.features().len() as f64 * 4.0);
    println!(
        "file       {:8.1} MB, {} documents, {} features",
        bytes / 1e6,
        report.data.n_documents(),
        report.data.n_features()
    );
    drop(report);

    let speed = |name: &str, work: &mut dyn FnMut()| {
        let mut seconds: Vec<f64> = (0..ROUNDS)
            .map(|_| {
                let start = Instant::now();
                work();
                start.elapsed().as_secs_f64()
            })
            .collect();
        seconds.sort_by(f64::total_cmp);
        let (best, median) = (bytes / seconds[0] / 1e6, bytes / seconds[ROUNDS / 2] / 1e6);
        println!("{name:<10} {median:8.0} MB/s median of {ROUNDS}, {best:.0} MB/s best");
    };
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    speed(&format!("read, {all}"), &mut || drop(black_box(read(&path, &ReadOptions::default()))));
    let single = ReadOptions { threads: 1, ..ReadOptions::default() };
    speed("read, 1", &mut || drop(black_box(read(&path, &single))));

    let text = std::fs::read(&path).map_err(|error| burnrank::Error::io(&path, "read", error))?;
    let mut copy = vec![0_u8; text.len()];
    speed("copy", &mut || black_box(&mut copy).copy_from_slice(black_box(&text)));
    speed("memchr", &mut || {
        black_box(memchr::memchr_iter(b'\n', &text).count());
    });
    if let (Some(before), Some(after)) = (before, after) {
        let above = (after - before) / 1e6;
        println!("peak       {above:8.1} MB above the start, of which the matrix is {:.1} MB", matrix / 1e6);
    }
    Ok(())
}

/// The process's largest resident memory so far, where the system tells.
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kilobytes| kilobytes * 1024.0)
}

/// A file like those of MSLR-WEB: counts, fractions and negative logarithms.
fn make(path: &Path) -> std::io::Result<PathBuf> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut writer = std::io::BufWriter::new(std::fs::File::create(path)?);
    let (mut written, mut line) = (0, String::new());
    for document in 0.. {
        line.clear();
        let _ = write!(line, "{} qid:{}", rng.random_range(0..5), document / 120 + 1);
        for feature in 1..=FEATURES {
            let value: f32 = rng.random();
            let _ = match feature % 4 {
                0 => write!(line, " {feature}:{}", (value * 300.0) as u32),
                1 => write!(line, " {feature}:{value:.6}"),
                2 => write!(line, " {feature}:{:.6}", -30.0 * value),
                _ => write!(line, " {feature}:{}", (value * 2.0) as u32),
            };
        }
        line.push('\n');
        writer.write_all(line.as_bytes())?;
        written += line.len();
        if written >= BYTES {
            break;
        }
    }
    writer.flush()?;
    Ok(path.to_path_buf())
}
