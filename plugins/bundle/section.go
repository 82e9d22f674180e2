package bundle

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// The eight bytes a module begins with, and those of a component, which is what
// some toolchains make unless told otherwise.
var (
	moduleHeader    = []byte("\x00asm\x01\x00\x00\x00")
	componentHeader = []byte("\x00asm\x0d\x00\x01\x00")
)

const customID = 0

var errCutOff = errors.New("not a whole WebAssembly module: it is cut off")

// section is one section: its bytes from the id on, and for a custom section its
// name and content.
type section struct {
	raw     []byte
	custom  bool
	name    string
	content []byte
}

// sections calls yield for every section in order until it returns false.
func sections(wasm []byte, yield func(section) bool) error {
	switch {
	case bytes.HasPrefix(wasm, componentHeader):
		return errors.New("this is a component (WASI preview 2); a core module is needed: build for wasm32-unknown-unknown or wasm32-wasip1 (wasm32-wasi), in TinyGo -target=wasip1")
	case len(wasm) < len(moduleHeader) && bytes.HasPrefix(moduleHeader, wasm):
		return errCutOff
	case !bytes.HasPrefix(wasm, moduleHeader):
		return errors.New("not a WebAssembly module")
	}
	for rest := wasm[len(moduleHeader):]; len(rest) > 0; {
		s, err := next(rest)
		if err != nil {
			return err
		}
		if !yield(s) {
			return nil
		}
		rest = rest[len(s.raw):]
	}
	return nil
}

// next reads the section at the start of b.
func next(b []byte) (section, error) {
	size, n, err := length(b[1:])
	if err != nil {
		return section{}, err
	}
	start := 1 + n
	if size > len(b)-start {
		return section{}, errCutOff
	}
	s := section{raw: b[:start+size], custom: b[0] == customID}
	if !s.custom {
		return s, nil
	}
	payload := s.raw[start:]
	size, n, err = length(payload)
	if err != nil || size > len(payload)-n {
		return section{}, errors.New("not a valid WebAssembly module: a custom section's name is longer than the section")
	}
	s.name, s.content = string(payload[n:n+size]), payload[n+size:]
	return s, nil
}

// length reads an unsigned LEB128 number of 32 bits and says how many bytes it
// takes.
func length(b []byte) (value, n int, err error) {
	v, n := binary.Uvarint(b[:min(len(b), 5)])
	switch {
	case n == 0 && len(b) < 5:
		return 0, 0, errCutOff
	case n <= 0 || v > math.MaxUint32:
		return 0, 0, errors.New("not a valid WebAssembly module: a length over 32 bits")
	}
	return int(v), n, nil
}

// Section returns the content of the custom section of that name. Two of them
// are an error: readers would differ on which one counts.
func Section(wasm []byte, name string) (content []byte, ok bool, err error) {
	twice := false
	err = sections(wasm, func(s section) bool {
		if s.custom && s.name == name {
			twice = ok
			content, ok = s.content, true
		}
		return !twice
	})
	switch {
	case err != nil:
		return nil, false, err
	case twice:
		return nil, false, fmt.Errorf("the module has the section %s twice", name)
	}
	return content, ok, nil
}

// strip returns the module without the custom sections of those names; the same
// slice when it has none.
func strip(wasm []byte, names ...string) ([]byte, error) {
	out, found := make([]byte, 0, len(wasm)), false
	out = append(out, moduleHeader...)
	err := sections(wasm, func(s section) bool {
		if s.custom && slices.Contains(names, s.name) {
			found = true
		} else {
			out = append(out, s.raw...)
		}
		return true
	})
	switch {
	case err != nil:
		return nil, err
	case !found:
		return wasm, nil
	}
	return out, nil
}

// appendCustom returns module with a custom section at its end.
func appendCustom(module []byte, name string, content []byte) []byte {
	payload := binary.AppendUvarint(nil, uint64(len(name)))
	payload = append(payload, name...)
	payload = append(payload, content...)
	out := make([]byte, 0, len(module)+len(payload)+6)
	out = append(out, module...)
	out = append(out, customID)
	out = binary.AppendUvarint(out, uint64(len(payload)))
	return append(out, payload...)
}
