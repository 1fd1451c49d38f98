//! A stream with a write timeout. When the server stops, it ends once no more requests arrive.

use socket2::SockRef;
use std::io::{Error, ErrorKind, IoSlice, Result};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Sleep, sleep};

/// State that a connection shares with its requests.
#[derive(Debug)]
pub(super) struct ConnectionState {
    /// Whether to close connections without a request.
    ending: watch::Receiver<bool>,
    /// Whether bytes have arrived since the last request was answered.
    has_bytes: AtomicBool,
    /// Whether a request is being answered.
    answering: AtomicBool,
}

impl ConnectionState {
    pub fn new(ending: watch::Receiver<bool>) -> Arc<Self> {
        Arc::new(ConnectionState { ending, has_bytes: AtomicBool::new(false), answering: AtomicBool::new(false) })
    }

    /// Marks the start of a request, which ends when the returned value is dropped.
    pub fn request(self: &Arc<Self>) -> Request {
        self.answering.store(true, Relaxed);
        Request(self.clone())
    }

    /// Whether to close the connection: the server stops, and no request is in progress.
    fn is_over(&self) -> bool {
        *self.ending.borrow() && !self.answering.load(Relaxed) && !self.has_bytes.load(Relaxed)
    }
}

/// A request that is being answered.
pub(super) struct Request(Arc<ConnectionState>);

impl Drop for Request {
    fn drop(&mut self) {
        self.0.has_bytes.store(false, Relaxed);
        self.0.answering.store(false, Relaxed);
    }
}

/// A stream whose writes fail after a timeout. Reads have no timeout here.
///
/// When the server stops, a stream without a request reports its end, as if the client had closed it. Everything in the
/// operating system's buffer is read first, so that requests that have arrived are answered.
pub(super) struct TimedStream {
    stream: TcpStream,
    timeout: Duration,
    /// Running while a write is pending.
    timer: Option<Pin<Box<Sleep>>>,
    state: Arc<ConnectionState>,
}

impl TimedStream {
    pub fn new(stream: TcpStream, timeout: Duration, state: Arc<ConnectionState>) -> Self {
        TimedStream { stream, timeout, timer: None, state }
    }

    /// Fails a write that is pending for longer than the timeout.
    fn with_timeout<T>(&mut self, context: &mut Context<'_>, written: Poll<Result<T>>) -> Poll<Result<T>> {
        if written.is_ready() {
            self.timer = None;
            return written;
        }
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(self.timeout)));
        ready!(timer.as_mut().poll(context));
        Poll::Ready(Err(Error::from(ErrorKind::TimedOut)))
    }

    /// Whether the operating system has nothing to read, even if the reactor does not know yet.
    fn is_silent(&self) -> bool {
        let peeked = SockRef::from(&self.stream).peek(&mut [MaybeUninit::uninit()]);
        peeked.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }
}

impl AsyncRead for TimedStream {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        let before = to.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, to);
        if to.filled().len() > before {
            self.state.has_bytes.store(true, Relaxed);
        }
        if read.is_pending() && self.state.is_over() && self.is_silent() {
            return Poll::Ready(Ok(()));
        }
        read
    }
}

impl AsyncWrite for TimedStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.with_timeout(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.with_timeout(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
