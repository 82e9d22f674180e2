//! CSV, by RFC 4180 and as spreadsheets write it: a byte order mark in front,
//! commas, semicolons or tabs between fields, and any end of lines.

/// A row with the line of the text on which it begins.
#[derive(Debug, PartialEq)]
pub struct Row {
    pub line: usize,
    pub fields: Vec<String>,
}

/// Why a text is no CSV, and on which line.
#[derive(Debug, PartialEq)]
pub struct Broken {
    pub line: usize,
    pub reason: &'static str,
}

/// Reads all rows; lines that are empty are none. What separates fields is
/// whichever of comma, semicolon and tab is most on the first line.
pub fn parse(text: &str) -> Result<Vec<Row>, Broken> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader { bytes: text.as_bytes(), at: 0, line: 1, separator: separator(text) };
    let mut rows = Vec::new();
    while reader.at < reader.bytes.len() {
        let row = reader.row()?;
        if row.fields != [""] {
            rows.push(row);
        }
    }
    Ok(rows)
}

fn separator(text: &str) -> u8 {
    let first = text.split(|c| c == '\n' || c == '\r').next().unwrap_or("");
    let count = |c: u8| first.bytes().filter(|b| *b == c).count();
    // The last of several that are most, so that a comma wins where there is none.
    [b'\t', b';', b','].into_iter().max_by_key(|c| count(*c)).unwrap_or(b',')
}

/// What ends a field ends it in every UTF-8 text: none of these bytes is part of
/// another character.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    separator: u8,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn row(&mut self) -> Result<Row, Broken> {
        let line = self.line;
        let mut fields = Vec::new();
        loop {
            fields.push(if self.peek() == Some(b'"') { self.quoted()? } else { self.plain() });
            match self.peek() {
                Some(c) if c == self.separator => self.at += 1,
                Some(b'\r' | b'\n') => {
                    self.end_of_line();
                    break;
                }
                None => break,
                Some(_) => return Err(Broken { line: self.line, reason: "there is text after a closing quote" }),
            }
        }
        Ok(Row { line, fields })
    }

    fn plain(&mut self) -> String {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|c| *c == self.separator || *c == b'\r' || *c == b'\n').unwrap_or(rest.len());
        self.at += length;
        text(&rest[..length])
    }

    /// A field in quotes may hold separators, ends of lines, and quotes as "".
    fn quoted(&mut self) -> Result<String, Broken> {
        let began = self.line;
        self.at += 1;
        let mut field = Vec::new();
        loop {
            match self.peek() {
                None => return Err(Broken { line: began, reason: "a quote is not closed" }),
                Some(b'"') => {
                    self.at += 1;
                    if self.peek() != Some(b'"') {
                        return Ok(text(&field));
                    }
                    field.push(b'"');
                    self.at += 1;
                }
                Some(b'\r' | b'\n') => {
                    self.end_of_line();
                    field.push(b'\n');
                }
                Some(c) => {
                    field.push(c);
                    self.at += 1;
                }
            }
        }
    }

    fn end_of_line(&mut self) {
        self.at += if self.bytes[self.at..].starts_with(b"\r\n") { 2 } else { 1 };
        self.line += 1;
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned() // whole characters, so nothing is lost
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Vec<Vec<String>> {
        parse(text).unwrap().into_iter().map(|row| row.fields).collect()
    }

    #[test]
    fn reads_fields() {
        assert_eq!(fields("a,b\nc,d"), [["a", "b"], ["c", "d"]]);
        assert_eq!(fields("a,b\r\nc,d\r\n"), [["a", "b"], ["c", "d"]]);
        assert_eq!(fields("a,b\rc,d\r"), [["a", "b"], ["c", "d"]]);
        assert_eq!(fields("\u{feff}a;b\nc,d;e"), [["a", "b"], ["c,d", "e"]]);
        assert_eq!(fields("a\tb\n"), [["a", "b"]]);
        assert_eq!(fields("a,,\n,,"), [["a", "", ""], ["", "", ""]]);
        assert_eq!(fields("Zoë,日本\n"), [["Zoë", "日本"]]);
        assert_eq!(fields("a\n\n\r\nb\n"), [["a"], ["b"]]);
        assert!(fields("").is_empty());
        assert!(fields("\u{feff}").is_empty());
    }

    #[test]
    fn reads_quotes() {
        assert_eq!(fields("\"a,b\",\"say \"\"hi\"\"\"\n"), [["a,b", "say \"hi\""]]);
        assert_eq!(fields("\"two\r\nlines\",\"\"\n"), [["two\nlines", ""]]);
        assert_eq!(fields("5\" pipe,x\n"), [["5\" pipe", "x"]]);
        assert_eq!(fields("\"\"\"\"\n"), [["\""]]);
    }

    #[test]
    fn counts_lines() {
        let rows = parse("h\n\"a\nb\r\nc\"\n\nd").unwrap();
        assert_eq!(rows.iter().map(|row| row.line).collect::<Vec<_>>(), [1, 2, 6]);
    }

    #[test]
    fn says_what_is_broken_and_where() {
        assert_eq!(parse("a\n\"b\nc\n").unwrap_err(), Broken { line: 2, reason: "a quote is not closed" });
        assert_eq!(parse("a\n\"b\"c\n").unwrap_err().line, 2);
        assert_eq!(parse("\"").unwrap_err().line, 1);
    }

    /// What is quoted as it has to be comes back as it was, whatever it is.
    #[test]
    fn goes_round() {
        let pieces = ["", "a", "\"", ",", ";", "\t", "\n", "é", "\"\"", " "];
        let mut seed = 1u32;
        for _ in 0..2000 {
            let mut row = Vec::new();
            for _ in 0..3 {
                let mut field = String::new();
                for _ in 0..4 {
                    seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
                    field.push_str(pieces[(seed >> 16) as usize % pieces.len()]);
                }
                row.push(field);
            }
            let line: Vec<_> = row.iter().map(|f| format!("\"{}\"", f.replace('"', "\"\""))).collect();
            assert_eq!(fields(&format!("a,b,c,d\n{}\r\n", line.join(",")))[1], row);
        }
    }
}
