//! How much the server serves on this machine: requests of some documents over several connections, for some seconds.

mod client;
mod python;

use super::Task;
use super::shape::{FEATURES, HIDDEN};
use crate::harness::Execution;
use anyhow::{Context, bail, ensure};
use burnrank::internal::text::{Table, three_digits};
use burnrank::serve::{ServeOptions, Server};
use burnrank::{Activation, Dataset, Init, Model, ModelInfo, RankerConfig, ScaleKind, Scaler, Scorer};
use client::{Client, REQUESTS, Requests, scores};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The setting that names the model folder to serve.
pub const MODEL: &str = "model";

const CONNECTIONS: usize = 4;
const DOCUMENTS: usize = 100;
/// Slow and broken clients that stand beside the others.
const NUISANCES: usize = 16;
/// Before the clock starts.
const WARM: Duration = Duration::from_millis(300);

/// A server in a process of its own, ended with this value.
pub struct Peer {
    child: Child,
    pub address: SocketAddr,
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Peer {
    /// Starts a server whose first line on standard output is JSON with its `address`. It may end when its standard input does.
    pub fn start(command: &mut Command) -> anyhow::Result<(Self, Value)> {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("cannot start a server")?;
        let mut line = String::new();
        let read = child.stdout.take().map(|output| BufReader::new(output).read_line(&mut line));
        let answer: Option<Value> = serde_json::from_str(&line).ok();
        let address = answer.as_ref().and_then(|answer| answer["address"].as_str()?.parse().ok());
        match (read, answer, address) {
            (Some(Ok(_)), Some(answer), Some(address)) => Ok((Peer { child, address }, answer)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                bail!("the server did not start")
            }
        }
    }
}

/// What was measured of one server.
#[derive(Debug, Serialize)]
pub struct Served {
    server: &'static str,
    body: &'static str,
    requests: usize,
    failed: usize,
    seconds: f64,
    requests_per_second: f64,
    p50_seconds: f64,
    p99_seconds: f64,
}

impl Served {
    /// Of the times of all requests that were answered.
    fn new(server: &'static str, body: &'static str, seconds: f64, mut times: Vec<f64>, failed: usize) -> Self {
        times.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = (times.len() as f64 * share) as usize;
            times.get(place.min(times.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
        };
        let (requests, requests_per_second) = (times.len(), times.len() as f64 / seconds);
        let (p50_seconds, p99_seconds) = (at(0.5), at(0.99));
        Served { server, body, requests, failed, seconds, requests_per_second, p50_seconds, p99_seconds }
    }
}

/// Measures the server, and a server in Python where BURNRANK_PYTHON names one that has numpy and onnxruntime.
pub fn run(execution: &Execution<'_>, folder: &Path) -> anyhow::Result<Vec<Served>> {
    let session = execution.session;
    let model = match session.options.get(MODEL) {
        Some(folder) => PathBuf::from(folder),
        None => random_net(&folder.join("served"), session.seed, &session.device)?,
    };
    let seconds = execution.scale().pick(5.0, 0.3);
    let program = std::env::current_exe().context("cannot find this program to start it again")?;
    let task = serde_json::to_string(&Task::Serve(model.clone()))?;
    let mut command = Command::new(program);
    let (peer, answer) = Peer::start(command.args(["speed", "--device", session.backend, "--child", &task]))?;
    let requests = Requests::new(answer["model"]["features"].as_u64().unwrap_or(0) as usize, DOCUMENTS);
    let expected = scores(peer.address, &requests.json[0])?;
    ensure!(
        scores(peer.address, &requests.bytes[0])? == expected,
        "the same documents have other scores as bytes than as JSON: that is a bug"
    );
    let mut all = vec![
        measure("burnrank", "JSON", peer.address, &requests.json, seconds),
        measure("burnrank", "f32", peer.address, &requests.bytes, seconds),
        beside_nuisances(&peer, &requests, seconds)?,
    ];
    drop(peer);
    if let Some(python) = std::env::var_os("BURNRANK_PYTHON") {
        let peer = python::start(&python, &model, &session.device, folder)?;
        let found = scores(peer.address, &requests.json[0])?;
        let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-4 * b.abs().max(1.0);
        let same = found.len() == expected.len() && found.iter().zip(&expected).all(close);
        ensure!(same, "ONNX Runtime scores otherwise: {found:?}, not {expected:?}");
        all.push(measure(python::NAME, "JSON", peer.address, &requests.json, seconds));
        all.push(measure(python::NAME, "f32", peer.address, &requests.bytes, seconds));
    }
    all.iter()
        .for_each(|row| eprintln!("serve {} {}: {:.0} requests/s", row.server, row.body, row.requests_per_second));
    execution.keep("serve", &all, seconds * all.len() as f64)?;
    Ok(all)
}

/// Saves a net of random weights, of the shape that epochs are timed with.
fn random_net(folder: &Path, seed: u64, device: &burnrank::Device) -> anyhow::Result<PathBuf> {
    let shape = RankerConfig::mlp(FEATURES, &[HIDDEN], Activation::Sigmoid);
    let net = shape.init(Init::Burn, seed, device)?;
    let data = Dataset::new(FEATURES, vec![0.0; FEATURES], vec![0.0], vec![("1".into(), 1)])?;
    let info = ModelInfo::new(shape, Scaler::fit(ScaleKind::None, &data), "random weights");
    Model { scorer: Scorer::Net(net), info, history: vec![] }.save(folder)?;
    Ok(folder.to_path_buf())
}

/// The child: serves until its standard input ends.
pub fn child(model: &Path) -> anyhow::Result<()> {
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    // Broken clients are given up on while the others are measured.
    let options = ServeOptions { listen, idle: Duration::from_secs(2), ..ServeOptions::default() };
    let server = Server::start(model, &options)?;
    println!("{}", json!({"address": server.address().to_string(), "model": server.model()}));
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// The servers, side by side.
pub fn table(rows: &[Served]) -> Table {
    let failed: usize = rows.iter().map(|row| row.failed).sum();
    let verdict = if failed == 0 { "every request was answered".into() } else { format!("{failed} requests failed") };
    let title = format!(
        "The HTTP server: {CONNECTIONS} connections, {DOCUMENTS} documents per request; {verdict}. Servers and clients share \
         this machine:"
    );
    let mut table = Table::titled(title, &["server", "body", "requests/s", "p50 ms", "p99 ms", "failed"]);
    for row in rows {
        table.row([
            row.server.into(),
            row.body.into(),
            format!("{:.0}", row.requests_per_second),
            three_digits(1e3 * row.p50_seconds),
            three_digits(1e3 * row.p99_seconds),
            row.failed.to_string(),
        ]);
    }
    table
}

/// Asks over several connections, one request after the other on each.
fn measure(
    server: &'static str,
    body: &'static str,
    address: SocketAddr,
    requests: &[Vec<u8>],
    seconds: f64,
) -> Served {
    let warm = Instant::now() + WARM;
    let end = warm + Duration::from_secs_f64(seconds);
    let work = |connection: usize| {
        let (mut times, mut failed) = (Vec::new(), 0);
        let mut client = Client::new(address);
        for request in requests.iter().cycle().skip(connection) {
            let start = Instant::now();
            if start >= end {
                break;
            }
            let answered = match &mut client {
                Ok(client) => client.ask(request).is_ok_and(|(status, _)| status == 200),
                Err(_) => false,
            };
            if !answered {
                failed += 1;
                // What failed is not tried as fast as the machine can.
                std::thread::sleep(Duration::from_millis(10));
                client = Client::new(address);
            } else if start >= warm {
                times.push(start.elapsed().as_secs_f64());
            }
        }
        (times, failed)
    };
    let found: Vec<(Vec<f64>, usize)> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CONNECTIONS).map(|connection| scope.spawn(move || work(connection))).collect();
        clients.into_iter().map(|client| client.join().unwrap_or_default()).collect()
    });
    let failed = found.iter().map(|(_, failed)| failed).sum();
    Served::new(server, body, seconds, found.into_iter().flat_map(|(times, _)| times).collect(), failed)
}

