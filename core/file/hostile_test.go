package file_test

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"
	"unicode/utf8"

	"armature/core/file"
)

func TestCleanName(t *testing.T) {
	long := strings.Repeat("é", 200)
	tests := []struct{ name, want string }{
		{"a.txt", "a.txt"},
		{"../../etc/passwd", ".._.._etc_passwd"},
		{`C:\dir\a.txt`, "C:_dir_a.txt"},
		{"a%2e%2e?b#c", "a_2e_2e_b_c"},
		{"..", "__"}, {".", "_"}, {"...", "___"}, {"", ""}, {"   ", ""},
		{"a\r\nSet-Cookie: x.txt", "a__Set-Cookie: x.txt"},
		{"a\x00b.txt", "a_b.txt"},
		{`<img src=x onerror="alert(1)">.png`, "_img src=x onerror=_alert(1)__.png"},
		{"cod\u202egpj.exe", "codgpj.exe"}, // shown as codexe.jpg
		{"e\u0301.txt", "\u00e9.txt"},      // one character, however it is composed
		{"\xff\xfe.txt", "_.txt"},
		{"\ufeffa.txt", "a.txt"},
		{"日本語 👩‍👩‍👧.png", "日本語 👩‍👩‍👧.png"},
		{"a\u2028b", "a_b"},
		{long + ".txt", strings.Repeat("é", 136) + ".txt"},
		{".htaccess", ".htaccess"},
		{"x." + long, "x." + strings.Repeat("é", 138)},
	}
	for _, tt := range tests {
		if got := file.CleanName(tt.name); got != tt.want {
			t.Errorf("%q became %q, want %q", tt.name, got, tt.want)
		}
	}
}

func FuzzCleanName(f *testing.F) {
	f.Add("../a\x00b\r\n.txt")
	f.Fuzz(func(t *testing.T, name string) {
		got := file.CleanName(name)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > 140 || strings.ContainsAny(got, "/\\%?#<>\"\x00\r\n") || got == "." || got == ".." {
			t.Errorf("%q became %q", name, got)
		}
		if again := file.CleanName(got); again != got {
			t.Errorf("%q became %q and then %q", name, got, again)
		}
	})
}

// TestHostileNames uploads files under names meant for something else, and reads
// them back by the URL that came out.
func TestHostileNames(t *testing.T) {
	each(t, func(s *testSite) {
		for i, name := range []string{
			"../../../etc/passwd", `..\..\x`, "a\r\nX-Evil: 1\r\n\r\n<script>.txt", "a\x00.txt", `q"uo"te.txt`, "a;b=c.txt",
			"\u202egnp.exe", "%2e%2e%2f", "ünï 日本.txt", "'; drop table x; --", "a+b&c=d.txt", "con.txt", strings.Repeat("long", 100) + ".txt",
		} {
			content := fmt.Sprint("content ", i)
			var body bytes.Buffer
			w := multipart.NewWriter(&body)
			h := textproto.MIMEHeader{}
			h.Set("Content-Disposition", mime.FormatMediaType("form-data", map[string]string{"name": "file", "filename": name}))
			part, err := w.CreatePart(h)
			if err != nil {
				s.t.Fatal(err)
			}
			_, _ = io.WriteString(part, content)
			_ = w.Close()
			r := s.do("ann", "POST", "/api/method/upload_file", w.FormDataContentType(), &body)
			if r.status != 200 {
				if r.status != 417 {
					s.t.Errorf("%q: %d %s", name, r.status, r.text)
				}
				continue
			}
			f := r.file()
			url := f["file_url"].(string)
			if strings.Count(url, "/") != 2 || strings.ContainsAny(url, "\\%?#\r\n\x00") {
				s.t.Errorf("%q became %q", name, url)
			}
			got := s.get("", urlPath(f)).must(200)
			if got.text != content || got.header.Get("X-Evil") != "" {
				s.t.Errorf("%q reads %q with %v", name, got.text, got.header)
			}
			if _, params, err := mime.ParseMediaType(got.header.Get("Content-Disposition")); err != nil || params["filename"] != f["file_name"] {
				s.t.Errorf("%q is sent as %q: %v", name, got.header.Get("Content-Disposition"), err)
			}
		}
	})
}

