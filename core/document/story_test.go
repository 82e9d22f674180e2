package document_test

import (
	"context"
	"strings"
	"testing"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/document/documenttest"
	"armature/core/identity"
)

// step is one thing that a caller does, and a part of what comes of it: of the
// document as JSON or, after a !, of the error. Each step that fails undoes itself.
type step struct {
	does         string // insert, update, delete, get, expand, rename, merge, discard, comment or list
	what, values string // "DocType name", and JSON; a rename's values are the new name
	want         string
	as           *identity.Caller // nil: the Administrator
}

// story is what happens in one site, step after step.
type story struct {
	name  string
	types []string
	steps []step
}

func tell(t *testing.T, c document.ServiceConfig, stories ...story) {
	t.Helper()
	for _, st := range stories {
		t.Run(st.name, func(t *testing.T) {
			s := documenttest.New(t, c, st.types...)
			for i, step := range st.steps {
				got := step.run(t, s)
				if want, fails := strings.CutPrefix(step.want, "!"); fails != strings.HasPrefix(got, "!") || !strings.Contains(got, want) {
					t.Errorf("step %d, %s %s %s: %s, want %s", i+1, step.does, step.what, step.values, got, step.want)
				}
			}
		})
	}
}

// run is the answer of a step: JSON, or an error behind a !.
func (step step) run(t *testing.T, s *documenttest.Site) string {
	t.Helper()
	caller := step.as
	if caller == nil {
		caller = identity.Root()
	}
	typeName, name, _ := strings.Cut(step.what, "/")
	var out string
	err := s.Do(caller, func(docs document.Acting) error {
		text, err := step.do(t, s, docs, caller, typeName, name)
		out = string(text)
		return err
	})
	if err != nil {
		return "!" + err.Error()
	}
	return out
}

func (step step) do(t *testing.T, s *documenttest.Site, docs document.Acting, caller *identity.Caller, typeName, name string) ([]byte, error) {
	ctx := t.Context()
	var doc *doctype.Document
	var err error
	switch step.does {
	case "insert":
		doc, err = docs.Insert(ctx, typeName, documenttest.Values(t, step.values))
	case "update":
		doc, err = docs.Update(ctx, typeName, name, documenttest.Values(t, step.values))
	case "get":
		return docs.AppendDocument(ctx, nil, typeName, name, document.ReadOptions{})
	case "expand":
		return docs.AppendDocument(ctx, nil, typeName, name, document.ReadOptions{ExpandLinks: true})
	case "list":
		q, err := documenttest.Query(t, step.values)
		if err != nil {
			return nil, err
		}
		return docs.AppendList(ctx, nil, typeName, q)
	case "delete":
		return nil, docs.Delete(ctx, typeName, name)
	case "rename", "merge":
		doc, err = docs.Rename(ctx, typeName, name, step.values, step.does == "merge")
	case "discard":
		doc, err = docs.Discard(ctx, typeName, name)
	case "comment":
		doc, err = docs.AddComment(ctx, typeName, name, "", step.values)
	case "password":
		text, err := docs.Password(ctx, typeName, name, step.values)
		return []byte(text), err
	default:
		t.Fatalf("nobody knows how to %s", step.does)
	}
	if err != nil {
		return nil, err
	}
	return s.Documents.AppendWritten(nil, caller, doc, document.ReadOptions{}), nil
}

// fields lists fields in short: name, type and options, and JSON that follows.
func fields(all ...string) []string {
	out := make([]string, len(all))
	for i, text := range all {
		parts := append(strings.SplitN(text, "|", 4), "", "", "")[:4]
		out[i] = `"fieldname": "` + parts[0] + `", "fieldtype": "` + parts[1] + `", "options": "` + parts[2] + `"`
		if parts[3] != "" {
			out[i] += ", " + parts[3]
		}
	}
	return out
}

// plain is a DocType that everybody may use.
func plain(name, more string, all ...string) string {
	rights := `"role": "All", "read": 1, "write": 1, "create": 1, "delete": 1`
	if strings.Contains(more, "is_submittable") {
		rights += `, "submit": 1, "cancel": 1, "amend": 1`
	}
	return documenttest.Definition(name, more, fields(all...), []string{rights})
}

func rowsOf(name, more string, all ...string) string {
	return documenttest.Definition(name, `"istable": 1`+more, fields(all...), nil)
}

var clerk = documenttest.User("clerk@example.com")

// seal is a Sealer that hides nothing.
type seal struct{}

func (seal) Seal(purpose string, text []byte) string { return purpose + ":" + string(text) }

func (seal) Open(purpose, sealed string) ([]byte, error) {
	text, ok := strings.CutPrefix(sealed, purpose+":")
	if !ok {
		return nil, context.Canceled
	}
	return []byte(text), nil
}
