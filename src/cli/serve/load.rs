//! How much the server serves on this machine: requests of some documents over several connections, for some seconds.

use super::{Args, python};
use crate::cli::{prose, ui};
use anyhow::{Context, bail, ensure};
use burnrank::text::{Align, Table};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Different requests, sent in turn.
const REQUESTS: usize = 32;
/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(30);
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
    /// Starts a server whose first line on standard output is JSON with its `address`.
    pub fn start(command: &mut Command) -> anyhow::Result<(Self, Value)> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context("cannot start a server")?;
        let mut line = String::new();
        let read = child.stdout.take().map(|output| BufReader::new(output).read_line(&mut line));
        let told: Option<Value> = serde_json::from_str(&line).ok();
        let address = told.as_ref().and_then(|told| told["address"].as_str()?.parse().ok());
        match (read, told, address) {
            (Some(Ok(_)), Some(told), Some(address)) => Ok((Peer { child, address }, told)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                bail!("the server did not start")
            }
        }
    }
}

/// What was measured of one server.
struct Measured {
    server: &'static str,
    body: &'static str,
    seconds: f64,
    /// Ascending, in seconds.
    times: Vec<f64>,
    failed: usize,
}

impl Measured {
    fn at(&self, share: f64) -> f64 {
        let place = (self.times.len() as f64 * share) as usize;
        self.times.get(place.min(self.times.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
    }

    fn rate(&self) -> f64 {
        self.times.len() as f64 / self.seconds
    }
}

pub fn run(args: &Args, seconds: f64) -> anyhow::Result<()> {
    if args.against_python {
        python::find()?;
    }
    let tool = std::env::current_exe().context("cannot find this program")?;
    let mut command = Command::new(tool);
    command.args(["serve", "--listen", "127.0.0.1:0", "--json", "--quiet", "--model"]).arg(&args.model);
    let idle = format!("--idle={}", args.idle.min(2.0));
    command.arg(idle).arg(format!("--timeout={}", args.timeout)).arg(format!("--max-body={}", args.max_body));
    command.arg(format!("--max-documents={}", args.max_documents.max(args.documents)));
    let (peer, told) = Peer::start(&mut command)?;
    let features = told["model"]["features"].as_u64().unwrap_or(0) as usize;
    let requests = Requests::new(features, args.documents as usize);
    let expected = scores(peer.address, &requests.json[0])?;
    ensure!(
        scores(peer.address, &requests.bytes[0])? == expected,
        "the same documents have other scores as bytes than as JSON: that is a bug"
    );
    let connections = args.connections as usize;
    let mut all = vec![
        measure("burnrank", "JSON", peer.address, &requests.json, connections, seconds),
        measure("burnrank", "f32", peer.address, &requests.bytes, connections, seconds),
        beside_nuisances(&peer, &requests, connections, seconds)?,
    ];
    drop(peer);
    if args.against_python {
        let (peer, _folder) = python::start(&args.model)?;
        let found = scores(peer.address, &requests.json[0])?;
        let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-4 * b.abs().max(1.0);
        let same = found.len() == expected.len() && found.iter().zip(&expected).all(close);
        ensure!(same, "ONNX Runtime scores otherwise: {found:?}, not {expected:?}");
        all.push(measure("Python, ONNX Runtime", "JSON", peer.address, &requests.json, connections, seconds));
        all.push(measure("Python, ONNX Runtime", "f32", peer.address, &requests.bytes, connections, seconds));
    }
    report(args, &told, &all)
}

fn report(args: &Args, told: &Value, all: &[Measured]) -> anyhow::Result<()> {
    if args.json {
        let rows: Vec<Value> = all
            .iter()
            .map(|row| {
                json!({
                    "server": row.server, "body": row.body, "requests": row.times.len(), "failed": row.failed,
                    "seconds": row.seconds, "requests_per_second": row.rate(),
                    "p50_seconds": row.at(0.5), "p99_seconds": row.at(0.99),
                })
            })
            .collect();
        let (connections, documents) = (args.connections, args.documents);
        return ui::print_json(
            &json!({"connections": connections, "documents": documents, "model": told["model"], "runs": rows}),
        );
    }
    let mut table = Table::new(&[
        ("server", Align::Left),
        ("body", Align::Left),
        ("requests/s", Align::Right),
        ("p50 ms", Align::Right),
        ("p99 ms", Align::Right),
        ("failed", Align::Right),
    ]);
    for row in all {
        let milliseconds = |share| format!("{:.3}", 1e3 * row.at(share));
        let rate = format!("{:.0}", row.rate());
        table.row([
            row.server.into(),
            row.body.into(),
            rate,
            milliseconds(0.5),
            milliseconds(0.99),
            row.failed.to_string(),
        ]);
    }
    let failed: usize = all.iter().map(|row| row.failed).sum();
    let verdict = if failed == 0 { "Every request was answered.".into() } else { format!("{failed} requests failed.") };
    let about = prose::paragraph(&format!(
        "{verdict} {} connections, {} documents per request, {} features, {}; servers and clients share this machine.",
        args.connections,
        args.documents,
        told["model"]["features"],
        told["model"]["architecture"].as_str().unwrap_or_default(),
    ));
    ui::print(&format!("{about}\n{}", ui::table(&table)))
}

/// Requests as they are sent, in both forms.
struct Requests {
    json: Vec<Vec<u8>>,
    bytes: Vec<Vec<u8>>,
}

impl Requests {
    fn new(features: usize, documents: usize) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut requests = Requests { json: Vec::new(), bytes: Vec::new() };
        for _ in 0..REQUESTS {
            // As short as features in files are.
            let rows: Vec<Vec<f32>> = (0..documents)
                .map(|_| (0..features).map(|_| rng.random_range(0..10_000) as f32 / 10_000.0).collect())
                .collect();
            let json = json!({"documents": rows}).to_string();
            requests.json.push(request("application/json", json.as_bytes()));
            let bytes: Vec<u8> = rows.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
            requests.bytes.push(request("application/octet-stream", &bytes));
        }
        requests
    }
}

fn request(kind: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// A connection that asks and waits.
struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    fn new(address: SocketAddr) -> std::io::Result<Self> {
        let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Client { stream, buffer: Vec::new() })
    }

