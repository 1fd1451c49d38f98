//! Long work without the interpreter lock, which Ctrl-C stops.

use crate::error::raise;
use burnrank::{Error, Result, Stop};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

/// Time between checks for signals.
const POLL: Duration = Duration::from_millis(50);

/// The process that started threads; 0 before that.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// What work reports to the caller: a kind of event and its data as JSON.
struct Event {
    kind: &'static str,
    json: String,
    reply: SyncSender<bool>,
}

/// The connection of work to its caller.
pub struct Link {
    /// Set when the caller wants the work to end.
    pub stop: Stop,
    events: Sender<Event>,
}

impl Link {
    /// Calls the Python observer on the caller's thread and waits for it. Breaks if the observer asks to stop.
    pub fn report(&self, kind: &'static str, json: String) -> Result<ControlFlow<()>> {
        let (reply, answer) = sync_channel(1);
        // If the caller is gone, `stop` is set.
        let _ = self.events.send(Event { kind, json, reply });
        match answer.recv() {
            Ok(true) => Ok(ControlFlow::Break(())),
            Ok(false) => Ok(ControlFlow::Continue(())),
            Err(_) => Err(Error::Stopped),
        }
    }
}

/// Fails in a process that was forked after threads were started, because the threads do not exist in the new process.
pub fn check_process() -> PyResult<()> {
    let own = std::process::id();
    let owner = OWNER.compare_exchange(0, own, Ordering::SeqCst, Ordering::SeqCst).unwrap_or_else(|owner| owner);
    if owner == 0 || owner == own {
        return Ok(());
    }
    Err(PyRuntimeError::new_err(
        "burnrank was used before this process was forked, and its threads do not exist here: start processes with \
         multiprocessing.get_context('spawn') or joblib's default backend, or import burnrank in the new process only",
    ))
}

/// Runs work on another thread without the interpreter lock. Python's signal handlers run meanwhile, and `observer` is called
/// with each reported event; it returns whether to stop.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    observer: Option<Py<PyAny>>,
    work: impl FnOnce(&Link) -> Result<T> + Send,
) -> PyResult<T> {
    check_process()?;
    let (events, receiver) = channel();
    let link = Link { stop: Stop::new(), events };
    let stop = link.stop.clone();
    let (result, failure) = py.detach(|| {
        std::thread::scope(|scope| {
            // The link is dropped when the work ends, which ends the loop of `attend`.
            let worker = scope.spawn(move || work(&link));
            let failure = attend(&receiver, observer.as_ref(), &stop);
            drop(receiver);
            (worker.join(), failure)
        })
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    result
        .unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            Err(Error::Training(format!("internal error, please report it: {}", text.unwrap_or("panic"))))
        })
        .map_err(raise)
}

/// Answers events and checks for signals until the work ends. Returns the first exception.
fn attend(events: &Receiver<Event>, observer: Option<&Py<PyAny>>, stop: &Stop) -> Option<PyErr> {
    let mut failure = None;
    loop {
        let outcome = match events.recv_timeout(POLL) {
            Err(RecvTimeoutError::Disconnected) => return failure,
            Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals()).map(|()| None),
            Ok(event) if failure.is_some() => Ok(Some((event.reply, true))),
            Ok(event) => Python::attach(|py| {
                py.check_signals()?;
                let Some(observer) = observer else { return Ok(false) };
                observer.bind(py).call1((event.kind, event.json))?.is_truthy()
            })
            .map(|stops| Some((event.reply, stops))),
        };
        match outcome {
            Ok(None) => {}
            Ok(Some((reply, stops))) => _ = reply.send(stops),
            Err(error) => {
                stop.ask();
                failure.get_or_insert(error);
            }
        }
    }
}
