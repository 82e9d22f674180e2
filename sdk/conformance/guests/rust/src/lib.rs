//! The conformance plugin in Rust; what each method does is described in
//! ../../../README.md.

use armature::{export, object, Error, Kind, Level, Object, Query, Result, Value};
use std::sync::atomic::{AtomicI64, Ordering};

export! {
    "echo" => echo, "arguments" => arguments, "find" => find, "transfer" => transfer, "order" => order,
    "show" => show, "close" => close, "check" => check, "attempt" => attempt, "raise" => raise, "crash" => crash,
    "tally" => tally, "relay" => relay, "who" => who, "setting" => setting, "keep" => keep, "recall" => recall,
    "forget" => forget, "say" => say, "clock" => clock, "asked" => asked, "reply" => reply, "tell" => tell, "reach" => reach,
    "send" => send, "connect" => connect, "verify" => verify, "letter" => letter, "spin" => spin,
}

fn echo(args: Object) -> Result<Object> {
    Ok(args)
}

fn arguments(args: Object) -> Result<Object> {
    let sum: i64 = args.array("list").iter().map(|v| if let Value::Int(i) = v { *i } else { 0 }).sum();
    Ok(object! {
        "text": format!("{}!", args.text("text")),
        "count": args.int("count") + 1,
        "ratio": args.float("ratio") / 2.0,
        "flag": !args.bool("flag"),
        "sum": sum,
        "inner": args.object("inner").map(|inner| inner.text("text").to_string()),
        "absent": !args.has("absent"),
    })
}

fn find(args: Object) -> Result<Object> {
    let with_status = Query::of("ToDo").eq("status", args.text("status"));
    let count = with_status.clone().count()?;
    let rows = with_status
        .field("name")
        .field("description")
        .any_of("priority", vec!["High", "Medium"])
        .order_by("description asc")
        .limit(args.int("limit") as u32)
        .list()?;
    let descriptions: Vec<&str> = rows.iter().map(|row| row.text("description")).collect();
    Ok(object! {"count": count, "descriptions": descriptions})
}

fn transfer(args: Object) -> Result<Object> {
    let made = armature::insert("ToDo", object! {"description": args.text("text")})?;
    let closed = armature::update("ToDo", args.text("name"), object! {"status": "Closed"})?;
    if args.bool("fail") {
        return Err(Error::invalid("fail was asked for").of_type("TransferError"));
    }
    Ok(object! {"made": made.name(), "closed": closed.text("status")})
}

fn order(args: Object) -> Result<Object> {
    const DOCTYPE: &str = "Conformance Order";
    let items = vec![object! {"item": "a", "qty": 3}, object! {"item": "b", "qty": 4}];
    let inserted = armature::insert(DOCTYPE, object! {"title": args.text("title"), "items": items})?;
    let name = inserted.name();
    let submitted = armature::submit(DOCTYPE, name)?;
    let cancelled = armature::cancel(DOCTYPE, name)?;
    armature::delete(DOCTYPE, name)?;
    let gone = armature::get(DOCTYPE, name).err().map(|e| e.kind as i32);
    Ok(object! {
        "inserted": inserted.int("docstatus"),
        "submitted": submitted.int("docstatus"),
        "cancelled": cancelled.int("docstatus"),
        "items": inserted.array("items").len(),
        "qty": inserted.rows("items").map(|row| row.int("qty")).sum::<i64>(),
        "gone": gone,
    })
}

fn show(args: Object) -> Result<Object> {
    armature::get(args.text("doctype"), args.text("name"))
}

fn close(args: Object) -> Result<Object> {
    armature::update("ToDo", args.text("name"), object! {"status": "Closed"})
}

fn check(event: Object) -> Result<Object> {
    let nothing = Object::default();
    let doc = event.object("doc").unwrap_or(&nothing);
    let before = event.object("before");
    if doc.text("description") == "refuse me" {
        return Err(Error::invalid("The guest refuses this").of_type("RefusedError"));
    }
    match before {
        Some(before) if before.text("status") == "Closed" && doc.text("status") == "Open" => {
            Err(Error::invalid("What is closed stays closed").of_type("ReopenError"))
        }
        None if doc.text("description").starts_with("urgent") => Ok(object! {"priority": "High"}),
        _ => Ok(nothing),
    }
}

fn caught(error: Error) -> Object {
    object! {"kind": error.kind as i32, "type": error.exc_type, "message": error.message}
}

fn attempt(args: Object) -> Result<Object> {
    Ok(match armature::get(args.text("doctype"), args.text("name")) {
        Ok(doc) => object! {"kind": 0, "name": doc.name()},
        Err(error) => caught(error),
    })
}

