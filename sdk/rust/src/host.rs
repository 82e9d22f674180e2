//! The host's functions as abi.md has them. Each is a function of its own, not a
//! row of a table: the linker drops what a plugin does not reach, and the
//! imports are the permissions it asks for.

use crate::{Error, Object, Result, Value};

#[cfg(target_arch = "wasm32")]
mod raw {
    #[link(wasm_import_module = "armature1")]
    extern "C" {
        pub fn input(p: *mut u8, cap: i32) -> i32;
        pub fn output(p: *const u8, len: i32);
        pub fn throw(kind: i32, p: *const u8, len: i32) -> !;
        pub fn take(p: *mut u8, cap: i32) -> i32;
        pub fn log(level: i32, p: *const u8, len: i32);
        pub fn now() -> i64;
        pub fn random(p: *mut u8, len: i32);
    }
}

#[cfg(not(target_arch = "wasm32"))]
use crate::stub::raw;

/// What a function of the host looks like that takes and gives JSON.
pub type Capability = unsafe extern "C" fn(*const u8, i32, *mut u8, i32) -> i32;

macro_rules! capabilities {
    ($($name:ident),*) => {
        #[cfg(target_arch = "wasm32")]
        pub mod capability {
            #[link(wasm_import_module = "armature1")]
            extern "C" {
                $(pub fn $name(input: *const u8, len: i32, output: *mut u8, cap: i32) -> i32;)*
            }
        }
        #[cfg(not(target_arch = "wasm32"))]
        pub mod capability {
            $(pub unsafe extern "C" fn $name(input: *const u8, len: i32, output: *mut u8, cap: i32) -> i32 {
                crate::stub::capability(stringify!($name), input, len, output, cap)
            })*
        }
    };
}

capabilities!(
    doc_get, doc_list, doc_count, doc_insert, doc_update, doc_delete, doc_submit, doc_cancel, method_call, caller_get,
    config_get, kv_get, kv_set, kv_delete, http_fetch, connected_request, request_get, respond, enqueue
);

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