    /// The status and the body of an answer.
    fn ask(&mut self, request: &[u8]) -> std::io::Result<(u16, &[u8])> {
        let wrong = |message: &str| std::io::Error::other(message.to_owned());
        self.stream.write_all(request)?;
        self.buffer.clear();
        let mut part = [0; 16384];
        loop {
            let count = self.stream.read(&mut part)?;
            if count == 0 {
                return Err(wrong("the connection was closed"));
            }
            self.buffer.extend_from_slice(&part[..count]);
            let Some(end) = memchr::memmem::find(&self.buffer, b"\r\n\r\n") else { continue };
            let head = String::from_utf8_lossy(&self.buffer[..end]).to_ascii_lowercase();
            let length =
                head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
            let (Some(length), Some(status)) = (length, head.get(9..12).and_then(|code| code.parse().ok())) else {
                return Err(wrong("no answer of HTTP"));
            };
            let start = end + 4;
            while self.buffer.len() < start + length {
                let count = self.stream.read(&mut part)?;
                if count == 0 {
                    return Err(wrong("the connection was closed"));
                }
                self.buffer.extend_from_slice(&part[..count]);
            }
            return Ok((status, &self.buffer[start..start + length]));
        }
    }
}

/// The scores of one request.
fn scores(address: SocketAddr, request: &[u8]) -> anyhow::Result<Vec<f64>> {
    let mut client = Client::new(address)?;
    let (status, body) = client.ask(request)?;
    let text = String::from_utf8_lossy(body);
    ensure!(status == 200, "the server answered with {status}: {text}");
    let answer: Value = serde_json::from_str(&text)?;
    let scores = answer["scores"].as_array().map(|scores| scores.iter().filter_map(Value::as_f64).collect());
    scores.with_context(|| format!("no scores in {text}"))
}

/// Asks over several connections, one request after the other on each.
fn measure(
    server: &'static str,
    body: &'static str,
    address: SocketAddr,
    requests: &[Vec<u8>],
    connections: usize,
    seconds: f64,
) -> Measured {
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
        let clients: Vec<_> = (0..connections).map(|connection| scope.spawn(move || work(connection))).collect();
        clients.into_iter().map(|client| client.join().unwrap_or_default()).collect()
    });
    let failed = found.iter().map(|(_, failed)| failed).sum();
    let mut times: Vec<f64> = found.into_iter().flat_map(|(times, _)| times).collect();
    times.sort_by(f64::total_cmp);
    Measured { server, body, seconds, times, failed }
}

/// The same beside clients that send byte by byte, nonsense, or half of what they promise, and never read an answer.
fn beside_nuisances(peer: &Peer, requests: &Requests, connections: usize, seconds: f64) -> anyhow::Result<Measured> {
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
        let measured = measure(name, "JSON", peer.address, &requests.json, connections, seconds);
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
