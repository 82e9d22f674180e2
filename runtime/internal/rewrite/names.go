package rewrite

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

const maxNameLength = 200

// functionNames reads the function names out of a name section. Names are
// advice: what cannot be read is left out, and nothing here fails.
func functionNames(section []byte) (names map[uint32]string) {
	names = map[uint32]string{}
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(malformed); !ok {
				panic(r)
			}
		}
	}()
	r := &reader{b: section, what: "name section"}
	for r.more() {
		id := r.byte()
		sub := &reader{b: r.bytes(r.u32()), what: "name section"}
		if id != 1 {
			continue
		}
		for range sub.count() {
			i := sub.u32()
			names[i] = unmangled(tidy(sub.bytes(sub.u32())))
		}
	}
	return names
}

// escapes are how Rust writes what linkers do not take in a name.
var escapes = strings.NewReplacer("$LT$", "<", "$GT$", ">", "$RF$", "&", "$BP$", "*", "$C$", ",", "$LP$", "(", "$RP$", ")",
	"$u20$", " ", "$u27$", "'", "$u7b$", "{", "$u7d$", "}", "$u5b$", "[", "$u5d$", "]", "..", "::")

// unmangled is the path of a function in Rust, which compilers put into names as
// _ZN, each part behind its length, a part made of a hash, and E. Any other name
// stays as it is.
func unmangled(name string) string {
	rest, ok := strings.CutPrefix(name, "_ZN")
	if !ok {
		return name
	}
	var parts []string
	for rest != "E" {
		digits := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
		if digits < 1 {
			return name
		}
		n, err := strconv.Atoi(rest[:digits])
		if err != nil || n > len(rest)-digits {
			return name
		}
		part := rest[digits : digits+n]
		if strings.HasPrefix(part, "_$") {
			part = part[1:] // an identifier begins with no sign
		}
		parts, rest = append(parts, part), rest[digits+n:]
	}
	last := len(parts) - 1
	if last < 1 || len(parts[last]) != 17 || parts[last][0] != 'h' {
		return name // of C++, or what not
	}
	return escapes.Replace(strings.Join(parts[:last], "::"))
}

// tidy makes a name fit for logs: one line, valid, not endless.
func tidy(b []byte) string {
	if len(b) > maxNameLength {
		b = b[:maxNameLength]
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return '?'
		}
		return r
	}, string(b))
}

// writeNames writes a name section that names every function, so that no stack
// trace shows a number that our own functions have shifted.
func (m *module) writeNames() []byte {
	exported := map[uint32]string{}
	for _, x := range m.exports {
		if x.kind == 0 {
			exported[x.idx] = tidy([]byte(x.name))
		}
	}
	n := len(m.imports) + len(m.funcs)
	b := putU(nil, uint64(n+m.added()))
	for i := range uint32(n) {
		name := m.names[i]
		if name == "" {
			name = exported[i]
		}
		if name == "" {
			name = fmt.Sprintf("function %d", i)
		}
		b = putName(putU(b, uint64(m.shifted(i))), name)
	}
	for h, name := range [helperCount]string{"charge", "memory.fill", "memory.copy"} {
		b = putName(putU(b, uint64(m.helper(h))), name)
	}
	for i := range m.detours {
		b = putName(putU(b, uint64(m.helper(helperCount+i))), DetourName)
	}
	return append(putName(nil, "name"), putBytes([]byte{1}, b)...)
}
