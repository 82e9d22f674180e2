//! What the host offers beside documents.

use crate::host;
use crate::requests::*;
use crate::{object, Object, Result, Value};

/// Who is acting.
#[derive(Clone, Debug, PartialEq)]
pub struct User {
    /// The user's id; "Guest" without credentials.
    pub name: String,
    pub full_name: String,
    pub roles: Vec<String>,
}

/// The user on whose behalf the method runs.
pub fn caller() -> Result<User> {
    let user = CallerGet {}.ask()?;
    Ok(User { name: user.user, full_name: user.full_name, roles: user.roles })
}

/// Runs a whitelisted method in the same transaction for the same caller.
pub fn call(method: &str, args: Object) -> Result<Value> {
    MethodCall { method: method.into(), args }.ask()
}

/// Has a method run once the transaction is committed, and returns the job's id.
pub fn enqueue(method: &str, args: Object) -> Result<String> {
    Ok(Enqueue { method: method.into(), args, ..Enqueue::default() }.ask()?.job)
}

/// Reads a key of the plugin's configuration on this site; null if it is not set.
pub fn config(key: &str) -> Result<Value> {
    ConfigGet { key: key.into() }.ask()
}

/// Reads a key of the plugin's own store on this site; null if it is absent or
/// expired. The store is a cache: a key may go at any time.
pub fn kv_get(key: &str) -> Result<Value> {
    KvGet { key: key.into() }.ask()
}

/// Writes a key; `ttl` is its life in seconds, 0 keeps it.
pub fn kv_set(key: &str, value: impl Into<Value>, ttl: i64) -> Result<()> {
    KvSet { key: key.into(), value: value.into(), ttl_s: ttl }.ask()
}

/// Removes a key; one that is absent is no error.
pub fn kv_delete(key: &str) -> Result<()> {
    KvDelete { key: key.into() }.ask()
}

/// Sends an HTTP request: an object with `url`, and `method`, `headers`, `body`
/// and `timeout_ms` where they are wanted. The answer has `status`, `headers`
/// and a body; a status of 400 or more is no error. [`Object::set_body`] and
/// [`Object::body`] write and read a body that may not be text.
pub fn fetch(request: Object) -> Result<Object> {
    host::ask(crate::raw::capability::http_fetch, &request).map(Value::into_object)
}

/// Sends an HTTP request with the token that the Connected App `app` of the
/// request holds for the caller.
pub fn fetch_connected(request: Object) -> Result<Object> {
    host::ask(crate::raw::capability::connected_request, &request).map(Value::into_object)
}

/// The HTTP request that made the call: `method`, `path`, `query`, `headers`,
/// and [`Object::body`].
pub fn request() -> Result<Object> {
    host::ask(crate::raw::capability::request_get, &Object::default()).map(Value::into_object)
}

/// Answers that request with text or bytes as they are, instead of the method's
/// result.
pub fn respond(status: i64, headers: Object, body: impl AsRef<[u8]>) -> Result<()> {
    let (body, body_base64) = crate::body::parts(body.as_ref());
    Respond { status, headers, body, body_base64, html: String::new() }.ask()
}

/// Answers that request with a page, instead of the method's result. What comes from
/// people has to be escaped in it.
pub fn respond_page(html: &str) -> Result<()> {
    Respond { status: 200, html: html.to_string(), ..Default::default() }.ask()
}

/// Says something to the user of the request beside the answer, if the request
/// succeeds.
pub fn tell(message: &str) -> Result<()> {
    tell_as(message, "", "")
}

/// The same with a heading and a colour: blue, green, orange, red, yellow or gray.
/// Both may be empty.
pub fn tell_as(message: &str, title: &str, indicator: &str) -> Result<()> {
    Tell { message: message.into(), title: title.into(), indicator: indicator.into() }.ask()
}

/// How much a log line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Level {
    Debug = 0,
    Info = 1,
    Warn = 2,
    Error = 3,
}

impl Level {
    /// The level of a number; the nearest one for a number that is none.
    pub fn of(number: i64) -> Level {
        match number {
            n if n <= 0 => Level::Debug,
            1 => Level::Info,
            2 => Level::Warn,
            _ => Level::Error,
        }
    }
}

/// Writes a line to the server's log, with attributes.
pub fn log(level: Level, message: &str, attributes: Object) {
    let mut line = object! {"message": message};
    line.0.extend(attributes.0);
    host::log(level as i32, &line.to_string());
}

/// The host's clock: microseconds since 1970-01-01T00:00:00Z.
pub fn now() -> i64 {
    host::now()
}

/// Fills `bytes` with random ones, fresh in every call.
pub fn random(bytes: &mut [u8]) {
    host::random(bytes)
}
