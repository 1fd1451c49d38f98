//! An HTTP server that scores: features in, scores and the order out.
//!
//! `POST /score` takes the candidates of one query, as JSON or as bytes of f32, and answers with a score for each and their order;
//! `GET /health`, `/model` and `/metrics` tell how it is, what it serves, and how much it has done. The whole wire format is in
//! `docs/serving.md`. Needs the feature `serve`.
//!
//! ```
//! use burnrank::serve::{ServeOptions, Server};
//! use burnrank::{Dataset, Model, ModelInfo, RankerConfig, ScaleKind, Scaler, Scorer, device};
//! use std::io::{Read, Write};
//! # let folder = tempfile::tempdir().expect("a temporary folder");
//! # let folder = folder.path().join("model");
//! # let data = Dataset::new(2, vec![1.0, 5.0, 3.0, 5.0], vec![0.0, 1.0], vec![("a".into(), 2)])?;
//! # let shape = RankerConfig::linear(2);
//! # let scorer = Scorer::Net(shape.from_weights(&[vec![2.0, 1.0]], &device::open("auto")?)?);
//! # let info = ModelInfo::new(shape, Scaler::fit(ScaleKind::ZScore, &data), "by hand");
//! # Model { scorer, info, history: vec![] }.save(&folder)?;
//! // Port 0 is any that is free.
//! let server = Server::start(&folder, &ServeOptions { listen: "127.0.0.1:0".parse().unwrap(), ..Default::default() })?;
//! let body = r#"{"documents": [[1, 5], [3, 5], [2, 5]]}"#;
//! let mut client = std::net::TcpStream::connect(server.address()).unwrap();
//! write!(client, "POST /score HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
//! let mut answer = String::new();
//! client.read_to_string(&mut answer).unwrap();
//! assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"));
//! assert!(answer.ends_with(r#"{"scores":[-2.0,2.0,0.0],"order":[1,2,0]}"#));
//! server.stop();
//! # Ok::<(), burnrank::Error>(())
//! ```

mod api;
mod body;
mod connection;
mod metrics;
mod patient;
mod reply;
mod served;

use crate::error::{Error, Result};
use metrics::Metrics;
use served::Served;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError, RwLock, mpsc};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, watch};

/// Where a server listens, and how much it takes on.
#[derive(Debug, Clone, PartialEq)]
pub struct ServeOptions {
    /// The address and port to listen on; port 0 is any that is free.
    pub listen: SocketAddr,
    /// Threads that score.
    pub threads: usize,
    /// The most bytes of a request's body.
    pub max_body: usize,
    /// The most documents of a request.
    pub max_documents: usize,
    /// The most requests that are scored or wait to be scored; more are answered with 503.
    pub max_requests: usize,
    /// The most connections; more are answered with 503 and closed.
    pub max_connections: usize,
    /// How long a client may take to send a body, an answer to be found, and a client to take in more of it.
    pub timeout: Duration,
    /// How long a connection may be without a whole head of a request.
    pub idle: Duration,
}

impl Default for ServeOptions {
    /// Port 8080 of this machine alone, a thread per core, bodies of 16 MB, 10,000 documents, 256 requests, 1,024 connections,
    /// 10 seconds, and 30 seconds for connections without a request.
    fn default() -> Self {
        ServeOptions {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            max_body: 16_000_000,
            max_documents: 10_000,
            max_requests: 256,
            max_connections: 1024,
            timeout: Duration::from_secs(10),
            idle: Duration::from_secs(30),
        }
    }
}

/// A server that runs, on threads of its own, until it is stopped or dropped.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    address: SocketAddr,
    /// Asks connections to end.
    stop: watch::Sender<bool>,
    /// Told when they have.
    ended: Mutex<mpsc::Receiver<()>>,
    runtime: Option<Runtime>,
}

/// What all connections share.
#[derive(Debug)]
struct Shared {
    folder: PathBuf,
    options: ServeOptions,
    served: RwLock<Arc<Served>>,
    /// One at a time reads a new model; what went wrong the last time.
    reload: Mutex<Option<String>>,
    metrics: Metrics,
    /// One for each request that is scored or waits for it.
    slots: Arc<Semaphore>,
    /// Bytes of bodies that have come in and are not answered yet.
    held: AtomicUsize,
}

