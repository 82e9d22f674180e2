package scope_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"armature/core/scope"
)

var (
	doctypes = []string{"ToDo", "Sales Order", "A:B", "User", "*"}
	paths    = []string{"acme.todo.close", "acme.todo.*", "acme.*", "framework.ping", "*", "acme.todo"}
	rights   = []scope.Right{scope.Read, scope.Create, scope.Update, scope.Delete, scope.Submit, scope.Write}
	moments  = []string{"validate", "on_trash"}
)

func arbitrary(r *rand.Rand) scope.Scope {
	switch r.IntN(4) {
	case 0:
		return scope.Methods(paths[r.IntN(len(paths))])
	case 1:
		return scope.Handler(doctypes[r.IntN(len(doctypes))], moments[r.IntN(len(moments))])
	case 2:
		return scope.Scope{Name: "elevated"}
	}
	return scope.Of(doctypes[r.IntN(len(doctypes))], rights[r.IntN(len(rights))])
}

// oracle asks the texts of the scopes, one after another.
type oracle struct {
	texts []string
	grant bool
}

func (o oracle) document(doctype string, platform bool, want string) bool {
	return slices.ContainsFunc(o.texts, func(text string) bool {
		for _, word := range []string{want, "write"} {
			if text == "resource:"+doctype+":"+word || text == "resource:*:"+word && !(platform && o.grant) || text == "all" && !o.grant {
				return true
			}
		}
		return false
	})
}

func (o oracle) method(path string, named bool) bool {
	return slices.ContainsFunc(o.texts, func(text string) bool {
		if text == "method:"+path || text == "all" && !o.grant {
			return true
		}
		prefix, wild := strings.CutSuffix(text, "*")
		return wild && !(named && o.grant) && strings.HasPrefix("method:"+path, prefix) && strings.HasPrefix(prefix, "method:")
	})
}

func (o oracle) event(doctype, event string, platform bool) bool {
	return slices.Contains(o.texts, "event:"+doctype+"."+event) || !platform && slices.Contains(o.texts, "event:*."+event)
}

// TestSet: a Set answers what one would by looking at each scope.
func TestSet(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var scopes []scope.Scope
		var texts []string
		for range r.IntN(5) {
			s := arbitrary(r)
			scopes, texts = append(scopes, s), append(texts, s.String())
		}
		if r.IntN(10) == 0 {
			scopes, texts = append(scopes, scope.Scope{Kind: scope.All}), append(texts, "all")
		}
		grant := r.IntN(2) == 0
		set := scope.Token(texts...)
		if grant {
			set = scope.Grants("acme.todo", scopes...)
		}
		o := oracle{texts, grant}
		for _, doctype := range doctypes[:4] {
			for _, right := range rights[:5] {
				for _, platform := range []bool{false, true} {
					if got, want := set.Document(doctype, platform, right), o.document(doctype, platform, right.String()); got != want {
						t.Fatalf("%v: %s %v (platform %t, grant %t): %t, want %t", texts, doctype, right, platform, grant, got, want)
					}
				}
			}
			for _, event := range moments {
				if grant && set.Event(doctype, event, doctype == "User") != o.event(doctype, event, doctype == "User") {
					t.Fatalf("%v: %s.%s", texts, doctype, event)
				}
			}
		}
		for _, path := range []string{"acme.todo.close", "acme.other.close", "framework.ping", "acme"} {
			for _, named := range []bool{false, true} {
				if got, want := set.Method(path, named), o.method(path, named); got != want {
					t.Fatalf("%v: %s (named %t, grant %t): %t, want %t", texts, path, named, grant, got, want)
				}
			}
		}
	}
}

// TestCovers: what one scope covers, a set of it allows.
func TestCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		s, other := arbitrary(r), arbitrary(r)
		if !s.Covers(other) {
			continue
		}
		set := scope.Token(s.String())
		switch {
		case other.Kind == scope.Resource && other.Name != scope.Any && !set.Document(other.Name, false, other.Right),
			other.Kind == scope.Method && !other.Wild() && !set.Method(other.Name, false):
			t.Fatalf("%s covers %s and does not allow it", s, other)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"resource:Sales%20Order:read": "resource:Sales Order:read",
		"resource:A:B:write":          "resource:A:B:write",
		"event:A.B.validate":          "event:A.B.validate",
		"method:*":                    "method:*",
		"public:Page":                 "public:Page",
		"elevated":                    "elevated",
	} {
		s, err := scope.Parse(text)
		if err != nil || s.String() != want {
			t.Errorf("%s: %v %v", text, s, err)
			continue
		}
		if again, err := scope.Parse(s.Token()); err != nil || again != s {
			t.Errorf("%s: as a token %s: %v %v", text, s.Token(), again, err)
		}
		if s.Words(false) == "" || s.Words(true) == s.Words(false) {
			t.Errorf("%s: in words %q", text, s.Words(true))
		}
	}
	for _, text := range []string{"resource:", "resource:ToDo", "resource:ToDo:", "resource:ToDo:all", "resource::read", "resource:%zz:read", "event:ToDo", "event:.validate", "event:ToDo.", "method:", "public:"} {
		if s, err := scope.Parse(text); err == nil {
			t.Errorf("%s is read as %+v", text, s)
		}
	}
}

// TestNothing: asking a set takes no memory.
func TestNothing(t *testing.T) {
	set := scope.Grants("acme.todo", scope.Of("ToDo", scope.Write), scope.Methods("acme.*"))
	if n := testing.AllocsPerRun(100, func() {
		set.Document("ToDo", false, scope.Read)
		set.Method("acme.todo.close", false)
		set.Event("ToDo", "validate", false)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
