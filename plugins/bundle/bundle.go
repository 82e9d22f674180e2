// Package bundle reads the file a plugin is installed as.
//
// A bundle is a manifest and a module. It comes in shapes that mean the same: one
// .wasm file that carries its manifest in the custom section armature.manifest, a
// directory with armature.json and exactly one .wasm file, or a script, which is a
// .js or .ts file or a directory with main.js or main.ts. The module is handed on without the manifest section, so that a change
// of the manifest alone does not compile anything again.
package bundle

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"armature/core/apps/app"
	"armature/plugins/manifest"
	"armature/plugins/publisher"
	"armature/runtime/abi"
)

// MaxSize bounds a module, in bytes.
const MaxSize = 64 << 20

// maxManifest bounds the text of a manifest, in bytes.
const maxManifest = 1 << 20

// ManifestFile is the manifest's name in a directory.
const ManifestFile = "armature.json"

// ErrNoManifest says that a module carries no manifest section.
var ErrNoManifest = errors.New("the module has no manifest: build it with `armature plugin build`, or install the directory with its " + ManifestFile)

// Bundle is a plugin as installed.
type Bundle struct {
	Manifest *manifest.Manifest
	Module   []byte // the binary without the sections of its manifest, its files and its signature
	Public   *app.Files
	Hash     string // of manifest, module, files and signature; the same for every shape

	Signature publisher.Signature
	Stated    publisher.Statement // what a signature of it is over
}

// Parse reads a single-file bundle.
func Parse(wasm []byte) (*Bundle, error) {
	text, ok, err := Section(wasm, abi.ManifestSection)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrNoManifest
	}
	return assemble(text, wasm)
}

// parseManifest reads the manifest of a module.
func parseManifest(text, wasm []byte) (*manifest.Manifest, error) {
	if _, ok, err := Section(wasm, abi.ScriptSection); err == nil && ok {
		return manifest.ParseScript(text)
	}
	return manifest.Parse(text)
}

// assemble makes a bundle of a manifest and a module, which may carry another
// manifest: the given one counts.
func assemble(text, wasm []byte) (*Bundle, error) {
	m, err := parseManifest(text, wasm)
	if err != nil {
		return nil, err
	}
	signature, signed, err := Section(wasm, publisher.Section)
	if err != nil {
		return nil, err
	}
	module, err := strip(wasm, abi.ManifestSection, publisher.Section)
	if err != nil {
		return nil, err
	}
	b := &Bundle{Manifest: m, Hash: hash(text, module)}
	if b.Public, b.Module, err = public(module); err != nil {
		return nil, err
	}
	b.Stated = publisher.Statement{Name: m.Name, Version: m.Version, Hash: b.Hash}
	if signed {
		b.Signature = publisher.Read(signature, b.Stated)
		b.Hash = signedHash(b.Hash, signature)
	}
	return b, nil
}

// hash puts the length of the manifest before it, so that no two pairs of
// manifest and module are the same bytes.
func hash(text, module []byte) string {
	h := sha256.New()
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(text))))
	h.Write(text)
	h.Write(module)
	return hex.EncodeToString(h.Sum(nil))
}

// signedHash is the hash of a bundle with its signature: one that somebody else
// has signed is another bundle.
func signedHash(unsigned string, signature []byte) string {
	h := sha256.New()
	h.Write([]byte(publisher.Section + "\x00" + unsigned + "\x00"))
	h.Write(signature)
	return hex.EncodeToString(h.Sum(nil))
}

// Sign returns a single-file bundle with a signature, in place of one that it
// carries already.
func Sign(wasm []byte, key publisher.Secret) ([]byte, error) {
	b, err := Parse(wasm)
	if err != nil {
		return nil, err
	}
	section, err := key.Sign(b.Stated)
	if err != nil {
		return nil, err
	}
	if wasm, err = strip(wasm, publisher.Section); err != nil {
		return nil, err
	}
	return appendCustom(wasm, publisher.Section, section), nil
}

// Unsigned returns a module without its signature, which is of another bundle once
// anything else of it changes.
func Unsigned(wasm []byte) ([]byte, error) { return strip(wasm, publisher.Section) }

// Embed returns the module with the manifest in it, in place of one it carries
// already. The manifest must be a valid one.
func Embed(wasm, text []byte) ([]byte, error) {
	if _, err := parseManifest(text, wasm); err != nil {
		return nil, err
	}
	if len(text) > maxManifest {
		return nil, fmt.Errorf("the manifest is %d bytes long; the limit is %d", len(text), maxManifest)
	}
	module, err := strip(wasm, abi.ManifestSection)
	if err != nil {
		return nil, err
	}
	return appendCustom(module, abi.ManifestSection, text), nil
}
