package file_test

import (
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"armature/core/doctype"
	"armature/core/doctypes"
	"armature/core/document"
	"armature/core/file"
)

// TestKeyIsNobodys: where the bytes of a file are kept is shown to no caller, by
// no way of asking, and no question can be put about it.
func TestKeyIsNobodys(t *testing.T) {
	each(t, func(s *testSite) {
		f := s.upload("ann", "a.txt", "the content", "is_private", "1").file()
		at, key := "/api/resource/File/"+f["name"].(string), s.stored("blob/")[0]
		s.json("admin", "POST", "/api/resource/DocType", map[string]any{
			"name": "Copycat", "custom": 1, "fields": []any{
				map[string]any{"fieldname": "file", "fieldtype": "Link", "options": "File"},
				map[string]any{"fieldname": "key", "fieldtype": "Data", "fetch_from": "file.storage_key"},
				map[string]any{"fieldname": "hash", "fieldtype": "Data", "fetch_from": "file.content_hash"},
			},
		}).must(200)
		copied := s.create("admin", "Copycat", map[string]any{"file": f["name"]})
		if copied["key"] != nil || copied["hash"] != f["content_hash"] {
			s.t.Errorf("fetched %v", copied)
		}
		s.json("admin", "PUT", "/api/resource/DocType/File", map[string]any{"track_changes": 1}).fails(403, "PermissionError")

		shows := func(what string, r *reply) {
			s.t.Helper()
			if strings.Contains(r.text, key) || strings.Contains(r.text, "blob/") || r.status == 200 && strings.Contains(r.text, "storage_key") {
				s.t.Errorf("%s shows the key: %.500s", what, r.text)
			}
		}
		list := func(doctype string, params ...string) *reply {
			q := url.Values{}
			for i := 0; i < len(params); i += 2 {
				q.Set(params[i], params[i+1])
			}
			return s.get("admin", "/api/resource/"+doctype+"?"+q.Encode())
		}
		for _, user := range []string{"ann", "admin"} {
			shows("a read", s.get(user, at).must(200))
			shows("get", s.get(user, "/api/method/framework.client.get?doctype=File&name="+f["name"].(string)).must(200))
			shows("a list", s.get(user, "/api/resource/File?"+url.Values{"fields": {`["*"]`}}.Encode()).must(200))
			s.json(user, "PUT", at, map[string]any{"storage_key": "blob/00/x-1"}).fails(417, "CannotChangeConstantError")
			shows("a change", s.json(user, "PUT", at, map[string]any{"folder": "Home"}).must(200))
		}
		shows("a read with links", s.get("admin", "/api/resource/Copycat/"+copied["name"].(string)+"?expand_links=1").must(200))
		shows("a list with links", list("Copycat", "fields", `["*"]`, "expand", `["file"]`).must(200))
		for what, r := range map[string]*reply{
			"fields":        list("File", "fields", `["storage_key"]`),
			"an alias":      list("File", "fields", `["storage_key as k"]`),
			"max":           list("File", "fields", `[{"MAX":"storage_key","as":"k"}]`),
			"a filter":      list("File", "filters", `[["storage_key","like","blob%"]]`),
			"or":            list("File", "or_filters", `[["File","storage_key","like","blob%"]]`),
			"order":         list("File", "order_by", "storage_key asc"),
			"group":         list("File", "fields", `["count(name) as n"]`, "group_by", "storage_key"),
			"through links": list("Copycat", "fields", `["file.storage_key"]`),
			"link filter":   list("Copycat", "filters", `[["file.storage_key","like","blob%"]]`),
			"get_value":     s.get("admin", "/api/method/framework.client.get_value?doctype=File&fieldname=storage_key"),
			"get_list":      s.get("admin", "/api/method/framework.client.get_list?doctype=File&fields="+url.QueryEscape(`["storage_key"]`)),
			"get_count":     s.get("admin", "/api/method/framework.client.get_count?doctype=File&filters="+url.QueryEscape(`{"storage_key":"x"}`)),
		} {
			shows(what, r)
			r.fails(417, "DataError")
		}
		if got := s.stored("blob/"); s.get("ann", urlPath(f)).must(200).text != "the content" || len(got) != 1 {
			s.t.Errorf("the file was moved: %v", got)
		}
		s.do("admin", "DELETE", "/api/resource/Copycat/"+copied["name"].(string), "", nil).must(202)
		s.do("ann", "DELETE", at, "", nil).must(202)
		shows("a Deleted Document", list("Deleted Document", "fields", `["*"]`).must(200))
		s.json("admin", "POST", "/api/resource/DocType", map[string]any{
			"name": "Hider", "custom": 1, "fields": []any{map[string]any{"fieldname": "key", "fieldtype": "Internal"}},
		}).fails(417, "ValidationError")
		s.clean(0)
	})
}

// TestKeyOfOlderSites: a site whose files were stored when the key was a field
// like others keeps them.
func TestKeyOfOlderSites(t *testing.T) {
	each(t, func(s *testSite) {
		f := s.upload("ann", "a.txt", "old", "is_private", "1").file()
		boot, err := doctypes.Boot()
		if err != nil {
			s.t.Fatal(err)
		}
		ctx := s.t.Context()
		err = s.store.Write(ctx, document.OwnTx, func(tx document.Tx) error {
			doc, err := tx.Get(ctx, boot, boot.DocType(doctype.DocTypeName), file.DocType, true)
			if err != nil {
				return err
			}
			doc.Put("definition_hash", "of an older binary")
			for _, row := range doc.Rows("fields") {
				if row.Text("fieldname") == "storage_key" {
					row.Put("fieldtype", "Data")
				}
			}
			_, err = tx.Update(ctx, boot, doc, doc.Type.Columns[doctype.ColModified:], doc.Type.Tables, "")
			if err == nil {
				_, err = tx.BumpSchema(ctx)
			}
			return err
		})
		if err != nil {
			s.t.Fatal(err)
		}
		if err := s.docs.Refresh(ctx); err != nil {
			s.t.Fatal(err)
		}
		at := "/api/resource/File/" + f["name"].(string)
		if shown := s.get("admin", at).must(200).object("data")["storage_key"]; shown != s.stored("blob/")[0] {
			s.t.Fatalf("the older site is not set up: %v", shown)
		}
		if _, err := doctypes.Install(ctx, s.store, time.Now, slog.New(slog.DiscardHandler)); err != nil {
			s.t.Fatal(err)
		}
		if err := s.docs.Refresh(ctx); err != nil {
			s.t.Fatal(err)
		}
		if shown, there := s.get("admin", at).must(200).object("data")["storage_key"]; there {
			s.t.Errorf("shown still: %v", shown)
		}
		if got := s.get("ann", urlPath(f)).must(200).text; got != "old" {
			s.t.Errorf("the content became %q", got)
		}
		s.do("ann", "DELETE", at, "", nil).must(202)
		s.clean(0)
	})
}
