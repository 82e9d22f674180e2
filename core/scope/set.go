package scope

import (
	"slices"
	"strings"
)

// Set answers whether something is allowed by a token, or in the frame of a
// plugin. It is made once and never changes; asking it takes no memory.
type Set struct {
	plugin   string // whose grants these are; empty: a token's scopes
	all      bool
	every    Right            // of resource:*
	doctypes map[string]Right // by name
	methods  map[string]bool
	prefixes []string // of methods
	events   map[moment]bool
	own      []string        // DocTypes the plugin brings
	words    map[string]bool // capabilities, and whatever else a token names
	texts    []string        // what the set was made of
	also     *Set            // has to allow it as well; nil: nobody else
}

// Bringing adds the DocTypes that the plugin brings, to which it has every right,
// as long as they are its own: what a plugin calls its own may have been there.
func (s *Set) Bringing(doctypes ...string) *Set {
	s.own = doctypes
	return s
}

// Owns reports whether a DocType is one the plugin brings: module is the one of a
// DocType made at run time, which for those is the plugin's name.
func (s *Set) Owns(doctype, module string) bool {
	return s.plugin != "" && module == s.plugin && slices.Contains(s.own, doctype) && (s.also == nil || slices.Contains(s.also.own, doctype))
}

type moment struct{ doctype, event string }

// Token is the set of a token's scopes. What is no scope of this language stands
// for itself, to be asked for by Has.
func Token(scopes ...string) *Set {
	s := newSet("")
	for _, text := range scopes {
		if sc, err := Parse(text); err == nil {
			s.add(sc)
		}
		s.words[text] = true
	}
	s.texts = slices.Clone(scopes)
	return s
}

// Grants is the set of what a plugin was given.
func Grants(plugin string, given ...Scope) *Set {
	s := newSet(plugin)
	for _, sc := range given {
		s.add(sc)
		s.texts = append(s.texts, sc.String())
	}
	s.all = false // a token's word
	return s
}

func newSet(plugin string) *Set {
	return &Set{
		plugin: plugin, doctypes: map[string]Right{}, methods: map[string]bool{}, events: map[moment]bool{}, words: map[string]bool{},
	}
}

func (s *Set) add(sc Scope) {
	switch sc.Kind {
	case All:
		s.all = true
	case Resource:
		if sc.Name == Any {
			s.every |= sc.Right
		} else {
			s.doctypes[sc.Name] |= sc.Right
		}
	case Method:
		if prefix, wild := strings.CutSuffix(sc.Name, Any); wild {
			s.prefixes = append(s.prefixes, prefix)
		} else {
			s.methods[sc.Name] = true
		}
	case Event:
		s.events[moment{sc.Name, sc.Event}] = true
	case Capability:
		s.words[sc.Name] = true
	case Sets:
		s.words[sc.String()] = true
	}
}

// Plugin is whose grants the set holds; empty for a token's scopes.
func (s *Set) Plugin() string { return s.plugin }

// Document reports whether the set allows all of right on documents of a DocType,
// one of the platform's own or not.
func (s *Set) Document(doctype string, platform bool, right Right) bool {
	if s.also != nil && !s.also.Document(doctype, platform, right) && !slices.Contains(s.also.own, doctype) {
		return false
	}
	if s.all {
		return true
	}
	have := s.every
	if platform && s.plugin != "" {
		have = 0
	}
	return have&right == right || (have|s.doctypes[doctype])&right == right
}

// Names reports whether the set allows right on the DocType by its name, not by
// a wildcard.
func (s *Set) Names(doctype string, right Right) bool { return s.doctypes[doctype]&right == right }

// Method reports whether the set allows calling a path. One that is named must
// be in the set by itself, where it is a plugin's: no prefix covers it.
func (s *Set) Method(path string, named bool) bool {
	if s.also != nil && !s.also.Method(path, named) {
		return false
	}
	if s.all || s.methods[path] {
		return true
	}
	if named && s.plugin != "" {
		return false
	}
	for _, prefix := range s.prefixes {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}

// Event reports whether the set holds an event of a DocType, one of the
// platform's own or not.
func (s *Set) Event(doctype, event string, platform bool) bool {
	if s.also != nil && !s.also.Event(doctype, event, platform) {
		return false
	}
	return s.events[moment{doctype, event}] || !platform && s.events[moment{Any, event}]
}

// Has reports whether the set names a capability, or in a token any scope
// literally.
func (s *Set) Has(word string) bool { return s.words[word] && (s.also == nil || s.also.Has(word)) }
