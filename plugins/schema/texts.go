package schema

import (
	"slices"

	"armature/core/method"
)

// AdmitsTexts reports whether arguments that are all text, each name once, are
// what is declared just as they are: Convert changes none of them, and Check
// passes them. It needs no map of them, which is why it is asked first. False
// means only that Convert and Check have to tell.
func (s *Schema) AdmitsTexts(args []method.Text) bool {
	if s == nil {
		return true
	}
	if s.never || s.enum != nil || len(s.types) > 0 && !s.admits("object") {
		return false
	}
	missing := len(s.required)
	for _, arg := range args {
		sub, declared := s.properties[arg.Name]
		if !declared {
			sub = s.additional
		}
		if !sub.admitsText(arg.Value) {
			return false
		}
		if slices.Contains(s.required, arg.Name) {
			missing--
		}
	}
	return missing == 0
}

func (s *Schema) admitsText(text string) bool {
	if s == nil {
		return true
	}
	if s.never || s.enum != nil || len(s.types) > 0 && !s.admits("string") {
		return false
	}
	return s.checkText(text, "") == nil
}
