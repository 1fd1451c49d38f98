//! The server, until somebody ends it.

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
    // Listened to before anybody knows that there is a server.
    let mut asked = signals.block_on(async { Asked::new() }).context("cannot wait for signals")?;
    let server = Server::start(&args.model, &options)?;
    let address = server.address();
    if !address.ip().is_loopback() {
        ui::note(&format!(
            "listens on {address}: whoever reaches this machine can ask for scores, without a password or encryption"
        ));
    }
    let model = server.model();
    warn(&model, args);
    if args.json {
        ui::print(&(json!({"address": address.to_string(), "model": model}).to_string() + "\n"))?;
    } else {
        let (architecture, features) = (text(&model["architecture"]), &model["features"]);
        ui::print(&format!("listens on http://{address}: {architecture}, {features} features\n"))?;
    }
    while let Wish::Reload = signals.block_on(asked.next()) {
        match server.reload() {
            Ok(()) => {
                let model = server.model();
                let (architecture, features) = (text(&model["architecture"]), &model["features"]);
                let checksum = text(&model["model"]);
                warn(&model, args);
                ui::note(&format!("serves the new model: {architecture}, {features} features, {checksum}"));
            }
            Err(error) => ui::note(&format!("goes on with the old model, the new one cannot be read: {error}")),
        }
    }
    // Who asks again means it.
    std::thread::spawn(move || {
        while !matches!(signals.block_on(asked.next()), Wish::End) {}
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

/// Where to listen, as in 127.0.0.1:8080 or localhost:8080.
fn address(text: &str) -> anyhow::Result<SocketAddr> {
    match text.to_socket_addrs().ok().and_then(|mut found| found.next()) {
        Some(address) => Ok(address),
        None => bail!(Usage(format!("--listen {text}: expected an address and a port, as in 127.0.0.1:8080"))),
    }
}

/// What a signal asks for.
enum Wish {
    Reload,
    End,
}

#[cfg(unix)]
struct Asked {
    hangup: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Asked {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Asked {
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) -> Wish {
        tokio::select! {
            _ = self.hangup.recv() => Wish::Reload,
            _ = self.interrupt.recv() => Wish::End,
            _ = self.terminate.recv() => Wish::End,
        }
    }
}

#[cfg(not(unix))]
struct Asked;

#[cfg(not(unix))]
impl Asked {
    fn new() -> std::io::Result<Self> {
        Ok(Asked)
    }

    async fn next(&mut self) -> Wish {
        let _ = tokio::signal::ctrl_c().await;
        Wish::End
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
