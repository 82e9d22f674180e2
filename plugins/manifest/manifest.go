// Package manifest is armature.json: what a plugin claims and what it asks for.
//
// A plugin author writes the manifest beside the sources; the command line
// embeds it in the module, so that one file describes itself. Reading is strict:
// an unknown field is an error, because a misspelt "allow_guest" that is ignored
// would be noticed only in production. The format is described in
// sdk/abi/manifest.md.
package manifest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Manifest is one plugin as its author describes it.
type Manifest struct {
	Name        string `json:"name"`    // dotted, lower case: "acme.todo"
	Version     string `json:"version"` // free text, shown to people
	ABI         int    `json:"abi"`     // the ABI version the module is built for
	Description string `json:"description,omitempty"`

	Methods []Method `json:"methods,omitempty"`
	Events  []Event  `json:"events,omitempty"`

	Grants       []string `json:"grants,omitempty"`        // what an administrator must agree to
	AllowedHosts []string `json:"allowed_hosts,omitempty"` // whom http_fetch may reach
	Limits       Limits   `json:"limits,omitzero"`
	DocTypes     []string `json:"doctypes,omitempty"` // DocTypes shipped, by name
}

// Method is one whitelisted path. An export that is not listed cannot be called.
type Method struct {
	Path        string          `json:"path"`             // begins with the plugin's name
	Export      string          `json:"export,omitempty"` // default: the path
	Verbs       []string        `json:"verbs,omitempty"`  // default: GET, POST, PUT, DELETE
	AllowGuest  bool            `json:"allow_guest,omitempty"`
	Roles       []string        `json:"roles,omitempty"`  // one of which the caller needs; default: any
	Writes      bool            `json:"writes,omitempty"` // a GET takes the writer at once
	Tx          string          `json:"tx,omitempty"`     // "" or TxManual
	Args        json.RawMessage `json:"args,omitempty"`   // JSON Schema
	Result      json.RawMessage `json:"result,omitempty"` // JSON Schema
	Description string          `json:"description,omitempty"`
}

// TxManual says that the method calls other servers first and begins its
// transaction with the first document call after the last of them.
const TxManual = "manual"

// Event has an export run at a moment in the life of a DocType's documents.
type Event struct {
	Event  string `json:"event"` // "ToDo.validate"
	Export string `json:"export"`
}

// DocType is the DocType of the event; "*" means all.
func (e Event) DocType() string { doctype, _ := e.split(); return doctype }

// Moment is the event's name as core/document spells it.
func (e Event) Moment() string { _, moment := e.split(); return moment }

func (e Event) split() (doctype, moment string) {
	dot := strings.LastIndexByte(e.Event, '.')
	if dot < 0 {
		return "", e.Event
	}
	return e.Event[:dot], e.Event[dot+1:]
}

// Limits is what the plugin asks for per call; zero fields take the server's
// defaults, and the server and the site may allow less.
type Limits struct {
	MemoryMB  int `json:"memory_mb,omitempty"`
	CPUMs     int `json:"cpu_ms,omitempty"`
	WallMs    int `json:"wall_ms,omitempty"`
	InputKB   int `json:"input_kb,omitempty"`
	OutputKB  int `json:"output_kb,omitempty"`
	HostCalls int `json:"host_calls,omitempty"`
}

// Parse reads and validates a manifest. An error says where in the text, or in
// which field, and what was expected.
func Parse(text []byte) (*Manifest, error) {
	m := &Manifest{}
	if err := decodeStrict(text, m); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	for i := range m.Methods {
		if m.Methods[i].Export == "" {
			m.Methods[i].Export = m.Methods[i].Path
		}
	}
	if err := m.validate(); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	return m, nil
}