/// The same beside clients that send byte by byte, nonsense, or half of what they promise, and never read an answer.
fn beside_nuisances(peer: &Peer, requests: &Requests, seconds: f64) -> anyhow::Result<Served> {
    let done = AtomicBool::new(false);
    let measured = std::thread::scope(|scope| {
        for kind in 0..NUISANCES {
            let (done, request) = (&done, &requests.json[kind % REQUESTS]);
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    let _ = annoy(peer.address, kind, request, done);
                    std::thread::sleep(Duration::from_millis(20));
                }
            });
        }
        let name = "burnrank, beside broken clients";
        let measured = measure(name, "JSON", peer.address, &requests.json, seconds);
        done.store(true, Ordering::Relaxed);
        measured
    });
    scores(peer.address, &requests.json[0]).context("the server did not survive broken clients")?;
    Ok(measured)
}

fn annoy(address: SocketAddr, kind: usize, request: &[u8], done: &AtomicBool) -> std::io::Result<()> {
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
    stream.set_write_timeout(Some(Duration::from_millis(200)))?;
    match kind % 4 {
        // A head that never ends.
        0 => {
            for byte in request.iter().cycle() {
                stream.write_all(std::slice::from_ref(byte))?;
                std::thread::sleep(Duration::from_millis(50));
                if done.load(Ordering::Relaxed) {
                    break;
                }
            }
        }
        1 => stream.write_all(b"\x16\x03\x01 nonsense\0\r\n\r\n")?,
        2 => stream.write_all(&request[..request.len() / 2])?,
        // Asks, and takes in nothing.
        _ => (0..4).try_for_each(|_| stream.write_all(request))?,
    }
    Ok(())
}
