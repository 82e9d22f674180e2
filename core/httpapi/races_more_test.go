package httpapi_test

import (
	"bytes"
	"errors"
	"fmt"
	"mime/multipart"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"armature/core/sites/sitetest"
)

// onTwo runs a test on one site with two servers, as two processes share one.
func onTwo(t *testing.T, test func(t *testing.T, servers [2]*sitetest.Server)) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) { test(t, [2]*sitetest.Server{s, s.Twin(t)}) })
}

// TestStatusUnderRaces: of cancelling a document and submitting one that links to
// it only one succeeds.
func TestStatusUnderRaces(t *testing.T) {
	onTwo(t, func(t *testing.T, on [2]*sitetest.Server) {
		admin := on[0].Admin
		rights := []obj{{"role": "System Manager", "read": 1, "write": 1, "create": 1, "delete": 1, "submit": 1, "cancel": 1, "amend": 1}}
		newDocType(t, admin, "Base", []obj{{"fieldname": "title", "fieldtype": "Data"}}, obj{"autoname": "Prompt", "is_submittable": 1, "permissions": rights})
		newDocType(t, admin, "Part", []obj{{"fieldname": "base", "fieldtype": "Link", "options": "Base"}}, obj{"autoname": "Prompt", "is_submittable": 1, "permissions": rights})
		for round := range 20 {
			name := fmt.Sprint(round)
			admin.Post("/api/resource/Base", obj{"name": name, "docstatus": 1}).OK(t)
			on[1].Admin.Post("/api/resource/Part", obj{"name": name, "base": name}).OK(t)
			var done atomic.Int64
			atOnce(2, func(i int) {
				var r *sitetest.Reply
				if i == 0 {
					r = on[round%2].Admin.Put("/api/resource/Base/"+name, obj{"docstatus": 2})
				} else {
					r = on[1].Admin.Put("/api/resource/Part/"+name, obj{"docstatus": 1})
				}
				switch r.Status {
				case 200:
					done.Add(1)
				case 417:
				default:
					t.Errorf("%d %s", r.Status, r.Text)
				}
			})
			if done.Load() != 1 {
				t.Errorf("round %d: %d of two changes that exclude each other were made", round, done.Load())
			}
		}
	})
}

// TestUniqueUnderRaces: of those who want one value, or one name, at once, one gets
// it, and the others are told why they do not.
func TestUniqueUnderRaces(t *testing.T) {
	onTwo(t, func(t *testing.T, on [2]*sitetest.Server) {
		newDocType(t, on[0].Admin, "Badge", []obj{{"fieldname": "number", "fieldtype": "Int", "unique": 1}}, nil)
		newDocType(t, on[0].Admin, "Named", []obj{{"fieldname": "title", "fieldtype": "Data"}}, obj{"autoname": "field:title"})
		newDocType(t, on[0].Admin, "Numbered", []obj{{"fieldname": "title", "fieldtype": "Data"}}, obj{"autoname": "NUM-.#####"})
		for round := range 5 {
			var unique, named atomic.Int64
			atOnce(8, func(i int) {
				admin := on[i%2].Admin
				switch r := admin.Post("/api/resource/Badge", obj{"number": round + 1}); r.Status {
				case 200:
					unique.Add(1)
				default:
					r.Fails(t, 417, "UniqueValidationError")
				}
				switch r := admin.Post("/api/resource/Named", obj{"title": fmt.Sprint("n", round)}); r.Status {
				case 200:
					named.Add(1)
				default:
					r.Fails(t, 409, "DuplicateEntryError")
				}
				admin.Post("/api/resource/Numbered", obj{"title": "x"}).OK(t)
			})
			if unique.Load() != 1 || named.Load() != 1 {
				t.Errorf("round %d: one number was given %d times, one name %d times", round, unique.Load(), named.Load())
			}
		}
		names := on[1].Admin.Get("/api/resource/Numbered", "limit", "0").Column(t, "name")
		if len(names) != 40 {
			t.Errorf("%d names by series", len(names))
		}
	})
}

// TestAttachmentsUnderRaces: a document does not get more files than its DocType
// allows, however they come at once.
func TestAttachmentsUnderRaces(t *testing.T) {
	onTwo(t, func(t *testing.T, on [2]*sitetest.Server) {
		newDocType(t, on[0].Admin, "Folder", []obj{{"fieldname": "title", "fieldtype": "Data"}}, obj{"autoname": "Prompt", "max_attachments": 3})
		on[0].Admin.Post("/api/resource/Folder", obj{"name": "F"}).OK(t)
		on[1].Admin.Get("/api/resource/Folder/F")
		var kept atomic.Int64
		atOnce(8, func(i int) {
			var body bytes.Buffer
			form := multipart.NewWriter(&body)
			file, err := form.CreateFormFile("file", fmt.Sprint("f", i, ".txt"))
			if err == nil {
				_, err = fmt.Fprint(file, "text ", i)
			}
			err = errors.Join(err, form.WriteField("doctype", "Folder"), form.WriteField("docname", "F"), form.Close())
			if err != nil {
				t.Error(err)
				return
			}
			r := on[i%2].Admin.Do("POST", "/api/method/upload_file", form.FormDataContentType(), body.Bytes())
			switch r.Status {
			case 200:
				kept.Add(1)
			case 417:
			default:
				t.Errorf("%d %s", r.Status, r.Text)
			}
		})
		stored := on[0].Admin.Get("/api/resource/File", "limit", "0", "filters", filters([]any{"attached_to_name", "=", "F"})).Column(t, "name")
		if kept.Load() != 3 || len(stored) != 3 {
			t.Errorf("%d files were acknowledged, %d are stored, 3 are allowed", kept.Load(), len(stored))
		}
	})
}

// TestOppositeOrders: batches that change two documents in opposite orders do not
// keep each other waiting until a database finds a deadlock.
func TestOppositeOrders(t *testing.T) {
	onTwo(t, func(t *testing.T, on [2]*sitetest.Server) {
		newDocType(t, on[0].Admin, "Purse", []obj{{"fieldname": "sum", "fieldtype": "Int"}}, obj{"autoname": "Prompt"})
		for _, name := range []string{"a", "b"} {
			on[0].Admin.Post("/api/resource/Purse", obj{"name": name, "sum": 100}).OK(t)
		}
		const clients, calls = 6, 8
		var took [clients][]time.Duration
		atOnce(clients, func(i int) {
			from, to := "a", "b"
			if i%2 == 1 {
				from, to = to, from
			}
			for range calls {
				begun := time.Now()
				on[i%2].Admin.Post("/api/method/framework.client.batch", obj{"operations": []obj{
					{"op": "update", "doctype": "Purse", "name": from, "doc": obj{"sum": obj{"$inc": -1}}},
					{"op": "update", "doctype": "Purse", "name": to, "doc": obj{"sum": obj{"$inc": 1}}},
				}}).OK(t)
				took[i] = append(took[i], time.Since(begun))
			}
		})
		all := slices.Concat(took[:]...)
		slices.Sort(all)
		t.Logf("%d batches, half of them within %v, the slowest %v", len(all), all[len(all)/2], all[len(all)-1])
		if worst := all[len(all)-1]; worst > time.Minute { // on a machine that does much else
			t.Errorf("the slowest batch took %v", worst)
		}
		for _, name := range []string{"a", "b"} {
			if sum := on[0].Admin.Get("/api/resource/Purse/" + name).OK(t).Data(t)["sum"]; sum != 100.0 {
				t.Errorf("%s holds %v", name, sum)
			}
		}
	})
}
