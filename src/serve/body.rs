//! Request bodies: reading within limits, and parsing into rows of features.

use super::reply::Refusal;
use super::{ServeOptions, Shared};
use axum::body::Body;
use axum::http::StatusCode;
use http_body_util::BodyExt;
use hyper::body::Body as _;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// A received body. Its bytes count towards the server's total until it is dropped.
pub(super) struct ReceivedBody {
    shared: Arc<Shared>,
    pub bytes: Vec<u8>,
}

impl Drop for ReceivedBody {
    fn drop(&mut self) {
        self.shared.held.fetch_sub(self.bytes.len(), Relaxed);
    }
}

/// Maximum total size of all received bodies, as a multiple of `max_body`.
const MAX_TOTAL: usize = 16;
/// A body that is too large is read and discarded up to this multiple of `max_body`: a client that is cut off while it sends
/// does not read the error.
const MAX_DISCARDED: usize = 4;

/// Reads a body. A client that waits for `100 Continue` does not get it for a body that is too large.
pub(super) async fn read(mut body: Body, expects_continue: bool, shared: Arc<Shared>) -> Result<ReceivedBody, Refusal> {
    let limit = shared.options.max_body;
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > if expects_continue { limit } else { limit.saturating_mul(MAX_DISCARDED) } {
        return Err(too_large(limit));
    }
    let mut received = ReceivedBody { shared, bytes: Vec::new() };
    let mut length = 0_usize;
    let mut refused: Option<Refusal> = None;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            return Err(refused.unwrap_or_else(|| Refusal::bad("the body is incomplete")));
        };
        let Ok(data) = frame.into_data() else { continue };
        length = length.saturating_add(data.len());
        if length > limit && refused.is_none() {
            refused = Some(too_large(limit));
        }
        if refused.is_some() {
            if length > limit.saturating_mul(MAX_DISCARDED) {
                break;
            }
            continue;
        }
        let others = received.shared.held.fetch_add(data.len(), Relaxed);
        received.bytes.extend_from_slice(&data);
        if others.saturating_add(data.len()) > limit.saturating_mul(MAX_TOTAL) {
            refused = Some(Refusal::busy("too many request bodies at the same time: try again later"));
        }
    }
    match refused {
        Some(refusal) => Err(refusal),
        None => Ok(received),
    }
}

fn too_large(limit: usize) -> Refusal {
    let reason =
        format!("the body has more than {limit} bytes: send fewer documents, or increase `max_body` of the server");
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, reason)
}

/// The rows of a body of little-endian f32.
pub(super) fn rows_of_bytes(
    body: &[u8],
    width: usize,
    options: &ServeOptions,
    rows: &mut Vec<f32>,
) -> Result<(), Refusal> {
    let row = width * size_of::<f32>();
    if !body.len().is_multiple_of(row) {
        let length = body.len();
        return Err(Refusal::bad(format!(
            "{length} bytes is not a multiple of {row}, the size of a document: {width} features of f32"
        )));
    }
    if body.len() / row > options.max_documents {
        return Err(Refusal::bad(too_many(options.max_documents)));
    }
    rows.clear();
    rows.extend(body.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)));
    match rows.iter().position(|value| value.is_infinite()) {
        None => Ok(()),
        Some(place) => {
            let (document, feature, value) = (place / width, place % width, rows[place]);
            Err(Refusal::bad(format!(
                "documents[{document}][{feature}] is {value}: features must be finite numbers, or NaN if they are missing"
            )))
        }
    }
}

fn too_many(limit: usize) -> String {
    format!("more than {limit} documents: send fewer, or increase `max_documents` of the server")
}

