//! Connections: taken as long as there is room, and ended without losing a request.

use super::patient::{Patient, Talk};
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

/// The most bytes of a request's head.
const HEAD: usize = 64 << 10;
/// Connections that are told that they are too many, at a time; others are just closed.
const TOLD: usize = 64;
/// How long to wait before another connection is taken when the system has no more to give.
const PAUSE: Duration = Duration::from_millis(20);
/// How long connections without a request stay open once the server is asked to stop: a request that was on its way arrives.
pub(super) const GRACE: Duration = Duration::from_millis(100);
/// How long connections that the system holds are taken once the server is asked to stop.
const QUEUE: Duration = Duration::from_secs(1);

/// Takes connections until it is asked to stop, then those that wait to be taken; and ends when all of them have ended.
pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>, mut stop: watch::Receiver<bool>) {
    let most = shared.options.max_connections;
    let (end, ending) = watch::channel(false);
    let door = Door {
        service: TowerToHyperService::new(api::router(shared.clone())),
        places: Arc::new(Semaphore::new(most)),
        told: Arc::new(Semaphore::new(TOLD)),
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
            Ok((stream, _)) => door.take(stream),
            Err(_) => sleep(PAUSE).await,
        }
    }
    door.take_waiting(listener).await;
    sleep(GRACE).await;
    let _ = end.send(true);
    let all = u32::try_from(most).unwrap_or(u32::MAX);
    let ended = async {
        let _ = door.places.acquire_many(all).await;
        let _ = door.told.acquire_many(TOLD as u32).await;
    };
    let _ = timeout(door.shared.options.timeout, ended).await;
}

/// Where connections come in.
struct Door {
    shared: Arc<Shared>,
    service: TowerToHyperService<Router>,
    places: Arc<Semaphore>,
    told: Arc<Semaphore>,
    /// Whether connections are to end once they have no request.
    ending: watch::Receiver<bool>,
}

impl Door {
    /// Answers what comes on a connection, or refuses it where there is no place.
    fn take(&self, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            self.shared.metrics.refused();
            if let Ok(place) = self.told.clone().try_acquire_owned() {
                tokio::spawn(async move {
                    let _ = timeout(Duration::from_secs(1), refuse(stream)).await;
                    drop(place);
                });
            }
            return;
        };
        let (shared, service, mut ending) = (self.shared.clone(), self.service.clone(), self.ending.clone());
        tokio::spawn(async move {
            let _present = shared.metrics.connection();
            let talk = Talk::new(ending.clone());
            let stream = TokioIo::new(Patient::new(stream, shared.options.timeout, talk.clone()));
            let answered = service_fn(move |request| {
                let (begun, answer) = (talk.request(), service.call(request));
                async move {
                    let answer = answer.await;
                    drop(begun);
                    answer
                }
            });
            let mut builder = http1::Builder::new();
            // Who has sent a request may close that direction, and still wants the answer.
            builder
                .timer(TokioTimer::new())
                .header_read_timeout(shared.options.idle)
                .half_close(true)
                .max_buf_size(HEAD);
            let mut connection = std::pin::pin!(builder.serve_connection(stream, answered));
            tokio::select! {
                _ = connection.as_mut() => {}
                // Woken to find that there is nothing more to read.
                _ = ending.changed() => {
                    let _ = connection.await;
                }
            }
            drop(place);
        });
    }

    /// Takes the connections that the system holds for this listener, and closes it. Their requests may have come long ago.
    async fn take_waiting(&self, listener: TcpListener) {
        let start = Instant::now();
        // Asked directly: the reactor may not have heard of them yet.
        let Ok(listener) = listener.into_std() else { return };
        while start.elapsed() < QUEUE {
            match listener.accept() {
                Ok((stream, _)) => {
                    if let Ok(stream) = stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream)) {
                        self.take(stream);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => sleep(PAUSE).await,
            }
        }
    }
}

/// Tells a client that there is no place for it, and lets it finish its sentence: what is closed with bytes unread is lost.
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
