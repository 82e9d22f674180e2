//! Documents, arguments and results as types of the plugin's, by serde, beside
//! those of the crate `armature`. The siblings of its functions that take and give
//! an `Object` end in `_as`.
//!
//! ```ignore
//! use armature_serde::{export, get_as, update_as};
//! use serde::{Deserialize, Serialize};
//!
//! export! {"acme.task.raise" => raise}
//!
//! #[derive(Deserialize)]
//! struct Args { name: String }
//!
//! #[derive(Serialize, Deserialize)]
//! struct Task { subject: String, #[serde(default)] priority: i64 }
//!
//! fn raise(args: Args) -> armature::Result<Task> {
//!     let task: Task = get_as("Task", &args.name)?;
//!     update_as("Task", &args.name, &Task { priority: task.priority + 1, ..task })
//! }
//! ```
//!
//! Members that a type does not have are ignored; what does not fit is an
//! `Internal` error when the server has answered it, and refused as
//! `FrameworkTypeError` (HTTP 417) when it is the arguments.

use armature::requests::*;
use armature::wire::{self, capability, Capability};
use armature::{Error, Kind, Object, Query, Result, Value};
use serde::{de::DeserializeOwned, Deserialize, Serialize};

/// An object of a type of the plugin's, which has to be a struct or a map.
pub fn to_object<T: Serialize>(value: &T) -> Result<Object> {
    let text = serde_json::to_vec(value).map_err(internal)?;
    match Value::parse(&text).map_err(|e| Error::new(Kind::Internal, e))? {
        Value::Object(object) => Ok(object),
        other => Err(Error::new(Kind::Internal, format!("{} is no object", other))),
    }
}

/// An object as a type of the plugin's.
pub fn from_object<T: DeserializeOwned>(object: &Object) -> Result<T> {
    serde_json::from_str(&object.to_string()).map_err(internal)
}

fn internal(error: serde_json::Error) -> Error {
    Error::new(Kind::Internal, error.to_string())
}

fn ask<T: DeserializeOwned>(call: Capability, request: &Object) -> Result<T> {
    serde_json::from_slice(&wire::answer(call, request)?).map_err(internal)
}

/// Reads a document.
pub fn get_as<T: DeserializeOwned>(doctype: &str, name: &str) -> Result<T> {
    ask(capability::doc_get, &DocGet { doctype: doctype.into(), name: name.into(), lock: false }.into_request())
}

/// Stores a new document and returns it as stored.
pub fn insert_as<T: DeserializeOwned>(doctype: &str, fields: &impl Serialize) -> Result<T> {
    let mut doc = to_object(fields)?;
    doc.set("doctype", doctype);
    ask(capability::doc_insert, &DocInsert { doc }.into_request())
}

/// Changes the fields given, leaves the others, and returns the whole document.
pub fn update_as<T: DeserializeOwned>(doctype: &str, name: &str, changes: &impl Serialize) -> Result<T> {
    let request = DocUpdate { doctype: doctype.into(), name: name.into(), doc: to_object(changes)? };
    ask(capability::doc_update, &request.into_request())
}

/// Runs a whitelisted method in the same transaction for the same caller.
pub fn call_as<T: DeserializeOwned>(method: &str, args: &impl Serialize) -> Result<T> {
    ask(capability::method_call, &MethodCall { method: method.into(), args: to_object(args)? }.into_request())
}

/// Reads a key of the plugin's configuration on this site. One that is not set is
/// null: `Option<T>`.
pub fn config_as<T: DeserializeOwned>(key: &str) -> Result<T> {
    ask(capability::config_get, &ConfigGet { key: key.into() }.into_request())
}

/// Reads a key of the plugin's own store on this site; null if it is absent or
/// expired: `Option<T>`.
pub fn kv_get_as<T: DeserializeOwned>(key: &str) -> Result<T> {
    ask(capability::kv_get, &KvGet { key: key.into() }.into_request())
}

/// `list` with a type of the plugin's.
pub trait QueryAs {
    /// The documents, each with the fields asked for.
    fn list_as<T: DeserializeOwned>(self) -> Result<Vec<T>>;
}

impl QueryAs for Query {
    fn list_as<T: DeserializeOwned>(self) -> Result<Vec<T>> {
        ask(capability::doc_list, &self.into_request())
    }
}

/// The input of an event handler. `doc` is the document as it is about to be
/// written, `before` the stored one, if there is one.
#[derive(Clone, Debug, Deserialize)]
pub struct Event<T> {
    pub event: String,
    pub doc: T,
    pub before: Option<T>,
}

/// Makes functions from a type to a result of a type methods of the plugin, each
/// under the name that `armature.json` has for its export.
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

/// Runs one call; [`export!`] writes the function that does. `length` is that
/// of the input in bytes.
pub fn handle<A: DeserializeOwned, T: Serialize>(length: i32, method: fn(A) -> Result<T>) {
    wire::report_panics();
    let outcome = serde_json::from_slice(&wire::input(length))
        .map_err(|e| Error::invalid(format!("Invalid arguments: {}", e)).of_type("FrameworkTypeError"))
        .and_then(method)
        .and_then(|result| serde_json::to_vec(&result).map_err(internal));
    match outcome {
        Ok(text) => wire::output(&text),
        Err(error) => wire::throw(error.kind as i32, error.to_value().to_string().as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use armature::object;

    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    struct Task {
        subject: String,
        #[serde(default)]
        priority: i64,
    }

    #[test]
    fn there_and_back() {
        let task: Task = from_object(&object! {"name": "T1", "subject": "Zoë 😀", "idx": 0}).unwrap();
        assert_eq!(task, Task { subject: "Zoë 😀".into(), priority: 0 });
        assert_eq!(to_object(&task).unwrap(), object! {"subject": "Zoë 😀", "priority": 0});
        assert_eq!(to_object(&12).unwrap_err().kind, Kind::Internal);
        assert!(from_object::<Task>(&object! {"subject": 12}).is_err());
    }

    #[test]
    fn events() {
        let event: Event<Task> =
            from_object(&object! {"event": "validate", "doc": object! {"subject": "x"}, "before": Value::Null}).unwrap();
        assert!(event.before.is_none() && event.doc.subject == "x" && event.event == "validate");
    }
}
