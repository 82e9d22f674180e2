//! A plugin whose documents, arguments and results are types of its own; a test
//! runs it on a server.

use armature::{Error, Query, Result};
use armature_serde::{export, get_as, insert_as, update_as, Event, QueryAs};
use serde::{Deserialize, Serialize};

export! {"acme.task.finish" => finish, "acme.task.open" => open, "check" => check}

#[derive(Deserialize)]
struct Finish {
    name: String,
    #[serde(default)]
    again: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
enum Status {
    Open,
    Closed,
    Cancelled,
}

#[derive(Deserialize, Serialize)]
struct ToDo {
    #[serde(default, skip_serializing)]
    name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    description: String,
    status: Status,
}

#[derive(Serialize)]
struct Finished {
    closed: ToDo,
    next: Option<String>,
}

/// Closes a ToDo, and begins another if there is something to do again.
fn finish(args: Finish) -> Result<Finished> {
    let todo: ToDo = get_as("ToDo", &args.name)?;
    if todo.status == Status::Cancelled {
        return Err(Error::invalid("It was cancelled").of_type("CancelledError"));
    }
    let closed = update_as("ToDo", &args.name, &ToDo { status: Status::Closed, ..todo })?;
    let next = match args.again {
        None => None,
        Some(description) => {
            let made: ToDo = insert_as("ToDo", &ToDo { name: String::new(), description, status: Status::Open })?;
            Some(made.name)
        }
    };
    Ok(Finished { closed, next })
}

#[derive(Deserialize)]
struct Nothing {}

/// The names of what is open.
fn open(_: Nothing) -> Result<Vec<String>> {
    let rows: Vec<ToDo> = Query::of("ToDo").field("name").field("status").eq("status", "Open").order_by("creation asc").all().list_as()?;
    Ok(rows.into_iter().map(|row| row.name).collect())
}

#[derive(Serialize)]
struct Changes {
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<&'static str>,
}

fn check(event: Event<ToDo>) -> Result<Changes> {
    let urgent = event.before.is_none() && event.doc.description.starts_with("urgent");
    Ok(Changes { priority: if urgent { Some("High") } else { None } })
}
