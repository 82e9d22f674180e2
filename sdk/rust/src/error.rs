//! Errors, as the server and the clients of a method know them.

use crate::{object, Object, Value};
use std::fmt;

/// What a method returns.
pub type Result<T> = std::result::Result<T, Error>;

/// The kind of an error; the HTTP status follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Kind {
    /// 500: a bug; the message is logged, not shown.
    Internal = 1,
    /// 417: understood and refused by a rule.
    Validation = 2,
    /// 401: credentials are wrong.
    Authentication = 3,
    /// 403: the caller may not do this.
    Permission = 4,
    /// 404: no such thing for this caller.
    NotFound = 5,
    /// 409: the name is taken.
    Conflict = 6,
    /// 410: past its use.
    Gone = 7,
    /// 413: over the limit.
    TooLarge = 8,
    /// 415: a content type that is not read.
    UnsupportedMedia = 9,
    /// 429: a budget is used up.
    TooManyRequests = 10,
    /// 503: try again later.
    Unavailable = 11,
    /// 400: malformed.
    BadRequest = 12,
    /// 504: took longer than its limit.
    Timeout = 13,
    /// 501: this server cannot do it.
    NotImplemented = 14,
    /// 405: a known path without this verb.
    MethodNotAllowed = 15,
    /// 500: a limit other than time is used up.
    Exhausted = 16,
    /// 500: the plugin died.
    Trap = 17,
}

impl Kind {
    const ALL: [Kind; 17] = [
        Kind::Internal, Kind::Validation, Kind::Authentication, Kind::Permission, Kind::NotFound, Kind::Conflict,
        Kind::Gone, Kind::TooLarge, Kind::UnsupportedMedia, Kind::TooManyRequests, Kind::Unavailable, Kind::BadRequest,
        Kind::Timeout, Kind::NotImplemented, Kind::MethodNotAllowed, Kind::Exhausted, Kind::Trap,
    ];

    /// The kind of a number; a number that is not known is `Internal`.
    pub fn of(number: i64) -> Kind {
        Kind::ALL.iter().copied().find(|kind| *kind as i64 == number).unwrap_or(Kind::Internal)
    }
}

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
