//! Responses and errors.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use serde_json::json;

/// An error response: status and message.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Refusal {
    pub status: StatusCode,
    pub reason: String,
}

impl Refusal {
    pub fn new(status: StatusCode, reason: impl Into<String>) -> Self {
        Refusal { status, reason: reason.into() }
    }

    /// 400: the request is invalid.
    pub fn bad(reason: impl Into<String>) -> Self {
        Refusal::new(StatusCode::BAD_REQUEST, reason)
    }

    /// 503: the server is overloaded.
    pub fn busy(reason: impl Into<String>) -> Self {
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, reason)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response<Body> {
        let mut response = bytes(JSON, json!({"error": self.reason}).to_string().into_bytes());
        *response.status_mut() = self.status;
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

pub(super) const JSON: &str = "application/json";
/// The content type of little-endian numbers.
pub(super) const BYTES: &str = "application/octet-stream";

/// A response with a content type.
pub(super) fn bytes(kind: &'static str, body: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
