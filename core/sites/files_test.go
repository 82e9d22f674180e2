package sites_test

import (
	"bytes"
	"mime/multipart"
	"strings"
	"testing"

	"armature/core/sites/sitetest"
)

func upload(c *sitetest.Client, name, content string, fields ...string) *sitetest.Reply {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for i := 0; i+1 < len(fields); i += 2 {
		_ = w.WriteField(fields[i], fields[i+1]) // into memory
	}
	part, _ := w.CreateFormFile("file", name)
	_, _ = part.Write([]byte(content))
	_ = w.Close()
	return c.Do("POST", "/api/method/upload_file", w.FormDataContentType(), body.Bytes())
}

// TestFiles goes through the whole server: a file of the largest size, and the
// rights that go with a document.
func TestFiles(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		s.Admin.Post("/api/resource/Role", map[string]any{"role_name": "Clerk", "desk_access": 1}).OK(t)
		ann, bob := s.User(t, "ann@example.com", "Clerk"), s.User(t, "bob@example.com", "Clerk")
		upload(ann.On(t), "max.pdf", strings.Repeat("x", 25<<20)).OK(t)
		upload(ann.On(t), "over.pdf", strings.Repeat("y", 25<<20+1)).Fails(t, 417, "MaxFileSizeReachedError")
		s.Guest.Get("/files/max.pdf").OK(t)
		s.Guest.Get("/nothing").Fails(t, 404, "PageDoesNotExistError")
		upload(s.Guest.On(t), "a.txt", "a").Fails(t, 403, "PermissionError")

		s.Admin.Post("/api/resource/DocType", map[string]any{
			"name": "Board", "custom": 1, "fields": []any{map[string]any{"fieldname": "title", "fieldtype": "Data"}},
			"permissions": []any{map[string]any{"role": "Clerk", "read": 1, "write": 1, "create": 1}},
		}).OK(t)
		board := ann.On(t).Post("/api/resource/Board", map[string]any{}).Data(t)["name"].(string)
		f := upload(ann.On(t), "m.txt", "m", "is_private", "1", "doctype", "Board", "docname", board).Message(t).(map[string]any)
		mine := upload(ann.On(t), "p.txt", "p", "is_private", "1").Message(t).(map[string]any)
		names := bob.On(t).Get("/api/resource/File", "fields", []string{"file_name"}, "filters", [][]any{{"is_folder", "=", 0}}, "order_by", "file_name asc").Column(t, "file_name")
		if len(names) != 2 || names[0] != "m.txt" || names[1] != "max.pdf" {
			t.Errorf("bob lists %v", names)
		}
		bob.On(t).Get("/api/resource/File/" + f["name"].(string)).Data(t)
		bob.On(t).Get("/api/resource/File/"+mine["name"].(string)).Fails(t, 403, "PermissionError")
		if r := bob.On(t).Delete("/api/resource/File/" + f["name"].(string)); r.Status != 202 {
			t.Errorf("deleted by who may write the document: %d %s", r.Status, r.Text)
		}
		folder := ann.On(t).Post("/api/resource/File", map[string]any{"file_name": "Plans", "is_folder": 1}).Data(t)
		if folder["name"] != "Home/Plans" {
			t.Errorf("the folder is named %v", folder["name"])
		}
		upload(ann.On(t), "q.txt", "q", "folder", "Home/Plans").OK(t)
		if r := ann.On(t).Delete("/api/resource/File/Home/Plans"); r.Status != 417 {
			t.Errorf("a full folder: %d", r.Status)
		}
	})
}

// TestAttachmentsGo: what is attached to a document is deleted with it, also
// where its DocType has no field for files, and what is attached elsewhere stays.
func TestAttachmentsGo(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		todo := func() string {
			return s.Admin.Post("/api/resource/ToDo", map[string]any{"description": "x"}).Data(t)["name"].(string)
		}
		gone, stays := todo(), todo()
		for _, name := range []string{gone, stays} {
			upload(s.Admin.On(t), name+".txt", name, "doctype", "ToDo", "docname", name).OK(t)
		}
		s.Admin.Get("/files/" + gone + ".txt").OK(t)
		if r := s.Admin.Delete("/api/resource/ToDo/" + gone); r.Status != 202 {
			t.Fatalf("%d %s", r.Status, r.Text)
		}
		if r := s.Admin.Get("/files/" + gone + ".txt"); r.Status != 404 {
			t.Errorf("the bytes are still there: %d", r.Status)
		}
		names := s.Admin.Get("/api/resource/File", "fields", []string{"attached_to_name"}, "filters", [][]any{{"attached_to_doctype", "=", "ToDo"}}).Column(t, "attached_to_name")
		if len(names) != 1 || names[0] != stays {
			t.Errorf("attached files %v", names)
		}
	})
}
