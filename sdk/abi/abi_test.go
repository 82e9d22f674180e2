// Package abi_test compares the contract with what the host really does. What is
// made of it needs no comparing: sdk/abi/generate says when a file differs.
package abi_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"armature/core/document"
	"armature/core/fault"
	"armature/plugins/schema"
	"armature/runtime/abi"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

type contract struct {
	Types   map[string]json.RawMessage
	Imports []struct {
		Name   string
		Params []struct{ Type string }
		Result *struct{ Type string }
	}
	Capabilities []struct {
		Name            string
		Request, Answer json.RawMessage
		Example         struct{ Request, Answer json.RawMessage }
	}
	Kinds []struct {
		Kind, Status int
		Name         string
		ExcType      string `json:"exc_type"`
	}
}

func load(t *testing.T) (c contract) {
	t.Helper()
	text, err := os.ReadFile("contract.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// The host offers the imports of the contract with its types, and none besides.
func TestHostOffersTheContract(t *testing.T) {
	offered := map[string]engine.Import{}
	for _, im := range hostapi.Imports(hostapi.Config{}) {
		offered[im.Name] = im
	}
	wasm := func(kind string) engine.ValueType {
		if kind == "i64" {
			return engine.I64
		}
		return engine.I32
	}
	compare := func(name string, params, results []engine.ValueType) {
		im, ok := offered[name]
		if !ok || im.Module != abi.Module || !slices.Equal(im.Params, params) || !slices.Equal(im.Results, results) {
			t.Errorf("%s: the contract has %v -> %v, the host offers %t %s %v -> %v", name, params, results, ok, im.Module, im.Params, im.Results)
		}
		delete(offered, name)
	}
	c := load(t)
	for _, im := range c.Imports {
		var params, results []engine.ValueType
		for _, p := range im.Params {
			params = append(params, wasm(p.Type))
		}
		if im.Result != nil {
			results = append(results, wasm(im.Result.Type))
		}
		compare(im.Name, params, results)
	}
	for _, cp := range c.Capabilities {
		compare(cp.Name, []engine.ValueType{engine.I32, engine.I32, engine.I32, engine.I32}, []engine.ValueType{engine.I32})
	}
	for name := range offered {
		t.Errorf("the host offers %s, which the contract has not", name)
	}
}

func TestKindsAreFaultKinds(t *testing.T) {
	c := load(t)
	if len(c.Kinds) != len(fault.Kinds()) {
		t.Errorf("%d kinds in the contract, %d in core/fault", len(c.Kinds), len(fault.Kinds()))
	}
	for _, k := range c.Kinds {
		kind := fault.Kind(k.Kind)
		if !kind.Valid() || kind.ExcType() != k.ExcType || kind.Status() != k.Status {
			t.Errorf("kind %+v: core/fault has %s, %d", k, kind.ExcType(), kind.Status())
		}
	}
}

func TestEventsAreThoseOfDocuments(t *testing.T) {
	events := []string{
		document.BeforeInsert, document.BeforeValidate, document.Validate, document.BeforeSave,
		document.AfterInsert, document.OnUpdate, document.OnChange, document.BeforeSubmit, document.OnSubmit,
		document.BeforeUpdateAfterSubmit, document.OnUpdateAfterSubmit, document.BeforeCancel, document.OnCancel,
		document.OnTrash, document.AfterDelete, document.AfterCommit,
	}
	if !slices.Equal(events, abi.Events()) {
		t.Errorf("the contract's events are %v, those of documents %v", abi.Events(), events)
	}
}

// Examples are what authors copy: each is what its schema describes.
func TestExamplesFitTheirSchemas(t *testing.T) {
	c := load(t)
	fits := func(what string, text, example json.RawMessage) {
		// The shared types stand in the contract, so each reference is put in place.
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		whole, err := json.Marshal(resolve(t, c, v))
		if err != nil {
			t.Fatal(err)
		}
		s, err := schema.Compile(whole)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		var value any
		if err := json.Unmarshal(example, &value); err != nil {
			t.Errorf("%s: %v", what, err)
		} else if err := s.Check(value); err != nil {
			t.Errorf("%s: %s: %v", what, example, err)
		}
	}
	for _, cp := range c.Capabilities {
		fits(cp.Name+" request", cp.Request, cp.Example.Request)
		if len(cp.Example.Answer) > 0 {
			fits(cp.Name+" answer", cp.Answer, cp.Example.Answer)
		}
	}
}

func resolve(t *testing.T, c contract, v any) any {
	object, ok := v.(map[string]any)
	if !ok {
		return v
	}
	if ref, ok := object["$ref"].(string); ok {
		var shared any
		if err := json.Unmarshal(c.Types[strings.TrimPrefix(ref, "#/types/")], &shared); err != nil {
			t.Fatalf("%s: %v", ref, err)
		}
		return shared
	}
	for key, member := range object {
		object[key] = resolve(t, c, member)
	}
	return object
}

// JSON examples are what authors copy.
func TestExamplesAreJSON(t *testing.T) {
	text, err := os.ReadFile("abi.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```")
	seen := 0
	for i := 1; i < len(blocks); i += 2 {
		if body, ok := strings.CutPrefix(blocks[i], "json\n"); ok {
			seen++
			if !json.Valid([]byte(body)) {
				t.Errorf("not JSON: %s", body)
			}
		}
	}
	if seen == 0 {
		t.Error("no examples found")
	}
}
