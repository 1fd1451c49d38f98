//! A connection whose client must take in what it asked for, and which ends once nothing more of a request arrives.

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

/// What a connection and the requests on it know of each other.
#[derive(Debug)]
pub(super) struct Talk {
    /// Whether connections are to end once they have no request.
    ending: watch::Receiver<bool>,
    /// Whether bytes have come since the last request was answered.
    heard: AtomicBool,
    /// Whether a request is being answered.
    answering: AtomicBool,
}

impl Talk {
    pub fn new(ending: watch::Receiver<bool>) -> Arc<Self> {
        Arc::new(Talk { ending, heard: AtomicBool::new(false), answering: AtomicBool::new(false) })
    }

    /// A request begins; it ends when the value is dropped.
    pub fn request(self: &Arc<Self>) -> Request {
        self.answering.store(true, Relaxed);
        Request(self.clone())
    }

    /// Whether the connection is to end, and is not in the middle of a request.
    fn is_over(&self) -> bool {
        *self.ending.borrow() && !self.answering.load(Relaxed) && !self.heard.load(Relaxed)
    }
}

/// A request that is being answered.
pub(super) struct Request(Arc<Talk>);

impl Drop for Request {
    fn drop(&mut self) {
        self.0.heard.store(false, Relaxed);
        self.0.answering.store(false, Relaxed);
    }
}

/// A stream that fails when nothing can be written for some time. For reading, others keep the time.
///
/// When connections are to end, one without a request ends here, as if the client had closed it. All that has arrived is read
/// before: requests that the system has taken in while nobody looked are answered.
pub(super) struct Patient {
    stream: TcpStream,
    most: Duration,
    /// Runs out while the client takes in nothing.
    waiting: Option<Pin<Box<Sleep>>>,
    talk: Arc<Talk>,
}

impl Patient {
    pub fn new(stream: TcpStream, most: Duration, talk: Arc<Talk>) -> Self {
        Patient { stream, most, waiting: None, talk }
    }

    fn judge<T>(&mut self, context: &mut Context<'_>, written: Poll<Result<T>>) -> Poll<Result<T>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(self.most)));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(Error::from(ErrorKind::TimedOut)))
    }

    /// Whether the system itself has nothing to read, whatever the reactor has heard of.
    fn is_silent(&self) -> bool {
        let peeked = SockRef::from(&self.stream).peek(&mut [MaybeUninit::uninit()]);
        peeked.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }
}

impl AsyncRead for Patient {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        let before = to.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, to);
        if to.filled().len() > before {
            self.talk.heard.store(true, Relaxed);
        }
        if read.is_pending() && self.talk.is_over() && self.is_silent() {
            return Poll::Ready(Ok(()));
        }
        read
    }
}

impl AsyncWrite for Patient {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.judge(context, written)
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
