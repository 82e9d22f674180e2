package main

import (
	"fmt"
	"math/rand/v2"
	"net/url"
)

// bench is one kind of request, as either server takes it.
type bench struct {
	name     string
	armature request
	bare     request
}

// target is what the requests are about.
type target struct {
	auth string   // credentials for armature
	ours []string // names of its documents
	bare []string // and of the bare server's
}

// benches are the cases, the reading ones first: what they measure must not
// depend on how much the writing ones have written.
func benches(t target) []bench {
	list := "/api/resource/ToDo?" + url.Values{
		"fields":   {`["name","status","priority","description"]`},
		"filters":  {`[["status","=","Open"]]`},
		"order_by": {"modified desc"},
		"limit":    {"20"},
	}.Encode()
	created := []byte(`{"description": "a document that a benchmark made", "priority": "High"}`)
	changed := func(n int) []byte { return fmt.Appendf(nil, `{"description": "changed %d times"}`, n) }
	return []bench{
		{
			"read one",
			func(int, int) []byte { return plain("GET", "/api/resource/ToDo/"+pick(t.ours), t.auth, nil) },
			func(int, int) []byte { return plain("GET", "/todo/"+pick(t.bare), "", nil) },
		},
		{
			"list 20, filtered and sorted",
			func(int, int) []byte { return plain("GET", list, t.auth, nil) },
			func(int, int) []byte { return plain("GET", "/todo", "", nil) },
		},
		{
			"plugin method that reads one",
			func(int, int) []byte {
				return plain("GET", "/api/method/acme.todo.show?name="+pick(t.ours), t.auth, nil)
			},
			func(int, int) []byte { return plain("GET", "/todo/"+pick(t.bare), "", nil) },
		},
		{
			"create",
			func(int, int) []byte { return plain("POST", "/api/resource/ToDo", t.auth, created) },
			func(int, int) []byte { return plain("POST", "/todo", "", created) },
		},
		{
			"update",
			func(_, n int) []byte { return plain("PUT", "/api/resource/ToDo/"+pick(t.ours), t.auth, changed(n)) },
			func(_, n int) []byte { return plain("PUT", "/todo/"+pick(t.bare), "", changed(n)) },
		},
	}
}

func pick(names []string) string { return names[rand.IntN(len(names))] }
