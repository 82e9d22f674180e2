package link

import (
	"fmt"
	"slices"
	"strings"

	"armature/runtime/engine/internal/call"
	"armature/runtime/internal/rewrite"
)

// Offered is what may be imported, and with which signature.
type Offered map[call.ImportName]Func

// Offer is what those functions offer.
func Offer(all []Func) Offered {
	o := Offered{}
	for _, f := range all {
		o[call.ImportName{Module: f.module, Name: f.name}] = f
	}
	return o
}

// Check returns an [ImportError] when an import is not offered.
func (o Offered) Check(imports []rewrite.Func) error {
	var bad ImportError
	for _, im := range imports {
		name := call.ImportName{Module: im.Module, Name: im.Name}
		f, ok := o[name]
		switch {
		case !ok:
			bad.Missing = append(bad.Missing, name)
		case !slices.Equal(f.params, call.TypesOf(im.Params)) || !slices.Equal(f.results, call.TypesOf(im.Results)):
			bad.Mistyped = append(bad.Mistyped, name)
		}
	}
	if bad.Missing == nil && bad.Mistyped == nil {
		return nil
	}
	return &bad
}

// ImportError lists what a module imports and the host does not offer.
type ImportError struct {
	Missing  []call.ImportName
	Mistyped []call.ImportName // offered with another signature
}

// Error names them all, so that an author sees them at once.
func (e *ImportError) Error() string {
	var parts []string
	for _, n := range e.Missing {
		parts = append(parts, fmt.Sprintf("import %s is not offered", n)+instead(n.Module))
	}
	for _, n := range e.Mistyped {
		parts = append(parts, fmt.Sprintf("import %s has another signature", n))
	}
	return strings.Join(parts, "; ")
}

// instead says what to build where an import is that of another kind of host.
func instead(module string) string {
	switch {
	case strings.HasPrefix(module, "wasi:"), strings.HasPrefix(module, "cm32p2"):
		return ": it is of WASI preview 2; build a core module for preview 1, wasm32-wasip1 (wasm32-wasi), or for wasm32-unknown-unknown"
	case strings.HasPrefix(module, "__wbindgen"), module == "wbg":
		return ": it is of wasm-bindgen, for JavaScript; build without it, with the export macro of the SDK"
	case module == "gojs" || module == "go":
		return ": it is of Go for browsers; build with GOOS=wasip1 GOARCH=wasm -buildmode=c-shared"
	case module == "wasi_unstable":
		return ": it is of WASI before preview 1; build for wasi_snapshot_preview1"
	}
	return ""
}
