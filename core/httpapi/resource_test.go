package httpapi_test

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestDocumentLife(t *testing.T) {
	s := newSite(t)
	made := s.create("admin", "ToDo", `{"description":"x","doctype":"Note","invented":1}`)
	name, _ := made["name"].(string)
	for key, want := range map[string]any{
		"status": "Open", "priority": "Medium", "docstatus": 0.0, "idx": 0.0,
		"owner": "Administrator", "doctype": "ToDo", "description": "x",
	} {
		if made[key] != want {
			t.Errorf("%s is %v, want %v", key, made[key], want)
		}
	}
	if _, err := time.Parse("2006-01-02 15:04:05.000000", made["creation"].(string)); err != nil {
		t.Error(err)
	}
	if _, there := made["invented"]; there {
		t.Error("an invented key came back")
	}
	path := "/api/resource/ToDo/" + name
	changed := s.do(request{as: "admin", verb: "PUT", path: path, body: `{"description":"y"}`}).must(200).data()
	read := s.do(request{as: "admin", path: path + "/"}).must(200).data()
	if changed["description"] != "y" || read["description"] != "y" || read["modified"].(string) <= made["modified"].(string) {
		t.Errorf("changed %v, read %v", changed, read)
	}
	deleted := s.do(request{as: "admin", verb: "DELETE", path: path}).must(202)
	if deleted.text != `{"message":"ok"}` {
		t.Errorf("delete answered %s", deleted.text)
	}
	gone := s.do(request{as: "admin", path: path}).must(404)
	if gone.body["exc_type"] != "DoesNotExistError" || gone.body["exc"] != nil || gone.body["exception"] != nil {
		t.Errorf("missing: %s", gone.text)
	}
	s.do(request{as: "admin", verb: "DELETE", path: path}).must(404)
}

func TestList(t *testing.T) {
	s := newSite(t)
	for _, d := range []string{"a", "b", "c"} {
		s.create("admin", "ToDo", `{"description":"`+d+`"}`)
	}
	s.create("admin", "ToDo", `{"description":"d","status":"Closed","priority":"High"}`)
	tests := []struct {
		name, query string
		want        string // the rows' JSON; empty: only their number counts
		n           int
	}{
		{"names only", "", "", 4},
		{"limit", "limit=2", "", 2},
		{"page length wins", "limit_page_length=3&limit=1", "", 3},
		{"all", "limit_page_length=0", "", 4},
		{"fields and order", `fields=["description"]&order_by=description desc`,
			`[{"description":"d"},{"description":"c"},{"description":"b"},{"description":"a"}]`, 4},
		{"default order", `fields=["description"]&limit=1`, `[{"description":"d"}]`, 1},
		{"arrays", `fields=["description","status"]&as_dict=False&limit_start=3&order_by=description asc`, `[["d","Closed"]]`, 1},
		{"filters", `filters=[["status","=","Closed"]]&fields=["description"]`, `[{"description":"d"}]`, 1},
		{"a raw percent sign", `filters=[["description","like","d%"]]&fields=["description"]`, `[{"description":"d"}]`, 1},
		{"or filters", `or_filters=[["description","=","a"],["description","=","d"]]&fields=["description"]&order_by=description`,
			`[{"description":"a"},{"description":"d"}]`, 2},
		{"count", `fields=["status","count(name) as n"]&group_by=status&order_by=n`, `[{"status":"Closed","n":1},{"status":"Open","n":3}]`, 2},
		{"cache buster", `_=12345&limit=1`, "", 1},
		{"expand", `fields=["priority"]&expand=["priority"]&filters=[["priority","=","High"]]`, "", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.t = t
			query := strings.NewReplacer(`"`, "%22", " ", "%20").Replace(tt.query)
			a := s.do(request{as: "admin", path: "/api/resource/ToDo?" + query}).must(200)
			if rows := a.rows(); len(rows) != tt.n {
				t.Errorf("%d rows, want %d: %s", len(rows), tt.n, a.text)
			}
			if want := `{"data":` + tt.want + `}`; tt.want != "" && a.text != want {
				t.Errorf("got  %s\nwant %s", a.text, want)
			}
		})
	}
	row := s.do(request{as: "admin", path: "/api/resource/ToDo?fields=%5B%22priority%22%5D&expand=%5B%22priority%22%5D&limit=1"}).rows()[0].(map[string]any)
	if object, ok := row["priority"].(map[string]any); !ok || object["name"] != "High" {
		t.Errorf("expanded row %v", row)
	}
}