// TestPathTraversal asks for what is beside the files.
func TestPathTraversal(t *testing.T) {
	s := newSite(t, "")
	s.upload("ann", "a.txt", "a").must(200)
	for _, path := range []string{
		"/files/../site.db", "/files/..%2fsite.db", "/files/%2e%2e/%2e%2e/site.db", "/files//etc/passwd", "/files/", "/files",
		"/files/tmp/draft-1", "/files/%00", "/files/a.txt%00.png", "/files/a.txt/", "/files/%ff%fe", "/files/Home",
		"/files/blob/aa/x", "/files/a.txt?fid=%00", "/files/a.txt?fid=Home",
	} {
		if r := s.get("ann", path); r.status != 404 {
			t.Errorf("%s: %d %s", path, r.status, r.text)
		}
	}
	for _, path := range []string{"/private/files/../site.db", "/private/files/..%2f..%2fsite.db", "/private/files/"} {
		if r := s.get("ann", path); r.status != 403 {
			t.Errorf("%s: %d %s", path, r.status, r.text)
		}
	}
	s.do("ann", "POST", "/files/a.txt", "", nil).fails(405, "MethodNotAllowedError")
}

// TestNothingRuns uploads what a browser would run.
func TestNothingRuns(t *testing.T) {
	s := newSite(t, "")
	tests := []struct{ name, typ, way string }{
		{"a.svg", "image/svg+xml", "attachment"}, {"a.HTML", "text/html; charset=utf-8", "attachment"},
		{"a.htm", "text/html; charset=utf-8", "attachment"}, {"a.xml", "text/xml; charset=utf-8", "attachment"},
		{"a.xhtml", "application/octet-stream", "attachment"}, {"a.mht", "application/octet-stream", "attachment"},
		{"a.js", "text/plain; charset=utf-8", "inline"}, {"a.png", "image/png", "inline"}, {"a", "application/octet-stream", "inline"},
		{"a.txt", "text/plain; charset=utf-8", "inline"}, {"a.svg.png", "image/png", "inline"}, {"a.pdf", "application/pdf", "inline"},
	}
	for i, tt := range tests {
		f := s.upload("ann", tt.name, fmt.Sprint("<script>alert(1)</script>", i), "is_private", fmt.Sprint(i%2)).file()
		h := s.get("ann", urlPath(f)).must(200).header
		way, _, _ := strings.Cut(h.Get("Content-Disposition"), ";")
		if h.Get("Content-Type") != tt.typ || way != tt.way || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", tt.name, h)
		}
		policy := h.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.HasPrefix(policy, "sandbox") == (tt.name == "a.pdf") {
			t.Errorf("%s: policy %q", tt.name, policy)
		}
	}
}

// TestBrokenBodies sends what is no upload; none of it leaves anything behind.
func TestBrokenBodies(t *testing.T) {
	s := newSite(t, "")
	const form = "multipart/form-data; boundary=B"
	file := "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n"
	tests := []struct{ name, typ, body string }{
		{"empty", form, ""},
		{"no boundary", "multipart/form-data", file + "x\r\n--B--\r\n"},
		{"long boundary", "multipart/form-data; boundary=" + strings.Repeat("b", 71), file},
		{"another boundary", "multipart/form-data; boundary=C", file + "x\r\n--B--\r\n"},
		{"cut in the file", form, file + "half a fi"},
		{"cut after the file", form, file + "x\r\n--B\r\nContent-Disp"},
		{"no last boundary", form, file + "x\r\n--B\r\n"},
		{"cut in a header", form, "--B\r\nContent-Disposition: form-da"},
		{"endless header", form, "--B\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n\r\n--B--\r\n"},
		{"many headers", form, "--B\r\n" + strings.Repeat("X: y\r\n", 20000) + "\r\nx\r\n--B--\r\n"},
		{"many parts", form, strings.Repeat("--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n", 200) + "--B--\r\n"},
		{"many fields", form, manyFields() + "--B--\r\n"},
		{"long field", form, "--B\r\nContent-Disposition: form-data; name=\"folder\"\r\n\r\n" + strings.Repeat("x", 1<<17) + "\r\n--B--\r\n"},
		{"NUL in a field", form, file + "x\r\n--B\r\nContent-Disposition: form-data; name=\"folder\"\r\n\r\na\x00b\r\n--B--\r\n"},
		{"no name", form, "--B\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nx\r\n--B--\r\n"},
		{"bad JSON", "application/json", "{"},
		{"bad form", "application/x-www-form-urlencoded", "a=%zz"},
		{"no type", "", file + "x\r\n--B--\r\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := s.do("ann", "POST", "/api/method/upload_file", tt.typ, strings.NewReader(tt.body))
			if r.status != http.StatusExpectationFailed {
				t.Errorf("%d: %.300s", r.status, r.text)
			}
		})
	}
	s.clean(0)
}

