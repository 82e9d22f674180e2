package document

import (
	"context"

	"armature/core/access"
	"armature/core/doctype"
)

// Drawn reads a DocType as it was written down, and after it the tables it has: what a form
// and a list are drawn by, which the caller needs without being somebody who may read
// DocTypes. Errors: Denied for who reaches no document of it, and for a table;
// Missing for no DocType of that name.
func (a Acting) Drawn(ctx context.Context, typeName string) ([]*doctype.Document, error) {
	dt, err := a.s.lookup(typeName)
	if err != nil {
		return nil, err
	}
	reaches := false
	for _, right := range []access.Right{access.Read, access.Write, access.Create} {
		reaches = reaches || access.Reaches(a.caller, dt, right)
	}
	if dt.Child || !reaches {
		return nil, access.Denied(a.caller, dt, access.Read, "")
	}
	definitions, err := a.s.lookup(doctype.DocTypeName)
	if err != nil {
		return nil, err
	}
	var all []*doctype.Document
	read := map[string]bool{}
	names := []string{dt.Name}
	for _, t := range dt.Tables {
		names = append(names, t.Options)
	}
	for _, name := range names {
		if read[name] {
			continue
		}
		read[name] = true
		doc, err := a.tx.Get(ctx, a.s.Schema(), definitions, name, false)
		if err != nil {
			return nil, err
		}
		all = append(all, doc)
	}
	return all, nil
}
