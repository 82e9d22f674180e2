package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// manifestExport is the export that describes the plugin.
const manifestExport = "manifest"

// analyse finds the exported functions and the manifest in the code, as esbuild
// prints it: declarations, and one export statement at the end.
func (s *Script) analyse() (err error) {
	defer func() {
		if r := recover(); r != nil { // of the parser
			err = fmt.Errorf("the script cannot be analysed: %v", r)
		}
	}()
	tree, err := js.Parse(parse.NewInputBytes(bytes.Clone(s.Code)), js.Options{})
	if err != nil {
		return fmt.Errorf("the script cannot be analysed: %w", err)
	}
	values := declarations(tree)
	for _, x := range exports(tree) {
		value := values[x.local] // nil: it is assigned later
		switch {
		case x.name == manifestExport:
			s.manifest = x.local
			if s.Manifest, err = literal(value); err != nil {
				return err
			}
		case x.name == "default":
			if callable(value) == yes {
				return errors.New("a default export has no name to be called by: write `export function name(args)`")
			}
		case callable(value) != no:
			s.Functions = append(s.Functions, x.name)
		}
	}
	slices.Sort(s.Functions)
	return nil
}

type exported struct{ name, local string }

// exports lists what the export statements list.
func exports(tree *js.AST) []exported {
	var all []exported
	for _, statement := range tree.List {
		x, ok := statement.(*js.ExportStmt)
		if !ok || x.Module != nil {
			continue
		}
		for _, a := range x.List {
			local := a.Name
			if local == nil {
				local = a.Binding
			}
			all = append(all, exported{string(a.Binding), string(local)})
		}
	}
	return all
}

// declarations finds the values of the names at the top level. A function or a
// class stands for itself.
func declarations(tree *js.AST) map[string]any {
	values := map[string]any{}
	for _, statement := range tree.List {
		switch d := statement.(type) {
		case *js.FuncDecl:
			values[string(d.Name.Name())] = d
		case *js.ClassDecl:
			values[string(d.Name.Name())] = d
		case *js.VarDecl:
			for _, b := range d.List {
				if v, ok := b.Binding.(*js.Var); ok {
					values[string(v.Name())] = b.Default
				}
			}
		}
	}
	return values
}

type answer int

const (
	no answer = iota
	perhaps
	yes
)

// callable reports whether a value is a function that can be called without new.
// What only running the script would tell is perhaps one.
func callable(value any) answer {
	switch v := value.(type) {
	case *js.FuncDecl, *js.ArrowFunc:
		return yes
	case *js.GroupExpr:
		return callable(v.X)
	case *js.CallExpr:
		if enum(v) {
			return no
		}
	case *js.ClassDecl, *js.LiteralExpr, *js.ObjectExpr, *js.ArrayExpr, *js.TemplateExpr, *js.NewExpr, *js.UnaryExpr:
		return no
	}
	return perhaps
}

// enum reports whether a call is what esbuild makes of an enum of TypeScript:
// ((E) => {...})(E || {}).
func enum(call *js.CallExpr) bool {
	callee, ok := call.X.(*js.GroupExpr)
	if !ok || len(call.Args.List) != 1 {
		return false
	}
	_, arrow := callee.X.(*js.ArrowFunc)
	or, ok := call.Args.List[0].Value.(*js.BinaryExpr)
	return arrow && ok && or.Op == js.OrToken
}

// literal is the JSON of an object that is written out.
func literal(value any) ([]byte, error) {
	object, ok := value.(*js.ObjectExpr)
	if !ok {
		return nil, errors.New("manifest: expected `export const manifest = {...}`, an object that is written out")
	}
	var b bytes.Buffer
	if err := object.JSON(&b); err != nil || !json.Valid(b.Bytes()) {
		return nil, fmt.Errorf("manifest: expected literals only, since it is read without running the script: %v", plain(err))
	}
	dec := json.NewDecoder(&b)
	dec.UseNumber()
	var members any
	if err := dec.Decode(&members); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	return json.Marshal(whole(members))
}

// whole writes whole numbers as such: esbuild shortens 1000 to 1e3.
func whole(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = whole(member)
		}
	case []any:
		for i, item := range v {
			v[i] = whole(item)
		}
	case json.Number:
		const most = 1 << 53 // as exact as JavaScript is
		if f, err := v.Float64(); err == nil && f == math.Trunc(f) && math.Abs(f) <= most {
			return int64(f)
		}
	}
	return value
}

// plain is the parser's message without its own beginning.
func plain(err error) string {
	if err == nil {
		return "a text with unusual escapes"
	}
	return string(bytes.TrimPrefix([]byte(err.Error()), []byte(js.ErrInvalidJSON.Error()+": ")))
}
