package hostapi

import "testing"

// keys are requests, and whether plainKey reads them by itself.
var keys = []struct {
	request string
	plain   bool
}{
	{`{"doctype":"ToDo","name":"a1"}`, true},
	{`{"name":"a1","doctype":"ToDo"}`, true},
	{`{"doctype":"ToDo","name":"Zoë / ü"}`, true},
	{`{"doctype":"","name":""}`, true},
	{`{"doctype":"A","doctype":"B"}`, true}, // the last one counts
	{`{"doctype": "ToDo", "name": "a1"}`, false},
	{`{"doctype":"ToDo","name":"a\"1"}`, false},
	{`{"doctype":"ToDo","name":"\u00fc"}`, false},
	{"{\"doctype\":\"ToDo\",\"name\":\"a\n\"}", false},
	{"{\"doctype\":\"ToDo\",\"name\":\"\xff\"}", false},
	{`{"DocType":"ToDo","name":"a1"}`, false},
	{`{"doctype":"ToDo","name":7}`, false},
	{`{"doctype":"ToDo","name":null}`, false},
	{`{"doctype":"ToDo","name":"a1","more":[1]}`, false},
	{`{"doctype":"ToDo"}`, false},
	{`{"doctype":"ToDo",}`, false},
	{`{"doctype":"ToDo","name":"a1"} `, false},
	{`{"doctype":"ToDo","name":"a1"}}`, false},
	{`{"doctype":"ToDo","name":"a1"`, false},
	{`{"doctype":"ToDo"`, false},
	{`{"doctype":"ToDo`, false},
	{`{`, false},
	{``, false},
	{`null`, false},
	{`[]`, false},
}

func TestPlainKey(t *testing.T) {
	for _, tt := range keys {
		if _, ok := plainKey([]byte(tt.request)); ok != tt.plain {
			t.Errorf("%s: plain is %v", tt.request, ok)
		}
		likeDecode(t, []byte(tt.request))
	}
}

// FuzzPlainKey: what plainKey reads, decode reads as well, and the same.
func FuzzPlainKey(f *testing.F) {
	for _, tt := range keys {
		f.Add([]byte(tt.request))
	}
	f.Fuzz(likeDecode)
}

func likeDecode(t *testing.T, request []byte) {
	got, ok := plainKey(request)
	if !ok {
		return
	}
	var want key
	if err := decode("doc_get", request, &want); err != nil {
		t.Fatalf("%q is read as %+v, and decode says %v", request, got, err)
	}
	if got != want {
		t.Fatalf("%q is read as %+v, and by decode as %+v", request, got, want)
	}
}
