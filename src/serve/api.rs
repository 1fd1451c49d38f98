//! The HTTP endpoints.

use super::Shared;
use super::body::{ReceivedBody, read, rows_of_bytes, rows_of_json};
use super::reply::{BYTES, JSON, Refusal, bytes};
use super::served::ServedModel;
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

/// Header with the checksum of the model that scored.
const MODEL: HeaderName = HeaderName::from_static("burnrank-model");

pub(super) fn router(shared: Arc<Shared>) -> Router {
    let unknown = || async {
        let reason = "unknown path: expected POST /score, or GET /health, /model or /metrics";
        Refusal::new(StatusCode::NOT_FOUND, reason)
    };
    let wrong_method = || async {
        let reason = "wrong method: expected POST /score, or GET /health, /model or /metrics";
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

/// Counts requests and responses.
async fn counted(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response<Body> {
    let _in_flight = shared.metrics.request();
    let response = next.run(request).await;
    shared.metrics.answered(response.status().as_u16());
    response
}

async fn health(State(shared): State<Arc<Shared>>) -> Response<Body> {
    // Do not wait while a model is reloaded.
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

/// The format of numbers in a body.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Format {
    Json,
    Bytes,
}

/// The format that a header names.
fn format_of(headers: &HeaderMap, name: HeaderName) -> Format {
    let value = headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = value.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case(BYTES) { Format::Bytes } else { Format::Json }
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
        let reason = format!("content encoding {coding:?} is not supported: send an uncompressed body");
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason));
    }
    let (from, to) = (format_of(&head.headers, CONTENT_TYPE), format_of(&head.headers, ACCEPT));
    let max_time = shared.options.timeout;
    let expects_continue = head.headers.contains_key(EXPECT);
    let body = timeout(max_time, read(body, expects_continue, shared.clone())).await.unwrap_or_else(|_| {
        let reason = format!("the body did not arrive within {} seconds", max_time.as_secs_f64());
        Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, reason))
    })?;
    let Ok(slot) = shared.slots.clone().try_acquire_owned() else {
        let max_requests = shared.options.max_requests;
        return Err(Refusal::busy(format!("{max_requests} requests are being scored, the maximum: try again later")));
    };
    let deadline = tokio::time::Instant::now() + max_time;
    let state = shared.clone();
    // Score outside the reactor. The slot is released when scoring ends, even if the request has timed out.
    let work = tokio::task::spawn_blocking(move || {
        let answer = answer(&state, body, from, to);
        drop(slot);
        answer
    });
    match timeout_at(deadline, work).await {
        Ok(Ok(Ok((response, documents)))) => {
            shared.metrics.scored(documents, start.elapsed());
            Ok(response)
        }
        Ok(Ok(Err(refusal))) => Err(refusal),
        Ok(Err(_)) => Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "scoring failed: please report this bug")),
        Err(_) => Err(Refusal::busy(format!("not scored within {} seconds: try again later", max_time.as_secs_f64()))),
    }
}

/// The buffers of a scoring thread.
#[derive(Default)]
struct Buffers {
    rows: Vec<f32>,
    scratch: Scratch,
}

/// Maximum size of the rows that a thread keeps allocated for the next request, in bytes.
const MAX_KEPT: usize = 1 << 20;

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::default();
}

/// Scores a body. Returns the response and the number of documents.
fn answer(shared: &Shared, body: ReceivedBody, from: Format, to: Format) -> Result<(Response<Body>, usize), Refusal> {
    let served = shared.served();
    let (width, options) = (served.scorer.n_features(), &shared.options);
    // Take the buffers, so that after a panic the next request starts with new ones.
    let mut buffers = BUFFERS.take();
    let read = match from {
        Format::Json => rows_of_json(&body.bytes, width, options, &mut buffers.rows),
        Format::Bytes => rows_of_bytes(&body.bytes, width, options, &mut buffers.rows),
    };
    drop(body);
    let result = read.and_then(|()| {
        let ranked =
            served.scorer.rank(&buffers.rows, &mut buffers.scratch).map_err(|error| Refusal::bad(error.to_string()))?;
        Ok((write(&served, &ranked, to)?, ranked.scores.len()))
    });
    // Free the memory of a large request.
    if buffers.rows.capacity() * size_of::<f32>() <= MAX_KEPT {
        BUFFERS.set(buffers);
    }
    result
}

#[derive(Serialize)]
struct Answer<'a> {
    scores: &'a [f32],
    order: &'a [u32],
}

fn write(served: &ServedModel, ranked: &Ranked<'_>, to: Format) -> Result<Response<Body>, Refusal> {
    if let Some(document) = ranked.scores.iter().position(|score| !score.is_finite()) {
        let score = ranked.scores[document];
        return Err(Refusal::bad(format!(
            "the score of documents[{document}] is {score}: its features are too large for the model"
        )));
    }
    let mut response = match to {
        Format::Json => {
            let answer = Answer { scores: ranked.scores, order: ranked.order };
            bytes(JSON, serde_json::to_vec(&answer).unwrap_or_default())
        }
        Format::Bytes => {
            let scores = ranked.scores.iter().flat_map(|score| score.to_le_bytes());
            bytes(BYTES, scores.chain(ranked.order.iter().flat_map(|place| place.to_le_bytes())).collect())
        }
    };
    if let Ok(model) = HeaderValue::from_str(&served.checksum) {
        response.headers_mut().insert(MODEL, model);
    }
    Ok(response)
}
