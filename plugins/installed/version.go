package installed

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/plugins/bundle"
	"armature/plugins/dispatch"
	"armature/plugins/manifest"
	"armature/plugins/registry"
)

// Version is one stored version of a plugin, without its bundle.
type Version struct {
	Version   string `json:"version"`
	Hash      string `json:"hash"`
	Size      int64  `json:"size"`                // bytes of the bundle
	Activated string `json:"activated"`           // when it was last chosen to serve; empty: never
	Publisher string `json:"publisher,omitempty"` // key that has signed it

	asked, methods []string
}

// versionName is the name of the document of a version.
func versionName(plugin, hash string) string { return plugin + "-" + hash[:16] }

// keepVersion stores a bundle, if grow admits its bytes, and reports whether it was
// not there yet.
func keepVersion(ctx context.Context, tx document.Tx, documents *document.Service, caller *identity.Caller, g *registry.Generation, wasm []byte, grow func(context.Context, document.Tx, int64) error) (first bool, err error) {
	name := versionName(g.Manifest.Name, g.Hash)
	absent, err := tx.Absent(ctx, documents.Schema().DocType(versionType), []string{name})
	if err != nil || len(absent) == 0 {
		return false, err
	}
	if grow != nil {
		if err := grow(ctx, tx, int64(len(wasm))); err != nil {
			return false, err
		}
	}
	text, err := pack(wasm)
	if err != nil {
		return false, err
	}
	return true, put(ctx, tx, documents, caller, versionType, name, map[string]any{
		"name": name, "plugin": g.Manifest.Name, "version": g.Manifest.Version, "hash": g.Hash, "size": json.Number(strconv.Itoa(len(wasm))),
		"grants_asked": join(dispatch.Asked(g, manifest.Limits{})), "publisher": g.Publisher, "methods": join(methods(g)), "bundle": text,
	})
}

// chosen notes that a version was chosen to serve in place of another one, which
// becomes the one to go back to. That one may have been gone back to itself, past
// versions that were chosen after it.
func (s *Site) chosen(ctx context.Context, tx document.Tx, documents *document.Service, caller *identity.Caller, plugin, hash, before string) error {
	stamp := func(hash string, at time.Time) error {
		return put(ctx, tx, documents, caller, versionType, versionName(plugin, hash), map[string]any{"activated": doctype.FormatDatetime(at)})
	}
	now := s.cfg.Now().In(documents.Zone())
	if before != "" && before != hash {
		if err := stamp(before, now.Add(-time.Microsecond)); err != nil {
			return err
		}
	}
	return stamp(hash, now)
}

// drop removes a stored version. Not through the door: it would keep a copy of the
// bundle as a Deleted Document.
func drop(ctx context.Context, tx document.Tx, documents *document.Service, plugin, hash string) error {
	schema := documents.Schema()
	_, err := tx.Delete(ctx, schema, schema.DocType(versionType), versionName(plugin, hash))
	return err
}

// dropDraft removes what somebody says is a version that need not be kept, unless
// the record of the plugin names it.
func dropDraft(ctx context.Context, tx document.Tx, documents *document.Service, r *Record, hash string) error {
	if hash == "" || hash == r.Hash || hash == r.PendingHash {
		return nil
	}
	all, err := versions(ctx, tx, documents.Schema(), r.Name)
	if err != nil || !slices.ContainsFunc(all, func(v Version) bool { return v.Hash == hash }) {
		return err
	}
	return drop(ctx, tx, documents, r.Name, hash)
}

// versions lists the stored versions of a plugin, latest chosen first, those
// that never were last.
func versions(ctx context.Context, tx document.Tx, schema *doctype.Schema, plugin string) ([]Version, error) {
	var all []Version
	err := rows(ctx, tx, schema, versionType, func(doc *doctype.Document) {
		if doc.Text("plugin") == plugin {
			all = append(all, Version{
				Version: doc.Text("version"), Hash: doc.Text("hash"), Size: doc.Int("size"), Activated: doc.Text("activated"), Publisher: doc.Text("publisher"),
				asked: split(doc.Text("grants_asked")), methods: split(doc.Text("methods")),
			})
		}
	}, "bundle")
	slices.SortFunc(all, func(a, b Version) int { return strings.Compare(b.Activated, a.Activated) })
	return all, err
}

// Bundle reads a stored bundle of an open site; NotFound when there is none.
func Bundle(ctx context.Context, sv dispatch.Services, plugin, hash string) (b *bundle.Bundle, err error) {
	schema := sv.Documents.Schema()
	var text string
	err = sv.Store.Read(ctx, func(tx document.Tx) error {
		doc, err := tx.Get(ctx, schema, schema.DocType(versionType), versionName(plugin, hash), false)
		if err == nil {
			text = doc.Text("bundle")
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("the stored bundle of %s: %w", plugin, err)
	}
	wasm, err := unpack(text)
	if err != nil {
		return nil, fmt.Errorf("the stored bundle of %s: %w", plugin, err)
	}
	if b, err = bundle.Parse(wasm); err != nil {
		return nil, err
	}
	if b.Hash != hash || b.Manifest.Name != plugin {
		return nil, fault.Invalid("", "The stored bundle of %s is not the one that was installed", plugin)
	}
	return b, nil
}

func pack(wasm []byte) (string, error) {
	var out bytes.Buffer
	text := base64.NewEncoder(base64.StdEncoding, &out)
	zip := gzip.NewWriter(text)
	if _, err := zip.Write(wasm); err != nil {
		return "", err
	}
	if err := zip.Close(); err != nil {
		return "", err
	}
	if err := text.Close(); err != nil {
		return "", err
	}
	return out.String(), nil
}

func unpack(text string) ([]byte, error) {
	zip, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	if err != nil {
		return nil, err
	}
	wasm, err := io.ReadAll(io.LimitReader(zip, bundle.MaxSize+1))
	if err == nil && len(wasm) > bundle.MaxSize {
		err = fmt.Errorf("over %d MiB", bundle.MaxSize>>20)
	}
	return wasm, err
}
