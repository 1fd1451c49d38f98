//! Runs the server until it is stopped by a signal.

use super::Args;
use crate::cli::{Usage, allocator, input, ui};
use anyhow::{Context, bail};
use burnrank::serve::{ServeOptions, Server};
use serde_json::json;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

pub fn run(args: &Args, threads: usize) -> anyhow::Result<()> {
    let options = options(args, threads)?;
    allocator::give_back_large_blocks();
    let signals =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot wait for signals")?;
    // Handle signals before the address is printed.
    let mut handlers = signals.block_on(async { SignalHandlers::new() }).context("cannot wait for signals")?;
    let server = Server::start(&args.model, &options)?;
    let address = server.address();
    if !address.ip().is_loopback() {
        ui::note(&format!(
            "listening on {address}: any machine that can reach this address can request scores, without authentication or \
             encryption"
        ));
    }
    let model = server.model();
    warn(&model, args);
    if args.json {
        ui::print(&(json!({"address": address.to_string(), "model": model}).to_string() + "\n"))?;
    } else {
        let (architecture, features) = (text(&model["architecture"]), &model["features"]);
        ui::print(&format!("listening on http://{address}: {architecture}, {features} features\n"))?;
    }
    while let Action::Reload = signals.block_on(handlers.next()) {
        match server.reload() {
            Ok(()) => {
                let model = server.model();
                let (architecture, features) = (text(&model["architecture"]), &model["features"]);
                let checksum = text(&model["model"]);
                warn(&model, args);
                ui::note(&format!("serving the new model: {architecture}, {features} features, {checksum}"));
            }
            Err(error) => ui::note(&format!("keeping the current model, the new one failed to load: {error}")),
        }
    }
    // A second signal ends the program at once.
    std::thread::spawn(move || {
        while !matches!(signals.block_on(handlers.next()), Action::Stop) {}
        std::process::exit(130);
    });
    server.stop();
    Ok(())
}

/// Prints the warnings about the model on standard error.
fn warn(model: &serde_json::Value, args: &Args) {
    let warnings = model["warnings"].as_array().into_iter().flatten();
    warnings.for_each(|warning| ui::note(&format!("{}: {}", input::name(&args.model), text(warning))));
}

fn text(value: &serde_json::Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn options(args: &Args, threads: usize) -> anyhow::Result<ServeOptions> {
    Ok(ServeOptions {
        listen: address(&args.listen)?,
        threads,
        max_body: usize::try_from(args.max_body).unwrap_or(usize::MAX),
        max_documents: args.max_documents as usize,
        max_requests: args.max_requests as usize,
        max_connections: args.max_connections as usize,
        timeout: Duration::from_secs_f64(args.timeout),
        idle: Duration::from_secs_f64(args.idle),
    })
}

/// Parses an address, as in 127.0.0.1:8080 or localhost:8080.
fn address(text: &str) -> anyhow::Result<SocketAddr> {
    match text.to_socket_addrs().ok().and_then(|mut addresses| addresses.next()) {
        Some(address) => Ok(address),
        None => bail!(Usage(format!("--listen {text}: expected an address and a port, as in 127.0.0.1:8080"))),
    }
}

/// What to do at a signal.
enum Action {
    Reload,
    Stop,
}

#[cfg(unix)]
struct SignalHandlers {
    hangup: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl SignalHandlers {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(SignalHandlers {
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) -> Action {
        tokio::select! {
            _ = self.hangup.recv() => Action::Reload,
            _ = self.interrupt.recv() => Action::Stop,
            _ = self.terminate.recv() => Action::Stop,
        }
    }
}

#[cfg(not(unix))]
struct SignalHandlers;

#[cfg(not(unix))]
impl SignalHandlers {
    fn new() -> std::io::Result<Self> {
        Ok(SignalHandlers)
    }

    async fn next(&mut self) -> Action {
        let _ = tokio::signal::ctrl_c().await;
        Action::Stop
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_port() {
        assert_eq!(address("127.0.0.1:80").unwrap(), SocketAddr::from(([127, 0, 0, 1], 80)));
        assert!(address("localhost:8080").unwrap().ip().is_loopback());
        assert_eq!(address("[::1]:80").unwrap().port(), 80);
        for wrong in ["", "8080", "127.0.0.1", "127.0.0.1:99999", "a b:1"] {
            assert!(address(wrong).unwrap_err().is::<Usage>(), "{wrong}");
        }
    }
}
