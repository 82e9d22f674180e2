//! From a row to the fields of a Contact.

use crate::csv::Row;
use armature::{object, Object, Value};
use std::collections::HashSet;

/// The fields that a column may be, each with the headings it goes by; upper case,
/// spaces and signs do not count in them.
const FIELDS: [(&str, &[&str]); 5] = [
    ("email", &["email", "emailaddress", "mail"]),
    ("full_name", &["fullname", "name", "contact"]),
    ("phone", &["phone", "phonenumber", "telephone", "tel", "mobile"]),
    ("birthday", &["birthday", "dateofbirth", "born"]),
    ("notes", &["notes", "note", "comment", "remarks"]),
];

/// Something wrong with a row.
#[derive(Debug, PartialEq)]
pub struct Mistake {
    pub line: usize,
    pub column: String, // the heading; empty for the whole row
    pub message: String,
}

impl Mistake {
    pub fn new(line: usize, column: &str, message: impl Into<String>) -> Mistake {
        Mistake { line, column: column.to_string(), message: message.into() }
    }
}

impl From<Mistake> for Value {
    fn from(m: Mistake) -> Value {
        let mut out = object! {"line": m.line};
        if !m.column.is_empty() {
            out.set("column", m.column);
        }
        out.set("message", m.message);
        out.into()
    }
}

