package armature

import "strconv"

// Doc is a document, or some fields of one, as REST shows it. Values are string,
// int64, float64, bool, nil, []any and map[string]any; fields that are null are
// absent. The accessors never fail: a field that is absent or of another type
// is the zero value.
type Doc map[string]any

// Name is the document's name.
func (d Doc) Name() string { return d.String("name") }

// DocType is the name of its DocType.
func (d Doc) DocType() string { return d.String("doctype") }

// String is a text field.
func (d Doc) String(field string) string {
	s, _ := d[field].(string)
	return s
}

// Int is a whole number, cut toward zero. Text that is a number counts, because
// arguments from a query string are text.
func (d Doc) Int(field string) int64 {
	switch v := d[field].(type) {
	case int64:
		return v
	case int:
		return int64(v)
	case float64:
		return int64(v)
	case bool:
		if v {
			return 1
		}
	case string:
		n, _ := strconv.ParseInt(v, 10, 64)
		return n
	}
	return 0
}

// Float is a number.
func (d Doc) Float(field string) float64 {
	switch v := d[field].(type) {
	case float64:
		return v
	case string:
		f, _ := strconv.ParseFloat(v, 64)
		return f
	}
	return float64(d.Int(field))
}

// Bool is a check: true, or a number other than 0.
func (d Doc) Bool(field string) bool { return d.Float(field) != 0 }

// Docs is a child table.
func (d Doc) Docs(field string) []Doc {
	rows, _ := d[field].([]any)
	docs := make([]Doc, 0, len(rows))
	for _, row := range rows {
		if m, ok := row.(map[string]any); ok {
			docs = append(docs, m)
		}
	}
	if len(docs) == 0 {
		return nil
	}
	return docs
}

// texts is a list of texts.
func (d Doc) texts(field string) (texts []string) {
	values, _ := d[field].([]any)
	for _, value := range values {
		if s, ok := value.(string); ok {
			texts = append(texts, s)
		}
	}
	return texts
}

// headers are the headers of a request or an answer.
func (d Doc) headers(field string) map[string]string {
	fields, _ := d[field].(map[string]any)
	headers := make(map[string]string, len(fields))
	for name, value := range fields {
		headers[name], _ = value.(string)
	}
	return headers
}

// UnmarshalJSON makes a Doc inside another type decode as a Doc on its own does:
// whole numbers as int64.
func (d *Doc) UnmarshalJSON(b []byte) error { return decodeDoc(b, d) }
