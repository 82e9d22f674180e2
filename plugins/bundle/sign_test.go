package bundle_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"armature/plugins/bundle"
	"armature/plugins/publisher"
)

// custom is a custom section of a module.
func custom(name string, content []byte) []byte {
	payload := append(binary.AppendUvarint(nil, uint64(len(name))), name...)
	payload = append(payload, content...)
	return append(binary.AppendUvarint([]byte{0}, uint64(len(payload))), payload...)
}

// TestSign: a signature fits the plugin, the name, the version and the bytes that
// were signed, and nothing else.
func TestSign(t *testing.T) {
	key := func() publisher.Secret {
		text, _, err := publisher.Generate("")
		if err != nil {
			t.Fatal(err)
		}
		secret, err := publisher.Open(text, "")
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}
	acme, other := key(), key()
	build := func(name, version string, extra ...[]byte) []byte {
		module := slices.Concat([]byte("\x00asm\x01\x00\x00\x00"), slices.Concat(extra...))
		whole, err := bundle.Embed(module, []byte(`{"name":"`+name+`","version":"`+version+`","abi":1}`))
		if err != nil {
			t.Fatal(err)
		}
		return whole
	}
	sign := func(wasm []byte, by publisher.Secret) []byte {
		signed, err := bundle.Sign(wasm, by)
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
	section := func(wasm []byte) []byte {
		text, ok, err := bundle.Section(wasm, publisher.Section)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		return text
	}
	with := func(wasm, signature []byte) []byte {
		return append(slices.Clone(wasm), custom(publisher.Section, signature)...)
	}

	plain := build("acme.a", "1.0.0", custom("code", []byte("one")))
	good := sign(plain, acme)
	b, err := bundle.Parse(good)
	if err != nil || !b.Signature.Verifies || b.Signature.Key != acme.Public() || b.Signature.Publisher() != acme.Public() {
		t.Fatalf("%+v %v", b, err)
	}
	unsigned, err := bundle.Parse(plain)
	if err != nil || unsigned.Signature.Signed() || unsigned.Signature.Publisher() != publisher.Nobody {
		t.Fatalf("%+v %v", unsigned, err)
	}
	if unsigned.Hash == b.Hash || !bytes.Equal(unsigned.Module, b.Module) {
		t.Error("the signature has to be part of the hash, and none of the module")
	}
	if again := sign(good, other); !bytes.Equal(section(again), section(sign(plain, other))) {
		t.Error("signing again does not replace the signature")
	}

	text := string(section(good))
	swapped := strings.Join(append(strings.SplitAfter(string(section(sign(plain, other))), "\n")[:2], strings.SplitAfter(text, "\n")[2:]...), "")
	comment := strings.Replace(text, "1.0.0", "9.0.0", 1)
	for name, wasm := range map[string][]byte{
		"a byte of the module":           with(build("acme.a", "1.0.0", custom("code", []byte("two"))), section(good)),
		"a section more":                 with(build("acme.a", "1.0.0", custom("code", []byte("one")), custom("more", nil)), section(good)),
		"the name":                       with(build("acme.b", "1.0.0", custom("code", []byte("one"))), section(good)),
		"the version":                    with(build("acme.a", "2.0.0", custom("code", []byte("one"))), section(good)),
		"the manifest":                   with(build("acme.a", `1.0.0","description":"x`, custom("code", []byte("one"))), section(good)),
		"the signature of another":       with(plain, section(sign(build("acme.b", "1.0.0", custom("code", []byte("one"))), acme))),
		"another key before it":          with(plain, []byte(swapped)),
		"another comment that is signed": with(plain, []byte(comment)),
		"no signature at all":            with(plain, nil),
		"the key alone":                  with(plain, []byte(strings.Join(strings.SplitAfter(text, "\n")[:2], ""))),
		"a megabyte of it":               with(plain, bytes.Repeat([]byte("x\n"), 1<<19)),
	} {
		b, err := bundle.Parse(wasm)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if b.Signature.Verifies || b.Signature.Err() == nil || b.Signature.Publisher() != publisher.Nobody {
			t.Errorf("%s was changed, and the signature verifies: %+v", name, b.Signature)
		}
	}
	if b, err := bundle.Parse(with(good, section(good))); err == nil {
		t.Errorf("a signature twice: %+v", b.Signature)
	}
}
