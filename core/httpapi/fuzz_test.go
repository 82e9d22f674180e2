package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// FuzzRequest: no request makes the server fail. Under /api every answer is
// JSON, and none is the server's own fault.
func FuzzRequest(f *testing.F) {
	f.Add("GET", "/api/resource/ToDo", `fields=["name"]&limit=1`, "", "")
	f.Add("POST", "/api/resource/ToDo", "", "application/json", `{"description":"x","date":"2020-02-30","idx":1e400}`)
	f.Add("PUT", "/api/resource/Note/x%2Fy/", "", "application/x-www-form-urlencoded", "data=%7B%7D&data=%5B%5D")
	f.Add("POST", "/api/method/framework.client.insert_many", "", "", `{"docs":"[{\"doctype\":\"Note\",\"title\":5}]"}`)
	f.Add("GET", "/api/method/framework.client.get_value", "doctype=Note&fieldname=[]&filters={}", "", "")
	f.Add("GET", "/api/method/framework.client.get_list", `doctype=ToDo&filters=[["date","between",["x",null]]]&expand=["priority"]`, "", "")
	f.Add("POST", "/api/method/framework.client.bulk_update", "", "application/json", `{"docs":[{"doctype":null,"docname":{}}]}`)
	f.Add("POST", "/api/method/run_doc_method", "", "application/json", `{"docs":{"doctype":"ToDo"},"method":"submit"}`)
	f.Add("POST", "/", "cmd=ping", "multipart/form-data; boundary=B", "--B\r\n\r\n--B--")
	s := newSiteIn(f, f.TempDir())
	s.t = f
	f.Fuzz(func(t *testing.T, verb, path, query, typ, body string) {
		target, err := url.ParseRequestURI("http://site.example" + path)
		if err != nil || !strings.HasPrefix(path, "/") {
			return
		}
		if strings.Contains(path+query+body, "test.") {
			return // methods that fail on purpose
		}
		target.RawQuery = query
		s.log.Reset()
		r := httptest.NewRequest(http.MethodGet, "http://site.example/", strings.NewReader(body))
		r.Method, r.URL = verb, target
		r.Header.Set("X-Test-User", "admin")
		if typ != "" {
			r.Header.Set("Content-Type", typ)
		}
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Fatalf("%s %s?%s %q %q: %d %s\n%s", verb, path, query, typ, body, w.Code, w.Body, s.log)
		}
		if strings.HasPrefix(path, "/api/") && w.Body.Len() > 0 && w.Header().Get("Content-Type") != "application/json" {
			t.Fatalf("%s %s: %s", verb, path, w.Header().Get("Content-Type"))
		}
	})
}
