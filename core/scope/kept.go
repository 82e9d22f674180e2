package scope

import "slices"

// Kept is a Set in a form that can be stored.
type Kept struct {
	Plugin string   `json:"plugin,omitempty"` // whose grants these are; empty: a token's scopes
	Scopes []string `json:"scopes"`
	Own    []string `json:"own,omitempty"` // DocTypes that the plugin brings
}

// Keep is the set in that form. Of one that is And another it is the first alone.
func (s *Set) Keep() Kept { return Kept{s.plugin, slices.Clone(s.texts), slices.Clone(s.own)} }

// Set is the set that was kept. What is no scope any more allows nothing.
func (k Kept) Set() *Set {
	if k.Plugin == "" {
		return Token(k.Scopes...)
	}
	var given []Scope
	for _, text := range k.Scopes {
		if sc, err := Parse(text); err == nil {
			given = append(given, sc)
		}
	}
	return Grants(k.Plugin, given...).Bringing(k.Own...)
}

// And is what s and other allow both; nil allows everything. It is the set of whose
// s is.
func (s *Set) And(other *Set) *Set {
	if other == nil {
		return s
	}
	both := *s
	if s.also != nil {
		other = s.also.And(other)
	}
	both.also = other
	return &both
}
