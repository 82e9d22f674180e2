package engine

import (
	"context"
	"slices"

	"armature/core/fault"
	"armature/runtime/abi"
	"armature/runtime/compile"
	"armature/runtime/engine/internal/call"
	"armature/runtime/internal/rewrite"
)

// maxTable is how many elements the tables of a module may have.
const maxTable = 1 << 20

// accept says of a binary whether it can be run here, and whether it has to be compiled
// for that.
func (e *Engine) accept(code *rewrite.Module) (wanted bool, err error) {
	if err := e.offered.Check(code.Imports); err != nil {
		return false, fault.Wrap(fault.Validation, "", err, "The module cannot be linked: %v", err)
	}
	for _, x := range code.Exports {
		if own := x.Name == abi.Initialize || x.Name == abi.Warm || x.Name == abi.Resume; own && len(x.Params)+len(x.Results) > 0 {
			return false, fault.Invalid("", "The module's export %s takes %v and returns %v; it has to take and return nothing",
				x.Name, call.TypesOf(x.Params), call.TypesOf(x.Results))
		}
	}
	return e.interpreterOf(code) == nil, nil
}

// prepare makes a module out of code.
func (e *Engine) prepare(ctx context.Context, party string, code *compile.Code) (*Module, error) {
	m := newModule(&e.common, code, e.forget)
	var err error
	if i := e.interpreterOf(&code.Module); i != nil {
		err = m.interpretedBy(ctx, i)
	} else {
		m.speak(e.dialectOf(code.Imports))
	}
	if err == nil {
		err = m.prepareInstances(ctx, party)
	}
	if err != nil {
		m.retire()
		<-m.freed
		return nil, err
	}
	return m, nil
}

// interpreterOf finds what runs a module; nil for one that runs by itself.
func (e *Engine) interpreterOf(code *rewrite.Module) *interpreter {
	for _, s := range code.Custom {
		for _, i := range e.interpreters {
			if i.Section() == s.Name {
				return i
			}
		}
	}
	return nil
}

// dialectOf finds the dialect a module speaks; nil: the host's own.
func (e *Engine) dialectOf(imports []rewrite.Func) *dialect {
	for _, d := range e.dialects {
		for _, offered := range d.Imports() {
			if slices.ContainsFunc(imports, func(im rewrite.Func) bool { return im.Module == offered.Module }) {
				return d
			}
		}
	}
	return nil
}
