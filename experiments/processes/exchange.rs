//! How long two processes wait for each other: a gather, as training makes after each batch.

use super::Exchange;

/// Words that each process gives: one, and the gradients of all nets.
#[cfg(feature = "mpi")]
const WORDS: [usize; 4] = [1, 1_381, 100_741, 9_974_001];

/// Measures in processes that a launcher started; the first prints.
#[cfg(feature = "mpi")]
pub fn child(transport: &str) -> anyhow::Result<()> {
    use burnrank::distributed::{Group, Mpi};
    let mpi = Mpi::start()?;
    let mut found = Vec::new();
    for words in WORDS {
        let (own, lengths) = (vec![1; words], vec![words; mpi.size()]);
        let mut all = vec![0; words * mpi.size()];
        let calls = (20_000_000 / (words + 1_000)).clamp(5, 5_000);
        mpi.gather(&own, &lengths, &mut all)?;
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            let start = std::time::Instant::now();
            (0..calls).try_for_each(|_| mpi.gather(&own, &lengths, &mut all))?;
            best = best.min(start.elapsed().as_secs_f64() / calls as f64);
        }
        found.push(Exchange { transport: transport.to_owned(), words, seconds: best });
    }
    if mpi.rank() == 0 {
        println!("{}", serde_json::to_string(&found)?);
    }
    Ok(())
}

/// This build has no MPI.
#[cfg(not(feature = "mpi"))]
pub fn child(_: &str) -> anyhow::Result<()> {
    anyhow::bail!("this build has no MPI: cargo run --release --features mpi --bin experiments -- processes")
}

/// What a child printed.
pub fn parse(text: &str) -> anyhow::Result<Vec<Exchange>> {
    Ok(serde_json::from_str(text.trim())?)
}
