//! The server over HTTP: scores, error messages, and no lost request, whatever clients do.
#![cfg(unix)]

use burnrank::model::Forest;
use burnrank::{Model, ModelInfo, RankerConfig, ScaleKind, Scaler, Scorer, WriteOptions, device, write};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

mod support;
use support::{Place, signal};

#[allow(dead_code)] // only partly used here
#[path = "export/models.rs"]
mod models;

#[path = "serve/stopping.rs"]
mod stopping;

/// A running server, killed when dropped.
struct Running {
    child: Child,
    address: SocketAddr,
    place: Place,
    startup: Value,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    /// Serves the folder `model`.
    fn new(place: Place, options: &str) -> Self {
        let mut command = place.command(&format!("serve --model model --listen 127.0.0.1:0 --json {options}"));
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let startup: Value = serde_json::from_str(&line).unwrap_or_else(|_| {
            let mut text = String::new();
            child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
            panic!("{line}{text}")
        });
        let address = startup["address"].as_str().unwrap().parse().unwrap();
        Running { child, address, place, startup }
    }

    /// A linear net of two features, `2 a + b`.
    fn simple(options: &str) -> Self {
        let place = Place::new(&[]);
        linear(2.0).save(&place.path().join("model")).unwrap();
        Running::new(place, options)
    }

    fn client(&self) -> Client {
        Client::new(self.address)
    }

