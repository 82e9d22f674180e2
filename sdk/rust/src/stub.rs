//! A stand-in for the server, for `#[test]` functions. A test says beforehand
//! what each function of the host answers, in order, and calls the plugin's
//! functions as they are; what it does not say is answered by null:
//!
//! ```ignore
//! stub::answer("doc_update", object! {"status": "Closed"});
//! assert_eq!(close(object! {"name": "T1"}).unwrap().text("status"), "Closed");
//! assert_eq!(stub::asked("doc_update"), object! {"doctype": "ToDo", "name": "T1", "doc": object! {"status": "Closed"}});
//! ```
//!
//! Each thread, and so each test, has a stub of its own. It knows no DocTypes
//! and no permissions.

use crate::{Error, Object, Value};
use std::cell::RefCell;

#[derive(Default)]
struct Stub {
    staged: Vec<(String, Result<Value, Error>)>,
    asked: Vec<(String, Object)>,
    rest: Vec<u8>,
    log: Vec<String>,
    now: i64,
}

thread_local! {
    static STUB: RefCell<Stub> = RefCell::default();
}

/// Stages what a function of the host, such as "doc_get", answers next.
pub fn answer(name: &str, value: impl Into<Value>) {
    let value = value.into();
    STUB.with(|s| s.borrow_mut().staged.push((name.to_string(), Ok(value))));
}

/// Stages an error.
pub fn refuse(name: &str, error: Error) {
    STUB.with(|s| s.borrow_mut().staged.push((name.to_string(), Err(error))));
}

/// The latest request to a function of the host; empty if there was none.
pub fn asked(name: &str) -> Object {
    STUB.with(|s| s.borrow().asked.iter().rev().find(|(n, _)| n == name).map(|(_, r)| r.clone()).unwrap_or_default())
}

/// The lines that were logged.
pub fn logged() -> Vec<String> {
    STUB.with(|s| s.borrow().log.clone())
}

/// Sets the clock, in microseconds since 1970.
pub fn set_now(now: i64) {
    STUB.with(|s| s.borrow_mut().now = now)
}

pub(crate) unsafe fn capability(name: &str, input: *const u8, len: i32, output: *mut u8, cap: i32) -> i32 {
    let request = Value::parse(std::slice::from_raw_parts(input, len as usize)).expect("the SDK writes JSON");
    STUB.with(|s| {
        let mut s = s.borrow_mut();
        s.asked.push((name.to_string(), request.into_object()));
        let staged = match s.staged.iter().position(|(n, _)| n == name) {
            Some(at) => s.staged.remove(at).1,
            None => Ok(Value::Null),
        };
        match staged {
            Ok(value) => {
                s.rest = value.to_string().into_bytes();
                let whole = s.rest.len() as i32;
                deliver(&mut s.rest, output, cap);
                whole
            }
            Err(error) => {
                s.rest = error.to_value().to_string().into_bytes();
                -(error.kind as i32)
            }
        }
    })
}

unsafe fn deliver(rest: &mut Vec<u8>, p: *mut u8, cap: i32) {
    let n = rest.len().min(cap as usize);
    std::ptr::copy_nonoverlapping(rest.as_ptr(), p, n);
    rest.drain(..n);
}

pub(crate) mod raw {
    use super::*;

    pub unsafe fn take(p: *mut u8, cap: i32) -> i32 {
        STUB.with(|s| {
            let mut s = s.borrow_mut();
            let left = s.rest.len() as i32;
            deliver(&mut s.rest, p, cap);
            left
        })
    }

    pub unsafe fn log(_level: i32, p: *const u8, len: i32) {
        let text = String::from_utf8_lossy(std::slice::from_raw_parts(p, len as usize)).into_owned();
        STUB.with(|s| s.borrow_mut().log.push(text));
    }

    pub unsafe fn now() -> i64 {
        STUB.with(|s| s.borrow().now)
    }

    pub unsafe fn random(p: *mut u8, len: i32) {
        std::slice::from_raw_parts_mut(p, len as usize).fill(7)
    }

    // Exports are not called in tests: the functions behind them are.
    pub unsafe fn input(_p: *mut u8, _cap: i32) -> i32 {
        0
    }

    pub unsafe fn output(_p: *const u8, _len: i32) {}

    pub unsafe fn throw(kind: i32, _p: *const u8, _len: i32) -> ! {
        panic!("thrown: kind {}", kind)
    }
}
