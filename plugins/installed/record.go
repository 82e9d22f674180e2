package installed

import (
	"context"
	"slices"
	"strings"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/plugins/grant"
	"armature/plugins/registry"
)

// The DocTypes of the records.
const (
	pluginType  = "Plugin"
	versionType = "Plugin Version"
)

// Status says what becomes of a plugin on a site.
type Status string

// The statuses, as the DocType spells them.
const (
	Active   Status = "Active"
	Disabled Status = "Disabled"
	Awaiting Status = "Awaiting Approval" // it asks for what nobody has approved: an older version serves, or it serves without
	Failed   Status = "Error"             // the version installed cannot be loaded; an older one may serve
	Removed  Status = "Removed"           // its file is in no folder any more; what was approved waits for it to come back
)

// Record is one plugin of a site.
type Record struct {
	Name           string   `json:"name"`
	Status         Status   `json:"status"`
	Version        string   `json:"version"` // what is to serve
	Hash           string   `json:"hash"`
	PendingVersion string   `json:"pending_version,omitempty"` // what waits for approval
	PendingHash    string   `json:"pending_hash,omitempty"`
	Source         string   `json:"source"`
	Error          string   `json:"error,omitempty"`
	Asked          []string `json:"grants_asked"` // by the newest version
	Approved       []string `json:"grants_approved"`
	Revoked        []string `json:"grants_revoked"`  // of what came with the folder it lies in
	Optional       []string `json:"grants_optional"` // of those asked, without which it serves too
	Methods        []string `json:"methods"`

	Publisher        string `json:"publisher,omitempty"`         // key that has signed what is to serve; empty: nobody's
	PendingPublisher string `json:"pending_publisher,omitempty"` // of what waits
	RunAs            string `json:"run_as,omitempty"`            // user as whom some of its handlers run
}

// storedPrefix begins the source of a stored plugin.
const storedPrefix = registry.StoredPrefix

func storedSource(plugin string) string { return storedPrefix + plugin }

func isStored(source string) bool { return strings.HasPrefix(source, storedPrefix) }

// Stored reports whether the plugin's bundles are in the database.
func (r *Record) Stored() bool { return isStored(r.Source) }

// Waiting lists what a person would have to approve.
func (r *Record) Waiting() []string { return r.decided().Waiting(r.Asked) }

// decided is what people have decided on the plugin.
func (r *Record) decided() grant.Decided {
	return grant.Decided{Approved: r.Approved, Revoked: r.Revoked, Operator: !r.Stored()}
}

func (r *Record) approve(names []string) error {
	d, err := r.decided().Approve(r.Asked, names)
	r.Approved, r.Revoked = d.Approved, d.Revoked
	return err
}

func (r *Record) revoke(names []string) error {
	d, err := r.decided().Revoke(r.Asked, names)
	r.Approved, r.Revoked = d.Approved, d.Revoked
	return err
}

// missing is what waits and without which the plugin does not serve.
func (r *Record) missing() []string {
	return slices.DeleteFunc(r.Waiting(), func(g string) bool { return slices.Contains(r.Optional, g) })
}

// held reports whether a version has to wait: for what it needs, and where another
// one serves for the limits, too, that it asks for and that one, which asks for
// before, does not. The one that serves has what it is used to.
func (r *Record) held(before []string) bool {
	more := func(g string) bool { return grant.Limits(g) && !slices.Contains(before, g) }
	return len(r.missing()) > 0 || r.Hash != "" && slices.ContainsFunc(r.Waiting(), more)
}

// release is the version that is to serve, as far as the next one is compared with
// it; ok is false where there is none.
func (r *Record) release() (release grant.Release, ok bool) {
	if r == nil || r.Hash == "" {
		return release, false
	}
	return grant.Release{Version: r.Version, Publisher: r.Publisher}, true
}

// moved is what a generation is asked because of the version that is to serve.
func (r *Record) moved(g *registry.Generation) []string {
	from, ok := r.release()
	if !ok || r.Hash == g.Hash {
		return nil
	}
	return grant.Moved(from, grant.Release{Version: g.Manifest.Version, Publisher: g.Publisher})
}

// succeed has what waits serve. What it was asked because of the version before is
// done with.
func (r *Record) succeed() {
	r.Version, r.Hash, r.Publisher, r.Error = r.PendingVersion, r.PendingHash, r.PendingPublisher, ""
	r.PendingVersion, r.PendingHash, r.PendingPublisher = "", "", ""
	r.Asked, r.Approved = grant.WithoutMoves(r.Asked), grant.WithoutMoves(r.Approved)
}