impl Shared {
    /// The model of this moment.
    fn served(&self) -> Arc<Served> {
        self.served.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Server {
    /// Loads a model folder, listens, and answers from then on.
    ///
    /// # Errors
    /// When the folder is no model's, the options make no sense, or the address cannot be listened on.
    pub fn start(folder: &Path, options: &ServeOptions) -> Result<Self> {
        check(options)?;
        let served = Served::load(folder)?;
        let failed = |error: std::io::Error| Error::io(options.listen.to_string(), "listen", error);
        let listener = std::net::TcpListener::bind(options.listen).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        // The reactor's threads do but move bytes.
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(options.threads.clamp(1, 4)).max_blocking_threads(options.threads);
        let runtime = builder
            .enable_all()
            .thread_name("burnrank-serve")
            .build()
            .map_err(|error| Error::Device(format!("cannot start {} threads: {error}", options.threads)))?;
        let shared = Arc::new(Shared {
            folder: folder.to_path_buf(),
            served: RwLock::new(Arc::new(served)),
            reload: Mutex::new(None),
            metrics: Metrics::default(),
            slots: Arc::new(Semaphore::new(options.max_requests)),
            held: AtomicUsize::new(0),
            options: options.clone(),
        });
        let (stop, asked) = watch::channel(false);
        let listener = {
            let _inside = runtime.enter();
            tokio::net::TcpListener::from_std(listener).map_err(failed)?
        };
        let (done, ended) = mpsc::channel();
        let connections = connection::accept(listener, shared.clone(), asked);
        runtime.spawn(async move {
            connections.await;
            let _ = done.send(());
        });
        Ok(Server { shared, address, stop, ended: Mutex::new(ended), runtime: Some(runtime) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it serves, as `GET /model` tells it.
    pub fn model(&self) -> serde_json::Value {
        self.shared.served().description.clone()
    }

    /// Reads the folder again. Requests are answered by the old model until the new one is whole, and by the old one for good
    /// when the new one cannot be read.
    ///
    /// # Errors
    /// When the folder is no model's any more.
    pub fn reload(&self) -> Result<()> {
        let mut last = self.shared.reload.lock().unwrap_or_else(PoisonError::into_inner);
        let loaded = Served::load(&self.shared.folder);
        self.shared.metrics.reloaded(loaded.is_ok());
        *last = loaded.as_ref().err().map(ToString::to_string);
        let new = Arc::new(loaded?);
        *self.shared.served.write().unwrap_or_else(PoisonError::into_inner) = new;
        Ok(())
    }

    /// Takes no new connection, answers all requests that have arrived, at most for as long as one may take, and ends.
    ///
    /// Connections that the system has accepted for this server and requests that it holds unread count as arrived.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        let _ = self.stop.send(true);
        let ended = self.ended.get_mut().unwrap_or_else(PoisonError::into_inner);
        // A little longer than connections are waited for, in case nothing moves any more.
        let _ = ended.recv_timeout(self.shared.options.timeout.saturating_add(Duration::from_secs(3)));
        // Whoever ends a server may be inside of a runtime that must not be blocked by another.
        runtime.shutdown_background();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

fn check(options: &ServeOptions) -> Result<()> {
    let ServeOptions { threads, max_body, max_documents, max_requests, max_connections, timeout, idle, .. } = options;
    let numbers = [
        ("threads", *threads),
        ("max-body", *max_body),
        ("max-documents", *max_documents),
        ("max-requests", *max_requests),
        ("max-connections", *max_connections),
    ];
    if let Some((name, _)) = numbers.iter().find(|(_, number)| *number == 0) {
        return Err(Error::Config(format!("{name} 0: a server needs at least 1")));
    }
    if let Some((name, number)) = numbers[3..].iter().find(|(_, number)| *number > Semaphore::MAX_PERMITS) {
        return Err(Error::Config(format!("{name} {number}: more than any machine has")));
    }
    if timeout.is_zero() || idle.is_zero() {
        return Err(Error::Config("a timeout of 0: nothing could be answered".into()));
    }
    Ok(())
}