fn raise(args: Object) -> Result<()> {
    Err(Error::new(Kind::of(args.int("kind")), args.text("message")).of_type(args.text("type")))
}

fn crash(_: Object) -> Result<()> {
    panic!("crash was asked for")
}

static CALLS: AtomicI64 = AtomicI64::new(0);

fn tally(_: Object) -> Result<Object> {
    Ok(object! {"n": CALLS.fetch_add(1, Ordering::Relaxed) + 1})
}

fn relay(mut args: Object) -> Result<Object> {
    let inner = args.take("args").into_object();
    Ok(match armature::call(args.text("method"), inner) {
        Ok(result) => object! {"kind": 0, "result": result},
        Err(error) => caught(error),
    })
}

fn who(_: Object) -> Result<Object> {
    let user = armature::caller()?;
    Ok(object! {"user": user.name, "roles": user.roles})
}

fn setting(args: Object) -> Result<Value> {
    armature::config(args.text("key"))
}

fn keep(mut args: Object) -> Result<Value> {
    let value = args.take("value");
    armature::kv_set(args.text("key"), value, args.int("ttl"))?;
    armature::kv_get(args.text("key"))
}

fn recall(args: Object) -> Result<Value> {
    armature::kv_get(args.text("key"))
}

fn forget(args: Object) -> Result<()> {
    armature::kv_delete(args.text("key"))
}

fn say(args: Object) -> Result<()> {
    armature::log(Level::of(args.int("level")), args.text("message"), object! {"n": args.int("n")});
    Ok(())
}

fn clock(_: Object) -> Result<Object> {
    let mut bytes = [0; 16];
    armature::random(&mut bytes);
    let hex: String = bytes.iter().map(|b| format!("{:02x}", b)).collect();
    Ok(object! {"now": armature::now(), "random": hex})
}

fn asked(_: Object) -> Result<Object> {
    let request = armature::request()?;
    Ok(object! {"method": request.text("method"), "path": request.text("path"), "query": request.text("query")})
}

fn reply(args: Object) -> Result<()> {
    armature::respond(args.int("status"), object! {"content-type": "text/plain", "x-guest": "yes"}, args.text("body"))
}

fn tell(args: Object) -> Result<()> {
    if !args.has("title") {
        return armature::tell(args.text("message"));
    }
    armature::tell_as(args.text("message"), args.text("title"), args.text("indicator"))
}

fn reach(args: Object) -> Result<Object> {
    Ok(match armature::fetch(object! {"url": args.text("url")}) {
        Ok(answer) => object! {"kind": 0, "status": answer.int("status")},
        Err(error) => caught(error),
    })
}

fn send(args: Object) -> Result<Object> {
    let headers = object! {"content-type": "text/plain", "x-guest": "yes"};
    let request = object! {"url": args.text("url"), "method": "POST", "headers": headers, "body": args.text("text")};
    Ok(match armature::fetch(request) {
        Ok(answer) => object! {
            "kind": 0,
            "status": answer.int("status"),
            "type": answer.object("headers").map(|headers| headers.text("content-type").to_string()),
            "body": answer.text("body"),
        },
        Err(error) => caught(error),
    })
}

fn connect(args: Object) -> Result<Object> {
    let mut request = object! {"app": args.text("app"), "url": args.text("url")};
    if args.bool("own") {
        request.set("as", "app");
    }
    Ok(match armature::fetch_connected(request) {
        Ok(answer) => object! {"kind": 0, "status": answer.int("status"), "body": answer.text("body")},
        Err(error) => caught(error),
    })
}

fn verify(args: Object) -> Result<Object> {
    let secrets = vec![args.text("other").to_string(), args.text("secret").to_string()];
    Ok(match (armature::requests::WebhookVerify { secrets, ..Default::default() }).ask() {
        Ok(answer) => object! {"kind": 0, "id": answer.id, "timestamp": answer.timestamp},
        Err(error) => caught(error),
    })
}

fn letter(args: Object) -> Result<Object> {
    let letter = armature::requests::Sendmail {
        recipients: vec![args.text("to").to_string()],
        subject: args.text("subject").to_string(),
        text: args.text("text").to_string(),
        ..Default::default()
    };
    Ok(match letter.ask() {
        Ok(answer) => object! {"kind": 0, "jobs": answer.jobs.len() as i64},
        Err(error) => caught(error),
    })
}

fn spin(_: Object) -> Result<()> {
    loop {}
}
