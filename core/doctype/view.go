package doctype

// View says which fields of a document a caller sees, and how.
type View struct {
	Levels   uint16 // permission levels readable, as bits
	WithNull bool   // keep keys whose value is null
}

// Shows reports whether a field is among what is seen.
func (v View) Shows(f *Field) bool { return v.Levels&(1<<f.PermLevel) != 0 && !f.IsInternal() }
