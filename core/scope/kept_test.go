package scope_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"armature/core/scope"
)

var words = []string{
	"all", "resource:*:read", "resource:*:write", "resource:ToDo:read", "resource:ToDo:submit", "resource:User:update", "method:*",
	"method:acme.*", "method:acme.a", "event:*.validate", "event:ToDo.validate", "sets:ToDo.validate:a", "public:ToDo", "elevated", "platform", "openid",
}

// answers are what a set says to everything there is to ask.
func answers(s *scope.Set) (all []string) {
	say := func(what string, yes bool) { all = append(all, fmt.Sprint(what, yes)) }
	for _, dt := range []string{"ToDo", "User", "Note"} {
		for _, right := range []scope.Right{scope.Read, scope.Create, scope.Update, scope.Delete, scope.Submit, scope.Write} {
			say(dt+right.String(), s.Document(dt, dt == "User", right))
		}
		say("owns "+dt, s.Owns(dt, "acme"))
		say("event "+dt, s.Event(dt, "validate", dt == "User"))
	}
	for _, path := range []string{"acme.a", "acme.b", "other", "framework.x"} {
		say(path, s.Method(path, false))
		say("named "+path, s.Method(path, true))
	}
	for _, word := range words {
		say("has "+word, s.Has(word))
	}
	return all
}

func anySet(t *testing.T, r *rand.Rand, plugin bool) *scope.Set {
	t.Helper()
	var texts []string
	var given []scope.Scope
	for range r.IntN(6) {
		text := words[r.IntN(len(words))]
		sc, err := scope.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		texts, given = append(texts, text), append(given, sc)
	}
	if !plugin {
		return scope.Token(texts...)
	}
	s := scope.Grants("acme", given...)
	if r.IntN(2) == 0 {
		s = s.Bringing("Note")
	}
	return s
}

// A set that was stored answers as it did, and one that is And another allows nothing
// that either does not.
func TestKept(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		plugin := r.IntN(2) == 0
		a, b := anySet(t, r, plugin), anySet(t, r, plugin)
		text, err := json.Marshal(a.Keep())
		if err != nil {
			t.Fatal(err)
		}
		var kept scope.Kept
		if err := json.Unmarshal(text, &kept); err != nil {
			t.Fatal(err)
		}
		of, again, beside, both := answers(a), answers(kept.Set()), answers(b), answers(a.And(b))
		for i := range of {
			if of[i] != again[i] {
				t.Fatalf("%s: %s before it was stored, %s after", text, of[i], again[i])
			}
			yes := func(s string) bool { return s[len(s)-4:] == "true" }
			if yes(both[i]) && !yes(of[i]) {
				t.Fatalf("%s and %v: %s", text, b.Keep(), both[i])
			}
			owned := len(b.Keep().Own) > 0 && of[i] != beside[i]
			if want := yes(of[i]) && yes(beside[i]); yes(both[i]) != want && !owned {
				t.Fatalf("%s and %v: %s, want %v", text, b.Keep(), both[i], want)
			}
		}
	}
}
