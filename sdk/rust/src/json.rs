//! JSON values, and reading and writing them.

use std::fmt::{self, Write};

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    /// A number without a fraction that fits.
    Int(i64),
    Float(f64),
    Text(String),
    Array(Vec<Value>),
    Object(Object),
}

/// A JSON object: a document, some of its fields, or the arguments of a method.
/// The accessors never fail: a member that is absent or of another type is the
/// empty value. Members keep their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object(pub Vec<(String, Value)>);

/// Writes an object: `object! {"status": "Closed", "idx": 3}`.
#[macro_export]
macro_rules! object {
    ($($name:literal : $value:expr),* $(,)?) => {{
        #[allow(unused_mut)]
        let mut object = $crate::Object::default();
        $(object.set($name, $value);)*
        object
    }};
}

impl Object {
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().rev().find(|(n, _)| n == name).map(|(_, v)| v)
    }

    /// Sets a member, in its place if there is one of that name.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        let value = value.into();
        match self.0.iter_mut().find(|(n, _)| n == name) {
            Some(member) => member.1 = value,
            None => self.0.push((name.to_string(), value)),
        }
    }

    /// Takes a member out; null if there is none.
    pub fn take(&mut self, name: &str) -> Value {
        match self.0.iter().position(|(n, _)| n == name) {
            Some(at) => self.0.remove(at).1,
            None => Value::Null,
        }
    }

    /// Reports whether there is a member, and that it is not null.
    pub fn has(&self, name: &str) -> bool {
        !matches!(self.get(name), None | Some(Value::Null))
    }

    pub fn name(&self) -> &str {
        self.text("name")
    }

    pub fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Some(Value::Text(s)) => s,
            _ => "",
        }
    }

    /// A whole number, cut toward zero; text that is a number counts, because
    /// arguments from a query string are text.
    pub fn int(&self, name: &str) -> i64 {
        match self.get(name) {
            Some(Value::Int(i)) => *i,
            Some(Value::Text(s)) => s.parse().unwrap_or_else(|_| self.float(name) as i64),
            _ => self.float(name) as i64,
        }
    }

    pub fn float(&self, name: &str) -> f64 {
        match self.get(name) {
            Some(Value::Int(i)) => *i as f64,
            Some(Value::Float(f)) => *f,
            Some(Value::Bool(true)) => 1.0,
            Some(Value::Text(s)) => s.parse().unwrap_or(0.0),
            _ => 0.0,
        }
    }

    /// A check: true, or a number other than 0.
    pub fn bool(&self, name: &str) -> bool {
        self.float(name) != 0.0
    }

    pub fn array(&self, name: &str) -> &[Value] {
        match self.get(name) {
            Some(Value::Array(values)) => values,
            _ => &[],
        }
    }

    pub fn object(&self, name: &str) -> Option<&Object> {
        match self.get(name) {
            Some(Value::Object(object)) => Some(object),
            _ => None,
        }
    }

    /// The rows of a child table.
    pub fn rows(&self, name: &str) -> impl Iterator<Item = &Object> {
        self.array(name).iter().filter_map(|row| match row {
            Value::Object(object) => Some(object),
            _ => None,
        })
    }
}

impl Value {
    /// Reads JSON text; an error says what is wrong.
    pub fn parse(text: &[u8]) -> std::result::Result<Value, String> {
        let text = std::str::from_utf8(text).map_err(|_| "the JSON is not UTF-8".to_string())?;
        let mut reader = Reader { text, at: 0, depth: 0 };
        let value = reader.value()?;
        match reader.peek() {
            None => Ok(value),
            Some(_) => reader.fail("more text"),
        }
    }

    /// The object a value is; an empty one for any other value.
    pub fn into_object(self) -> Object {
        match self {
            Value::Object(object) => object,
            _ => Object::default(),
        }
    }

    /// The objects an array has.
    pub fn into_objects(self) -> Vec<Object> {
        match self {
            Value::Array(values) => values.into_iter().map(Value::into_object).collect(),
            _ => Vec::new(),
        }
    }

