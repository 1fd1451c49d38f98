//! Compact storage of one value per query, so that results can hold all of them and tests can be repeated.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Values from 0 to 1, rounded to 1/50,000: 16 bits each, compressed with Zstandard, serialised as `packed:` and base64.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Packed(Vec<f64>);

const MARK: &str = "packed:";
const STEPS: f64 = 50_000.0;
/// Zstandard compression level.
const LEVEL: i32 = 19;
/// Maximum size of the decompressed bytes: a damaged file must not exhaust memory.
const MOST: usize = 1 << 24;

impl Packed {
    /// Rounds every value to 1/50,000 and clamps it to 0 to 1.
    pub fn new(values: impl IntoIterator<Item = f64>) -> Packed {
        Packed(values.into_iter().map(|value| (value.clamp(0.0, 1.0) * STEPS).round() / STEPS).collect())
    }

    /// One value per query.
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    fn text(&self) -> std::io::Result<String> {
        let bytes: Vec<u8> = self.0.iter().flat_map(|value| ((value * STEPS).round() as u16).to_le_bytes()).collect();
        Ok(format!("{MARK}{}", STANDARD.encode(zstd::bulk::compress(&bytes, LEVEL)?)))
    }

    fn parse(text: &str) -> Option<Packed> {
        let bytes = zstd::bulk::decompress(&STANDARD.decode(text.strip_prefix(MARK)?).ok()?, MOST).ok()?;
        let (pairs, rest) = bytes.as_chunks::<2>();
        rest.is_empty().then(|| Packed(pairs.iter().map(|&pair| f64::from(u16::from_le_bytes(pair)) / STEPS).collect()))
    }
}

impl Serialize for Packed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text().map_err(serde::ser::Error::custom)?)
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Packed, D::Error> {
        let text = String::deserialize(deserializer)?;
        Packed::parse(&text).ok_or_else(|| D::Error::custom("no packed values"))
    }
}

/// Collects all packed values in a JSON value, with the path of each.
pub fn find(value: &Value, path: &str, found: &mut Vec<(String, Packed)>) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::String(text) => found.extend(Packed::parse(text).map(|packed| (path.to_owned(), packed))),
        Value::Array(all) => all.iter().enumerate().for_each(|(i, value)| find(value, &below(&i.to_string()), found)),
        Value::Object(all) => all.iter().for_each(|(name, value)| find(value, &below(name), found)),
        _ => (),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_come_back_to_the_rounding() {
        let values: Vec<f64> = (0..1000).map(|i| (i as f64 * 0.618).fract()).collect();
        let packed = Packed::new(values.clone());
        let text = serde_json::to_string(&packed).unwrap();
        let again: Packed = serde_json::from_str(&text).unwrap();
        assert_eq!(again, packed);
        assert!(values.iter().zip(again.values()).all(|(a, b)| (a - b).abs() <= 0.5001 / STEPS));
        assert_eq!(Packed::new([-1.0, 2.0, f64::NAN]).values()[..2], [0.0, 1.0]);
        assert!(serde_json::from_str::<Packed>("\"packed:!!\"").is_err());
        assert!(serde_json::from_str::<Packed>("\"other\"").is_err());
    }

    #[test]
    fn packed_values_are_found_by_their_path() {
        let packed = Packed::new([0.5, 0.25]);
        let mut found = vec![];
        find(&json!({"a": {"b": [1, packed]}, "c": "words"}), "", &mut found);
        assert_eq!(found, [("a.b.1".to_owned(), packed)]);
    }
}