/// What each column holds: a heading and a field, or no field for a column that
/// is left out.
pub struct Columns(Vec<(String, Option<&'static str>)>);

impl Columns {
    /// Reads the first row. A heading that nobody knows is a mistake: a column
    /// that is misspelt would else be lost without a word.
    pub fn read(header: &Row, given: Option<&Object>) -> Result<Columns, Vec<Mistake>> {
        let mut mistakes = Vec::new();
        let mut columns: Vec<(String, Option<&'static str>)> = Vec::new();
        for heading in &header.fields {
            let heading = heading.trim();
            let wanted = given.and_then(|g| g.get(heading)).map(Value::as_text);
            let field = match wanted {
                Some("") => None,
                Some(name) => FIELDS.iter().find(|(field, _)| *field == name).map(|(field, _)| *field),
                None => FIELDS.iter().find(|(field, names)| *field == heading || names.contains(&plain(heading).as_str())).map(|(field, _)| *field),
            };
            if field.is_none() && wanted != Some("") {
                mistakes.push(Mistake::new(header.line, heading, "no such field; name it in columns"));
            } else if field.is_some() && columns.iter().any(|(_, other)| *other == field) {
                mistakes.push(Mistake::new(header.line, heading, "a second column of the same field"));
            }
            columns.push((heading.to_string(), field));
        }
        for field in ["email", "full_name"] {
            if !columns.iter().any(|(_, f)| *f == Some(field)) {
                mistakes.push(Mistake::new(header.line, "", format!("there is no column for {}", field)));
            }
        }
        if mistakes.is_empty() { Ok(Columns(columns)) } else { Err(mistakes) }
    }

    /// Makes the fields of a document. Seen holds the addresses of the rows before.
    pub fn contact(&self, row: &Row, seen: &mut HashSet<String>) -> Result<Object, Vec<Mistake>> {
        if row.fields.len() != self.0.len() {
            let message = format!("{} fields, where the first line has {}", row.fields.len(), self.0.len());
            return Err(vec![Mistake::new(row.line, "", message)]);
        }
        let mut contact = Object::default();
        let mut mistakes = Vec::new();
        for ((heading, field), text) in self.0.iter().zip(&row.fields) {
            let field = match field {
                Some(field) => *field,
                None => continue,
            };
            match value(field, text.trim(), seen) {
                Ok(text) => contact.set(field, text),
                Err(message) => mistakes.push(Mistake::new(row.line, heading, message)),
            }
        }
        if mistakes.is_empty() { Ok(contact) } else { Err(mistakes) }
    }
}

fn plain(heading: &str) -> String {
    heading.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The value of a field, or what is wrong with it.
fn value(field: &str, text: &str, seen: &mut HashSet<String>) -> Result<String, String> {
    match field {
        "email" => {
            let email = text.to_lowercase();
            match email.split_once('@') {
                Some((who, host)) if !who.is_empty() && host.contains('.') && !email.contains(char::is_whitespace) => {}
                _ if text.is_empty() => return Err("is missing".to_string()),
                _ => return Err(format!("{} is no e-mail address", text)),
            }
            if !seen.insert(email.clone()) {
                return Err(format!("{} is on a line before, too", email));
            }
            Ok(email)
        }
        "full_name" if text.is_empty() => Err("is missing".to_string()),
        "birthday" if !text.is_empty() => date(text).ok_or_else(|| format!("{} is no date; write it as 2026-12-31 or 31.12.2026", text)),
        _ => Ok(text.to_string()),
    }
}

/// A date as documents have it, from 2026-12-31 or 31.12.2026.
fn date(text: &str) -> Option<String> {
    let number = |s: &str| if !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit()) { s.parse::<u32>().ok() } else { None };
    let parts: Vec<u32> = text.split(|c| c == '-' || c == '.').map(number).collect::<Option<_>>()?;
    let (year, month, day) = match (parts.as_slice(), text.contains('.'), text.contains('-')) {
        ([year, month, day], false, true) => (*year, *month, *day),
        ([day, month, year], true, false) => (*year, *month, *day),
        _ => return None,
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + leap as u32,
        1..=12 => 31,
        _ => return None,
    };
    if (1000..=9999).contains(&year) && (1..=days).contains(&day) { Some(format!("{:04}-{:02}-{:02}", year, month, day)) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(line: usize, fields: &[&str]) -> Row {
        Row { line, fields: fields.iter().map(|f| f.to_string()).collect() }
    }

    #[test]
    fn knows_headings() {
        let columns = Columns::read(&row(1, &[" E-Mail ", "Full Name", "Date of birth"]), None).unwrap();
        let contact = columns.contact(&row(2, &["Zoe@Example.com", " Zoë ", "1.2.1990"]), &mut HashSet::new()).unwrap();
        assert_eq!(contact, object! {"email": "zoe@example.com", "full_name": "Zoë", "birthday": "1990-02-01"});
    }

    #[test]
    fn takes_headings_that_are_given() {
        let given = object! {"Adresse": "email", "Wer": "full_name", "Kundennummer": ""};
        let columns = Columns::read(&row(1, &["Kundennummer", "Adresse", "Wer"]), Some(&given)).unwrap();
        let contact = columns.contact(&row(2, &["17", "a@b.de", "A"]), &mut HashSet::new()).unwrap();
        assert_eq!(contact, object! {"email": "a@b.de", "full_name": "A"});
    }

    #[test]
    fn refuses_headings() {
        let message = |fields: &[&str], given: Option<&Object>| Columns::read(&row(3, fields), given).err().unwrap().remove(0);
        assert_eq!(message(&["email", "name", "shoe size"], None), Mistake::new(3, "shoe size", "no such field; name it in columns"));
        assert_eq!(message(&["email", "name", "mail"], None).message, "a second column of the same field");
        assert_eq!(message(&["email"], None).message, "there is no column for full_name");
        assert_eq!(message(&["email", "x"], Some(&object! {"x": "owner"})).column, "x");
    }

    #[test]
    fn refuses_rows() {
        let columns = Columns::read(&row(1, &["email", "name", "born"]), None).unwrap();
        let mut seen = HashSet::new();
        columns.contact(&row(2, &["a@b.de", "A", ""]), &mut seen).unwrap();
        let mut wrong = |fields: &[&str]| columns.contact(&row(7, fields), &mut seen).unwrap_err();
        assert_eq!(wrong(&["A@b.de", "A", ""]), [Mistake::new(7, "email", "a@b.de is on a line before, too")]);
        assert_eq!(wrong(&["", "", "x"]).len(), 3);
        assert_eq!(wrong(&["c@d.de", "C"]), [Mistake::new(7, "", "2 fields, where the first line has 3")]);
        for email in ["c", "@d.de", "c@d", "c d@e.de"] {
            assert_eq!(wrong(&[email, "C", ""]).len(), 1, "{}", email);
        }
    }

    #[test]
    fn reads_dates() {
        assert_eq!(date("2024-02-29").unwrap(), "2024-02-29");
        assert_eq!(date("9.3.2001").unwrap(), "2001-03-09");
        for text in ["2023-02-29", "1900-02-29", "2023-13-01", "2023-00-01", "2023-01-00", "31.04.2023", "2023-01.01", "+1-1-1", "2023", "01-02-03", "a.b.c", "1.1.99999"] {
            assert_eq!(date(text), None, "{}", text);
        }
    }
}
