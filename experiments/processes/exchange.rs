//! Time of an exchange between two processes: a gather, as in training after each batch.

use super::Exchange;

/// Numbers of values that each process sends: one, and the gradients of all nets.
#[cfg(feature = "mpi")]
const LENGTHS: [usize; 4] = [1, 1_381, 100_741, 9_974_001];

/// Measures exchanges in processes started by a launcher; the first one prints the results.
#[cfg(feature = "mpi")]
pub fn child(transport: &str) -> anyhow::Result<()> {
    use burnrank::distributed::{Group, Mpi};
    let mpi = Mpi::start()?;
    let mut exchanges = Vec::new();
    for words in LENGTHS {
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
        exchanges.push(Exchange { transport: transport.to_owned(), words, seconds: best });
    }
    if mpi.rank() == 0 {
        println!("{}", serde_json::to_string(&exchanges)?);
    }
    Ok(())
}

/// Fails: this build has no MPI.
#[cfg(not(feature = "mpi"))]
pub fn child(_: &str) -> anyhow::Result<()> {
    anyhow::bail!("this build has no MPI: cargo run --release --features mpi --bin experiments -- processes")
}

/// Parses the output of [`child`].
pub fn parse(text: &str) -> anyhow::Result<Vec<Exchange>> {
    Ok(serde_json::from_str(text.trim())?)
}
