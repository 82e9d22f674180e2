//! Calls of the host, with its answers put together.

use crate::{raw, Error, Object, Result, Value};

/// What a function of the host looks like that takes and gives JSON.
pub type Capability = unsafe extern "C" fn(*const u8, i32, *mut u8, i32) -> i32;

/// Room for an answer; what is longer comes by `take`.
const ROOM: usize = 4096;

/// Sends a request to a function of the host.
pub(crate) fn ask(call: Capability, request: &Object) -> Result<Value> {
    Value::parse(&answer(call, request)?).map_err(|e| Error::new(crate::Kind::Internal, e))
}

/// Sends a request to a function of the host; the answer is its text.
pub fn answer(call: Capability, request: &Object) -> Result<Vec<u8>> {
    let request = request.to_string();
    let mut answer = vec![0u8; ROOM];
    // The ranges are those of the buffers, which outlive the call.
    let n = unsafe { call(request.as_ptr(), request.len() as i32, answer.as_mut_ptr(), ROOM as i32) };
    if n < 0 {
        let left = unsafe { raw::take(answer.as_mut_ptr(), ROOM as i32) };
        return Err(Error::read(-n, &rest(answer, left as usize)));
    }
    Ok(rest(answer, n as usize))
}

/// The whole of an answer of which the beginning is there.
fn rest(mut answer: Vec<u8>, length: usize) -> Vec<u8> {
    answer.resize(length, 0);
    if length > ROOM {
        let left = &mut answer[ROOM..];
        unsafe { raw::take(left.as_mut_ptr(), left.len() as i32) };
    }
    answer
}

/// The input of the call, `length` bytes.
pub fn input(length: i32) -> Vec<u8> {
    let mut text = vec![0u8; length as usize];
    unsafe { raw::input(text.as_mut_ptr(), length) };
    text
}

/// Sends the result of the call.
pub fn output(text: &[u8]) {
    unsafe { raw::output(text.as_ptr(), text.len() as i32) }
}

/// Ends the call with an error, `{"exc_type", "message"}` as JSON.
pub fn throw(kind: i32, text: &[u8]) -> ! {
    unsafe { raw::throw(kind, text.as_ptr(), text.len() as i32) }
}

pub(crate) fn log(level: i32, text: &str) {
    unsafe { raw::log(level, text.as_ptr(), text.len() as i32) }
}

pub(crate) fn now() -> i64 {
    unsafe { raw::now() }
}

pub(crate) fn random(bytes: &mut [u8]) {
    unsafe { raw::random(bytes.as_mut_ptr(), bytes.len() as i32) }
}

/// Has a panic say in the server's log where it happened; it ends the call as a
/// trap.
pub fn report_panics() {
    #[cfg(target_arch = "wasm32")]
    std::panic::set_hook(Box::new(|panic| log(3, &panic.to_string())));
}
