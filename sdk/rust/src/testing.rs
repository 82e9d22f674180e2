//! For the tests of a plugin, `#[test]` functions. They run in what runs plugins on
//! a server, with a real site beside them: documents, permissions, links, naming,
//! hooks and child rows are the server's. `armature plugin test` runs them, and so
//! does `cargo test` with
//!
//! ```toml
//! # .cargo/config.toml
//! [target.'cfg(target_family = "wasm")']
//! runner = "armature plugin exec"
//! ```
//!
//! for `--target wasm32-wasip1` (`wasm32-wasi` before Rust 1.84). Native, `cargo test`
//! talks to the same site by a pipe, so that debuggers and coverage work; the
//! plugin's own methods run as WebAssembly then, too.
//!
//! ```ignore
//! #[test]
//! fn closes() {
//!     let site = Site::new();
//!     let todo = armature::insert("ToDo", object! {"description": "milk"}).unwrap();
//!     let closed = site.call("acme.todo.close", object! {"name": todo.text("name")}).unwrap();
//!     assert_eq!(closed.into_object().text("status"), "Closed");
//! }
//! ```
//!
//! What a test does by the functions of this crate is written at once, each call for
//! itself, with every grant, and runs the plugin's handlers of events.

pub mod requests;

use crate::{Error, Object, Result, Value};
use requests::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One test at a time has the site, as the tests of a program may run at once.
static ONE: Mutex<()> = Mutex::new(());

/// A fresh site with the plugin on it, until it is dropped. The Administrator acts on
/// it until `act_as` says otherwise.
pub struct Site {
    _one: MutexGuard<'static, ()>,
}

impl Default for Site {
    fn default() -> Site {
        Site::new()
    }
}

fn done(result: Result<()>) {
    if let Err(e) = result {
        panic!("{}", e);
    }
}

impl Site {
    /// Begins a fresh site.
    pub fn new() -> Site {
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        done(requests::Site {}.ask());
        Site { _one: one }
    }

    /// Calls a method as a client does with a POST.
    pub fn call(&self, method: &str, args: Object) -> Result<Value> {
        self.call_by("POST", method, args)
    }

    /// Calls a method with another verb. A GET leaves nothing behind.
    pub fn call_by(&self, verb: &str, method: &str, args: Object) -> Result<Value> {
        Ok(self.send(Call { method: method.into(), args, verb: verb.into(), ..Call::default() })?.result)
    }

    /// Calls a method by a request with a body or headers of its own. The answer has the
    /// result, the messages for the user, and what `respond` has set.
    pub fn send(&self, request: Call) -> Result<CallAnswer> {
        request.ask()
    }

    /// Says who acts from now on: a user of the site with its roles, or, with roles,
    /// any user with those.
    pub fn act_as(&self, user: &str, roles: &[&str]) {
        done(ActAs { user: user.into(), roles: roles.iter().map(|r| r.to_string()).collect() }.ask());
    }

    /// Stops the clock of the site and of the plugin, at microseconds since 1970.
    pub fn clock(&self, at: i64) {
        done(Clock { at }.ask());
    }

    /// Has the host's random bytes repeat.
    pub fn seed(&self, seed: i64) {
        done(Seed { seed }.ask());
    }

    /// Sets what `config` reads; null: it is not set.
    pub fn configure(&self, key: &str, value: impl Into<Value>) {
        done(Configure { key: key.into(), value: value.into() }.ask());
    }

    /// Says what the next request to a URL is answered: an object with `status`,
    /// `headers`, `body` where they are wanted. A request to a URL that has no answer
    /// fails.
    pub fn answer(&self, url: &str, answer: Object) {
        done(Answer {
            url: url.into(),
            status: answer.int("status"),
            headers: answer.object("headers").cloned().unwrap_or_default(),
            body: answer.text("body").into(),
            body_base64: answer.text("body_base64").into(),
            ..Answer::default()
        }
        .ask());
    }

    /// Has the next request to a URL fail.
    pub fn refuse(&self, url: &str, error: Error) {
        done(Answer {
            url: url.into(),
            failure: error.message,
            failure_kind: error.kind as i64,
            failure_type: error.exc_type,
            ..Answer::default()
        }
        .ask());
    }

    /// The requests that were sent on this site, with `method`, `url`, `headers` and
    /// [`Object::body`].
    pub fn fetched(&self) -> Vec<Object> {
        Fetched {}.ask().unwrap_or_else(|e| panic!("{}", e))
    }
}
