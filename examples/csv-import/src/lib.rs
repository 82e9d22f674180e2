//! The csv plugin: contacts from CSV, all of them or none.

mod contact;
mod csv;

use armature::{export, object, Error, Kind, Level, Object, Result};
use contact::{Columns, Mistake};
use std::collections::HashSet;

export! {
    "acme.csv.check" => check,
    "acme.csv.import" => import,
}

/// How many rows one call takes, so that the transaction, for which others who
/// write wait, stays short.
const MAX_ROWS: usize = 5000;

/// How many mistakes are told; somebody who has the wrong file needs no more.
const MAX_MISTAKES: usize = 20;

/// A file that has been read: the good rows, each with its line, and what is wrong
/// with the others.
struct Checked {
    contacts: Vec<(usize, Object)>,
    mistakes: Vec<Mistake>,
}

/// Says what is wrong with the rows, and changes nothing.
fn check(args: Object) -> Result<Object> {
    let file = read(&args)?;
    Ok(object! {"rows": file.contacts.len(), "errors": told(file.mistakes)})
}

/// Stores the rows. All of them are looked at before the first is stored. If one
/// is wrong then, or refused by the server later, the error undoes the others,
/// unless the caller asks for what can be had.
fn import(args: Object) -> Result<Object> {
    let partial = args.bool("partial");
    let mut file = read(&args)?;
    if !partial && !file.mistakes.is_empty() {
        return Err(refused(file.mistakes));
    }
    let mut imported = 0;
    for (line, contact) in file.contacts {
        match armature::insert("Contact", contact) {
            Ok(_) => imported += 1,
            // Nothing of a row that is refused stays, so the next ones can follow.
            Err(e) if matches!(e.kind, Kind::Validation | Kind::Conflict) => {
                file.mistakes.push(Mistake::new(line, "", e.message));
                if !partial {
                    return Err(refused(file.mistakes));
                }
            }
            Err(e) => return Err(e), // who may not do it may do none of it
        }
    }
    file.mistakes.sort_by_key(|m| m.line);
    armature::log(Level::Info, "contacts imported", object! {"imported": imported, "mistakes": file.mistakes.len()});
    Ok(object! {"imported": imported, "errors": told(file.mistakes)})
}

/// Reads the text of the call, or says why it cannot be read at all.
fn read(args: &Object) -> Result<Checked> {
    let text = text(args)?;
    let rows = csv::parse(&text).map_err(|b| refused(vec![Mistake::new(b.line, "", b.reason)]))?;
    let (header, rows) = match rows.split_first() {
        Some((header, rows)) if !rows.is_empty() => (header, rows),
        _ => return Err(Error::invalid("There is no row below the headings").of_type("NoRowsError")),
    };
    if rows.len() > MAX_ROWS {
        return Err(Error::new(Kind::TooLarge, format!("{} rows are more than the {} that one call takes", rows.len(), MAX_ROWS)));
    }
    let columns = Columns::read(header, args.object("columns")).map_err(refused)?;
    let mut file = Checked { contacts: Vec::with_capacity(rows.len()), mistakes: Vec::new() };
    let mut seen = HashSet::new();
    for row in rows {
        match columns.contact(row, &mut seen) {
            Ok(contact) => file.contacts.push((row.line, contact)),
            Err(mistakes) => file.mistakes.extend(mistakes),
        }
    }
    Ok(file)
}

/// The CSV is an argument, or the body of the request as it is.
fn text(args: &Object) -> Result<String> {
    if args.has("csv") {
        return Ok(args.text("csv").to_string());
    }
    let request = armature::request()?;
    if request.has("body_base64") {
        return Err(Error::invalid("The text is not UTF-8").of_type("EncodingError"));
    }
    Ok(request.text("body").to_string())
}

/// The error for a client: the first mistakes, a line for each.
fn refused(mut mistakes: Vec<Mistake>) -> Error {
    let more = mistakes.len().saturating_sub(MAX_MISTAKES);
    mistakes.truncate(MAX_MISTAKES);
    let mut lines: Vec<String> = mistakes
        .iter()
        .map(|m| if m.column.is_empty() { format!("Line {}: {}", m.line, m.message) } else { format!("Line {}, {}: {}", m.line, m.column, m.message) })
        .collect();
    if more > 0 {
        lines.push(format!("and {} more", more));
    }
    Error::invalid(lines.join("\n")).of_type("RowsRefusedError")
}

