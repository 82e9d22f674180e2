package testrun

import (
	"context"
	"strings"

	"armature/runtime/abi"
)

// Module runs the tests of a module: its exports whose names begin with
// abi.TestExport, each from the state after loading and on a fresh site. A test
// fails if it throws or traps. file is what results call the module; the error is
// ours, or that of ctx.
func (r *Runner) Module(ctx context.Context, file string, wasm []byte, tell func(Result)) error {
	r.lines.Take()
	m, err := r.engine.Load(ctx, wasm)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		tell(refusal(file, err))
		return nil
	}
	defer m.Release()
	none := true
	for _, x := range m.Exports() {
		name, ok := testName(x.Name)
		if !ok {
			continue
		}
		none = false
		result := Result{File: file, Test: name}
		if !x.Callable() {
			result.Error = "a test is a function that takes the length of its input, an i32, and returns nothing"
		} else if err := r.test(ctx, m, x.Name, struct{}{}, &result); err != nil {
			return err
		}
		tell(result)
	}
	if none {
		tell(Result{File: file, Error: "there is no test in it: a test is an export whose name begins with " + abi.TestExport})
	}
	return nil
}

// testName is the name of the test that an export is. Some languages can export
// identifiers only.
func testName(export string) (name string, ok bool) {
	if name, ok = strings.CutPrefix(export, abi.TestExport); ok {
		return name, true
	}
	return strings.CutPrefix(export, strings.TrimSuffix(abi.TestExport, ".")+"_")
}
