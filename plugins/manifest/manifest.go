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
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"armature/core/apps/app"
	"armature/core/document"
	"armature/plugins/schema"
)

// Manifest is one plugin as its author describes it.
type Manifest struct {
	Name        string `json:"name"`    // dotted, lower case: "acme.todo"
	Version     string `json:"version"` // free text, shown to people
	ABI         int    `json:"abi"`     // the ABI version the module is built for
	Description string `json:"description,omitempty"`

	Methods []Method         `json:"methods,omitempty"`
	Events  map[string]Event `json:"events,omitempty"` // "ToDo.validate" to what hears it
	// Routes are requests of browsers, "GET /shop/{slug}", and the methods that answer, with
	// or without the plugin's name before them.
	Routes map[string]string `json:"routes,omitempty"`

	Schedules map[string]Schedule `json:"schedules,omitempty"` // "0 6 * * *" to what is called then

	Grants         []string          `json:"grants,omitempty"`          // see grant.go
	OptionalGrants []string          `json:"optional_grants,omitempty"` // it serves without, too
	AllowedHosts   []string          `json:"allowed_hosts,omitempty"`   // whom http_fetch may reach
	Limits         Limits            `json:"limits,omitzero"`
	DocTypes       []json.RawMessage `json:"doctypes,omitempty"` // definitions the plugin brings

	Schema string `json:"$schema,omitempty"` // where its JSON Schema is: for editors, and forgotten

	pages *app.Routes
}

// Pages are Routes, ready for use; nil: there are none.
func (m *Manifest) Pages() *app.Routes { return m.pages }

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

	// Input names the argument that is all an Extism export gets; empty: it gets
	// the arguments, or the body of a request that has none.
	Input string `json:"input,omitempty"`

	arguments *schema.Schema
}

// Arguments is the schema of Args, ready for use; nil admits everything.
func (x Method) Arguments() *schema.Schema { return x.arguments }

// TxManual says that the method calls other servers first and begins its
// transaction with the first document call after the last of them.
const TxManual = "manual"

// EveryDocType stands for all DocTypes in an event's key.
const EveryDocType = "*"

// Event is what hears an event. In a manifest it may be the name of the export
// alone, which sets whatever it likes.
type Event struct {
	Export   string   `json:"export"`
	Sets     []string `json:"sets,omitempty"`     // fields, table.field, or AnyField; empty: none
	Optional bool     `json:"optional,omitempty"` // saves go on without it where it was not granted
	RunAs    string   `json:"run_as,omitempty"`   // "" or RunAsPlugin
}

// RunAsPlugin says that a handler runs as the user of its plugin and not as whoever
// saves the document.
const RunAsPlugin = "plugin"

// AnyField stands for every field in Sets, except those that the platform keeps.
const AnyField = "*"

// UnmarshalJSON reads either form.
func (e *Event) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		*e = Event{Sets: []string{AnyField}}
		return json.Unmarshal(text, &e.Export)
	}
	type plain Event
	*e = Event{}
	if err := json.Unmarshal(text, (*plain)(e)); err != nil {
		return &Error{Field: "events", Text: "expected the name of an export, or an object with export, and sets as a list of fields"}
	}
	return nil
}

// MarshalJSON writes the shorter form where it says the same.
func (e Event) MarshalJSON() ([]byte, error) {
	if len(e.Sets) == 1 && e.Sets[0] == AnyField && !e.Optional && e.RunAs == "" {
		return json.Marshal(e.Export)
	}
	type plain Event
	return json.Marshal(plain(e))
}

// Handler is one entry of Events, taken apart.
type Handler struct {
	DocType string // or EveryDocType
	Event   string // as core/document spells it
	Export  string

	Sets     []string
	Optional bool
	RunAs    string
}

// Handlers lists the events in the order of their keys.
func (m *Manifest) Handlers() []Handler {
	hs := make([]Handler, 0, len(m.Events))
	for _, key := range slices.Sorted(maps.Keys(m.Events)) {
		// A DocType may have a dot in its name, an event has none.
		dot := max(strings.LastIndexByte(key, '.'), 0)
		e := m.Events[key]
		hs = append(hs, Handler{
			DocType: key[:dot], Event: strings.TrimPrefix(key[dot:], "."), Export: e.Export, Sets: e.Sets, Optional: e.Optional,
			RunAs: e.RunAs,
		})
		if h := &hs[len(hs)-1]; h.Event == document.AfterCommit {
			if len(h.Sets) == 1 && h.Sets[0] == AnyField {
				h.Sets = nil // the shorter form sets nothing here
			}
			h.Optional = true // no save waits for it
		}
	}
	return hs
}

// Limits lowers what one call may use; a zero field leaves the server's limit.
type Limits struct {
	Memory    int `json:"memory,omitempty"` // bytes
	CPUMs     int `json:"cpu_ms,omitempty"` // milliseconds of counted execution
	WallMs    int `json:"wall_ms,omitempty"`
	Depth     int `json:"depth,omitempty"`  // nested calls inside the guest
	Input     int `json:"input,omitempty"`  // bytes
	Output    int `json:"output,omitempty"` // bytes
	HostCalls int `json:"host_calls,omitempty"`
	Log       int `json:"log,omitempty"`   // bytes
	HTTP      int `json:"http,omitempty"`  // requests
	TxMs      int `json:"tx_ms,omitempty"` // milliseconds on the clock that a transaction is kept open
}

// Parse reads and validates a manifest. An error is an *Error: it says where in the
// text, in which field, and what was expected.
func Parse(text []byte) (*Manifest, error) { return parse(text, pluginName) }

// ParseScript is Parse for a plugin that is a script. A file that somebody drops
// into a folder at home may have a name of one part, such as shop.
func ParseScript(text []byte) (*Manifest, error) { return parse(text, scriptName) }

// Known refuses members that a manifest does not have, and values of another type
// than theirs. What is missing or wrong beyond that is Parse's to say.
func Known(text []byte) error {
	_, err := decodeStrict(text, &Manifest{})
	return err
}

func parse(text []byte, name *regexp.Regexp) (*Manifest, error) {
	m := &Manifest{}
	c, err := decodeStrict(text, m)
	for i := 0; err == nil && i < len(m.Methods); i++ {
		err = m.Methods[i].complete(fmt.Sprintf("methods[%d]", i))
	}
	if err == nil {
		err = m.validate(name)
	}
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", c.placed(err))
	}
	m.Schema = ""
	return m, nil
}

// complete fills in what a method may leave out and compiles its schemas.
func (x *Method) complete(field string) (err error) {
	if x.Export == "" {
		x.Export = x.Path
	}
	if x.arguments, err = schema.Compile(x.Args); err != nil {
		return schemaError(field+".args", err)
	}
	if _, err := schema.Compile(x.Result); err != nil {
		return schemaError(field+".result", err)
	}
	return nil
}

// schemaError is about a schema in a field, and shown where in it.
func schemaError(field string, err error) error {
	e := &Error{Field: field, Text: err.Error()}
	var s *schema.Error
	if errors.As(err, &s) {
		e.Path = field + strings.ReplaceAll(s.At, "/", ".")
	}
	return e
}