fn told(mut mistakes: Vec<Mistake>) -> Vec<Mistake> {
    mistakes.truncate(MAX_MISTAKES);
    mistakes
}

#[cfg(test)]
mod tests {
    use super::*;
    use armature::testing::{requests::Call, Site};

    fn csv(text: &str) -> Object {
        object! {"csv": text}
    }

    fn contacts() -> i64 {
        armature::Query::of("Contact").count().unwrap()
    }

    #[test]
    fn checks() {
        let site = Site::new();
        let answer = site.call("acme.csv.check", csv("email,name\na@b.de,A\nc,C\n")).unwrap().into_object();
        assert_eq!(answer.int("rows"), 1);
        assert_eq!(answer.rows("errors").next().unwrap(), &object! {"line": 3, "column": "email", "message": "c is no e-mail address"});
        assert_eq!(contacts(), 0);
    }

    #[test]
    fn imports() {
        let site = Site::new();
        assert_eq!(site.call("acme.csv.import", csv("email,name\na@b.de,A\n")).unwrap().into_object().int("imported"), 1);
        assert_eq!(armature::get("Contact", "a@b.de").unwrap().text("full_name"), "A");
    }

    #[test]
    fn stores_nothing_if_a_row_is_wrong() {
        let site = Site::new();
        let e = site.call("acme.csv.import", csv("email,name\na@b.de,A\nc,C\n")).unwrap_err();
        assert_eq!((e.exc_type.as_str(), e.message.as_str()), ("RowsRefusedError", "Line 3, email: c is no e-mail address"));
        assert_eq!(contacts(), 0);
    }

    #[test]
    fn stores_nothing_if_the_server_refuses_one() {
        let site = Site::new();
        armature::insert("Contact", object! {"email": "c@d.de", "full_name": "C"}).unwrap();
        let e = site.call("acme.csv.import", csv("email,name\na@b.de,A\nc@d.de,C\n")).unwrap_err();
        assert!(e.message.starts_with("Line 3: "), "{}", e);
        assert_eq!(contacts(), 1);
    }

    #[test]
    fn goes_on_if_that_is_wanted() {
        let site = Site::new();
        armature::insert("Contact", object! {"email": "a@b.de", "full_name": "A"}).unwrap();
        let mut args = csv("email,name\na@b.de,A\nx,X\nc@d.de,C\n");
        args.set("partial", true);
        let answer = site.call("acme.csv.import", args).unwrap().into_object();
        assert_eq!(answer.int("imported"), 1);
        assert_eq!(answer.rows("errors").map(|e| e.int("line")).collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn passes_on_what_is_not_a_matter_of_rows() {
        let site = Site::new();
        site.act_as("zoe@example.com", &["Blogger"]);
        let mut args = csv("email,name\na@b.de,A\nc@d.de,C\n");
        args.set("partial", true);
        assert_eq!(site.call("acme.csv.import", args).unwrap_err().kind, Kind::Permission);
    }

    #[test]
    fn bounds() {
        let many: String = (0..MAX_ROWS + 1).map(|i| format!("{}@b.de,A\n", i)).collect();
        assert_eq!(check(csv(&format!("email,name\n{}", many))).unwrap_err().kind, Kind::TooLarge);
        let wrong = "x,X\n".repeat(MAX_MISTAKES + 5);
        assert!(import(csv(&format!("email,name\n{}", wrong))).unwrap_err().message.ends_with("\nand 5 more"));
        assert_eq!(check(csv("email,name\n")).unwrap_err().exc_type, "NoRowsError");
    }

    #[test]
    fn reads_the_body() {
        let site = Site::new();
        let sent = |name: &str, body: &str| {
            let mut request = Call { method: "acme.csv.check".into(), ..Call::default() };
            *if name == "body" { &mut request.body } else { &mut request.body_base64 } = body.into();
            site.send(request)
        };
        assert_eq!(sent("body", "email,name\na@b.de,A\n").unwrap().result.into_object().int("rows"), 1);
        assert_eq!(sent("body_base64", "/w==").unwrap_err().exc_type, "EncodingError");
    }
}
