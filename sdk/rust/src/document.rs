//! Documents. All functions work as the caller of the method, in the transaction
//! of the request. A write that fails is undone by itself: a method may look at
//! the error and go on.

use crate::host::ask;
use crate::raw::capability;
use crate::{object, Object, Result, Value};

fn key(doctype: &str, name: &str) -> Object {
    object! {"doctype": doctype, "name": name}
}

/// Reads a document.
pub fn get(doctype: &str, name: &str) -> Result<Object> {
    ask(capability::doc_get, &key(doctype, name)).map(Value::into_object)
}

/// Stores a new document and returns it as stored.
pub fn insert(doctype: &str, fields: Object) -> Result<Object> {
    let mut doc = fields;
    doc.set("doctype", doctype);
    ask(capability::doc_insert, &object! {"doc": doc}).map(Value::into_object)
}

/// Changes the fields given, leaves the others, and returns the whole document.
pub fn update(doctype: &str, name: &str, changes: Object) -> Result<Object> {
    let mut request = key(doctype, name);
    request.set("doc", changes);
    ask(capability::doc_update, &request).map(Value::into_object)
}

/// Removes a document.
pub fn delete(doctype: &str, name: &str) -> Result<()> {
    ask(capability::doc_delete, &key(doctype, name)).map(|_| ())
}

/// Makes a draft final: docstatus 0 to 1.
pub fn submit(doctype: &str, name: &str) -> Result<Object> {
    ask(capability::doc_submit, &key(doctype, name)).map(Value::into_object)
}

/// Takes a submitted document back: docstatus 1 to 2.
pub fn cancel(doctype: &str, name: &str) -> Result<Object> {
    ask(capability::doc_cancel, &key(doctype, name)).map(Value::into_object)
}

/// Which documents to list or count, and what of them:
///
/// ```ignore
/// let rows = Query::of("ToDo").field("name").eq("status", "Open").order_by("modified desc").limit(5).list()?;
/// ```
#[derive(Clone, Debug)]
pub struct Query {
    request: Object,
}

impl Query {
    /// All documents of a DocType the caller may see; a list of them has the
    /// names of the 20 modified last.
    pub fn of(doctype: &str) -> Query {
        Query { request: object! {"doctype": doctype} }
    }

    fn add(mut self, member: &str, value: Value) -> Query {
        match self.request.0.iter_mut().find(|(name, _)| name == member) {
            Some((_, Value::Array(values))) => values.push(value),
            _ => self.request.set(member, vec![value]),
        }
        self
    }

    fn with(mut self, member: &str, value: impl Into<Value>) -> Query {
        self.request.set(member, value);
        self
    }

    /// Asks for a field.
    pub fn field(self, name: &str) -> Query {
        self.add("fields", name.into())
    }

    /// Adds a condition with any operator the server knows.
    pub fn filter(self, field: &str, op: &str, value: impl Into<Value>) -> Query {
        self.add("filters", Value::Array(vec![field.into(), op.into(), value.into()]))
    }

    /// Adds a condition of those of which one has to hold.
    pub fn or_filter(self, field: &str, op: &str, value: impl Into<Value>) -> Query {
        self.add("or_filters", Value::Array(vec![field.into(), op.into(), value.into()]))
    }

    pub fn eq(self, field: &str, value: impl Into<Value>) -> Query {
        self.filter(field, "=", value)
    }

    pub fn ne(self, field: &str, value: impl Into<Value>) -> Query {
        self.filter(field, "!=", value)
    }

    pub fn lt(self, field: &str, value: impl Into<Value>) -> Query {
        self.filter(field, "<", value)
    }

    pub fn gt(self, field: &str, value: impl Into<Value>) -> Query {
        self.filter(field, ">", value)
    }

    /// Matches a pattern of % and _.
    pub fn like(self, field: &str, pattern: &str) -> Query {
        self.filter(field, "like", pattern)
    }

    /// Is true for any of the values.
    pub fn any_of<T: Into<Value>>(self, field: &str, values: Vec<T>) -> Query {
        self.filter(field, "in", values)
    }

    /// "field asc" or "field desc".
    pub fn order_by(self, order: &str) -> Query {
        self.with("order_by", order)
    }

    pub fn group_by(self, field: &str) -> Query {
        self.with("group_by", field)
    }

    /// Skips rows.
    pub fn start(self, rows: u32) -> Query {
        self.with("limit_start", rows)
    }

    /// At most so many rows.
    pub fn limit(self, rows: u32) -> Query {
        self.with("limit_page_length", rows)
    }

    /// Every row there is.
    pub fn all(self) -> Query {
        self.limit(0)
    }

    /// The request that `doc_list` takes.
    pub fn into_request(self) -> Object {
        self.request
    }

    /// The documents, each with the fields asked for.
    pub fn list(self) -> Result<Vec<Object>> {
        match ask(capability::doc_list, &self.request)? {
            Value::Array(rows) => Ok(rows.into_iter().map(Value::into_object).collect()),
            _ => Ok(Vec::new()),
        }
    }

    /// How many there are.
    pub fn count(mut self) -> Result<i64> {
        let mut request = object! {"doctype": self.request.take("doctype")};
        if self.request.has("filters") {
            request.set("filters", self.request.take("filters"));
        }
        match ask(capability::doc_count, &request)? {
            Value::Int(n) => Ok(n),
            _ => Ok(0),
        }
    }
}
