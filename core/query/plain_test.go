package query

import (
	"reflect"
	"testing"
)

// FuzzPlain: what plain reads, encoding/json reads as the same.
func FuzzPlain(f *testing.F) {
	for _, text := range []string{
		`["name","status"]`, `[["status","=","Open"],["idx",">",-12]]`, ` [ ] `, `[[[1]],true,false,null]`, `"x"`, `0`, `-0`, `01`, `-`, `1.5`, `1e3`,
		`[1,]`, `[,1]`, `["a" "b"]`, `[1 2]`, `nul`, `truex`, `["é"]`, `["\u0041"]`, `["`, `[`, ``, `[[[[[[[[[[1]]]]]]]]]]`, "[\"a\nb\"]", "[1]\x00", `{"a":1}`, `1]`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := plain(text)
		if !ok {
			return
		}
		want, valid := decodeAny(text)
		if !valid || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: read as %#v, encoding/json says %#v, %v", text, got, want, valid)
		}
	})
}

// TestPlainIsUsed keeps the arguments of a common list on the short way.
func TestPlainIsUsed(t *testing.T) {
	for _, text := range []string{`["name","status","priority"]`, `[["status", "=", "Open"], ["idx", ">", 3]]`, `[["a","in",["x","y"]],["b","=",null]]`} {
		if _, ok := plain(text); !ok {
			t.Errorf("%s takes the long way", text)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	const text = `[["status","=","Open"],["priority","in",["High","Low"]]]`
	for name, decode := range map[string]func(string) (any, bool){"plain": plain, "encoding/json": decodeAny} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				decode(text)
			}
		})
	}
}