    /// The whole number a value is; 0 for any other value.
    pub fn as_int(&self) -> i64 {
        match self {
            Value::Int(n) => *n,
            _ => 0,
        }
    }

    /// The text a value is; empty for any other value.
    pub fn as_text(&self) -> &str {
        match self {
            Value::Text(text) => text,
            _ => "",
        }
    }
}

impl Default for Value {
    fn default() -> Value {
        Value::Null
    }
}

macro_rules! from {
    ($($t:ty, $v:ident => $value:expr;)*) => {
        $(impl From<$t> for Value {
            fn from($v: $t) -> Value {
                $value
            }
        })*
    };
}

from! {
    (), _v => Value::Null;
    bool, v => Value::Bool(v);
    i32, v => Value::Int(v as i64);
    i64, v => Value::Int(v);
    u32, v => Value::Int(v as i64);
    usize, v => Value::Int(v as i64);
    f64, v => Value::Float(v);
    &str, v => Value::Text(v.to_string());
    String, v => Value::Text(v);
    Object, v => Value::Object(v);
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(values: Vec<T>) -> Value {
        Value::Array(values.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

impl fmt::Display for Value {
    /// Writes JSON. A number that is not finite is null.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(b) => write!(f, "{}", b),
            Value::Int(i) => write!(f, "{}", i),
            Value::Float(x) if x.is_finite() => write!(f, "{}", x),
            Value::Float(_) => f.write_str("null"),
            Value::Text(s) => quote(f, s),
            Value::Array(values) => {
                f.write_char('[')?;
                for (i, value) in values.iter().enumerate() {
                    if i > 0 {
                        f.write_char(',')?;
                    }
                    write!(f, "{}", value)?;
                }
                f.write_char(']')
            }
            Value::Object(object) => write!(f, "{}", object),
        }
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_char('{')?;
        for (i, (name, value)) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_char(',')?;
            }
            quote(f, name)?;
            write!(f, ":{}", value)?;
        }
        f.write_char('}')
    }
}

fn quote(f: &mut fmt::Formatter, s: &str) -> fmt::Result {
    f.write_char('"')?;
    let mut from = 0;
    for (i, c) in s.bytes().enumerate() {
        if c >= 0x20 && c != b'"' && c != b'\\' {
            continue;
        }
        f.write_str(&s[from..i])?;
        from = i + 1;
        match c {
            b'"' | b'\\' => {
                f.write_char('\\')?;
                f.write_char(c as char)?;
            }
            _ => write!(f, "\\u{:04x}", c)?,
        }
    }
    f.write_str(&s[from..])?;
    f.write_char('"')
}