// settle gives a record the status that follows from the rest of it. Disabled
// is an administrator's word and stays.
func (r *Record) settle() {
	switch {
	case r.Status == Disabled, r.Status == Removed:
	case r.Error != "":
		r.Status = Failed
	case r.PendingHash != "" || len(r.Waiting()) > 0:
		r.Status = Awaiting
	default:
		r.Status = Active
	}
}

// methods lists the paths of a generation.
func methods(g *registry.Generation) []string {
	paths := make([]string, 0, len(g.Manifest.Methods))
	for _, m := range g.Manifest.Methods {
		paths = append(paths, m.Path)
	}
	return paths
}

func (r *Record) values() map[string]any {
	return map[string]any{
		"name": r.Name, "status": string(r.Status), "version": r.Version, "hash": r.Hash,
		"pending_version": r.PendingVersion, "pending_hash": r.PendingHash, "source": r.Source, "error": r.Error,
		"grants_asked": join(r.Asked), "grants_approved": join(r.Approved), "grants_optional": join(r.Optional), "grants_revoked": join(r.Revoked), "methods": join(r.Methods),
		"publisher": r.Publisher, "pending_publisher": r.PendingPublisher, "run_as": r.RunAs,
	}
}

func recordOf(doc *doctype.Document) *Record {
	return &Record{
		Name: doc.Name(), Status: Status(doc.Text("status")), Version: doc.Text("version"), Hash: doc.Text("hash"),
		PendingVersion: doc.Text("pending_version"), PendingHash: doc.Text("pending_hash"),
		Source: doc.Text("source"), Error: doc.Text("error"),
		Asked: split(doc.Text("grants_asked")), Approved: split(doc.Text("grants_approved")), Revoked: split(doc.Text("grants_revoked")), Optional: split(doc.Text("grants_optional")), Methods: split(doc.Text("methods")),
		Publisher: doc.Text("publisher"), PendingPublisher: doc.Text("pending_publisher"), RunAs: doc.Text("run_as"),
	}
}

// Lists are stored one entry to a line.

func join(list []string) string { return strings.Join(list, "\n") }

func split(text string) []string {
	if text == "" {
		return []string{}
	}
	return strings.Split(text, "\n")
}

// rows reads all documents of a DocType without their child tables.
func rows(ctx context.Context, tx document.Tx, schema *doctype.Schema, typeName string, fn func(*doctype.Document), but ...string) error {
	dt := schema.DocType(typeName)
	if dt == nil {
		return fault.Missing("DocType %s not found", typeName)
	}
	sel := &doctype.Select{DocType: dt}
	var columns []*doctype.Field
	for _, f := range dt.Columns {
		if !slices.Contains(but, f.Name) {
			columns = append(columns, f)
			sel.Columns = append(sel.Columns, doctype.Column{Operand: doctype.Operand{Field: f}, Key: f.Name})
		}
	}
	return tx.Rows(ctx, sel, func(values []any) error {
		doc := doctype.NewDocument(dt)
		for i, f := range columns {
			doc.Put(f.Name, values[i])
		}
		fn(doc)
		return nil
	})
}

func readAll(ctx context.Context, tx document.Tx, schema *doctype.Schema) (map[string]*Record, error) {
	all := map[string]*Record{}
	err := rows(ctx, tx, schema, pluginType, func(doc *doctype.Document) { all[doc.Name()] = recordOf(doc) })
	return all, err
}

// read reads a record and holds it until the transaction ends; nil when there is
// none.
func read(ctx context.Context, tx document.Tx, documents *document.Service, plugin string) (*Record, error) {
	schema := documents.Schema()
	doc, err := tx.Get(ctx, schema, schema.DocType(pluginType), plugin, true)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return recordOf(doc), nil
}

// write stores a record in the caller's name and has every process look.
func write(ctx context.Context, tx document.Tx, documents *document.Service, caller *identity.Caller, r *Record) error {
	r.settle()
	if err := put(ctx, tx, documents, caller, pluginType, r.Name, r.values()); err != nil {
		return err
	}
	return tx.BumpEpoch(ctx)
}

// put creates or changes a document. Who may is decided by the methods that lead
// here; the guard keeps everybody else from writing these DocTypes.
func put(ctx context.Context, tx document.Tx, documents *document.Service, caller *identity.Caller, typeName, name string, values map[string]any) error {
	absent, err := tx.Absent(ctx, documents.Schema().DocType(typeName), []string{name})
	if err != nil {
		return err
	}
	if len(absent) == 0 {
		_, err = documents.As(elevated(caller), tx).Update(asWriter(ctx), typeName, name, values)
		return err
	}
	_, err = documents.As(elevated(caller), tx).Insert(asWriter(ctx), typeName, values)
	return err
}

func elevated(caller *identity.Caller) *identity.Caller {
	c := *caller
	c.Elevated, c.Scopes, c.Frame = true, nil, nil
	return &c
}