    /// Sends one request on a new connection.
    fn send(&self, request: &[u8]) -> (u16, String) {
        self.client().ask(request)
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes())
    }

    /// The value of a metric.
    fn metric(&self, name: &str) -> f64 {
        let (status, text) = self.get("/metrics");
        assert_eq!(status, 200);
        let line = text.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')));
        line.unwrap_or_else(|| panic!("no {name} in {text}")).rsplit(' ').next().unwrap().parse().unwrap()
    }

    /// Waits until a condition holds.
    fn until(&self, what: &str, holds: impl Fn() -> bool) {
        let start = Instant::now();
        while !holds() {
            assert!(start.elapsed() < Duration::from_secs(20), "{what}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn is_well(&self) {
        let (status, text) = self.send(&json_request(r#"{"documents": [[1, 2], [3, -4]]}"#));
        assert_eq!((status, text.as_str()), (200, r#"{"scores":[4.0,2.0],"order":[0,1]}"#));
    }

    /// Stops the server with a signal. Returns its exit code and standard error.
    fn end(mut self, name: &str) -> (Option<i32>, String) {
        signal(&self.child, name);
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        (self.child.wait().unwrap().code(), text)
    }
}

fn linear(weight: f32) -> Model {
    let data = burnrank::Dataset::new(2, vec![0.0; 2], vec![0.0], vec![("a".into(), 1)]).unwrap();
    let shape = RankerConfig::linear(2);
    let net = shape.from_weights(&[vec![weight, 1.0]], &device::open("auto").unwrap()).unwrap();
    let info = ModelInfo::new(shape, Scaler::fit(ScaleKind::None, &data), "by hand");
    Model { scorer: Scorer::Net(net), info, history: Vec::new() }
}

/// A client with one connection, which sends a request and waits for the response.
struct Client {
    stream: TcpStream,
}

impl Client {
    fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Client { stream }
    }

    fn ask(&mut self, request: &[u8]) -> (u16, String) {
        let (status, body) = self.try_ask(request).unwrap();
        (status, String::from_utf8(body).unwrap())
    }

    fn try_ask(&mut self, request: &[u8]) -> std::io::Result<(u16, Vec<u8>)> {
        self.stream.write_all(request)?;
        self.answer()
    }

    fn answer(&mut self) -> std::io::Result<(u16, Vec<u8>)> {
        let (mut buffer, mut part) = (Vec::new(), [0; 8192]);
        loop {
            let count = self.stream.read(&mut part)?;
            if count == 0 {
                return Err(std::io::Error::other(format!("closed after {:?}", String::from_utf8_lossy(&buffer))));
            }
            buffer.extend_from_slice(&part[..count]);
            let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
            let head = String::from_utf8_lossy(&buffer[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
            if buffer.len() >= end + 4 + length {
                return Ok((head[9..12].parse().unwrap(), buffer[end + 4..].to_vec()));
            }
        }
    }
}

fn request(headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("POST /score HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n{headers}\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn json_request(body: &str) -> Vec<u8> {
    request("Content-Type: application/json\r\n", body.as_bytes())
}

fn little_endian(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect()
}

#[test]
fn json_and_bytes_are_scored_as_predict_scores_them() {
    let mut served = 0;
    // Every kind of model and scaling once; nets with two hidden layers.
    let nets = models::nets().into_iter().filter(|case| case.name.ends_with("tanh-2"));
    for case in nets.chain(models::trees()).chain(models::kernels()).step_by(2) {
        let place = Place::new(&[]);
        case.model.save(&place.path().join("model")).unwrap();
        write(place.path().join("data.txt"), &case.data, &WriteOptions::default()).unwrap();
        let text = place.run("predict --model model --data data.txt").done();
        let predicted: Vec<f32> = text.lines().map(|line| line.parse().unwrap()).collect();

        let running = Running::new(place, "");
        assert_eq!(running.startup["model"]["features"], models::FEATURES);
        let mut client = running.client();
        for (query, predicted) in case.data.queries().zip(predicted.chunks(models::PER_QUERY)) {
            let rows: Vec<&[f32]> = query.features.chunks(models::FEATURES).collect();
            let (status, text) = client.ask(&json_request(&json!({"documents": rows}).to_string()));
            assert_eq!(status, 200, "{}: {text}", case.name);
            let answer: Value = serde_json::from_str(&text).unwrap();
            let scores: Vec<f32> = serde_json::from_value(answer["scores"].clone()).unwrap();
            assert_eq!(scores, predicted, "{}", case.name);
            let order: Vec<usize> = serde_json::from_value(answer["order"].clone()).unwrap();
            let mut expected: Vec<usize> = (0..predicted.len()).collect();
            expected.sort_by(|&a, &b| predicted[b].total_cmp(&predicted[a]));
            assert_eq!(order, expected, "{}", case.name);

            let bytes = little_endian(&query.features);
            let (status, same) = client.ask(&request("content-type: application/octet-stream\r\n", &bytes));
            assert_eq!((status, same), (200, text), "{}", case.name);
            let both = "content-type: application/octet-stream\r\naccept: application/octet-stream\r\n";
            let (status, body) = client.try_ask(&request(both, &bytes)).unwrap();
            let (scores, order) = body.split_at(body.len() / 2);
            assert_eq!((status, floats(scores)), (200, predicted.to_vec()));
            let order: Vec<usize> =
                order.chunks(4).map(|b| u32::from_le_bytes(b.try_into().unwrap()) as usize).collect();
            assert_eq!(order, expected);
        }
        served += 1;
    }
    assert!(served >= 10, "{served}");
}

#[test]
fn errors_are_json() {
    let running = Running::simple("--max-documents 3 --max-body 100kB");
    let octets = "content-type: application/octet-stream\r\n";
    let cases: Vec<(Vec<u8>, u16, &str)> = vec![
        (json_request("[[1,2"), 400, "the body is not JSON: EOF while parsing a list at line 1 column 5"),
        (json_request(""), 400, "the body is empty"),
        (json_request("[[1]]"), 400, "documents[0] has 1 features, the model expects 2"),
        (json_request("[[1,2],[1,2,3]]"), 400, "documents[1] has more than 2 features, the model expects 2"),
        (json_request("[[1,NaN]]"), 400, "the body is not JSON"),
        (
            json_request("[[1,null]]"),
            400,
            "feature 2 of document 1 is missing, but the model was trained on data without",
        ),
        (json_request("[[1,1e60]]"), 400, "documents[0][1] is 1e60, out of range for f32"),
        (json_request("[[3e38,3e38]]"), 400, "the score of documents[0] is inf: its features are too large"),
        (json_request("[[1,2],[1,2],[1,2],[1,2]]"), 400, "more than 3 documents"),
        (request(octets, &[1; 9]), 400, "9 bytes is not a multiple of 8, the size of a document: 2 features of f32"),
        (request(octets, &little_endian(&[0.0, f32::NAN])), 400, "feature 2 of document 1 is missing, but"),
        (request(octets, &little_endian(&[0.0, f32::INFINITY])), 400, "documents[0][1] is inf"),
        (request("content-encoding: gzip\r\n", b"x"), 415, "content encoding \"gzip\" is not supported"),
        (json_request(&" ".repeat(100_001)), 413, "the body has more than 100000 bytes"),
        (b"GET /score HTTP/1.1\r\nhost: x\r\n\r\n".to_vec(), 405, "wrong method: expected POST /score"),
        (b"GET / HTTP/1.1\r\nhost: x\r\n\r\n".to_vec(), 404, "unknown path: expected POST /score"),
    ];
    let count = cases.len();
    for (request, status, reason) in cases {
        let (found, text) = running.send(&request);
        let answer: Value = serde_json::from_str(&text).unwrap();
        let message = answer["error"].as_str().unwrap();
        assert!(found == status && message.contains(reason), "{found} {message}, not {status} {reason}");
    }
    assert_eq!(running.metric("burnrank_requests_total{code=\"400\"}"), (count - 4) as f64);
    running.is_well();
}

#[test]
fn health_model_and_metrics_describe_the_server() {
    let running = Running::simple("");
    let json = |(status, text): (u16, String)| -> Value {
        assert_eq!(status, 200);
        serde_json::from_str(&text).unwrap()
    };
    let model = json(running.get("/model"));
    assert_eq!((&model["features"], &model["feature_names"]), (&json!(2), &json!(["f1", "f2"])));
    assert_eq!((&model["scaling"], &model["architecture"]), (&json!("none"), &json!("linear net")));
    assert_eq!(model, running.startup["model"]);
    let health = json(running.get("/health"));
    assert_eq!(health, json!({"status": "ok", "model": model["model"], "reload_error": null}));

    let mut client = running.client();
    for documents in [1, 0, 5] {
        let rows = vec![[1, 2]; documents];
        assert_eq!(client.ask(&json_request(&json!({"documents": rows}).to_string())).0, 200);
    }
    assert_eq!(client.ask(&json_request("x")).0, 400);
    assert_eq!(running.metric("burnrank_documents_total"), 6.0);
    assert_eq!(running.metric("burnrank_score_seconds_count"), 3.0);
    assert_eq!(running.metric("burnrank_score_seconds_bucket{le=\"+Inf\"}"), 3.0);
    // Requests to /model and /health, three to /score and three to /metrics.
    assert_eq!(running.metric("burnrank_requests_total{code=\"200\"}"), 8.0);
    assert_eq!(running.metric("burnrank_requests_total{code=\"400\"}"), 1.0);
    assert_eq!(running.metric("burnrank_requests_in_flight"), 1.0);
    drop(client);
    running.until("connections are counted", || running.metric("burnrank_connections") == 1.0);
    let (_, text) = running.get("/metrics");
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(name.starts_with("burnrank_") && value.parse::<f64>().is_ok(), "{line}");
        let family = name.split('{').next().unwrap();
        let family = ["_bucket", "_sum", "_count"].iter().find_map(|end| family.strip_suffix(end)).unwrap_or(family);
        assert!(text.contains(&format!("# TYPE {family} ")), "{line}");
    }
}

#[test]
fn features_with_named_categories_are_named_at_the_start() {
    let place = Place::new(&[]);
    let text =
        include_str!("../src/model/trees/tests/sample.txt").to_owned() + "\npandas_categorical:[[\"de\", \"en\"]]\n";
    let forest = Forest::parse(&text).unwrap();
    forest.into_model("imported").unwrap().save(&place.path().join("model")).unwrap();
    let server = Running::new(place, "");
    let description: Value = serde_json::from_str(&server.get("/model").1).unwrap();
    let warning = description["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("feature language: categories must be numbers"), "{warning}");
    assert_eq!(server.startup["model"]["warnings"], description["warnings"]);
    let (code, said) = server.end("TERM");
    assert_eq!((code, said), (Some(0), format!("note: model: {warning}\n")));
}

#[test]
fn ten_thousand_malformed_requests_break_nothing() {
    let running = Running::simple("--timeout 2 --idle 2");
    let bodies = [r#"{"documents": [[1, 2], [3, -4]]}"#, "[[0.5,7],[1e-3,2]]"];
    let work = |seed: u64| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut answered = 0;
        for _ in 0..1250 {
            let mut bytes = json_request(bodies[rng.random_range(0..2)]);
            match rng.random_range(0..5) {
                // Change, remove or repeat some bytes.
                0 => (0..rng.random_range(1..8)).for_each(|_| {
                    let place = rng.random_range(0..bytes.len());
                    bytes[place] = rng.random();
                }),
                1 => drop(bytes.drain(..rng.random_range(1..40))),
                2 => bytes.truncate(rng.random_range(1..bytes.len())),
                3 => {
                    let place = rng.random_range(0..bytes.len());
                    let copy = bytes[place..].to_vec();
                    bytes.extend(copy);
                }
                _ => bytes = (0..rng.random_range(1..300)).map(|_| rng.random()).collect(),
            }
            let Ok(mut stream) = TcpStream::connect(running.address) else { panic!("the server is gone") };
            let _ = stream.write_all(&bytes);
            // Some clients wait for the response, others disconnect.
            if rng.random_range(0..2) == 0 {
                let _ = stream.shutdown(Shutdown::Write);
                let mut text = Vec::new();
                let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
                let _ = stream.read_to_end(&mut text);
                answered += usize::from(text.starts_with(b"HTTP/1.1 "));
            }
        }
        answered
    };
    let answered: usize = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..8).map(|seed| scope.spawn(move || work(seed))).collect();
        clients.into_iter().map(|client| client.join().unwrap()).sum()
    });
    assert!(answered > 1000, "{answered} answers to 10,000 malformed requests");
    running.is_well();
    running.until("connections are ended", || running.metric("burnrank_connections") == 1.0);
    assert_eq!(running.metric("burnrank_requests_total{code=\"500\"}"), 0.0);
    assert_eq!(running.metric("burnrank_requests_in_flight"), 1.0);
    let (code, text) = running.end("TERM");
    assert_eq!((code, text.as_str()), (Some(0), ""));
}

#[test]
fn reloading_loses_no_request() {
    let running = Running::simple("");
    let folder = running.place.path().join("model");
    let (done, answers) = (AtomicBool::new(false), AtomicUsize::new(0));
    let body = json_request("[[1,0],[0,1]]");
    std::thread::scope(|scope| {
        for kind in 0..4 {
            let (running, done, answers, body) = (&running, &done, &answers, &body);
            scope.spawn(move || {
                let mut client = running.client();
                while !done.load(Ordering::Relaxed) {
                    if kind == 0 {
                        client = running.client();
                    }
                    let (status, text) = client.ask(body);
                    let answer: Value = serde_json::from_str(&text).unwrap();
                    let weight = answer["scores"][0].as_f64().unwrap_or_default();
                    // The scores of one of the models.
                    assert!(status == 200 && (2.0..40.0).contains(&weight) && answer["scores"][1] == 1.0, "{text}");
                    answers.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for round in 1..=15 {
            linear(2.0 + round as f32).save(&folder).unwrap();
            signal(&running.child, "HUP");
            let (name, expected) = ("burnrank_reloads_total{result=\"ok\"}", f64::from(round));
            running.until("the model is reloaded", || running.metric(name) == expected);
            let (_, text) = running.send(&body);
            assert!(text.starts_with(&format!("{{\"scores\":[{}.0,", 2 + round)), "{text}");
        }
        // A broken model changes nothing, and is reported.
        let record = folder.join("model.bpk");
        let whole = std::fs::read(&record).unwrap();
        std::fs::write(&record, &whole[..whole.len() - 5]).unwrap();
        signal(&running.child, "HUP");
        running.until("the failure is counted", || running.metric("burnrank_reloads_total{result=\"failed\"}") == 1.0);
        let (_, text) = running.send(&body);
        assert!(text.starts_with("{\"scores\":[17.0,"), "{text}");
        let health: Value = serde_json::from_str(&running.get("/health").1).unwrap();
        let message = health["reload_error"].as_str().unwrap();
        assert!(health["status"] == "ok" && message.contains("model.bpk: damaged"), "{health}");
        std::fs::write(&record, whole).unwrap();
        signal(&running.child, "HUP");
        running.until("the reload succeeds", || running.get("/health").1.contains("\"reload_error\":null"));
        done.store(true, Ordering::Relaxed);
    });
    assert!(answers.load(Ordering::Relaxed) > 100);
    let (code, text) = running.end("INT");
    assert_eq!(code, Some(0));
    let notes: Vec<&str> = text.lines().collect();
    assert_eq!(notes.len(), 17, "{text}");
    assert!(notes[0].starts_with("note: serving the new model: linear net, 2 features, "), "{text}");
    assert!(
        notes[15].starts_with("note: keeping the current model, the new one failed to load: model/model.bpk"),
        "{text}"
    );
}

#[test]
fn slow_clients_are_disconnected_and_do_not_block_others() {
    let running = Running::simple("--timeout 1 --idle 1 --max-body 1MB");
    let body = json_request(&format!("[[1,2]{}]", ",[1,2]".repeat(20)));
    let start = Instant::now();
    // Incomplete headers, connections without a request, incomplete bodies, and responses that are not read.
    let mut slow: Vec<TcpStream> = (0..120)
        .map(|kind| {
            let mut stream = TcpStream::connect(running.address).unwrap();
            match kind % 4 {
                0 => stream.write_all(b"POST /score HTT").unwrap(),
                1 => {}
                2 => stream.write_all(&body[..body.len() - 3]).unwrap(),
                _ => (0..3).for_each(|_| stream.write_all(&body).unwrap()),
            }
            stream
        })
        .collect();
    // Requests more than the operating system buffers, and reads nothing.
    let much = json_request(&format!("[[1,2]{}]", ",[1,2]".repeat(5_000)));
    let greedy: Vec<TcpStream> = (0..4)
        .map(|_| {
            let mut stream = TcpStream::connect(running.address).unwrap();
            stream.set_write_timeout(Some(Duration::from_millis(100))).unwrap();
            while start.elapsed() < Duration::from_secs(30) && stream.write_all(&much).is_ok() {}
            stream
        })
        .collect();
    let start = Instant::now();
    let mut client = running.client();
    for _ in 0..50 {
        assert_eq!(client.ask(&body).0, 200);
    }
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    drop(client);
    for (kind, stream) in slow.iter_mut().enumerate() {
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text);
        match kind % 4 {
            0 => assert!(text.is_empty() || text.starts_with("HTTP/1.1 408 "), "{text}"),
            1 => assert!(text.is_empty() || text.starts_with("HTTP/1.1 408 "), "{text}"),
            2 => {
                assert!(text.starts_with("HTTP/1.1 408 ") && text.contains("did not arrive within 1 seconds"), "{text}")
            }
            _ => assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 3, "{text}"),
        }
    }
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    running.until("slow connections are closed", || running.metric("burnrank_connections") == 1.0);
    drop(greedy);
    running.is_well();
}

#[test]
fn half_closed_connections_are_answered_and_large_bodies_refused() {
    let running = Running::simple("--max-body 1MB --timeout 5");
    let mut client = running.client();
    client.stream.write_all(&json_request("[[1,2],[3,-4]]")).unwrap();
    client.stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.answer().unwrap(), (200, br#"{"scores":[4.0,2.0],"order":[0,1]}"#.to_vec()));
    // An incomplete body.
    let mut client = running.client();
    client.stream.write_all(&json_request("[[1,2],[3,-4]]")[..70]).unwrap();
    client.stream.shutdown(Shutdown::Write).unwrap();
    let _ = client.answer();

    let (status, text) = running.send(&json_request(&"x".repeat(3_000_000)));
    assert!(status == 413 && text.contains("more than 1000000 bytes"), "{text}");
    // A chunked body of unknown length.
    let mut client = running.client();
    client.stream.write_all(b"POST /score HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
    for _ in 0..20 {
        let part = "1".repeat(100_000);
        client.stream.write_all(format!("{:x}\r\n{part}\r\n", part.len()).as_bytes()).unwrap();
    }
    client.stream.write_all(b"0\r\n\r\n").unwrap();
    assert_eq!(client.answer().unwrap().0, 413);
    // A chunked body within the limits.
    let mut client = running.client();
    client.stream.write_all(b"POST /score HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
    client.stream.write_all(b"8\r\n[[1,2],[\r\n6\r\n3,-4]]\r\n0\r\n\r\n").unwrap();
    assert_eq!(client.answer().unwrap(), (200, br#"{"scores":[4.0,2.0],"order":[0,1]}"#.to_vec()));
    // A Content-Length that is too large is refused before the body is read.
    let mut client = running.client();
    let head = "POST /score HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n";
    assert_eq!(client.ask(head.as_bytes()).0, 413);
    running.is_well();
}

#[test]
fn connections_and_requests_are_limited() {
    let running = Running::simple("--max-connections 5 --max-requests 1 --threads 1");
    let held: Vec<TcpStream> = (0..5).map(|_| TcpStream::connect(running.address).unwrap()).collect();
    std::thread::sleep(Duration::from_millis(200));
    let (status, text) = running.get("/health");
    assert_eq!((status, text.as_str()), (503, r#"{"error":"too many connections: try again later"}"#));
    drop(held);
    running.until("connections are accepted again", || running.get("/health").0 == 200);

    let large = json_request(&format!("[[1,2]{}]", ",[0.123456,2.654321]".repeat(9_999)));
    let counts = [AtomicUsize::new(0), AtomicUsize::new(0)];
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut client = Client::new(running.address);
                for _ in 0..40 {
                    let (status, text) = client.ask(&large);
                    assert!(
                        status == 200 || text.contains("1 requests are being scored, the maximum"),
                        "{status} {text}"
                    );
                    counts[usize::from(status != 200)].fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let [scored, refused] = counts.map(AtomicUsize::into_inner);
    assert!(scored > 0 && refused > 0, "{scored} scored, {refused} refused");
}

#[test]
fn it_stops_after_the_last_response() {
    for name in ["TERM", "INT"] {
        let mut running = Running::simple("");
        let request = json_request("[[1,2],[3,-4]]");
        let (first, last) = request.split_at(request.len() - 6);
        let (mut open, idle) = (running.client(), running.client());
        open.stream.write_all(first).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        signal(&running.child, name);
        std::thread::sleep(Duration::from_millis(300));
        assert!(running.child.try_wait().unwrap().is_none(), "it waits for the body");
        open.stream.write_all(last).unwrap();
        assert_eq!(open.answer().unwrap().0, 200);
        let start = Instant::now();
        assert_eq!(running.child.wait().unwrap().code(), Some(0));
        assert!(start.elapsed() < Duration::from_secs(3));
        assert!(TcpStream::connect(running.address).is_err());
        drop(idle);
    }
}

#[test]
fn the_command_line_is_checked() {
    let place = Place::new(&[]);
    linear(2.0).save(&place.path().join("model")).unwrap();
    let text = place.run("serve --model model --listen nowhere").bad(2);
    assert_eq!(text, "error: --listen nowhere: expected an address and a port, as in 127.0.0.1:8080\n");
    let text = place.run("serve --model none").bad(1);
    assert!(text.contains("none"), "{text}");
    assert!(place.run("serve --model model --timeout 0").bad(2).contains("expected seconds"));
    assert!(place.run("serve --model model --connections 3").code == Some(2));

    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let text = place.run(&format!("serve --model model --listen {address}")).bad(1);
    assert!(text.starts_with(&format!("error: {address}: cannot listen: ")), "{text}");

    // Listening on a public address is noted.
    let mut command = place.command("serve --model model --listen 0.0.0.0:0");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("listening on http://0.0.0.0:") && line.ends_with(": linear net, 2 features\n"), "{line}");
    signal(&child, "TERM");
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(text.contains("any machine that can reach this address can request scores"), "{text}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
