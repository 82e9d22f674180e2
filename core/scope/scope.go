// Package scope is the one language in which a caller is narrowed: by the
// scopes of a token and by the grants of a plugin.
//
//	resource:<DocType or *>:read|write|create|update|delete|submit
//	method:<path, prefix.* or *>
//	event:<DocType or *>.<event>
//	sets:<DocType>.<event>:<field>      what a handler of the event sets; * any field
//	public:<DocType>                    documents of it may be open to Guest or All
//	http_fetch, elevated, platform, ... capabilities, a word each
//
// A DocType in a scope may be percent-encoded, which a token has to do, since
// its scopes are separated by spaces (RFC 6749 section 3.3). write holds all the
// other rights; none of the narrower ones holds read.
//
// A Scope is one of them, a Set what is asked at every door. In a token * means
// everything. In a grant it leaves out the platform's own DocTypes and methods,
// which are reached by name alone.
package scope

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Right is a set of things that may be done to documents.
type Right uint8

// The rights. Submit is to submit, to cancel and to amend.
const (
	Read Right = 1 << iota
	Create
	Update
	Delete
	Submit

	Write = Read | Create | Update | Delete | Submit
)

// access lists the words for rights, as they are written in a scope.
var access = []struct {
	word  string
	right Right
}{
	{"read", Read}, {"write", Write}, {"create", Create}, {"update", Update}, {"delete", Delete}, {"submit", Submit},
}

// String is the right as it is written in a scope; several that make no word of
// their own are joined by commas.
func (r Right) String() string {
	var words []string
	for _, a := range access {
		if a.right == r {
			return a.word
		}
		if a.right != Write && r&a.right != 0 {
			words = append(words, a.word)
		}
	}
	return strings.Join(words, ",")
}

// Kind is what a Scope is about.
type Kind uint8

// The kinds.
const (
	Capability Kind = iota // a word, Name; in a token any text that is none of the others
	All                    // every document and method; tokens only
	Resource               // Right on documents of the DocType Name
	Method                 // calling Name
	Event                  // the event Event of documents of the DocType Name
	Sets                   // setting Field at the Event of documents of the DocType Name
	Public                 // opening documents of the DocType Name to Guest or All
)

// Any is the name that stands for all DocTypes, or all methods.
const Any = "*"

// Scope is one entry of a token's scopes or a plugin's grants.
type Scope struct {
	Kind  Kind
	Name  string // DocType, path, prefix.* or capability; Any
	Right Right  // of a Resource
	Event string // of an Event and of Sets
	Field string // of Sets: a field, table.field or Any
}

// Parse reads one entry. The error says what is wrong with one that begins as a
// resource:, method:, event: or public: and is none.
func Parse(text string) (Scope, error) {
	kind, rest, ok := strings.Cut(text, ":")
	switch {
	case text == "all":
		return Scope{Kind: All}, nil
	case ok && kind == "resource":
		return parseResource(rest)
	case ok && kind == "method":
		if rest == "" {
			return Scope{}, fmt.Errorf("method: expected a path, a prefix and .*, or *")
		}
		return Scope{Kind: Method, Name: rest}, nil
	case ok && kind == "event":
		return parseEvent(rest)
	case ok && kind == "sets":
		at := strings.LastIndexByte(rest, ':')
		if at <= 0 || at == len(rest)-1 {
			return Scope{}, fmt.Errorf("sets: expected sets:<DocType>.<event>:<field>")
		}
		s, err := parseEvent(rest[:at])
		s.Kind, s.Field = Sets, rest[at+1:]
		return s, err
	case ok && kind == "public":
		name, err := doctype(rest)
		return Scope{Kind: Public, Name: name}, err
	}
	return Scope{Kind: Capability, Name: text}, nil
}

func parseResource(text string) (Scope, error) {
	at := strings.LastIndexByte(text, ':') // a DocType's name may hold a colon
	if at <= 0 {
		return Scope{}, fmt.Errorf("resource: expected resource:<DocType>:read")
	}
	name, err := doctype(text[:at])
	if err != nil {
		return Scope{}, err
	}
	for _, a := range access {
		if a.word == text[at+1:] {
			return Scope{Kind: Resource, Name: name, Right: a.right}, nil
		}
	}
	return Scope{}, fmt.Errorf("resource: expected read, write, create, update, delete or submit, found %q", text[at+1:])
}

func parseEvent(text string) (Scope, error) {
	at := strings.LastIndexByte(text, '.') // an event has no dot in its name
	if at <= 0 || at == len(text)-1 {
		return Scope{}, fmt.Errorf("event: expected event:<DocType>.<event>")
	}
	name, err := doctype(text[:at])
	return Scope{Kind: Event, Name: name, Event: text[at+1:]}, err
}

func doctype(text string) (string, error) {
	name, err := url.PathUnescape(text)
	if err != nil || name == "" {
		return "", fmt.Errorf("expected the name of a DocType, found %q", text)
	}
	return name, nil
}

// Of is the scope of a right on a DocType, Methods that of a path, Handler that
// of an event.
func Of(doctype string, right Right) Scope { return Scope{Kind: Resource, Name: doctype, Right: right} }

// Methods is the scope of a path.
func Methods(path string) Scope { return Scope{Kind: Method, Name: path} }

// Handler is the scope of an event of a DocType.
func Handler(doctype, event string) Scope { return Scope{Kind: Event, Name: doctype, Event: event} }

// String is the scope as a grant spells it, with the DocType as people write it.
func (s Scope) String() string {
	switch s.Kind {
	case All:
		return "all"
	case Resource:
		return "resource:" + s.Name + ":" + s.Right.String()
	case Method:
		return "method:" + s.Name
	case Event:
		return "event:" + s.Name + "." + s.Event
	case Sets:
		return "sets:" + s.Name + "." + s.Event + ":" + s.Field
	case Public:
		return "public:" + s.Name
	}
	return s.Name
}

// Token is the scope as a token spells it: without spaces.
func (s Scope) Token() string {
	if s.Kind == Resource && s.Name != Any {
		s.Name = url.PathEscape(s.Name)
	}
	return s.String()
}

// Wild reports whether the scope stands for more than what it names.
func (s Scope) Wild() bool {
	return s.Kind == All || (s.Kind == Resource || s.Kind == Event || s.Kind == Sets) && s.Name == Any ||
		s.Kind == Method && strings.HasSuffix(s.Name, Any)
}

// Covers reports whether whoever has s has other too, as tokens read it.
func (s Scope) Covers(other Scope) bool {
	if s == other {
		return true
	}
	switch s.Kind {
	case All:
		return other.Kind == Resource || other.Kind == Method
	case Resource:
		return other.Kind == Resource && (s.Name == Any || s.Name == other.Name) && s.Right&other.Right == other.Right
	case Method:
		prefix, wild := strings.CutSuffix(s.Name, Any)
		return other.Kind == Method && wild && strings.HasPrefix(other.Name, prefix)
	case Event:
		return other.Kind == Event && s.Event == other.Event && s.Name == Any
	case Sets:
		return other.Kind == Sets && s.Event == other.Event && s.Name == other.Name && s.Field == Any
	}
	return false
}

// Covered reports whether one of the scopes covers wanted, all of them texts. It
// lets a client ask for less than it could have.
func Covered(scopes []string, wanted string) bool {
	if slices.Contains(scopes, wanted) {
		return true
	}
	w, err := Parse(wanted)
	return err == nil && slices.ContainsFunc(scopes, func(text string) bool {
		s, err := Parse(text)
		return err == nil && s.Covers(w)
	})
}
