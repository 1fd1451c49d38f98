//! What is asked, and what is answered.

use super::Shared;
use super::body::{Held, read, rows_of_bytes, rows_of_json};
use super::reply::{BYTES, JSON, Refusal, bytes};
use super::served::Served;
use crate::model::{Ranked, Scratch};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, EXPECT, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Response, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use serde::Serialize;
use serde_json::json;
use std::cell::RefCell;
use std::sync::{Arc, PoisonError};
use std::time::Instant;
use tokio::time::{timeout, timeout_at};

/// The checksum of the model that scored.
const MODEL: HeaderName = HeaderName::from_static("burnrank-model");

pub(super) fn router(shared: Arc<Shared>) -> Router {
    let unknown = || async {
        let reason = "there is no such page: POST /score, or GET /health, /model or /metrics";
        Refusal::new(StatusCode::NOT_FOUND, reason)
    };
    let wrong_method = || async {
        let reason = "this page does not take that method: POST /score, or GET /health, /model or /metrics";
        Refusal::new(StatusCode::METHOD_NOT_ALLOWED, reason)
    };
    Router::new()
        .route("/score", post(score))
        .route("/health", get(health))
        .route("/model", get(model))
        .route("/metrics", get(metrics))
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(shared.clone(), counted))
        .with_state(shared)
}

/// Counts a request, and how it is answered.
async fn counted(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response<Body> {
    let _present = shared.metrics.request();
    let response = next.run(request).await;
    shared.metrics.answered(response.status().as_u16());
    response
}

async fn health(State(shared): State<Arc<Shared>>) -> Response<Body> {
    // A folder that is being read is no reason to wait.
    let problem = match shared.reload.try_lock() {
        Ok(problem) => problem.clone(),
        Err(std::sync::TryLockError::Poisoned(problem)) => PoisonError::into_inner(problem).clone(),
        Err(std::sync::TryLockError::WouldBlock) => None,
    };
    let health = json!({"status": "ok", "model": shared.served().checksum, "reload_error": problem});
    bytes(JSON, health.to_string().into_bytes())
}

async fn model(State(shared): State<Arc<Shared>>) -> Response<Body> {
    bytes(JSON, shared.served().description.to_string().into_bytes())
}

async fn metrics(State(shared): State<Arc<Shared>>) -> Response<Body> {
    bytes("text/plain; version=0.0.4; charset=utf-8", shared.metrics.text(&shared.served()).into_bytes())
}

/// How numbers are written.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    Json,
    Bytes,
}

/// Whether a header names the type of bytes.
fn form(headers: &HeaderMap, name: HeaderName) -> Form {
    let value = headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = value.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case(BYTES) { Form::Bytes } else { Form::Json }
}

async fn score(State(shared): State<Arc<Shared>>, request: Request) -> Response<Body> {
    match scored(shared, request).await {
        Ok(response) => response,
        Err(refusal) => refusal.into_response(),
    }
}

async fn scored(shared: Arc<Shared>, request: Request) -> Result<Response<Body>, Refusal> {
    let start = Instant::now();
    let (head, body) = request.into_parts();
    if let Some(coding) = head.headers.get(CONTENT_ENCODING).filter(|coding| *coding != "identity") {
        let reason = format!("bodies are read as they are, not in the coding {coding:?}");
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason));
    }
    let (from, to) = (form(&head.headers, CONTENT_TYPE), form(&head.headers, ACCEPT));
    let patience = shared.options.timeout;
    let waits = head.headers.contains_key(EXPECT);
    let body = timeout(patience, read(body, waits, shared.clone())).await.unwrap_or_else(|_| {
        let reason = format!("the body did not come within {} seconds", patience.as_secs_f64());
        Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, reason))
    })?;
    let Ok(slot) = shared.slots.clone().try_acquire_owned() else {
        let most = shared.options.max_requests;
        return Err(Refusal::busy(format!("{most} requests are being scored already: try again later")));
    };
    let deadline = tokio::time::Instant::now() + patience;
    let own = shared.clone();
    // Off the reactor, which has others to listen to. The slot is free when the work is done, whoever still waits for it.
    let work = tokio::task::spawn_blocking(move || {
        let answer = answer(&own, body, from, to);
        drop(slot);
        answer
    });
    match timeout_at(deadline, work).await {
        Ok(Ok(Ok((response, documents)))) => {
            shared.metrics.scored(documents, start.elapsed());
            Ok(response)
        }
        Ok(Ok(Err(refusal))) => Err(refusal),
        Ok(Err(_)) => {
            Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "scoring failed: that is a bug of the server"))
        }
        Err(_) => Err(Refusal::busy(format!("not scored within {} seconds: try again later", patience.as_secs_f64()))),
    }
}

/// The memory of a thread that scores.
#[derive(Default)]
struct Work {
    rows: Vec<f32>,
    scratch: Scratch,
}

/// Bytes of rows up to which a thread keeps its memory for the next request.
const KEPT: usize = 1 << 20;

thread_local! {
    static WORK: RefCell<Work> = RefCell::default();
}

/// The answer to a body, and the number of documents.
fn answer(shared: &Shared, body: Held, from: Form, to: Form) -> Result<(Response<Body>, usize), Refusal> {
    let served = shared.served();
    let (width, options) = (served.scorer.n_features(), &shared.options);
    // Taken, not borrowed: after a panic the next request begins with memory of its own.
    let mut work = WORK.take();
    let read = match from {
        Form::Json => rows_of_json(&body.bytes, width, options, &mut work.rows),
        Form::Bytes => rows_of_bytes(&body.bytes, width, options, &mut work.rows),
    };
    drop(body);
    let found = read.and_then(|()| {
        let ranked =
            served.scorer.rank(&work.rows, &mut work.scratch).map_err(|error| Refusal::bad(error.to_string()))?;
        Ok((write(&served, &ranked, to)?, ranked.scores.len()))
    });
    // What a large request took is given back.
    if work.rows.capacity() * size_of::<f32>() <= KEPT {
        WORK.set(work);
    }
    found
}

#[derive(Serialize)]
struct Answer<'a> {
    scores: &'a [f32],
    order: &'a [u32],
}

fn write(served: &Served, ranked: &Ranked<'_>, to: Form) -> Result<Response<Body>, Refusal> {
    if let Some(document) = ranked.scores.iter().position(|score| !score.is_finite()) {
        let score = ranked.scores[document];
        return Err(Refusal::bad(format!(
            "the score of documents[{document}] is {score}: its features are too large for the model"
        )));
    }
    let mut response = match to {
        Form::Json => {
            let answer = Answer { scores: ranked.scores, order: ranked.order };
            bytes(JSON, serde_json::to_vec(&answer).unwrap_or_default())
        }
        Form::Bytes => {
            let scores = ranked.scores.iter().flat_map(|score| score.to_le_bytes());
            bytes(BYTES, scores.chain(ranked.order.iter().flat_map(|place| place.to_le_bytes())).collect())
        }
    };
    if let Ok(model) = HeaderValue::from_str(&served.checksum) {
        response.headers_mut().insert(MODEL, model);
    }
    Ok(response)
}
