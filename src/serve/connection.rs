//! Connections: taken as long as there is room, and ended without losing a request.

use super::patient::Patient;
use super::{Shared, api};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::time::Duration;
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

/// Takes connections until it is asked to stop, and then waits for those that are there.
pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>, mut stop: watch::Receiver<bool>) {
    let most = shared.options.max_connections;
    let (places, told) = (Arc::new(Semaphore::new(most)), Arc::new(Semaphore::new(TOLD)));
    let service = TowerToHyperService::new(api::router(shared.clone()));
    loop {
        let accepted = tokio::select! {
            biased;
            _ = stop.changed() => break,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            sleep(PAUSE).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let Ok(place) = places.clone().try_acquire_owned() else {
            shared.metrics.refused();
            if let Ok(place) = told.clone().try_acquire_owned() {
                tokio::spawn(async move {
                    let _ = timeout(Duration::from_secs(1), refuse(stream)).await;
                    drop(place);
                });
            }
            continue;
        };
        let (shared, service, mut stop) = (shared.clone(), service.clone(), stop.clone());
        tokio::spawn(async move {
            let _present = shared.metrics.connection();
            let stream = TokioIo::new(Patient::new(stream, shared.options.timeout));
            let mut builder = http1::Builder::new();
            // Who has sent a request may close that direction, and still wants the answer.
            builder
                .timer(TokioTimer::new())
                .header_read_timeout(shared.options.idle)
                .half_close(true)
                .max_buf_size(HEAD);
            let mut connection = std::pin::pin!(builder.serve_connection(stream, service));
            tokio::select! {
                _ = connection.as_mut() => {}
                _ = stop.changed() => {
                    connection.as_mut().graceful_shutdown();
                    let _ = connection.await;
                }
            }
            drop(place);
        });
    }
    drop(listener);
    let all = u32::try_from(most).unwrap_or(u32::MAX);
    let _ = timeout(shared.options.timeout, places.acquire_many(all)).await;
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
