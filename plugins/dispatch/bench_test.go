package dispatch_test

import (
	"testing"

	"armature/core/identity"
	"armature/core/method"
)

// BenchmarkCall is what a request pays for its method, from the registry to the
// JSON of the result: an echo, and a write in a transaction of its own.
func BenchmarkCall(b *testing.B) {
	s := newSite(b).with(todo)
	name := s.mustInsert("ToDo", m{"description": "Call Zoë"})
	for _, bb := range []struct{ name, verb, path string }{
		{"echo", "GET", "acme.todo.echo"},
		{"summary", "GET", "acme.todo.summary"},
		{"close", "POST", "acme.todo.close"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			args, err := method.ArgsJSON([]byte(`{"name":"` + name + `"}`))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				_, err := s.methods.Run(b.Context(), method.Invocation{
					Path: bb.path, Verb: bb.verb, Caller: identity.Root(), Args: args,
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
