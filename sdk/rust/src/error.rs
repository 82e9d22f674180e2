//! Errors, as the server and the clients of a method know them.

use crate::{object, Kind, Object, Value};
use std::fmt;

/// What a method returns.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure of a call: what the server reports, and what a method returns to
/// fail in a way its client can understand.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    pub kind: Kind,
    /// The client's exc_type; empty: the kind's own.
    pub exc_type: String,
    /// Shown to the client, except for `Kind::Internal`.
    pub message: String,
}

impl Error {
    pub fn new(kind: Kind, message: impl Into<String>) -> Error {
        Error { kind, exc_type: String::new(), message: message.into() }
    }

    /// A rule of the plugin refuses the request (HTTP 417).
    pub fn invalid(message: impl Into<String>) -> Error {
        Error::new(Kind::Validation, message)
    }

    /// The caller may not do this (HTTP 403).
    pub fn denied(message: impl Into<String>) -> Error {
        Error::new(Kind::Permission, message)
    }

    /// There is no such thing (HTTP 404).
    pub fn not_found(message: impl Into<String>) -> Error {
        Error::new(Kind::NotFound, message)
    }

    /// Names the exc_type.
    pub fn of_type(mut self, exc_type: impl Into<String>) -> Error {
        self.exc_type = exc_type.into();
        self
    }

    /// What `throw` takes.
    pub fn to_value(&self) -> Object {
        object! {"exc_type": self.exc_type.as_str(), "message": self.message.as_str()}
    }

    pub(crate) fn read(kind: i32, body: &[u8]) -> Error {
        let body = Value::parse(body).map(Value::into_object).unwrap_or_default();
        Error::new(Kind::of(kind.into()), body.text("message")).of_type(body.text("exc_type"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let name: &dyn fmt::Debug = if self.exc_type.is_empty() { &self.kind } else { &self.exc_type };
        write!(f, "{:?}: {}", name, self.message)
    }
}

impl std::error::Error for Error {}
