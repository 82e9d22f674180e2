package manifest

import (
	"reflect"
	"strings"
)

// LimitNames are the limits as a manifest names them.
func LimitNames() []string {
	var names []string
	for f := range reflect.TypeFor[Limits]().Fields() {
		names = append(names, limitName(f))
	}
	return names
}

// Field is the limit of a name; nil: there is none.
func (l *Limits) Field(name string) *int {
	for f, v := range reflect.ValueOf(l).Elem().Fields() {
		if limitName(f) == name {
			return v.Addr().Interface().(*int)
		}
	}
	return nil
}

func limitName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