func manyFields() string {
	var b strings.Builder
	for i := range 150 {
		fmt.Fprintf(&b, "--B\r\nContent-Disposition: form-data; name=\"a%d\"\r\n\r\n1\r\n", i)
	}
	return b.String()
}

// TestConnectionLost breaks off in the middle of a file.
func TestConnectionLost(t *testing.T) {
	s := newSite(t, "")
	r, w := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/api/method/upload_file", r)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "multipart/form-data; boundary=B")
	req.Header.Set("X-Test-User", "ann")
	go func() {
		_, _ = io.WriteString(w, "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n"+strings.Repeat("x", 1<<20))
		_ = w.CloseWithError(errTest)
	}()
	if res, err := http.DefaultTransport.RoundTrip(req); err == nil {
		res.Body.Close()
		t.Fatalf("answered %d", res.StatusCode)
	}
	// The server notices on its own; a whole upload after it shows that it has
	// gone on, and the sweep takes what was spooled at the latest.
	s.upload("ann", "b.txt", "b").must(200)
	s.later(2 * 3600e9)
	if err := s.files.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.clean(1)
}

func TestSizes(t *testing.T) {
	s := newSite(t, "")
	s.set("max_file_size", "1000")
	s.upload("ann", "a.txt", strings.Repeat("x", 1000)).must(200)
	s.upload("ann", "b.txt", strings.Repeat("y", 1001)).fails(417, "MaxFileSizeReachedError")
	s.upload("ann", "b.txt", strings.Repeat("y", 4<<20)).fails(417, "MaxFileSizeReachedError")
	// Parts that nobody asked for are not read without end.
	s.upload("ann", "c.txt", "x", "ignored", strings.Repeat("z", 9<<20)).must(417)
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for i := range 20 {
		part, _ := w.CreateFormFile(fmt.Sprint("other", i), "x")
		_, _ = part.Write(make([]byte, 60<<10)) // into memory
	}
	_ = w.Close()
	s.do("ann", "POST", "/api/method/upload_file", w.FormDataContentType(), bytes.NewReader(bytes.Repeat(body.Bytes(), 10))).must(417)
	// A length that is claimed and never sent costs nothing.
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/api/method/upload_file", io.LimitReader(zeros{}, 1<<40))
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = 1 << 40
	req.Header.Set("Content-Type", "multipart/form-data; boundary=B")
	req.Header.Set("X-Test-User", "ann")
	if res, err := http.DefaultTransport.RoundTrip(req); err == nil {
		res.Body.Close()
		if res.StatusCode < 400 {
			t.Errorf("status %d", res.StatusCode)
		}
	}
	s.clean(1)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestGuests(t *testing.T) {
	each(t, func(s *testSite) {
		s.upload("", "a.txt", "a").fails(403, "PermissionError")
		s.set("allow_guests_to_upload_files", "1")
		f := s.upload("", "a.txt", "a", "is_private", "1").file()
		if f["owner"] != "Guest" {
			s.t.Errorf("owner %v", f["owner"])
		}
		// What a Guest has uploaded is not every Guest's.
		s.get("", urlPath(f)).fails(403, "PermissionError")
		s.get("", "/api/resource/File/"+f["name"].(string)).fails(403, "PermissionError")
		s.do("", "DELETE", "/api/resource/File/"+f["name"].(string), "", nil).fails(403, "PermissionError")
		s.get("admin", urlPath(f)).must(200)
		s.upload("", "a.exe", "a").fails(417, "ValidationError")
		s.upload("web", "a.html", "a").fails(417, "ValidationError")
		s.upload("web", "a.pdf", "b").must(200)
		s.upload("", "a.txt", "a", "doctype", "Case", "docname", "x").fails(403, "PermissionError")
		s.set("allowed_doctypes_for_guest_uploads", `["Case"]`)
		s.upload("", "a.txt", "a", "doctype", "Case", "docname", "x").must(200)
		s.upload("", "a.txt", "a", "doctype", "User", "docname", "x").fails(403, "PermissionError")
		s.set("allowed_file_extensions", `"txt\npdf"`)
		s.upload("ann", "a.TXT", "c").must(200)
		s.upload("ann", "a.png", "c").fails(417, "FileTypeNotAllowed")
		s.upload("admin", "a", "c").fails(417, "FileTypeNotAllowed")
	})
}

// TestSystemSettings: the Single beats the configuration.
func TestSystemSettings(t *testing.T) {
	each(t, func(s *testSite) {
		s.create("admin", "DocType", map[string]any{
			"name": "System Settings", "custom": 1, "issingle": 1,
			"fields": []any{
				map[string]any{"fieldname": "max_file_size", "fieldtype": "Int"},
				map[string]any{"fieldname": "allow_guests_to_upload_files", "fieldtype": "Check"},
				map[string]any{"fieldname": "allowed_file_extensions", "fieldtype": "Small Text"},
			},
			"permissions": []any{map[string]any{"role": "System Manager", "read": 1, "write": 1}},
		})
		s.set("max_file_size", "10")
		s.upload("ann", "a.txt", "more than ten bytes").fails(417, "MaxFileSizeReachedError")
		s.json("admin", "PUT", "/api/resource/System%20Settings/System%20Settings", map[string]any{
			"max_file_size": 1, "allow_guests_to_upload_files": 1, "allowed_file_extensions": "TXT\n.csv",
		}).must(200)
		s.upload("", "a.txt", "more than ten bytes").must(200)
		s.upload("ann", "a.png", "x").fails(417, "FileTypeNotAllowed")
		s.upload("ann", "a.csv", strings.Repeat("x", 1<<20+1)).fails(417, "MaxFileSizeReachedError")
	})
}

func TestRanges(t *testing.T) {
	s := newSite(t, "")
	s.upload("ann", "a.txt", "0123456789").must(200)
	tag := s.get("", "/files/a.txt").must(200).header.Get("Etag")
	if len(tag) != 66 {
		t.Errorf("ETag %s", tag)
	}
	tests := []struct {
		name, header, value string
		status              int
		text                string
	}{
		{"middle", "Range", "bytes=2-4", 206, "234"},
		{"from", "Range", "bytes=7-", 206, "789"},
		{"last", "Range", "bytes=-2", 206, "89"},
		{"all", "Range", "bytes=0-", 206, "0123456789"},
		{"beyond", "Range", "bytes=10-", 416, ""},
		{"nonsense", "Range", "bytes=x-y", 416, ""},
		{"another unit", "Range", "lines=1-2", 416, ""},
		{"same", "If-None-Match", tag, 304, ""},
		{"other", "If-None-Match", `"x"`, 200, "0123456789"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := s.get("", "/files/a.txt", tt.header, tt.value)
			if r.status != tt.status || tt.text != "" && r.text != tt.text {
				t.Errorf("%d %q", r.status, r.text)
			}
		})
	}
	r := s.get("", "/files/a.txt", "Range", "bytes=0-1,4-5").must(206)
	if !strings.Contains(r.text, "01") || !strings.Contains(r.text, "45") {
		t.Errorf("two ranges: %s", r.text)
	}
	head := s.do("", "HEAD", "/files/a.txt", "", nil).must(200)
	if head.header.Get("Content-Length") != "10" || head.text != "" {
		t.Errorf("HEAD: %v", head.header)
	}
	if r := s.get("", "/files/a.txt", "Range", "bytes=2-4", "If-Range", `"x"`); r.status != 200 {
		t.Errorf("If-Range of another version: %d", r.status)
	}
}