/// Deeper values are refused: the reader calls itself.
const MAX_DEPTH: usize = 128;

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn fail<T>(&self, what: &str) -> std::result::Result<T, String> {
        Err(format!("not JSON: {} at byte {}", what, self.at))
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() && matches!(bytes[self.at], b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn eat(&mut self, c: u8) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.at += 1;
        }
        found
    }

    fn word(&mut self, word: &str, value: Value) -> std::result::Result<Value, String> {
        if self.text[self.at..].starts_with(word) {
            self.at += word.len();
            return Ok(value);
        }
        self.fail("an unknown word")
    }

    fn value(&mut self) -> std::result::Result<Value, String> {
        match self.peek() {
            Some(b'n') => self.word("null", Value::Null),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'"') => self.string().map(Value::Text),
            Some(b'[') => self.nested(Reader::array),
            Some(b'{') => self.nested(Reader::object),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => self.fail("an unexpected character"),
            None => self.fail("the end"),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> std::result::Result<Value, String>) -> std::result::Result<Value, String> {
        self.depth += 1;
        self.at += 1;
        if self.depth > MAX_DEPTH {
            return self.fail("too many levels");
        }
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn array(&mut self) -> std::result::Result<Value, String> {
        let mut values = Vec::new();
        if self.eat(b']') {
            return Ok(Value::Array(values));
        }
        loop {
            values.push(self.value()?);
            if self.eat(b']') {
                return Ok(Value::Array(values));
            }
            if !self.eat(b',') {
                return self.fail("a missing comma");
            }
        }
    }

    fn object(&mut self) -> std::result::Result<Value, String> {
        let mut members = Vec::new();
        if self.eat(b'}') {
            return Ok(Value::Object(Object(members)));
        }
        loop {
            if self.peek() != Some(b'"') {
                return self.fail("a missing name");
            }
            let name = self.string()?;
            if !self.eat(b':') {
                return self.fail("a missing colon");
            }
            members.push((name, self.value()?));
            if self.eat(b'}') {
                return Ok(Value::Object(Object(members)));
            }
            if !self.eat(b',') {
                return self.fail("a missing comma");
            }
        }
    }

    fn number(&mut self) -> std::result::Result<Value, String> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')).unwrap_or(rest.len());
        let text = &rest[..end];
        let value = match text.parse::<i64>() {
            Ok(i) => Value::Int(i),
            Err(_) => match text.parse::<f64>() {
                Ok(x) => Value::Float(x),
                Err(_) => return self.fail("a broken number"),
            },
        };
        self.at += end;
        Ok(value)
    }

    fn string(&mut self) -> std::result::Result<String, String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let stop = match rest.find(|c| c == '"' || c == '\\') {
                Some(stop) => stop,
                None => return self.fail("a text without end"),
            };
            out.push_str(&rest[..stop]);
            self.at += stop + 1;
            if rest.as_bytes()[stop] == b'"' {
                return Ok(out);
            }
            let escape = self.text.as_bytes().get(self.at).copied();
            self.at += 1;
            out.push(match escape {
                Some(b'n') => '\n',
                Some(b't') => '\t',
                Some(b'r') => '\r',
                Some(b'b') => '\u{8}',
                Some(b'f') => '\u{c}',
                Some(c @ (b'"' | b'\\' | b'/')) => c as char,
                Some(b'u') => self.unicode()?,
                _ => return self.fail("an unknown escape"),
            });
        }
    }

    /// Reads what follows \u; half a pair becomes the replacement character.
    fn unicode(&mut self) -> std::result::Result<char, String> {
        let first = self.hex()?;
        if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with("\\u") {
            let back = self.at;
            self.at += 2;
            let second = self.hex()?;
            if (0xdc00..0xe000).contains(&second) {
                let c = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(c).unwrap_or('\u{fffd}'));
            }
            self.at = back;
        }
        Ok(char::from_u32(first).unwrap_or('\u{fffd}'))
    }

    fn hex(&mut self) -> std::result::Result<u32, String> {
        let digits = self.text.get(self.at..self.at + 4);
        match digits.and_then(|d| u32::from_str_radix(d, 16).ok()) {
            Some(n) => {
                self.at += 4;
                Ok(n)
            }
            None => self.fail("a broken escape"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes() {
        for text in [
            r#"{"a":[1,-2,0.5,true,false,null,{}],"é":"日本 😀","b":[]}"#,
            r#"{"n":9007199254740991}"#,
            "0.0000001",
            r#""\"\\\u0001""#,
        ] {
            assert_eq!(Value::parse(text.as_bytes()).unwrap().to_string(), text);
        }
        assert_eq!(Value::parse(br#" "\ud83d\ude00 \ud83d \n" "#).unwrap(), Value::from("😀 \u{fffd} \n"));
    }

    #[test]
    fn refuses_what_is_not_json() {
        let deep = "[".repeat(1000);
        for text in ["", "{", "[1,]", "{\"a\"}", "{a:1}", "tru", "\"\\x\"", "\"\\u12", "\"", "1 2", "--1", &deep, "\"\\ud83d\\u\""] {
            assert!(Value::parse(text.as_bytes()).is_err(), "{}", text);
        }
    }
}
