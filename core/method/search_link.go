package method

import (
	"context"
	"slices"
	"strings"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/query"
)

// How much a search for a link looks for and finds.
const (
	maxSearched    = 140 // characters, the most that a name has
	usualLinks     = 10
	maxLinks       = 50
	maxSearchedIn  = 8 // fields
	descriptionSep = ", "
)

// searchLink finds documents that a link may point at, for a field in which somebody
// types: arguments doctype, txt, filters, searchfield and page_length. It finds what a list
// of the caller's finds, User Permissions included, by the name, the title and the search
// fields of the DocType that the caller may see. The answer lists objects with value, label
// where the DocType has a title, and description.
//
// Errors: those of a list; ValidationError for a query, which clients of another server
// name: there are none here.
func searchLink(ctx context.Context, call *Call) (any, error) {
	typeName, err := call.Args.Need("doctype")
	if err != nil {
		return nil, err
	}
	if call.Args.Text("query") != "" {
		return nil, fault.Invalid("", "There are no queries by name; filters say which documents are meant")
	}
	asked, err := query.Parse(func(name string) any {
		if name == "filters" || name == "page_length" {
			return call.Args.Get(name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	q := &query.Query{Filter: asked.Filter, Length: linkCount(call.Args.Get("page_length"))}
	dt := call.Documents.Schema().DocType(typeName)
	if dt == nil { // the list says so, and to whom
		_, err := call.Documents.As(call.Caller, call.Tx).AppendList(ctx, nil, typeName, q)
		return nil, err
	}
	in := call.searchedFields(dt)
	for _, f := range in {
		q.Fields = append(q.Fields, query.Field{Ref: query.Ref{Name: f.Name}})
	}
	if text := strings.TrimSpace(call.Args.Text("txt")); text != "" {
		if len([]rune(text)) > maxSearched {
			return []any{}, nil // no name is as long
		}
		pattern := "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%"
		var matches query.Or
		for _, f := range in {
			if f.Takes(query.Like) {
				matches = append(matches, query.Cond{Ref: query.Ref{Name: f.Name}, Op: query.Like, Value: pattern})
			}
		}
		q.Filter = both(q.Filter, matches)
	}
	text, err := call.Documents.As(call.Caller, call.Tx).AppendList(ctx, nil, typeName, q)
	if err != nil {
		return nil, err
	}
	rows, err := unchecked(text)
	if err != nil {
		return nil, err
	}
	return linksOf(dt, in, rows.([]any)), nil
}

func both(a, b query.Expr) query.Expr {
	if a == nil {
		return b
	}
	return query.And{a, b}
}

// linkCount is how many links are looked for.
func linkCount(asked any) int {
	n := 0
	for _, digit := range textOf(asked) {
		if digit < '0' || digit > '9' || n > maxLinks {
			break
		}
		n = 10*n + int(digit-'0')
	}
	if n == 0 {
		n = usualLinks
	}
	return min(n, maxLinks)
}

// searchedFields are the fields that a search looks at: the name, the title, those that
// the DocType and the client name, as far as the caller sees them.
func (c *Call) searchedFields(dt *doctype.DocType) []*doctype.Field {
	names := append(append([]string{"name", dt.TitleField}, dt.Search...), c.Args.Text("searchfield"))
	levels := access.LevelsFor(dt.Permissions, c.Caller, access.Read) | 1
	var fields []*doctype.Field
	for _, name := range names {
		f := dt.Field(strings.TrimSpace(name))
		if f == nil || f.IsInternal() || f.IsPassword() || f.Kind == doctype.Rows || f.Kind == doctype.NoValue || !levels.Has(f.PermLevel) || slices.Contains(fields, f) {
			continue
		}
		if fields = append(fields, f); len(fields) == maxSearchedIn {
			break
		}
	}
	return fields
}

// linksOf makes the answer of the rows of a list.
func linksOf(dt *doctype.DocType, fields []*doctype.Field, rows []any) []any {
	links := make([]any, 0, len(rows))
	for _, row := range rows {
		values, _ := row.(map[string]any)
		link := map[string]any{"value": values["name"]}
		var description []string
		for _, f := range fields {
			text := textOf(values[f.Name])
			switch {
			case f.Name == "name" || text == "":
			case f.Name == dt.TitleField:
				link["label"] = text
			default:
				description = append(description, text)
			}
		}
		link["description"] = strings.Join(description, descriptionSep)
		links = append(links, link)
	}
	return links
}
