//! Connections: accepted up to a limit, and closed without losing a request.

use super::stream::{ConnectionState, TimedStream};
use super::{Shared, api};
use axum::Router;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

/// Maximum size of a request header in bytes.
const MAX_HEADER: usize = 64 << 10;
/// Maximum number of excess connections that are answered with 503 at the same time; others are closed without an answer.
const MAX_REFUSALS: usize = 64;
/// Delay before the next connection is accepted if the operating system is out of resources.
const PAUSE: Duration = Duration::from_millis(20);
/// How long idle connections stay open after the server is asked to stop, so that requests in transit arrive.
pub(super) const GRACE: Duration = Duration::from_millis(100);
/// How long connections in the operating system's queue are accepted after the server is asked to stop.
const QUEUE: Duration = Duration::from_secs(1);

/// Accepts connections until it is asked to stop, then those in the queue. Returns when all connections are closed.
pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>, mut stop: watch::Receiver<bool>) {
    let limit = shared.options.max_connections;
    let (end, ending) = watch::channel(false);
    let acceptor = Acceptor {
        service: TowerToHyperService::new(api::router(shared.clone())),
        slots: Arc::new(Semaphore::new(limit)),
        refusals: Arc::new(Semaphore::new(MAX_REFUSALS)),
        shared,
        ending,
    };
    loop {
        let accepted = tokio::select! {
            biased;
            _ = stop.changed() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => acceptor.serve(stream),
            Err(_) => sleep(PAUSE).await,
        }
    }
    acceptor.serve_queue(listener).await;
    sleep(GRACE).await;
    let _ = end.send(true);
    let all = u32::try_from(limit).unwrap_or(u32::MAX);
    let ended = async {
        let _ = acceptor.slots.acquire_many(all).await;
        let _ = acceptor.refusals.acquire_many(MAX_REFUSALS as u32).await;
    };
    let _ = timeout(acceptor.shared.options.timeout, ended).await;
}

/// Serves accepted connections.
struct Acceptor {
    shared: Arc<Shared>,
    service: TowerToHyperService<Router>,
    /// One permit per connection.
    slots: Arc<Semaphore>,
    /// One permit per excess connection that is being answered with 503.
    refusals: Arc<Semaphore>,
    /// Whether to close connections without a request.
    ending: watch::Receiver<bool>,
}

impl Acceptor {
    /// Serves the requests of a connection, or refuses it if there are too many.
    fn serve(&self, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let Ok(slot) = self.slots.clone().try_acquire_owned() else {
            self.shared.metrics.refused();
            if let Ok(permit) = self.refusals.clone().try_acquire_owned() {
                tokio::spawn(async move {
                    let _ = timeout(Duration::from_secs(1), refuse(stream)).await;
                    drop(permit);
                });
            }
            return;
        };
        let (shared, service, mut ending) = (self.shared.clone(), self.service.clone(), self.ending.clone());
        tokio::spawn(async move {
            let _open = shared.metrics.connection();
            let state = ConnectionState::new(ending.clone());
            let stream = TokioIo::new(TimedStream::new(stream, shared.options.timeout, state.clone()));
            let service = service_fn(move |request| {
                let (in_progress, answer) = (state.request(), service.call(request));
                async move {
                    let answer = answer.await;
                    drop(in_progress);
                    answer
                }
            });
            let mut builder = http1::Builder::new();
            // A client may close its sending direction after the request and still read the answer.
            builder
                .timer(TokioTimer::new())
                .header_read_timeout(shared.options.idle)
                .half_close(true)
                .max_buf_size(MAX_HEADER);
            let mut connection = std::pin::pin!(builder.serve_connection(stream, service));
            tokio::select! {
                _ = connection.as_mut() => {}
                // Poll once more, to see that there is nothing left to read.
                _ = ending.changed() => {
                    let _ = connection.await;
                }
            }
            drop(slot);
        });
    }

    /// Serves the connections in the listener's queue, whose requests may have arrived long ago, and closes the listener.
    async fn serve_queue(&self, listener: TcpListener) {
        let start = Instant::now();
        // Bypass the reactor, which may not know of them yet.
        let Ok(listener) = listener.into_std() else { return };
        while start.elapsed() < QUEUE {
            match listener.accept() {
                Ok((stream, _)) => {
                    if let Ok(stream) = stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream)) {
                        self.serve(stream);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => sleep(PAUSE).await,
            }
        }
    }
}

/// Answers with 503, and reads what the client sends: closing a connection with unread bytes would lose the answer.
async fn refuse(mut stream: TcpStream) -> std::io::Result<()> {
    let body = r#"{"error":"too many connections: try again later"}"#;
    let head = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: {}\r\nretry-after: 1\r\n\
         connection: close\r\n\r\n",
        body.len()
    );
    stream.write_all((head + body).as_bytes()).await?;
    stream.shutdown().await?;
    let mut rest = [0; 4096];
    while stream.read(&mut rest).await? > 0 {}
    Ok(())
}
