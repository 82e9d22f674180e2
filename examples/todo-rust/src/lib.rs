//! The todo plugin in Rust: four methods over the ToDo DocType.

use armature::{export, object, Object, Query, Result};

export! {
    "acme.todo.close" => close,
    "acme.todo.show" => show,
    "acme.todo.summary" => summary,
    "acme.todo.echo" => echo,
}

/// Sets a ToDo's status to Closed and returns the document.
fn close(args: Object) -> Result<Object> {
    let todo = armature::get("ToDo", args.text("name"))?;
    if todo.text("status") == "Closed" {
        return Ok(todo);
    }
    armature::update("ToDo", args.text("name"), object! {"status": "Closed"})
}

/// Returns a ToDo as the caller may see it.
fn show(args: Object) -> Result<Object> {
    armature::get("ToDo", args.text("name"))
}

/// Counts the caller's ToDos by status.
fn summary(_: Object) -> Result<Object> {
    let mut by = Object::default();
    for todo in Query::of("ToDo").field("status").all().list()? {
        let status = todo.text("status");
        by.set(status, by.int(status) + 1);
    }
    Ok(object! {
        "user": armature::caller()?.name,
        "total": Query::of("ToDo").count()?,
        "by_status": by,
    })
}

/// Returns its arguments.
fn echo(args: Object) -> Result<Object> {
    Ok(args)
}

#[cfg(test)]
mod tests {
    use super::*;
    use armature::{stub, Error, Kind};

    #[test]
    fn closes() {
        stub::answer("doc_get", object! {"name": "T1", "status": "Open"});
        stub::answer("doc_update", object! {"name": "T1", "status": "Closed"});
        assert_eq!(close(object! {"name": "T1"}).unwrap().text("status"), "Closed");
        let changes = object! {"status": "Closed"};
        assert_eq!(stub::asked("doc_update"), object! {"doctype": "ToDo", "name": "T1", "doc": changes});
    }

    #[test]
    fn closes_once() {
        stub::answer("doc_get", object! {"name": "T3", "status": "Closed"});
        close(object! {"name": "T3"}).unwrap();
        assert_eq!(stub::asked("doc_update"), Object::default());
    }

    #[test]
    fn passes_errors_on() {
        stub::refuse("doc_get", Error::not_found("ToDo T9 not found"));
        assert_eq!(close(object! {"name": "T9"}).unwrap_err().kind, Kind::NotFound);
        stub::answer("doc_get", object! {"name": "T1", "status": "Open"});
        stub::refuse("doc_update", Error::denied("read only"));
        assert_eq!(close(object! {"name": "T1"}).unwrap_err().message, "read only");
    }

    #[test]
    fn sums_up() {
        stub::answer("caller_get", object! {"user": "zoe@example.com"});
        stub::answer("doc_count", 3);
        stub::answer("doc_list", vec![object! {"status": "Open"}, object! {"status": "Closed"}, object! {"status": "Open"}]);
        let by = object! {"Open": 2, "Closed": 1};
        assert_eq!(summary(Object::default()).unwrap(), object! {"user": "zoe@example.com", "total": 3, "by_status": by});
    }

    #[test]
    fn shows_and_echoes() {
        stub::answer("doc_get", object! {"description": "Call Zoë"});
        assert_eq!(show(object! {"name": "T1"}).unwrap().text("description"), "Call Zoë");
        assert_eq!(echo(object! {"a": 1}).unwrap(), object! {"a": 1});
    }
}
