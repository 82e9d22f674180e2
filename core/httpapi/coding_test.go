package httpapi_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// fetch makes a request as a client does that leaves codings to its caller.
func fetch(t *testing.T, url string, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := (&http.Transport{DisableCompression: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

// Whatever form a client reads it gets the same answer, and a short one as it is.
func TestCodings(t *testing.T) {
	s := newSite(t)
	server := httptest.NewServer(s.handler)
	defer server.Close()
	// 3 MiB are sent in parts, 3 KiB at once.
	for _, size := range []string{"3000", "3000000"} {
		long := server.URL + "/api/method/test.long?size=" + size
		_, plain := fetch(t, long)
		for accepted, want := range map[string]string{"": "", "br": "", "gzip": "gzip", "zstd": "zstd", "gzip, deflate, br, zstd": "zstd", "zstd;q=0, gzip": "gzip"} {
			r, body := fetch(t, long, "Accept-Encoding", accepted)
			if got := r.Header.Get("Content-Encoding"); got != want || !strings.Contains(r.Header.Get("Vary"), "Accept-Encoding") {
				t.Errorf("%q: %v", accepted, r.Header)
			}
			if want != "" && len(body) > len(plain)/4 {
				t.Errorf("%q: %d bytes for %d", accepted, len(body), len(plain))
			}
			if got := decode(t, want, body); got != plain {
				t.Errorf("%q: %.80q", accepted, got)
			}
		}
	}
	if r, _ := fetch(t, server.URL+"/api/method/ping", "Accept-Encoding", "gzip"); r.Header.Get("Content-Encoding") != "" {
		t.Errorf("a short answer: %v", r.Header)
	}
	if r, body := fetch(t, server.URL+"/api/method/test.long?size=3000&fail=1", "Accept-Encoding", "gzip"); r.StatusCode != 417 || r.Header.Get("Etag") != "" || !strings.Contains(decode(t, "gzip", body), "exc_type") {
		t.Errorf("an error: %d %v", r.StatusCode, r.Header)
	}
}

func decode(t *testing.T, how, body string) string {
	t.Helper()
	var r io.Reader = strings.NewReader(body)
	switch how {
	case "gzip":
		z, err := gzip.NewReader(r)
		if err != nil {
			t.Fatal(err)
		}
		r = z
	case "zstd":
		z, err := zstd.NewReader(r)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		r = z
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A client that has an answer is told so, as long as it would get the same: who is
// shown other things has another answer, and what changes nothing asks for a new one.
func TestEtag(t *testing.T) {
	s := newSite(t)
	get := func(as, path, match string) *answer {
		return s.do(request{as: as, path: path, header: http.Header{"If-None-Match": {match}}})
	}
	const path = "/api/method/framework.auth.get_logged_user"
	first := s.do(request{as: "admin", path: path}).must(200)
	tag := first.header.Get("Etag")
	if !strings.HasPrefix(tag, `W/"`) || first.header.Get("Cache-Control") != "private, no-cache" {
		t.Fatalf("%v", first.header)
	}
	for _, match := range []string{tag, strings.TrimPrefix(tag, "W/"), `"other", ` + tag, "*"} {
		if a := get("admin", path, match).must(304); a.text != "" || a.header.Get("Etag") != tag {
			t.Errorf("%s: %q %v", match, a.text, a.header)
		}
	}
	get("admin", path, `"other"`).must(200)
	if a := get("web", path, tag).must(200); a.header.Get("Etag") == tag {
		t.Errorf("another user's answer has the same tag: %s", a.text)
	}
	a := s.do(request{as: "admin", verb: "POST", path: path, header: http.Header{"If-None-Match": {tag}}}).must(200)
	if a.header.Get("Etag") != "" || !strings.Contains(a.header.Get("Cache-Control"), "no-store") {
		t.Errorf("a POST: %v", a.header)
	}
	if a := get("", "/api/nothing", "*").must(404); a.header.Get("Etag") != "" {
		t.Errorf("an error: %v", a.header)
	}
}
