package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Contract is contract.json.
type Contract struct {
	Module           string                     `json:"module"`
	Version          int                        `json:"version"`
	ManifestSection  string                     `json:"manifest_section"`
	PublicSection    string                     `json:"public_section"`
	ScriptSection    string                     `json:"script_section"`
	ScriptMapSection string                     `json:"script_map_section"`
	ReservedPrefix   string                     `json:"reserved_prefix"`
	Imports          []Import                   `json:"imports"`
	Types            map[string]json.RawMessage `json:"types"`
	Capabilities     []Capability               `json:"capabilities"`
	TestModule       string                     `json:"test_module"`
	TestExport       string                     `json:"test_export"`
	TestCapabilities []Capability               `json:"test_capabilities"`
	Exports          []Export                   `json:"exports"`
	Kinds            []Kind                     `json:"kinds"`
	LogLevels        []LogLevel                 `json:"log_levels"`
	Limits           []Limit                    `json:"limits"`
	Events           []string                   `json:"events"`
	Rights           []Right                    `json:"rights"`
}

// Import is a function of the host with a shape of its own.
type Import struct {
	Name         string  `json:"name"`
	Summary      string  `json:"summary"`
	Doc          string  `json:"doc"`
	Params       []Param `json:"params"`
	Result       *Param  `json:"result"`
	NeverReturns bool    `json:"never_returns"`
	Traps        string  `json:"traps"`
	Errors       string  `json:"errors"`
	Example      string  `json:"example"`
}

// Param is a parameter or a result. Its type is "buffer", memory of the guest that
// the host writes; "bytes", what it reads; "length"; "i32" or "i64".
type Param struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Capability is a function of the one shape (in, in_len, out, out_cap) -> len.
type Capability struct {
	Name     string    `json:"name"`
	Group    string    `json:"group"`    // the section of abi.md
	Summary  string    `json:"summary"`  // a few words
	Doc      string    `json:"doc"`      // sentences
	Free     bool      `json:"free"`     // needs no grant
	Optional bool      `json:"optional"` // a server may not have it
	Approval bool      `json:"approval"` // its grant waits for an administrator
	Request  Schema    `json:"request"`
	Answer   Schema    `json:"answer"`
	Errors   []Failure `json:"errors"`
	Example  Example   `json:"example"`
}

// Failure is an error that a capability may answer with.
type Failure struct {
	Kind    string `json:"kind"` // empty: only When says what it is
	ExcType string `json:"exc_type"`
	When    string `json:"when"`
}

// Example is a call as abi.md shows it. The words are shown where JSON would say
// less.
type Example struct {
	Request   json.RawMessage `json:"request"`
	RequestIs string          `json:"request_is"`
	Answer    json.RawMessage `json:"answer"`
	AnswerIs  string          `json:"answer_is"`
}

// Export is what the host looks for in a module.
type Export struct {
	Name     string `json:"name"`
	Constant string `json:"constant"` // empty: as the name
	Shape    string `json:"shape"`
	Doc      string `json:"doc"`
}

// Kind is a kind of error.
type Kind struct {
	Kind    int    `json:"kind"`
	Name    string `json:"name"`
	ExcType string `json:"exc_type"`
	Status  int    `json:"status"`
	Doc     string `json:"doc"`
	Class   string `json:"class"` // in scripts; empty: they have none for it
}

// LogLevel is how much a line of the log matters.
type LogLevel struct {
	Level int    `json:"level"`
	Name  string `json:"name"`
}

// Limit bounds a call.
type Limit struct {
	Name    string `json:"name"` // in a manifest
	Doc     string `json:"doc"`
	Unit    string `json:"unit"`
	Default int    `json:"default"`
	Most    int    `json:"most"`
}

// Right is what a plugin may be granted beside its imports.
type Right struct {
	Name     string `json:"name"`
	Doc      string `json:"doc"`
	Approval bool   `json:"approval"`
}

// Optional lists the capabilities that a server may not have.
func (c *Contract) Optional() (optional []Capability) {
	for _, cp := range c.Capabilities {
		if cp.Optional {
			optional = append(optional, cp)
		}
	}
	return optional
}

// load reads and checks a contract.
func load(path string) (*Contract, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

func parse(text []byte) (*Contract, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	c := &Contract{}
	if err := d.Decode(c); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("more text after the contract")
	}
	return c, c.validate()
}

var plain = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// validate refuses what would make code that does not compile, or prose with a
// hole in it.
func (c *Contract) validate() error {
	seen := map[string]bool{}
	for _, i := range c.Imports {
		if err := named(seen, i.Name, i.Summary, i.Doc); err != nil {
			return err
		}
		for _, p := range append([]Param{}, i.Params...) {
			if !strings.Contains(" buffer bytes length i32 i64 ", " "+p.Type+" ") {
				return fmt.Errorf("import %s: %s has no type %q", i.Name, p.Name, p.Type)
			}
		}
	}
	kinds := map[string]bool{"": true}
	for n, k := range c.Kinds {
		if k.Kind != n+1 {
			return fmt.Errorf("kind %s: expected number %d: kinds are appended, never moved", k.Name, n+1)
		}
		kinds[k.Name] = true
	}
	for _, cp := range slices.Concat(c.Capabilities, c.TestCapabilities) {
		if err := named(seen, cp.Name, cp.Summary, cp.Doc); err != nil {
			return err
		}
		if err := cp.validate(kinds, c.Types); err != nil {
			return fmt.Errorf("capability %s: %w", cp.Name, err)
		}
	}
	return nil
}

func named(seen map[string]bool, name, summary, doc string) error {
	switch {
	case !plain.MatchString(name):
		return fmt.Errorf("%q is no name: expected lower-case words joined by underscores", name)
	case seen[name]:
		return fmt.Errorf("%s is there twice", name)
	case summary == "" || doc == "":
		return fmt.Errorf("%s: summary and doc say what it does", name)
	}
	seen[name] = true
	return nil
}

func (cp Capability) validate(kinds map[string]bool, types map[string]json.RawMessage) error {
	if cp.Request.Type != "object" {
		return fmt.Errorf("a request is an object")
	}
	for _, s := range append(cp.Request.Properties, Property{Schema: cp.Answer}) {
		if name, ok := strings.CutPrefix(s.Schema.Ref, "#/types/"); s.Schema.Ref != "" && (!ok || types[name] == nil) {
			return fmt.Errorf("there is no %s", s.Schema.Ref)
		}
	}
	for _, f := range cp.Errors {
		if !kinds[f.Kind] {
			return fmt.Errorf("there is no kind %s", f.Kind)
		}
	}
	if len(cp.Example.Request) == 0 {
		return fmt.Errorf("there is no example")
	}
	return cp.typed()
}
