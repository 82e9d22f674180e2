package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"testing"
)

// everyType is a DocType with a field of every type that stores something.
const everyType = `{"name":"Every Type","module":"Custom","custom":1,"autoname":"hash","track_changes":1,"fields":[
	{"fieldname":"data","fieldtype":"Data"},{"fieldname":"mail","fieldtype":"Data","options":"Email"},{"fieldname":"url","fieldtype":"Data","options":"URL"},
	{"fieldname":"phone","fieldtype":"Data","options":"Phone"},{"fieldname":"person","fieldtype":"Data","options":"Name"},
	{"fieldname":"choice","fieldtype":"Select","options":"A\nB"},{"fieldname":"small","fieldtype":"Small Text"},{"fieldname":"rich","fieldtype":"Text Editor"},
	{"fieldname":"code","fieldtype":"Code"},{"fieldname":"whole","fieldtype":"Int"},{"fieldname":"long","fieldtype":"Long Int"},
	{"fieldname":"flag","fieldtype":"Check"},{"fieldname":"real","fieldtype":"Float"},{"fieldname":"money","fieldtype":"Currency","precision":"2"},
	{"fieldname":"rating","fieldtype":"Rating"},{"fieldname":"day","fieldtype":"Date"},{"fieldname":"moment","fieldtype":"Datetime"},
	{"fieldname":"clock","fieldtype":"Time"},{"fieldname":"json","fieldtype":"JSON"},{"fieldname":"secret","fieldtype":"Password"},
	{"fieldname":"link","fieldtype":"Link","options":"Priority"},{"fieldname":"rows","fieldtype":"Table","options":"Note Seen By"}],
	"permissions":[{"role":"System Manager","read":1,"write":1,"create":1,"delete":1}]}`

// FuzzInsert: no document makes the server fail, and a document that was stored
// is read as it was answered and can be put back as it was read.
func FuzzInsert(f *testing.F) {
	f.Add(`{"data":"x","mail":"a@b.c","url":"http://x/","choice":"A","whole":"3","flag":true,"real":1e300,"money":1.005,"rating":7}`)
	f.Add(`{"day":"2024-02-29","moment":"2024-02-29T23:59:59+05:30","clock":"7:08","json":{"a":[1,null]},"secret":"s","link":"High","rows":[{"user":"Guest"},{}]}`)
	f.Add(`{"whole":9223372036854775807,"long":-9223372036854775808,"real":-0.0,"data":"\ud800","code":"<script>"}`)
	f.Add(`{"rows":[{"name":"x"},{"name":"x"}],"name":"n","owner":"Guest","creation":"x","docstatus":0,"idx":"x"}`)
	f.Add(`{"rich":"<p onclick=x>\u2028</p>","small":[],"json":"{","moment":"0000-00-00","day":"9999-12-31","clock":"24:00"}`)
	f.Add(`{"moment":"9999-12-31T23:59:59-12:00","day":"0001-01-01","json":null,"rating":"x","docstatus":1}`)
	s := newSiteIn(f, f.TempDir())
	s.t = f
	s.create("admin", "DocType", everyType)
	const path = "/api/resource/Every%20Type"
	f.Fuzz(func(t *testing.T, body string) {
		s.t = t
		s.log.Reset()
		a := s.do(request{as: "admin", verb: http.MethodPost, path: path, body: body})
		if a.status >= 500 {
			t.Fatalf("%s: %d %s\n%s", body, a.status, a.text, s.log)
		}
		if a.status != 200 {
			return
		}
		answered := a.data()
		doc := path + "/" + url.PathEscape(answered["name"].(string))
		read := s.do(request{as: "admin", path: doc}).must(200).data()
		if !reflect.DeepEqual(read, answered) {
			t.Fatalf("%s:\nanswered %v\nread     %v", body, answered, read)
		}
		if !whole(read) {
			return
		}
		again, err := json.Marshal(read)
		if err != nil {
			t.Fatal(err)
		}
		put := s.do(request{as: "admin", verb: http.MethodPut, path: doc, body: string(again)}).must(200).data()
		delete(put, "modified")
		delete(read, "modified")
		if !reflect.DeepEqual(put, read) {
			t.Fatalf("%s:\nread      %v\nput again %v", body, read, put)
		}
	})
}

// whole reports whether every number came through a reader that, as this test,
// keeps numbers in floating point.
func whole(doc map[string]any) bool {
	for _, v := range doc {
		if n, ok := v.(float64); ok && (n > 1<<53 || n < -1<<53) {
			return false
		}
	}
	return true
}

// FuzzDefinition: no definition of a DocType makes the server fail, whatever it
// is made of.
func FuzzDefinition(f *testing.F) {
	f.Add(everyType)
	f.Add(`{"name":"T","custom":1,"module":"M","fields":[{"label":"Name","fieldtype":"Data","unique":1},{"fieldtype":"Section Break"}]}`)
	f.Add(`{"name":"T","custom":1,"module":"M","is_tree":1,"is_submittable":1,"issingle":1,"autoname":"field:x","fields":[{"fieldname":"x","fieldtype":"Table","options":"T"}]}`)
	f.Add(`{"name":"T","custom":1,"module":"M","autoname":"format:{","fields":[{"fieldname":"a","fieldtype":"Int","length":-1,"precision":"99","default":"x"}]}`)
	f.Add(`{"name":"T","custom":1,"module":"M","fields":[{"fieldname":"select","fieldtype":"Select","options":""}],"permissions":[{"role":"Guest","permlevel":99}]}`)
	f.Add(`{"name":"T","custom":1,"module":"M","table_name":"d_user","owner_fields":"x","public_field":"name","sort_field":"none","fields":null}`)
	s := newSiteIn(f, f.TempDir())
	s.t = f
	f.Fuzz(func(t *testing.T, body string) {
		s.t = t
		s.log.Reset()
		a := s.do(request{as: "admin", verb: http.MethodPost, path: "/api/resource/DocType", body: body})
		if a.status >= 500 {
			t.Fatalf("%s: %d %s\n%s", body, a.status, a.text, s.log)
		}
		if a.status != 200 {
			return
		}
		name := a.data()["name"].(string)
		for _, r := range []request{
			{as: "admin", verb: http.MethodPost, path: "/api/resource/" + url.PathEscape(name), body: `{"name":"x"}`},
			{as: "admin", path: "/api/resource/" + url.PathEscape(name)},
			{as: "admin", verb: http.MethodDelete, path: "/api/resource/DocType/" + url.PathEscape(name)},
		} {
			if a := s.do(r); a.status >= 500 {
				t.Fatalf("%s: %s: %d %s\n%s", body, r.path, a.status, a.text, s.log)
			}
		}
	})
}