/// The rows of a body of JSON: `{"documents": [[...], ...]}`, or the list alone.
pub(super) fn rows_of_json(
    body: &[u8],
    width: usize,
    options: &ServeOptions,
    rows: &mut Vec<f32>,
) -> Result<(), Refusal> {
    rows.clear();
    let mut reader = Reader { rows, width, limit: options.max_documents, documents: 0, problem: None };
    let mut json = serde_json::Deserializer::from_slice(body);
    let read = Request(&mut reader).deserialize(&mut json).and_then(|()| json.end());
    match (read, reader.problem) {
        (_, Some(problem)) => Err(Refusal::bad(problem)),
        (Ok(()), None) => Ok(()),
        (Err(_), None) if body.is_empty() => {
            Err(Refusal::bad(r#"the body is empty: expected {"documents": [[...], ...]}"#))
        }
        (Err(error), None) if error.is_data() => Err(Refusal::bad(format!("invalid request: {error}"))),
        (Err(error), None) => Err(Refusal::bad(format!("the body is not JSON: {error}"))),
    }
}

/// Collects the numbers, and the first problem with them.
struct Reader<'a> {
    rows: &'a mut Vec<f32>,
    width: usize,
    /// Maximum number of documents.
    limit: usize,
    documents: usize,
    problem: Option<String>,
}

impl Reader<'_> {
    /// Stores a problem, and returns an error that ends the reading.
    fn refuse<E: serde::de::Error>(&mut self, problem: String) -> E {
        self.problem = Some(problem);
        E::custom("refused")
    }
}

struct Request<'a, 'b>(&'a mut Reader<'b>);
struct Documents<'a, 'b>(&'a mut Reader<'b>);
struct Row<'a, 'b>(&'a mut Reader<'b>);
struct Number<'a, 'b>(&'a mut Reader<'b>);

impl<'de> DeserializeSeed<'de> for Request<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Request<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(r#"{"documents": [[...], ...]}"#)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = false;
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            if key != "documents" {
                let key: String = key.chars().take(40).collect();
                return Err(self.0.refuse(format!("unknown field {key:?}: expected only \"documents\"")));
            }
            if std::mem::replace(&mut seen, true) {
                return Err(self.0.refuse("\"documents\" appears twice".into()));
            }
            map.next_value_seed(Documents(self.0))?;
        }
        if seen {
            Ok(())
        } else {
            Err(self.0.refuse("\"documents\" is missing: expected {\"documents\": [[...], ...]}".into()))
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        Documents(self.0).visit_seq(list)
    }
}

impl<'de> DeserializeSeed<'de> for Documents<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Documents<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of documents, each a list of features")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Row(self.0))?.is_some() {}
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Row<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Row<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of {} features", self.0.width)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let reader = self.0;
        let (document, width) = (reader.documents, reader.width);
        if document == reader.limit {
            return Err(reader.refuse(too_many(reader.limit)));
        }
        let mut features = 0;
        while list.next_element_seed(Number(reader))?.is_some() {
            features += 1;
            if features > width {
                let problem =
                    format!("documents[{document}] has more than {width} features, the model expects {width}");
                return Err(reader.refuse(problem));
            }
        }
        if features < width {
            let problem = format!("documents[{document}] has {features} features, the model expects {width}");
            return Err(reader.refuse(problem));
        }
        reader.documents += 1;
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Number<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Number<'_, '_> {
    fn push<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        let single = value as f32;
        if !single.is_finite() {
            let (document, feature) = (self.0.documents, self.0.rows.len() - self.0.documents * self.0.width);
            let problem = format!("documents[{document}][{feature}] is {value:e}, out of range for f32");
            return Err(self.0.refuse(problem));
        }
        self.0.rows.push(single);
        Ok(())
    }
}