func TestListFromJSONBody(t *testing.T) {
	s := newSite(t)
	s.create("admin", "ToDo", `{"description":"a"}`)
	a := s.do(request{as: "admin", path: "/api/resource/ToDo?limit=0&fields=[%22name%22]", body: `{"fields":["description"],"limit":0}`}).must(200)
	if a.text != `{"data":[{"description":"a"}]}` {
		t.Errorf("got %s", a.text)
	}
}

func TestDebug(t *testing.T) {
	s := newSite(t)
	const path = "/api/resource/ToDo?debug=True"
	a := s.do(request{as: "admin", path: path}).must(200)
	lines := a.trace()
	if len(lines) < 2 || !strings.Contains(strings.ToLower(lines[0]), "select") || !strings.Contains(lines[len(lines)-1], "Execution time") {
		t.Errorf("exc holds %q", lines)
	}
	if a := s.do(request{as: "web", path: path}).must(200); a.body["exc"] != nil {
		t.Errorf("a website user sees statements: %s", a.text)
	}
}

func TestNamesInPaths(t *testing.T) {
	s := newSite(t)
	for _, name := range []string{"plain", "a/b", "a//b", "../etc", "with space", `quo"te'`, "per%cent", "plus+sign", "ümläut 🦔", "q?&=#"} {
		t.Run(name, func(t *testing.T) {
			s.t = t
			s.create("admin", "Role", `{"role_name":`+quote(name)+`}`)
			escaped := []string{url.PathEscape(name)}
			if !strings.ContainsAny(name, "?#%\" ") {
				escaped = append(escaped, strings.ReplaceAll(url.PathEscape(name), "%2F", "/"))
			}
			for _, e := range escaped {
				got := s.do(request{as: "admin", path: "/api/resource/Role/" + e}).must(200).data()
				if got["name"] != name {
					t.Errorf("%s read as %v", e, got["name"])
				}
			}
		})
	}
}

func TestResourceRefusals(t *testing.T) {
	s := newSite(t)
	own := s.create("admin", "ToDo", `{"description":"mine"}`)["name"].(string)
	tests := []struct {
		name    string
		r       request
		status  int
		excType string
		exc     bool
	}{
		{"list as Guest", request{path: "/api/resource/ToDo"}, 403, "PermissionError", false},
		{"read as Guest", request{path: "/api/resource/ToDo/" + own}, 403, "PermissionError", false},
		{"missing as Guest", request{path: "/api/resource/ToDo/none"}, 403, "PermissionError", false},
		{"read another's", request{as: "web", path: "/api/resource/ToDo/" + own}, 403, "PermissionError", false},
		{"missing", request{as: "admin", path: "/api/resource/User/NonExistent@s.com"}, 404, "DoesNotExistError", false},
		{"unknown DocType, list", request{as: "admin", path: "/api/resource/Nothing"}, 404, "DoesNotExistError", false},
		{"unknown DocType, read", request{as: "admin", path: "/api/resource/Nothing/x"}, 404, "DoesNotExistError", false},
		{"unknown DocType, create", request{as: "admin", verb: "POST", path: "/api/resource/Nothing", body: `{}`}, 404, "DoesNotExistError", false},
		{"mandatory", request{as: "admin", verb: "POST", path: "/api/resource/ToDo", body: `{}`}, 417, "MandatoryError", true},
		{"mandatory, website user", request{as: "web", verb: "POST", path: "/api/resource/ToDo", body: `{}`}, 417, "MandatoryError", false},
		{"bad select", request{as: "admin", verb: "POST", path: "/api/resource/ToDo", body: `{"description":"x","status":"Nope"}`}, 417, "ValidationError", true},
		{"bad link", request{as: "admin", verb: "POST", path: "/api/resource/ToDo", body: `{"description":"x","allocated_to":"nobody@x.y"}`}, 417, "LinkValidationError", true},
		{"owner", request{as: "admin", verb: "PUT", path: "/api/resource/ToDo/" + own, body: `{"owner":"Guest"}`}, 417, "CannotChangeConstantError", true},
		{"stale", request{as: "admin", verb: "PUT", path: "/api/resource/ToDo/" + own, body: `{"modified":"2001-01-01 00:00:00.000000"}`}, 417, "TimestampMismatchError", true},
		{"array body", request{as: "admin", verb: "POST", path: "/api/resource/ToDo", body: `[{"description":"x"}]`}, 417, "DataError", true},
		{"scalar body", request{as: "admin", verb: "POST", path: "/api/resource/ToDo", body: `5`}, 417, "DataError", true},
		{"malformed body", request{as: "admin", verb: "POST", path: "/api/resource/ToDo", body: `{"description":`}, 417, "DataError", true},
		{"NUL in a text", request{as: "admin", verb: "POST", path: "/api/resource/ToDo", body: `{"description":"a\u0000b"}`}, 417, "DataError", true},
		{"not UTF-8", request{as: "admin", verb: "POST", path: "/api/resource/ToDo", body: "{\"description\":\"\xff\"}"}, 417, "DataError", true},
		{"not UTF-8 in a query", request{as: "admin", path: "/api/resource/ToDo?filters=%ff"}, 417, "DataError", true},
		{"NUL in a query", request{as: "admin", path: "/api/resource/ToDo?filters=%00"}, 417, "DataError", true},
		{"NUL in a name", request{as: "admin", path: "/api/resource/ToDo/a%00b"}, 417, "DataError", false},
		{"deep body", request{as: "admin", verb: "POST", path: "/api/resource/ToDo", body: `{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`}, 417, "DataError", true},
		{"unreadable type", request{as: "admin", verb: "POST", path: "/api/resource/ToDo", body: `<a/>`, typ: "text/xml"}, 415, "UnsupportedMediaType", true},
		{"fields", request{as: "admin", path: "/api/resource/ToDo?fields=name"}, 417, "DataError", true},
		{"function", request{as: "admin", path: "/api/resource/ToDo?fields=%5B%22name%22,%22version()%22%5D"}, 417, "DataError", true},
		{"unknown field", request{as: "admin", path: "/api/resource/ToDo?fields=%5B%22nofield%22%5D"}, 417, "DataError", true},
		{"operator", request{as: "admin", path: "/api/resource/ToDo?filters=%5B%5B%22status%22,%22~%22,1%5D%5D"}, 417, "ValidationError", true},
		{"order", request{as: "admin", path: "/api/resource/ToDo?order_by=(select+1)+asc"}, 417, "ValidationError", true},
		{"negative limit", request{as: "admin", path: "/api/resource/ToDo?limit=-1"}, 417, "ValidationError", true},
		{"wrong verb on a list", request{as: "admin", verb: "DELETE", path: "/api/resource/ToDo"}, 405, "MethodNotAllowedError", false},
		{"wrong verb on a document", request{as: "admin", verb: "PATCH", path: "/api/resource/ToDo/x", body: `{}`}, 405, "MethodNotAllowedError", false},
		{"POST without run_method", request{as: "admin", verb: "POST", path: "/api/resource/ToDo/" + own, body: `{}`}, 417, "ValidationError", true},
		{"wrong credentials", request{as: "nobody", path: "/api/resource/ToDo"}, 401, "AuthenticationError", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.t = t
			a := s.do(tt.r).must(tt.status)
			if a.body["exc_type"] != tt.excType {
				t.Errorf("exc_type %v, want %s", a.body["exc_type"], tt.excType)
			}
			if _, there := a.body["exc"]; there != tt.exc {
				t.Errorf("exc is there: %v, want %v: %s", there, tt.exc, a.text)
			}
			if _, there := a.body["exception"]; there != tt.exc {
				t.Errorf("exception is there: %v, want %v", there, tt.exc)
			}
		})
	}
}

