package doctype

import "math"

// What options say, by the types that read them.
var (
	ofDocType = Options{Meaning: "the DocType whose documents are named", needed: true, target: true}
	ofField   = Options{Meaning: "the field of the same DocType that holds the DocType", needed: true, field: true}
	ofRows    = Options{Meaning: "the child table (`istable`) whose rows it holds", needed: true, target: true}
	ofFormat  = Options{Meaning: "`Email`, `Phone`, `Name` or `URL`: the form that a value must have; or nothing"}
	ofChoices = Options{Meaning: "the values, one a line; the first is that of a new document. With an empty first line nothing is chosen", choices: true}
	ofCode    = Options{Meaning: "the language, for who draws the form"}
)

// internalType is a field type of our own, for what the platform keeps beside a
// document and nobody reads or writes over any API, Administrator included:
// where the bytes of a file are. Only a built-in DocType has such fields.
const internalType = "Internal"

// fieldTypes are the types of the reference (section 12.1), and one of our own.
var fieldTypes = []FieldType{
	{Name: "Data", Kind: Text, bound: short, Form: "input text", Options: ofFormat, Example: `"Ada Lovelace"`,
		Description: "One line of text, of at most 140 characters or `length`. An Email value is addresses with commas between them, each by itself or as `A <a@b.co>`.",
		check:       checkFormat, verbatim: func(f *Field) bool { return f.Options == "Email" }},
	{Name: "Small Text", Kind: Text, bound: byLength, Form: "textarea", Example: `"Two lines,\nand no more"`,
		Description: "A few lines of text, of at most `length` characters if the field says so."},
	{Name: "Text", Kind: Text, bound: byLength, Form: "textarea", Example: `"A paragraph."`, Description: "Text, of at most `length` characters if the field says so."},
	{Name: "Long Text", Kind: Text, Form: "textarea", Example: `"A chapter."`, Description: "Text of any length."},
	{Name: "Text Editor", Kind: Text, Form: "rich text editor", markup: true, Example: `"<p>Some <b>rich</b> text</p>"`,
		Description: "Rich text as HTML. Markup that could run is taken out."},
	{Name: "HTML Editor", Kind: Text, Form: "HTML editor", markup: true, Example: `"<p>Written by hand</p>"`,
		Description: "HTML that is written as such. Markup that could run is taken out, unless `ignore_xss_filter` is set."},
	{Name: "Markdown Editor", Kind: Text, Form: "Markdown editor", Example: `"# Title\n\nText"`, Description: "Markdown."},
	{Name: "Code", Kind: Text, Form: "code editor", Options: ofCode, Example: `"a < b"`, verbatim: always,
		Description: "Program text, kept letter by letter: markup in it is not taken out, so it is never shown as HTML."},
	{Name: "Select", Kind: Text, bound: short, Form: "select", Options: ofChoices, Example: `"Open"`,
		Description: "One of the values that `options` list.", check: checkChoice, schema: sayChoices},
	{Name: "Autocomplete", Kind: Text, bound: short, Form: "input text with a datalist", Example: `"Europe/Berlin"`,
		Description: "A line of text for which a form makes proposals. Any other is taken as well."},
	{Name: "Read Only", Kind: Text, bound: short, Form: "output", Example: `"Ada Lovelace"`,
		Description: "A line of text that a form only shows, such as one that `fetch_from` brings."},
	{Name: "Link", Kind: Text, bound: short, names: true, Form: "input with a search", Options: ofDocType, Example: `"CUST-0001"`,
		Description: "The name of a document. It must exist, and is renamed with it.", schema: sayTarget},
	{Name: "Dynamic Link", Kind: Text, bound: short, names: true, dynamic: true, Form: "input with a search", Options: ofField, Example: `"T1"`,
		Description: "The name of a document of the DocType that another field holds, which must be set."},
	{Name: "Table", Kind: Rows, Form: "table", Options: ofRows, Example: `[{"item": "Screw", "qty": 4}]`,
		Description: "Rows of a child table. A list that is sent replaces the rows; those with a known `name` are kept and changed."},
	{Name: "Table MultiSelect", Kind: Rows, Form: "select multiple", Options: ofRows, Example: `[{"role": "Clerk"}]`,
		Description: "Rows of a child table with one link: a choice of several documents."},
	{Name: "Int", Kind: Int, Form: "input number", Example: `42`, Description: "A whole number of 64 bits; 0 without a value."},
	{Name: "Long Int", Kind: Int, Form: "input number", Example: `9007199254740993`, Description: "The same; clients that read numbers as doubles lose digits beyond 2^53."},
	{Name: "Check", Kind: Check, Form: "input checkbox", Example: `1`, Description: "0 or 1."},
	{Name: "Float", Kind: Float, Form: "input number", Example: `3.25`, Description: "A number; `precision` rounds to 1 to 9 decimal digits. 0 without a value."},
	{Name: "Currency", Kind: Float, Form: "input number", Example: `19.99`, Description: "An amount; `precision` rounds it, half away from zero, by decimal digits."},
	{Name: "Percent", Kind: Float, Form: "input number", Example: `12.5`, Description: "A number of hundredths."},
	{Name: "Duration", Kind: Float, Form: "input number", Example: `5400`, Description: "A number of seconds."},
	{Name: "Rating", Kind: Float, Form: "stars", Example: `0.8`, Description: "A number from 0 to 1; what is outside is brought inside.",
		adjust: func(x float64) float64 { return math.Min(math.Max(x, 0), 1) },
		schema: func(_ *Field, s map[string]any) { s["minimum"], s["maximum"] = 0, 1 }},
	{Name: "Date", Kind: Date, Form: "input date", Example: `"2026-01-31"`, Description: "A day. The default `Today` is the day on which a document is made."},
	{Name: "Datetime", Kind: Datetime, Form: "input datetime-local", Example: `"2026-01-31 13:45:00"`,
		Description: "A point in time on the site's wall clock, to the microsecond; one with an offset is moved there. The default `now` is when a document is made."},
	{Name: "Time", Kind: Time, Form: "input time", Example: `"13:45:00"`, Description: "A time of day, to the microsecond."},
	{Name: "Password", Kind: Text, secret: true, verbatim: always, Form: "input password", Example: `"correct horse"`,
		Description: "A secret. It is sealed in the database and never shown: who reads it gets asterisks.",
		schema:      func(_ *Field, s map[string]any) { s["writeOnly"] = true }},
	{Name: "Attach", Kind: Text, attached: true, Form: "input file", Example: `"/private/files/plan.pdf"`, Description: "The address of an uploaded file, which is readable by who may read the field."},
	{Name: "Attach Image", Kind: Text, attached: true, Form: "input file with a preview", Example: `"/files/face.png"`, Description: "The same for a picture."},
	{Name: "JSON", Kind: JSON, Form: "code editor", Example: `"{\"a\": [1, 2]}"`, Description: "JSON, shown as text. A client may send the value itself."},
	{Name: "Color", Kind: Text, bound: short, Form: "input color", Example: `"#29cd42"`, Description: "A colour, as text."},
	{Name: "Icon", Kind: Text, bound: short, Form: "input with a picker", Example: `"star"`, Description: "The name of an icon, as text."},
	{Name: "Phone", Kind: Text, bound: short, Form: "input tel", Example: `"+49 30 123456"`, Description: "A telephone number, as text. Data with the options `Phone` checks it."},
	{Name: "Signature", Kind: Text, Form: "drawing", Example: `"data:image/png;base64,iVBORw0KGgo="`, Description: "A drawing, as text."},
	{Name: "Barcode", Kind: Text, Form: "input with a barcode", Example: `"4006381333931"`, Description: "What a barcode says, as text."},
	{Name: "Geolocation", Kind: Text, Form: "map", Example: `"{\"type\": \"FeatureCollection\", \"features\": []}"`, Description: "GeoJSON, as text."},
	{Name: "Section Break", Form: "heading of a section", Description: "Begins a section of the form. It holds no value, as all that follow here."},
	{Name: "Column Break", Form: "column", Description: "Begins a column of a section."},
	{Name: "Tab Break", Form: "tab", Description: "Begins a tab of the form."},
	{Name: "Heading", Form: "heading", Description: "A heading."},
	{Name: "HTML", Form: "HTML", Options: Options{Meaning: "the HTML"}, Description: "A piece of HTML in the form."},
	{Name: "Image", Form: "img", Options: Options{Meaning: "the Attach Image field that it shows"}, Description: "Shows a picture that another field holds."},
	{Name: "Button", Form: "button", Description: "A button of the form."},
	{Name: "Fold", Form: "details", Description: "What follows is folded away."},
	{Name: internalType, Kind: Text, bound: short, internal: true, verbatim: always},
}

func always(*Field) bool { return true }
