//! `burnrank serve`: an HTTP server that scores documents.

#[cfg(feature = "serve")]
mod run;

use std::path::PathBuf;

const EXAMPLES: &str = r#"Examples:
  burnrank serve --model model
  burnrank serve --model model --listen 127.0.0.1:9000 --max-documents 1000

Send the features of one query's documents, unscaled as in the training files:
  curl -d '{"documents": [[0.5, 1, 7], [0.1, 0, 3]]}' localhost:8080/score
  {"scores":[1.25,-0.5],"order":[0,1]}

POST /score takes JSON, or rows of f32 with 'Content-Type: application/octet-stream'. GET /health, /model and /metrics return
the status, a description of the model, and Prometheus metrics. See docs/serving.md.
SIGHUP reloads the model folder; if the new model fails to load, the server keeps the current one. Ctrl-C and SIGTERM stop
the server after all received requests are answered, with exit code 0.
The server has no authentication and no encryption: by default it only listens on localhost."#;

/// Score documents over HTTP
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[cfg_attr(not(feature = "serve"), allow(dead_code))] // such a build only prints how to get the server
pub struct Args {
    /// Model folder
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// Address and port; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: String,
    /// Maximum size of a request body, as in 500kB; larger ones are answered with 413
    #[arg(long, value_name = "SIZE", default_value = "16MB", value_parser = super::bytes)]
    max_body: u64,
    /// Maximum number of documents per request; more are answered with 400
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    max_documents: u32,
    /// Maximum number of requests that are scored or waiting; more are answered with 503
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_requests: u32,
    /// Maximum number of connections; more are answered with 503 and closed
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_connections: u32,
    /// Maximum seconds to receive a body (else 408), to compute a response (else 503), and to send it
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = seconds)]
    timeout: f64,
    /// Maximum seconds that a connection may stay open without a request
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds)]
    idle: f64,
    /// Print the address and the model as JSON
    #[arg(long)]
    json: bool,
}

/// Parses a timeout.
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
    let message = "this build does not have the server: build burnrank with --features serve, as in 'cargo install --path . \
                   --features serve'";
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
