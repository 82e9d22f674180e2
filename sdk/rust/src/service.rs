//! What the host offers beside documents.

use crate::host::{self, ask};
use crate::raw::capability;
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
    let user = ask(capability::caller_get, &Object::default())?.into_object();
    Ok(User {
        name: user.text("user").to_string(),
        full_name: user.text("full_name").to_string(),
        roles: user.array("roles").iter().map(|role| role.as_text().to_string()).collect(),
    })
}

fn invocation(method: &str, args: Object) -> Object {
    object! {"method": method, "args": args}
}

/// Runs a whitelisted method in the same transaction for the same caller.
pub fn call(method: &str, args: Object) -> Result<Value> {
    ask(capability::method_call, &invocation(method, args))
}

/// Has a method run once the transaction is committed, and returns the job's id.
pub fn enqueue(method: &str, args: Object) -> Result<String> {
    let job = ask(capability::enqueue, &invocation(method, args))?.into_object();
    Ok(job.text("job").to_string())
}

/// Reads a key of the plugin's configuration on this site; null if it is not set.
pub fn config(key: &str) -> Result<Value> {
    ask(capability::config_get, &object! {"key": key})
}

/// Reads a key of the plugin's own store on this site; null if it is absent or
/// expired. The store is a cache: a key may go at any time.
pub fn kv_get(key: &str) -> Result<Value> {
    ask(capability::kv_get, &object! {"key": key})
}

/// Writes a key; `ttl` is its life in seconds, 0 keeps it.
pub fn kv_set(key: &str, value: impl Into<Value>, ttl: i64) -> Result<()> {
    let mut request = object! {"key": key, "value": value};
    if ttl != 0 {
        request.set("ttl_s", ttl);
    }
    ask(capability::kv_set, &request).map(|_| ())
}

/// Removes a key; one that is absent is no error.
pub fn kv_delete(key: &str) -> Result<()> {
    ask(capability::kv_delete, &object! {"key": key}).map(|_| ())
}

/// Sends an HTTP request: an object with `url`, and `method`, `headers`, `body`
/// and `timeout_ms` where they are wanted. The answer has `status`, `headers`
/// and a body; a status of 400 or more is no error. [`Object::set_body`] and
/// [`Object::body`] write and read a body that may not be text.
pub fn fetch(request: Object) -> Result<Object> {
    ask(capability::http_fetch, &request).map(Value::into_object)
}

/// Sends an HTTP request with the token that the Connected App `app` of the
/// request holds for the caller.
pub fn fetch_connected(request: Object) -> Result<Object> {
    ask(capability::connected_request, &request).map(Value::into_object)
}

/// The HTTP request that made the call: `method`, `path`, `query`, `headers`,
/// and [`Object::body`].
pub fn request() -> Result<Object> {
    ask(capability::request_get, &Object::default()).map(Value::into_object)
}

/// Answers that request with text or bytes as they are, instead of the method's
/// result.
pub fn respond(status: i64, headers: Object, body: impl AsRef<[u8]>) -> Result<()> {
    let mut answer = object! {"status": status, "headers": headers};
    answer.set_body(body);
    ask(capability::respond, &answer).map(|_| ())
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
