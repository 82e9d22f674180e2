package httpapi_test

import "testing"

func TestDocumentMethods(t *testing.T) {
	s := newSite(t)
	s.create("admin", "DocType", `{"name":"Order","module":"Custom","custom":1,"is_submittable":1,
		"fields":[{"fieldname":"item","fieldtype":"Data"}],
		"permissions":[{"role":"System Manager","read":1,"write":1,"create":1,"delete":1,"submit":1,"cancel":1},
			{"role":"All","read":1}]}`)
	path := "/api/resource/Order/" + s.create("admin", "Order", `{"item":"x"}`)["name"].(string)
	name := path[len("/api/resource/Order/"):]
	tests := []struct {
		name   string
		r      request
		status int
	}{
		{"Guest", request{path: path + "?run_method=submit"}, 403},
		{"Guest, unknown method", request{path: path + "?run_method=nothing"}, 403},
		{"a reader's POST", request{as: "web", verb: "POST", path: path, body: `{"run_method":"submit"}`}, 403},
		{"a reader's GET of what only writers may", request{as: "web", path: path + "?run_method=submit"}, 403},
		{"unknown", request{as: "admin", path: path + "?run_method=nothing"}, 404},
		{"not whitelisted", request{as: "admin", verb: "POST", path: path, body: `{"run_method":"on_update"}`}, 403},
		{"missing document", request{as: "admin", path: "/api/resource/Order/none?run_method=submit"}, 404},
		{"GET leaves nothing behind", request{as: "admin", path: path + "?run_method=submit"}, 200},
		{"cancel of a draft", request{as: "admin", verb: "POST", path: path, body: `{"run_method":"cancel"}`}, 417},
		{"submit", request{as: "admin", verb: "POST", path: path, body: `{"run_method":"submit"}`}, 200},
		{"run_doc_method, not whitelisted", request{as: "admin", verb: "POST", path: "/api/method/run_doc_method",
			body: `{"dt":"Order","dn":"` + name + `","method":"validate"}`}, 403},
		{"run_doc_method, stale", request{as: "admin", verb: "POST", path: "/api/method/run_doc_method",
			body: `{"docs":{"doctype":"Order","name":"` + name + `","modified":"2001-01-01 00:00:00"},"method":"cancel"}`}, 417},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.t = t
			a := s.do(tt.r).must(tt.status)
			if tt.status == 200 && a.data()["docstatus"] != 1.0 {
				t.Errorf("answered %s", a.text)
			}
		})
	}
	s.t = t
	a := s.do(request{as: "admin", verb: "POST", path: "/api/method/run_doc_method",
		body: `{"dt":"Order","dn":"` + name + `","method":"cancel"}`}).must(200)
	docs, _ := a.body["docs"].([]any)
	if len(docs) != 1 || docs[0].(map[string]any)["docstatus"] != 2.0 {
		t.Errorf("run_doc_method answered %s", a.text)
	}
	if _, there := a.body["message"]; there {
		t.Errorf("run_doc_method answered %s", a.text)
	}
}
