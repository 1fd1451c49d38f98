//! Writes ONNX's protobuf messages; field numbers are those of `onnx.proto`.

/// A serialised message: fields, each with a key (number and type) and a value.
#[derive(Debug, Clone, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// An integer field.
    pub fn int(mut self, field: u64, value: i64) -> Self {
        self.varint(field << 3);
        self.varint(value.cast_unsigned());
        self
    }

    /// A field of bytes, preceded by their length.
    pub fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    pub fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    pub fn message(self, field: u64, message: Message) -> Self {
        self.bytes(field, &message.0)
    }
}

/// Element types of tensors.
#[derive(Debug, Clone, Copy)]
pub(super) enum Element {
    Single = 1,
    Integer = 7,
    Double = 11,
}

/// A `TensorProto`.
fn tensor(name: &str, dims: &[usize], element: Element, bytes: Vec<u8>) -> Message {
    let dims = dims.iter().fold(Message::default(), |message, &side| message.int(1, side as i64));
    dims.int(2, element as i64).text(8, name).bytes(9, &bytes)
}

pub(super) fn singles(name: &str, dims: &[usize], values: impl IntoIterator<Item = f64>) -> Message {
    let bytes = values.into_iter().flat_map(|value| (value as f32).to_le_bytes()).collect();
    tensor(name, dims, Element::Single, bytes)
}

pub(super) fn doubles(name: &str, dims: &[usize], values: impl IntoIterator<Item = f64>) -> Message {
    tensor(name, dims, Element::Double, values.into_iter().flat_map(f64::to_le_bytes).collect())
}

pub(super) fn integers(name: &str, values: &[i64]) -> Message {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    tensor(name, &[values.len()], Element::Integer, bytes)
}

/// The value of an `AttributeProto`.
#[derive(Debug, Clone)]
pub(super) enum Attribute {
    Int(i64),
    Text(&'static str),
    Tensor(Message),
    Ints(Vec<i64>),
    Texts(Vec<&'static str>),
}

/// A `NodeProto`.
pub(super) fn node(
    operator: &str,
    domain: &str,
    inputs: &[&str],
    output: &str,
    attributes: Vec<(&str, Attribute)>,
) -> Message {
    let message = inputs.iter().fold(Message::default(), |message, input| message.text(1, input));
    let message = message.text(2, output).text(3, output).text(4, operator).text(7, domain);
    attributes.into_iter().fold(message, |message, (name, value)| {
        let attribute = Message::default().text(1, name);
        let (attribute, kind) = match value {
            Attribute::Int(value) => (attribute.int(3, value), 2),
            Attribute::Text(text) => (attribute.text(4, text), 3),
            Attribute::Tensor(tensor) => (attribute.message(5, tensor), 4),
            Attribute::Ints(values) => (values.into_iter().fold(attribute, |message, value| message.int(8, value)), 7),
            Attribute::Texts(texts) => (texts.into_iter().fold(attribute, |message, text| message.text(9, text)), 8),
        };
        message.message(5, attribute.int(20, kind))
    })
}

/// A dimension of a tensor.
#[derive(Debug, Clone, Copy)]
pub(super) enum Side {
    /// Fixed size.
    Fixed(usize),
    /// Any size, with a name.
    Any(&'static str),
}

/// A `ValueInfoProto` of f32.
pub(super) fn value(name: &str, sides: &[Side]) -> Message {
    let shape = sides.iter().fold(Message::default(), |shape, side| {
        let side = match side {
            Side::Fixed(length) => Message::default().int(1, *length as i64),
            Side::Any(name) => Message::default().text(2, name),
        };
        shape.message(1, side)
    });
    let tensor = Message::default().int(1, Element::Single as i64).message(2, shape);
    Message::default().text(1, name).message(2, Message::default().message(1, tensor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_keys_and_values() {
        // 300 is 0b10_0101100: seven bits at a time, the lowest first.
        let message = Message::default().int(1, 300).text(2, "ab").message(16, Message::default().int(1, 0));
        assert_eq!(message.into_bytes(), [0x08, 0xac, 0x02, 0x12, 2, b'a', b'b', 0x82, 0x01, 2, 0x08, 0]);
        assert_eq!(Message::default().int(1, -1).into_bytes().len(), 11, "a negative number has ten bytes");
    }

    #[test]
    fn tensors_are_little_endian() {
        let bytes = singles("w", &[1, 2], [1.0, -2.0]).into_bytes();
        assert!(bytes.ends_with(&[0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]));
        assert!(bytes.starts_with(&[0x08, 1, 0x08, 2, 0x10, 1, 0x42, 1, b'w']));
    }
}
