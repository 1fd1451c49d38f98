//! `burnrank serve`: an HTTP server that scores.

#[cfg(feature = "serve")]
mod run;

use std::path::PathBuf;

const EXAMPLES: &str = r#"Examples:
  burnrank serve --model model
  burnrank serve --model model --listen 127.0.0.1:9000 --max-documents 1000

Ask with the features of one query's documents, raw as in the training files:
  curl -d '{"documents": [[0.5, 1, 7], [0.1, 0, 3]]}' localhost:8080/score
  {"scores":[1.25,-0.5],"order":[0,1]}

POST /score takes JSON, or f32 rows as bytes with 'Content-Type: application/octet-stream'; GET /health, /model and /metrics \
tell how it is, what it serves, and how much it has done (Prometheus). docs/serving.md has every detail.
SIGHUP reads the folder again: the old model answers until the new one is whole, and goes on when that is broken. Ctrl-C and \
SIGTERM end it, after the requests that have come in are answered; the exit code is 0.
There is no password and no encryption: only this machine is listened to, unless --listen says otherwise."#;

/// Score documents over HTTP
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[cfg_attr(not(feature = "serve"), allow(dead_code))] // that build says where to get one that serves
pub struct Args {
    /// The model folder
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// Address and port; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: String,
    /// The most bytes of a request, as in 500kB; more is answered with 413
    #[arg(long, value_name = "SIZE", default_value = "16MB", value_parser = super::bytes)]
    max_body: u64,
    /// The most documents of a request; more is answered with 400
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    max_documents: u32,
    /// The most requests that are scored or wait for it; others are answered with 503
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_requests: u32,
    /// The most connections; others are answered with 503 and closed
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_connections: u32,
    /// Seconds for a body to come (else 408), for an answer (else 503), and for the client to take it in
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = seconds)]
    timeout: f64,
    /// Seconds that a connection may be without a request
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds)]
    idle: f64,
    /// Print JSON for machines: where it listens
    #[arg(long)]
    json: bool,
}

/// A time that can be waited for.
fn seconds(text: &str) -> Result<f64, String> {
    let wrong = || "expected seconds, from 0.01 to 86400".to_owned();
    text.trim().parse().ok().filter(|seconds| (0.01..=86400.0).contains(seconds)).ok_or_else(wrong)
}

#[cfg(feature = "serve")]
pub fn run(args: &Args, threads: usize) -> anyhow::Result<()> {
    run::run(args, threads)
}

#[cfg(not(feature = "serve"))]
pub fn run(_: &Args, _: usize) -> anyhow::Result<()> {
    let message = "this build does not serve: build burnrank with --features serve, as in 'cargo install --path . --features \
                   serve'";
    anyhow::bail!(super::Usage(message.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_finite_and_not_zero() {
        assert_eq!([seconds("0.5"), seconds(" 10 ")], [Ok(0.5), Ok(10.0)]);
        for wrong in ["", "0", "-1", "nan", "inf", "1e9", "x"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