impl<'de> Visitor<'de> for Number<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        self.push(value)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        self.push(value as f64)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        self.push(value as f64)
    }

    /// A missing value.
    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.0.rows.push(f32::NAN);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Result<Vec<f32>, String> {
        let mut rows = vec![7.0];
        let options = ServeOptions { max_documents: 3, ..ServeOptions::default() };
        rows_of_json(text.as_bytes(), 2, &options, &mut rows).map(|()| rows).map_err(|refusal| refusal.reason)
    }

    #[test]
    fn json_parses_into_rows() {
        assert_eq!(json(r#"{"documents": [[1, -2.5], [3e2, 0]]}"#), Ok(vec![1.0, -2.5, 300.0, 0.0]));
        assert_eq!(json(" [[0.1,16777217]] "), Ok(vec![0.1, 16_777_216.0]));
        assert_eq!(json(r#"{"documents": []}"#), Ok(vec![]));
        assert_eq!(json("[]"), Ok(vec![]));
        let missing = json("[[1,2],[3,null]]").unwrap();
        assert!(missing[..3] == [1.0, 2.0, 3.0] && missing[3].is_nan() && missing.len() == 4);
    }

    #[test]
    fn errors_of_json_say_what_is_wrong() {
        for (text, reason) in [
            ("", r#"the body is empty: expected {"documents": [[...], ...]}"#),
            ("[[1,2]", "the body is not JSON: EOF while parsing a list at line 1 column 6"),
            ("[[1,2]] x", "the body is not JSON: trailing characters at line 1 column 9"),
            ("[[1,NaN]]", "the body is not JSON: expected value at line 1 column 5"),
            ("[[1]]", "documents[0] has 1 features, the model expects 2"),
            ("[[1,2],[1,2,3]]", "documents[1] has more than 2 features, the model expects 2"),
            ("[[1,2],[1e39,0]]", "documents[1][0] is 1e39, out of range for f32"),
            (
                "[[1,2],[1,2],[1,2],[1,2]]",
                "more than 3 documents: send fewer, or increase `max_documents` of the server",
            ),
            ("{}", r#""documents" is missing: expected {"documents": [[...], ...]}"#),
            (r#"{"rows": []}"#, r#"unknown field "rows": expected only "documents""#),
            (r#"{"documents": [], "documents": []}"#, r#""documents" appears twice"#),
            (
                "7",
                r#"invalid request: invalid type: integer `7`, expected {"documents": [[...], ...]} at line 1 column 1"#,
            ),
            (r#"[["1", 2]]"#, r#"invalid request: invalid type: string "1", expected a number at line 1 column 5"#),
            ("[1, 2]", "invalid request: invalid type: integer `1`, expected a list of 2 features at line 1 column 2"),
        ] {
            assert_eq!(json(text), Err(reason.to_owned()), "{text}");
        }
        assert!(json("[[1e999, 1]]").is_err());
        assert!(json(&"[".repeat(100_000)).is_err());
        assert!(json(&format!("[[{}1]]", "[".repeat(100_000))).is_err());
    }

    #[test]
    fn bytes_parse_into_rows() {
        let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let options = ServeOptions { max_documents: 2, ..ServeOptions::default() };
        let read = |body: &[u8]| {
            let mut rows = Vec::new();
            rows_of_bytes(body, 2, &options, &mut rows).map(|()| rows).map_err(|refusal| refusal.reason)
        };
        assert_eq!(read(&bytes(&[1.0, 2.0, 3.0, 4.0])), Ok(vec![1.0, 2.0, 3.0, 4.0]));
        assert_eq!(read(&[]), Ok(vec![]));
        let size = "12 bytes is not a multiple of 8, the size of a document: 2 features of f32";
        assert_eq!(read(&bytes(&[1.0, 2.0, 3.0])), Err(size.to_owned()));
        let infinite = "documents[1][0] is inf: features must be finite numbers, or NaN if they are missing";
        assert_eq!(read(&bytes(&[1.0, 2.0, f32::INFINITY, 4.0])), Err(infinite.to_owned()));
        let missing = read(&bytes(&[1.0, 2.0, f32::NAN, 4.0])).unwrap();
        assert!(missing[2].is_nan() && missing[3] == 4.0);
        assert!(read(&bytes(&[0.0; 6])).unwrap_err().starts_with("more than 2 documents"));
    }
}
