//! Bodies of requests and answers, which are text in JSON, or else base64 (RFC
//! 4648, section 4, with padding).

use crate::{Error, Kind, Object, Result};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

impl Object {
    /// The body of a request or an answer, text or not; empty if there is none.
    pub fn body(&self) -> Result<Vec<u8>> {
        match self.text("body_base64") {
            "" => Ok(self.text("body").as_bytes().to_vec()),
            text => decode(text).ok_or_else(|| Error::new(Kind::Internal, "body_base64 is not base64")),
        }
    }

    /// Sets the body of a request, text or not.
    pub fn set_body(&mut self, body: impl AsRef<[u8]>) {
        self.take("body");
        self.take("body_base64");
        match parts(body.as_ref()) {
            (text, base64) if base64.is_empty() => self.set("body", text),
            (_, base64) => self.set("body_base64", base64),
        }
    }
}

/// A body as text, or else as base64.
pub(crate) fn parts(body: &[u8]) -> (String, String) {
    match std::str::from_utf8(body) {
        Ok(text) => (text.to_string(), String::new()),
        Err(_) => (String::new(), encode(body)),
    }
}

fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity((bytes.len() + 2) / 3 * 4);
    for three in bytes.chunks(3) {
        let byte = |k: usize| u32::from(three.get(k).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for k in 0..4 {
            text.push(if k > three.len() { '=' } else { DIGITS[(group >> (18 - 6 * k) & 63) as usize].into() });
        }
    }
    text
}

fn decode(text: &str) -> Option<Vec<u8>> {
    if text.len() % 4 != 0 {
        return None;
    }
    let digits = text.trim_end_matches('=');
    if text.len() - digits.len() > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut group, mut bits) = (0u32, 0);
    for digit in digits.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        group = group << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((group >> bits) as u8);
            group &= (1 << bits) - 1;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use crate::{object, Object};

    // The examples of RFC 4648, section 10, and bytes that are no text.
    #[test]
    fn reads_and_writes_bodies() {
        let cases = [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob"), ("Zm9vYmE=", "fooba"), ("Zm9vYmFy", "foobar")];
        for (text, bytes) in cases {
            assert_eq!(object! {"body_base64": text}.body().unwrap(), bytes.as_bytes());
            assert_eq!(super::encode(bytes.as_bytes()), text);
        }
        let every: Vec<u8> = (0..=255).rev().collect();
        let mut message = Object::default();
        message.set_body(&every);
        assert!(!message.has("body") && message.has("body_base64"));
        assert_eq!(message.body().unwrap(), every);
        message.set_body("Zoë");
        assert_eq!(message, object! {"body": "Zoë"});
        assert_eq!(message.body().unwrap(), "Zoë".as_bytes());
        for text in ["Zg", "Zg=", "Z===", "====", "Zm9v\n", "Zm-v", "Zé=="] {
            assert!(object! {"body_base64": text}.body().is_err(), "{}", text);
        }
    }
}
