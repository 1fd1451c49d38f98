//! Clients of a server: requests as they are sent, and connections that send them.

use anyhow::{Context, ensure};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Different requests, sent in turn.
pub const REQUESTS: usize = 32;
/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// Requests as they are sent, in both forms.
pub struct Requests {
    pub json: Vec<Vec<u8>>,
    pub bytes: Vec<Vec<u8>>,
}

impl Requests {
    pub fn new(features: usize, documents: usize) -> Self {
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
pub struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    pub fn new(address: SocketAddr) -> std::io::Result<Self> {
        let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Client { stream, buffer: Vec::new() })
    }

    /// The status and the body of an answer.
    pub fn ask(&mut self, request: &[u8]) -> std::io::Result<(u16, &[u8])> {
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
            let Some(end) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
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
pub fn scores(address: SocketAddr, request: &[u8]) -> anyhow::Result<Vec<f64>> {
    let mut client = Client::new(address)?;
    let (status, body) = client.ask(request)?;
    let text = String::from_utf8_lossy(body);
    ensure!(status == 200, "the server answered with {status}: {text}");
    let answer: Value = serde_json::from_str(&text)?;
    let scores = answer["scores"].as_array().map(|scores| scores.iter().filter_map(Value::as_f64).collect());
    scores.with_context(|| format!("no scores in {text}"))
}
