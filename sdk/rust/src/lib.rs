//! The Armature SDK for Rust: what a plugin imports. No crate is needed beside
//! it. The contract below it is `sdk/abi/abi.md`.
//!
//! A method is a function from an object to a result:
//!
//! ```ignore
//! use armature::{export, object, Object, Result};
//!
//! export!("acme.todo.close" => close);
//!
//! fn close(args: Object) -> Result<Object> {
//!     armature::update("ToDo", args.text("name"), object! {"status": "Closed"})
//! }
//! ```
//!
//! Everything is done as the caller of the method, in the transaction of the
//! request. An `Err` ends the call and undoes what it wrote; `?` passes on what
//! the server refused. Every call starts from the state after loading: nothing a
//! call leaves in a `static` is seen by another.
//!
//! With the crate `armature-serde` they may be types of the plugin's.
//!
//! [`testing`] is for the tests of a plugin.

mod body;
mod document;
mod error;
mod host;
mod json;
mod kind;
#[cfg(not(target_arch = "wasm32"))]
mod pipe;
mod raw;
pub mod requests;
mod service;
pub mod testing;

/// What crates are made of that bring another JSON, such as `armature-serde`.
pub mod wire {
    pub use crate::raw::capability;
    pub use crate::host::{answer, input, output, report_panics, throw, Capability};
}

pub use document::*;
pub use error::*;
pub use json::*;
pub use kind::*;
pub use service::*;

/// Makes functions methods of the plugin, each under the name that
/// `armature.json` has for its export.
#[macro_export]
macro_rules! export {
    ($($name:literal => $method:path),+ $(,)?) => {
        $(const _: () = {
            #[cfg_attr(target_arch = "wasm32", export_name = $name)]
            pub extern "C" fn export(length: i32) {
                $crate::handle(length, $method)
            }
        };)+
    };
}

/// Runs one call; [`export!`] writes the function that does. `length` is that of
/// the input in bytes.
pub fn handle<T: Into<Value>>(length: i32, method: fn(Object) -> Result<T>) {
    host::report_panics();
    let outcome = Value::parse(&host::input(length))
        .map_err(|e| Error::invalid(e).of_type("FrameworkTypeError"))
        .and_then(|value| method(value.into_object()));
    match outcome {
        Ok(result) => host::output(result.into().to_string().as_bytes()),
        Err(error) => host::throw(error.kind as i32, error.to_value().to_string().as_bytes()),
    }
}
