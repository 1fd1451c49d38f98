//! Serialises floating-point numbers by their bits: JSON has neither infinity nor NaN.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The bits of an f64.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Bits(u64);

/// One number.
pub(super) mod number {
    use super::*;

    pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        Bits(value.to_bits()).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Bits::deserialize(deserializer).map(|bits| f64::from_bits(bits.0))
    }
}

/// An optional pair of numbers.
pub(super) mod pair {
    use super::*;

    pub fn serialize<S: Serializer>(value: &Option<(f64, f64)>, serializer: S) -> Result<S::Ok, S::Error> {
        value.map(|(a, b)| (Bits(a.to_bits()), Bits(b.to_bits()))).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<(f64, f64)>, D::Error> {
        let bits = Option::<(Bits, Bits)>::deserialize(deserializer)?;
        Ok(bits.map(|(a, b)| (f64::from_bits(a.0), f64::from_bits(b.0))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Both {
        #[serde(with = "number")]
        number: f64,
        #[serde(with = "pair")]
        pair: Option<(f64, f64)>,
    }

    #[test]
    fn every_number_round_trips() {
        for value in [0.1, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MIN_POSITIVE / 3.0] {
            for pair in [None, Some((value, 1.0))] {
                let text = serde_json::to_string(&Both { number: value, pair }).unwrap();
                let back: Both = serde_json::from_str(&text).unwrap();
                assert_eq!(back.number.to_bits(), value.to_bits());
                assert_eq!(back.pair.map(|pair| pair.0.to_bits()), pair.map(|pair| pair.0.to_bits()));
            }
        }
    }
}
