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
    use armature::{testing::Site, Kind};

    fn todo(description: &str, status: &str) -> Object {
        armature::insert("ToDo", object! {"description": description, "status": status}).unwrap()
    }

    #[test]
    fn closes() {
        let site = Site::new();
        let name = object! {"name": todo("milk", "Open").text("name")};
        assert_eq!(site.call("acme.todo.close", name.clone()).unwrap().into_object().text("status"), "Closed");
        assert_eq!(armature::get("ToDo", name.text("name")).unwrap().text("status"), "Closed");
    }

    #[test]
    fn closes_once() {
        let _site = Site::new();
        let made = todo("milk", "Closed");
        // A function of the plugin may be called as it is, too.
        assert_eq!(close(object! {"name": made.text("name")}).unwrap().text("modified"), made.text("modified"));
    }

    #[test]
    fn passes_errors_on() {
        let site = Site::new();
        let e = site.call("acme.todo.close", object! {"name": "T9"}).unwrap_err();
        assert_eq!((e.kind, e.message.as_str()), (Kind::NotFound, "ToDo T9 not found"));
        let made = todo("milk", "Open");
        site.act_as("Guest", &[]);
        assert_eq!(site.call("acme.todo.close", object! {"name": made.text("name")}).unwrap_err().kind, Kind::Permission);
    }

    #[test]
    fn sums_up() {
        let site = Site::new();
        todo("milk", "Open");
        todo("bread", "Closed");
        todo("jam", "Open");
        let summary = site.call_by("GET", "acme.todo.summary", Object::default()).unwrap().into_object();
        assert_eq!((summary.text("user"), summary.int("total")), ("Administrator", 3));
        let by = summary.object("by_status").unwrap();
        assert_eq!((by.int("Open"), by.int("Closed")), (2, 1));
    }

    #[test]
    fn shows_and_echoes() {
        let site = Site::new();
        let made = todo("Call Zoë", "Open");
        let shown = site.call_by("GET", "acme.todo.show", object! {"name": made.text("name")}).unwrap().into_object();
        assert_eq!(shown.text("description"), "Call Zoë");
        assert_eq!(site.call("acme.todo.echo", object! {"a": 1}).unwrap().into_object(), object! {"a": 1});
    }
}
