package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"armature/core/sites/sitetest"
)

// TestAnswersAreBounded: no question makes an answer longer than the site allows,
// however few rows it names, and a column asked for often is not read often.
func TestAnswersAreBounded(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		const most, length = 1 << 20, 300 << 10
		s.Configure(t, "max_answer_size", fmt.Sprint(most))
		newDocType(t, s.Admin, "Page", []obj{{"fieldname": "body", "fieldtype": "Long Text"}}, obj{"autoname": "Prompt"})
		newDocType(t, s.Admin, "Leaf", []obj{{"fieldname": "page", "fieldtype": "Link", "options": "Page"}}, obj{"istable": 1, "permissions": []obj{}})
		newDocType(t, s.Admin, "Book", []obj{{"fieldname": "page", "fieldtype": "Link", "options": "Page"},
			{"fieldname": "leaves", "fieldtype": "Table", "options": "Leaf"}}, obj{"autoname": "Prompt"})
		const pages, books = "/api/resource/Page", "/api/resource/Book"
		body := strings.Repeat("x", length)
		leaves := []obj{}
		for range 5 {
			leaves = append(leaves, obj{"page": "P"})
		}
		s.Admin.Post(pages, obj{"name": "P", "body": body}).OK(t)
		s.Admin.Post(pages, obj{"name": "Q", "body": body}).OK(t)
		for i := range 5 {
			s.Admin.Post(books, obj{"name": fmt.Sprint(i), "page": "P", "leaves": leaves}).OK(t)
		}
		mentions := func(n int) []string {
			fields := []string{}
			for i := range n {
				fields = append(fields, fmt.Sprintf("body as b%d", i))
			}
			return fields
		}
		for name, ask := range map[string]func(n int) *sitetest.Reply{
			"one column often": func(n int) *sitetest.Reply {
				return s.Admin.Get(pages, "fields", mentions(n), "filters", []any{[]any{"name", "=", "P"}})
			},
			"as arrays": func(n int) *sitetest.Reply {
				return s.Admin.Get(pages, "fields", mentions(n), "as_dict", "False", "limit", "1")
			},
			"one document, linked often": func(n int) *sitetest.Reply {
				return s.Admin.Get(books, "fields", []string{"name", "page"}, "expand", []string{"page"}, "limit", fmt.Sprint(n))
			},
			"by a hop": func(n int) *sitetest.Reply {
				return s.Admin.Get(books, "fields", []string{"name", "page.body"}, "limit", fmt.Sprint(n))
			},
			"get_list": func(n int) *sitetest.Reply {
				return s.Admin.Post(client+"get_list", obj{"doctype": "Page", "fields": mentions(n), "limit_page_length": 1})
			},
		} {
			if got := ask(2).OK(t); strings.Count(got.Text, body) != 2 {
				t.Errorf("%s: %d bodies are shown, want 2", name, strings.Count(got.Text, body))
			}
			ask(5).Fails(t, 417, "ResponseTooLargeError")
		}
		s.Admin.Get(books + "/1").OK(t)
		s.Admin.Get(books+"/1", "expand_links", "1").Fails(t, 417, "ResponseTooLargeError")

		// What no answer could show is not stored, neither at once nor little by little.
		s.Admin.Post(pages, obj{"name": "R", "body": strings.Repeat("x", most+1)}).Fails(t, 413, "RequestEntityTooLargeError")
		s.Admin.Put(pages+"/P", obj{"body": strings.Repeat("x", most+1)}).Fails(t, 413, "RequestEntityTooLargeError")
		refused := false
		for i := 0; i < most && !refused; i++ {
			r := s.Admin.Put(books+"/2", obj{"leaves": grown(leaves, 2000*(i+1))})
			refused = r.Status == 413
			if !refused {
				r.OK(t)
			}
		}
		if got := s.Admin.Get(books + "/2").OK(t); len(got.Text) > 4*most {
			t.Errorf("a document of %d bytes is stored", len(got.Text))
		}
	})
}

// grown is rows with so many more like the first.
func grown(rows []obj, more int) []obj {
	all := append([]obj{}, rows...)
	for range more {
		all = append(all, rows[0])
	}
	return all
}