func TestDocumentsAsForms(t *testing.T) {
	s := newSite(t)
	const form = "application/x-www-form-urlencoded"
	multipart := "--B\r\nContent-Disposition: form-data; name=\"description\"\r\n\r\nfrom parts\r\n" +
		"--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x\"\r\n\r\nbytes\r\n--B--\r\n"
	tests := []struct{ name, typ, body, want string }{
		{"form", form, "description=a+b%21", "a b!"},
		{"data in a form", form, "data=" + url.QueryEscape(`{"description":"in data"}`), "in data"},
		{"data in JSON", "", `{"data":"{\"description\":\"in data\"}"}`, "in data"},
		{"multipart", "multipart/form-data; boundary=B", multipart, "from parts"},
		{"JSON with a charset", "application/json; charset=utf-8", `{"description":"c"}`, "c"},
		{"JSON without a type", "-", ` {"description":"c"}`, "c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.t = t
			a := s.do(request{as: "admin", verb: "POST", path: "/api/resource/ToDo", body: tt.body, typ: tt.typ}).must(200)
			if got := a.data()["description"]; got != tt.want {
				t.Errorf("got %v, want %s", got, tt.want)
			}
		})
	}
}

func TestExpandLinks(t *testing.T) {
	s := newSite(t)
	name := s.create("admin", "ToDo", `{"description":"x"}`)["name"].(string)
	doc := s.do(request{as: "admin", path: "/api/resource/ToDo/" + name + "?expand_links=True"}).must(200).data()
	priority, ok := doc["priority"].(map[string]any)
	if !ok || priority["name"] != "Medium" || priority["title"] == nil || priority["creation"] == nil {
		t.Errorf("priority is %v", doc["priority"])
	}
	if _, there := doc["allocated_to"]; !there {
		t.Error("null fields are missing")
	}
}
