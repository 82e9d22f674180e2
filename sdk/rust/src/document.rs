//! Documents. All functions work as the caller of the method, in the transaction
//! of the request. A write that fails is undone by itself: a method may look at
//! the error and go on.

use crate::requests::*;
use crate::{Object, Result, Value};

/// Reads a document.
pub fn get(doctype: &str, name: &str) -> Result<Object> {
    DocGet { doctype: doctype.into(), name: name.into(), lock: false }.ask()
}

/// Reads a document and keeps others from changing it until the call ends, so that a
/// call which decides by what it has read and then writes need not be run again.
pub fn get_locked(doctype: &str, name: &str) -> Result<Object> {
    DocGet { doctype: doctype.into(), name: name.into(), lock: true }.ask()
}

/// Stores a new document and returns it as stored.
pub fn insert(doctype: &str, fields: Object) -> Result<Object> {
    let mut doc = fields;
    doc.set("doctype", doctype);
    DocInsert { doc }.ask()
}

/// Changes the fields given, leaves the others, and returns the whole document.
pub fn update(doctype: &str, name: &str, changes: Object) -> Result<Object> {
    DocUpdate { doctype: doctype.into(), name: name.into(), doc: changes }.ask()
}

/// Removes a document.
pub fn delete(doctype: &str, name: &str) -> Result<()> {
    DocDelete { doctype: doctype.into(), name: name.into() }.ask()
}

/// Makes a draft final: docstatus 0 to 1.
pub fn submit(doctype: &str, name: &str) -> Result<Object> {
    DocSubmit { doctype: doctype.into(), name: name.into() }.ask()
}

/// Takes a submitted document back: docstatus 1 to 2.
pub fn cancel(doctype: &str, name: &str) -> Result<Object> {
    DocCancel { doctype: doctype.into(), name: name.into() }.ask()
}

/// Which documents to list or count, and what of them:
///
/// ```ignore
/// let rows = Query::of("ToDo").field("name").eq("status", "Open").order_by("modified desc").limit(5).list()?;
/// ```
#[derive(Clone, Debug)]
pub struct Query {
    request: DocList,
}

impl Query {
    /// All documents of a DocType the caller may see; a list of them has the
    /// names of the 20 modified last.
    pub fn of(doctype: &str) -> Query {
        Query { request: DocList { doctype: doctype.into(), ..DocList::default() } }
    }

    /// Asks for a field.
    pub fn field(mut self, name: &str) -> Query {
        self.request.fields.push(name.into());
        self
    }

    /// Adds a condition with any operator the server knows.
    pub fn filter(mut self, field: &str, op: &str, value: impl Into<Value>) -> Query {
        self.request.filters.push(Value::Array(vec![field.into(), op.into(), value.into()]));
        self
    }

    /// Adds a condition of those of which one has to hold.
    pub fn or_filter(mut self, field: &str, op: &str, value: impl Into<Value>) -> Query {
        self.request.or_filters.push(Value::Array(vec![field.into(), op.into(), value.into()]));
        self
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
    pub fn order_by(mut self, order: &str) -> Query {
        self.request.order_by = order.into();
        self
    }

    pub fn group_by(mut self, field: &str) -> Query {
        self.request.group_by = field.into();
        self
    }

    /// Skips rows.
    pub fn start(mut self, rows: u32) -> Query {
        self.request.limit_start = rows.into();
        self
    }

    /// At most so many rows.
    pub fn limit(mut self, rows: u32) -> Query {
        self.request.limit_page_length = Some(rows.into());
        self
    }

    /// Every row there is.
    pub fn all(self) -> Query {
        self.limit(0)
    }

    /// The request that `doc_list` takes.
    pub fn into_request(self) -> Object {
        self.request.into_request()
    }

    /// The documents, each with the fields asked for.
    pub fn list(self) -> Result<Vec<Object>> {
        self.request.ask()
    }

    /// How many there are for which the conditions hold.
    pub fn count(self) -> Result<i64> {
        DocCount { doctype: self.request.doctype, filters: self.request.filters, or_filters: self.request.or_filters }.ask()
    }
}
