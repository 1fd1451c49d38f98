//! An HTTP server that scores documents.
//!
//! `POST /score` takes the documents of one query, as JSON or as bytes of f32, and returns their scores and order.
//! `GET /health`, `/model` and `/metrics` return its status, a description of the model, and Prometheus metrics.
//! `docs/serving.md` has the wire format. Needs the feature `serve`.
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
//! // Port 0 picks a free port.
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
mod reply;
mod served;
mod stream;

use crate::error::{Error, Result};
use metrics::Metrics;
use served::ServedModel;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError, RwLock, mpsc};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, watch};

/// Address and limits of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct ServeOptions {
    /// Address and port to listen on; port 0 picks a free port.
    pub listen: SocketAddr,
    /// Number of scoring threads.
    pub threads: usize,
    /// Maximum size of a request body in bytes.
    pub max_body: usize,
    /// Maximum number of documents per request.
    pub max_documents: usize,
    /// Maximum number of requests that are scored or waiting; more are answered with 503.
    pub max_requests: usize,
    /// Maximum number of connections; more are answered with 503 and closed.
    pub max_connections: usize,
    /// Maximum time to receive a body, to compute a response, and between a client's reads of it.
    pub timeout: Duration,
    /// Maximum time that a connection may stay open without a complete request header.
    pub idle: Duration,
}

impl Default for ServeOptions {
    /// Port 8080 on localhost, one thread per core, 16 MB per body, 10,000 documents, 256 requests, 1,024 connections, a timeout
    /// of 10 seconds, and 30 seconds for idle connections.
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

/// A running server. It runs on its own threads until it is stopped or dropped.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    address: SocketAddr,
    /// Asks connections to end.
    stop: watch::Sender<bool>,
    /// Signalled when all connections are closed.
    ended: Mutex<mpsc::Receiver<()>>,
    runtime: Option<Runtime>,
}

/// What all connections share.
#[derive(Debug)]
struct Shared {
    folder: PathBuf,
    options: ServeOptions,
    served: RwLock<Arc<ServedModel>>,
    /// Locked while a model is reloaded; the error of the last reload.
    reload: Mutex<Option<String>>,
    metrics: Metrics,
    /// One permit per request that is scored or waiting.
    slots: Arc<Semaphore>,
    /// Total bytes of bodies that are received and not answered yet.
    held: AtomicUsize,
}

impl Shared {
    /// The current model.
    fn served(&self) -> Arc<ServedModel> {
        self.served.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Server {
    /// Loads a model folder and starts to serve it.
    ///
    /// # Errors
    /// If the folder is not a model folder, an option is invalid, or the address is not available.
    pub fn start(folder: &Path, options: &ServeOptions) -> Result<Self> {
        check(options)?;
        let served = ServedModel::load(folder)?;
        let failed = |error: std::io::Error| Error::io(options.listen.to_string(), "listen", error);
        let listener = std::net::TcpListener::bind(options.listen).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        // The reactor's threads only move bytes.
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

    /// The address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The description of the model that `GET /model` returns.
    pub fn model(&self) -> serde_json::Value {
        self.shared.served().description.clone()
    }

    /// Reloads the model folder. Requests are answered by the current model until the new one is loaded. Keeps the current model
    /// if the new one fails to load.
    ///
    /// # Errors
    /// If the new model fails to load.
    pub fn reload(&self) -> Result<()> {
        let mut last = self.shared.reload.lock().unwrap_or_else(PoisonError::into_inner);
        let loaded = ServedModel::load(&self.shared.folder);
        self.shared.metrics.reloaded(loaded.is_ok());
        *last = loaded.as_ref().err().map(ToString::to_string);
        let new = Arc::new(loaded?);
        *self.shared.served.write().unwrap_or_else(PoisonError::into_inner) = new;
        Ok(())
    }

    /// Accepts no new connections, answers all requests that have arrived, within the timeout, and stops.
    ///
    /// Connections and requests in the operating system's queues count as arrived.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        let _ = self.stop.send(true);
        let ended = self.ended.get_mut().unwrap_or_else(PoisonError::into_inner);
        // Longer than the timeout of connections, in case one hangs.
        let _ = ended.recv_timeout(self.shared.options.timeout.saturating_add(Duration::from_secs(3)));
        // The caller may be inside another runtime, which must not be blocked.
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
        return Err(Error::Config(format!("{name} 0: expected at least 1")));
    }
    if let Some((name, number)) = numbers[3..].iter().find(|(_, number)| *number > Semaphore::MAX_PERMITS) {
        return Err(Error::Config(format!("{name} {number}: expected at most {}", Semaphore::MAX_PERMITS)));
    }
    if timeout.is_zero() || idle.is_zero() {
        return Err(Error::Config("timeout and idle: expected more than 0 seconds".into()));
    }
    Ok(())
}
