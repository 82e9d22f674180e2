package file_test

import (
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// defineOrder makes a DocType whose readers are many and whose fields of level 1
// are for the System Manager: in the document, in a table, and a whole table.
func (s *testSite) defineOrder() {
	field := func(name, typ string, more ...any) map[string]any {
		f := map[string]any{"fieldname": name, "fieldtype": typ}
		for i := 0; i < len(more); i += 2 {
			f[more[i].(string)] = more[i+1]
		}
		return f
	}
	s.create("admin", "DocType", map[string]any{"name": "Order Line", "custom": 1, "istable": 1, "fields": []any{
		field("item", "Data"), field("scan", "Attach"), field("contract", "Attach", "permlevel", 1),
	}})
	s.create("admin", "DocType", map[string]any{"name": "Order", "custom": 1, "is_submittable": 1, "fields": []any{
		field("title", "Data"), field("paper", "Attach"), field("secret", "Attach", "permlevel", 1),
		field("lines", "Table", "options", "Order Line"), field("hidden", "Table", "options", "Order Line", "permlevel", 1),
	}, "permissions": []any{
		map[string]any{"role": "Desk User", "read": 1},
		map[string]any{"role": "System Manager", "read": 1, "write": 1, "create": 1, "delete": 1, "submit": 1, "cancel": 1},
		map[string]any{"role": "System Manager", "permlevel": 1, "read": 1, "write": 1},
	}})
}

func (s *testSite) put(as string, f map[string]any, values map[string]any) *reply {
	s.t.Helper()
	return s.json(as, "PUT", "/api/resource/File/"+f["name"].(string), values)
}

func (s *testSite) remove(as string, f map[string]any) *reply {
	s.t.Helper()
	return s.do(as, "DELETE", "/api/resource/File/"+f["name"].(string), "", nil)
}

// TestApart: Files of the same bytes know nothing of each other.
func TestApart(t *testing.T) {
	each(t, func(s *testSite) {
		anns := s.upload("ann", "salaries.txt", "same bytes", "is_private", "1").file()
		bobs := s.upload("bob", "salaries.txt", "same bytes", "is_private", "1").file()
		s.clean(1)
		if bobs["file_url"] == anns["file_url"] || bobs["owner"] != "bob@example.com" {
			s.t.Errorf("%v and %v", anns, bobs)
		}
		public := s.upload("bob", "mine.txt", "same bytes").file()
		s.put("bob", bobs, map[string]any{"is_private": 0}).must(200)
		if got := s.get("ann", "/api/resource/File/"+anns["name"].(string)).must(200).object("data"); got["is_private"] != 1.0 || got["file_url"] != anns["file_url"] {
			s.t.Errorf("another's publishing made it %v", got)
		}
		for _, as := range []string{"", "bob", "manager", "web"} {
			s.get(as, urlPath(anns)).fails(403, "PermissionError")
			s.get(as, urlPath(anns)+"?fid="+public["name"].(string)).fails(403, "PermissionError")
		}
		s.get("", strings.Replace(urlPath(anns), "/private", "", 1)).fails(404, "DoesNotExistError")
		s.remove("bob", bobs).must(202)
		s.remove("bob", public).must(202)
		s.get("ann", urlPath(anns)).must(200)
	})
}

// TestProbing: what is uploaded tells nothing of what others have, neither of the
// bytes nor of the names.
func TestProbing(t *testing.T) {
	each(t, func(s *testSite) {
		there := s.upload("ann", "known.txt", "known bytes", "is_private", "1").file()
		random := strings.TrimSuffix(strings.TrimPrefix(there["file_url"].(string), "/private/files/known-"), ".txt")
		shape := func(name, content, private string) string {
			f := s.upload("bob", name, content, "is_private", private).file()
			u := f["file_url"].(string)
			if private == "1" {
				stem := strings.TrimSuffix(u, ".txt")
				u = stem[:len(stem)-len(random)] + "*.txt"
			}
			return fmt.Sprint(u, f["file_name"], f["is_private"], len(f))
		}
		if a, b := shape("known.txt", "known bytes", "1"), shape("known.txt", "other bytes", "1"); a != b {
			s.t.Errorf("bytes: %s, %s", a, b)
		}
		if a, b := shape("known.txt", "x", "1"), shape("fresh.txt", "x", "1"); a != strings.Replace(b, "fresh", "known", 2) {
			s.t.Errorf("names: %s, %s", a, b)
		}
		if got := shape("known.txt", "known bytes", "0"); !strings.HasPrefix(got, "/files/known.txt") {
			s.t.Errorf("a public one gets %s", got)
		}
		// A private URL that is there and one that is not.
		real, none := there["file_url"].(string), "/private/files/known-aaaaaaaaaa.txt"
		ask := map[string]func(u string) *reply{
			"get":      func(u string) *reply { return s.get("bob", u) },
			"fid":      func(u string) *reply { return s.get("bob", u+"?fid="+there["name"].(string)) },
			"range":    func(u string) *reply { return s.get("bob", u, "Range", "bytes=0-1") },
			"none":     func(u string) *reply { return s.get("bob", u, "If-None-Match", "*") },
			"head":     func(u string) *reply { return s.do("bob", "HEAD", u, "", nil) },
			"download": func(u string) *reply { return s.get("bob", "/api/method/download_file?file_url="+u) },
			"register": func(u string) *reply { return s.upload("bob", "", "", "file_url", u) },
			"REST": func(u string) *reply {
				return s.json("bob", "POST", "/api/resource/File", map[string]any{"file_url": u})
			},
			"field": func(u string) *reply { return s.json("bob", "POST", "/api/resource/Case", map[string]any{"paper": u}) },
			"filter": func(u string) *reply {
				return s.get("bob", "/api/resource/File?filters="+url.QueryEscape(`[["file_url","=","`+u+`"]]`))
			},
		}
		for what, fn := range ask {
			a, b := fn(real), fn(none)
			if a.status != b.status || a.text != b.text {
				s.t.Errorf("%s: %d %s and %d %s", what, a.status, a.text, b.status, b.text)
			}
		}
		for _, filter := range []string{`["content_hash","=","` + there["content_hash"].(string) + `"]`, `["name","=","` + there["name"].(string) + `"]`} {
			if r := s.get("manager", "/api/resource/File?filters="+url.QueryEscape("["+filter+"]")).must(200); strings.Contains(r.text, there["name"].(string)) {
				s.t.Errorf("%s finds %s", filter, r.text)
			}
		}
	})
}

// TestFieldRights: an attached file goes with its field.
func TestFieldRights(t *testing.T) {
	each(t, func(s *testSite) {
		s.defineOrder()
		doc := s.create("manager", "Order", map[string]any{"lines": []any{map[string]any{"item": "a"}}, "hidden": []any{map[string]any{"item": "b"}}})
		name, row := doc["name"].(string), func(table string) string { return doc[table].([]any)[0].(map[string]any)["name"].(string) }
		attach := func(doctype, name, field string) map[string]any {
			return s.upload("manager", field+".txt", doctype+name+field, "is_private", "1", "doctype", doctype, "docname", name, "fieldname", field).file()
		}
		open := []map[string]any{attach("Order", name, "paper"), attach("Order", name, ""), attach("Order Line", row("lines"), "scan")}
		shut := []map[string]any{
			attach("Order", name, "secret"), attach("Order Line", row("lines"), "contract"), attach("Order Line", row("hidden"), "scan"),
			attach("Order", name, "gone"), // a field that is no more may have had any level
		}
		for _, f := range append(open, shut...) {
			s.get("manager", urlPath(f)).must(200)
			s.get("web", urlPath(f)).fails(403, "PermissionError")
			s.put("ann", f, map[string]any{"is_private": 0}).fails(403, "PermissionError")
			s.put("ann", f, map[string]any{"file_name": "x.txt"}).fails(403, "PermissionError")
			s.put("ann", f, map[string]any{"attached_to_field": "paper"}).fails(403, "PermissionError")
			s.remove("ann", f).fails(403, "PermissionError")
			s.json("admin", "POST", "/api/resource/DocShare", map[string]any{"user": "ann@example.com", "share_doctype": "File", "share_name": f["name"], "read": 1, "write": 1})
		}
		seen := s.get("ann", `/api/resource/File?fields=["name"]&limit_page_length=0&filters=[["is_folder","=",0]]`).must(200).text
		for _, f := range open {
			s.get("ann", urlPath(f)).must(200)
			s.get("ann", "/api/resource/File/"+f["name"].(string)).must(200)
			if !strings.Contains(seen, f["name"].(string)) {
				s.t.Errorf("the list lacks %v", f)
			}
		}
		for _, f := range shut {
			s.get("ann", urlPath(f)).fails(403, "PermissionError")
			s.get("ann", "/api/resource/File/"+f["name"].(string)).fails(403, "PermissionError")
			s.upload("ann", "", "", "library_file_name", f["name"].(string)).fails(403, "PermissionError")
			s.json("ann", "POST", "/api/resource/Case", map[string]any{"paper": f["file_url"]}).fails(403, "PermissionError")
			if strings.Contains(seen, f["name"].(string)) {
				s.t.Errorf("the list shows %v", f)
			}
		}
		s.upload("ann", "x.txt", "x", "doctype", "Order", "docname", name).fails(403, "PermissionError")
	})
}

// TestUploaderLosesIt: who has uploaded an attachment has no more of it than its
// field gives.
func TestUploaderLosesIt(t *testing.T) {
	each(t, func(s *testSite) {
		s.defineOrder()
		doc := s.create("manager", "Order", map[string]any{})
		f := s.upload("ann", "a.txt", "a", "is_private", "1").file()
		s.json("ann", "PUT", "/api/resource/Order/"+doc["name"].(string), map[string]any{"secret": f["file_url"]}).fails(403, "PermissionError")
		s.put("ann", f, map[string]any{"attached_to_doctype": "Order", "attached_to_name": doc["name"], "attached_to_field": "secret"}).fails(403, "PermissionError")
		s.put("admin", f, map[string]any{"attached_to_doctype": "Order", "attached_to_name": doc["name"], "attached_to_field": "secret"}).must(200)
		s.get("ann", urlPath(f)).fails(403, "PermissionError")
		s.put("ann", f, map[string]any{"attached_to_field": "paper"}).fails(403, "PermissionError")
		s.put("ann", f, map[string]any{"attached_to_doctype": "", "attached_to_name": ""}).fails(403, "PermissionError")
		s.remove("ann", f).fails(403, "PermissionError")
		s.get("manager", urlPath(f)).must(200)
	})
}

// TestPublishWritesTheField: publishing and deleting are changes of the document.
func TestPublishWritesTheField(t *testing.T) {
	each(t, func(s *testSite) {
		s.defineOrder()
		f := s.upload("manager", "a.txt", "a", "is_private", "1").file()
		doc := s.create("manager", "Order", map[string]any{"paper": f["file_url"]})
		at := "/api/resource/Order/" + doc["name"].(string)
		read := func() map[string]any { return s.get("manager", at).must(200).object("data") }
		moved := s.put("manager", f, map[string]any{"is_private": 0}).must(200).object("data")
		if got := read(); got["paper"] != moved["file_url"] || got["modified"] == doc["modified"] {
			s.t.Errorf("the document holds %v, modified %v", got["paper"], got["modified"])
		}
		s.json("manager", "PUT", at, map[string]any{"docstatus": 1}).must(200)
		s.put("manager", f, map[string]any{"is_private": 1}).fails(417, "UpdateAfterSubmitError")
		s.remove("manager", f).fails(417, "UpdateAfterSubmitError")
		s.get("", urlPath(moved)).must(200)
		s.json("manager", "PUT", at, map[string]any{"docstatus": 2}).must(200)

		g := s.upload("manager", "g.txt", "g").file()
		second := s.create("manager", "Order", map[string]any{"paper": g["file_url"]})
		s.remove("manager", g).must(202)
		if got := s.get("manager", "/api/resource/Order/"+second["name"].(string)).object("data"); got["paper"] != nil {
			s.t.Errorf("a deleted file is still in the field: %v", got["paper"])
		}
	})
}

// TestRowFiles: fields of rows have Files as those of documents do.
func TestRowFiles(t *testing.T) {
	each(t, func(s *testSite) {
		s.defineOrder()
		f := s.upload("manager", "a.txt", "a", "is_private", "1").file()
		line := func(url any) map[string]any { return map[string]any{"item": "x", "scan": url} }
		doc := s.create("manager", "Order", map[string]any{"lines": []any{line(f["file_url"]), line(f["file_url"])}})
		at, rows := "/api/resource/Order/"+doc["name"].(string), doc["lines"].([]any)
		one, two := rows[0].(map[string]any), rows[1].(map[string]any)
		if one["scan"] != f["file_url"] || two["scan"] == f["file_url"] {
			s.t.Errorf("%v and %v", one["scan"], two["scan"])
		}
		for _, row := range []map[string]any{one, two} {
			s.get("ann", urlPath(map[string]any{"file_url": row["scan"]})).must(200)
		}
		// Rows sent without their names are new rows; the File goes along.
		got := s.json("manager", "PUT", at, map[string]any{"lines": []any{line(one["scan"])}}).must(200).object("data")
		if row := got["lines"].([]any)[0].(map[string]any); row["scan"] != one["scan"] || row["name"] == one["name"] {
			s.t.Errorf("%v", row)
		}
		s.get("ann", urlPath(f)).must(200)
		s.get("manager", urlPath(map[string]any{"file_url": two["scan"]})).fails(403, "PermissionError")
		s.clean(1)
		s.json("bob", "POST", "/api/resource/Case", map[string]any{"paper": f["file_url"]}).must(200) // bob reads the line
		s.do("manager", "DELETE", at, "", nil).must(202)
		s.get("ann", urlPath(f)).fails(403, "PermissionError")
		s.clean(1)
	})
}

// TestManyOfTheSameBytes: bytes are there as long as some File has them, whoever
// comes and goes at once.
func TestManyOfTheSameBytes(t *testing.T) {
	each(t, func(s *testSite) {
		var wait sync.WaitGroup
		for i := range 4 {
			wait.Go(func() {
				for n := range 12 {
					r := s.upload("ann", fmt.Sprintf("f%d-%d.txt", i, n), "the bytes", "is_private", fmt.Sprint(n%2))
					if r.status != 200 {
						s.t.Errorf("%d %s", r.status, r.text)
						return
					}
					f := r.file()
					if got := s.get("ann", urlPath(f)); got.text != "the bytes" {
						s.t.Errorf("%d %s", got.status, got.text)
					}
					if got := s.remove("ann", f); got.status != 202 {
						s.t.Errorf("%d %s", got.status, got.text)
					}
				}
			})
		}
		wait.Wait()
		s.clean(0)
	})
}
