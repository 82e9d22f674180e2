package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"armature/cmd/armature/installation"
	"armature/cmd/armature/plugintest"
	"armature/cmd/armature/remote"
	"armature/cmd/armature/terminal"
	"armature/core/fault"
	"armature/plugins/grant"
	"armature/plugins/installed"
	"armature/plugins/testrun"
	"armature/plugins/toolchain"
	"armature/plugins/toolchain/scaffold"
)

// author is what an agent works with.
type author struct {
	in      *installation.Installation
	project *project
	site    *remote.Site
	own     bool     // the site is of a server of its own
	thrown  bool     // whose data is thrown away
	approve []string // grants that plugins may have

	mu        sync.Mutex // one tool at a time: the workspace is for one
	workspace *toolchain.Workspace
}

const instructions = `You write plugins for Armature, a document platform. Records are documents of types called DocTypes; a plugin adds methods and hooks to a site.
A loop that works: look, make_doctype for the types you need, new_plugin with lang ts, read its AGENTS.md, write, test, install, call, logs. Errors name file and line: mend and go on.
Paths are relative to the project folder. The guide is Markdown at /llms.txt of the site's address.`

// serve speaks to the agent until it leaves.
func (a *author) serve(ctx context.Context, version string) error {
	s := sdk.NewServer(&sdk.Implementation{Name: "armature-author", Title: "Armature, for authors of plugins", Version: version}, &sdk.ServerOptions{
		Instructions: instructions, Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
	})
	a.addTools(s)
	err := s.Run(ctx, draining{&sdk.StdioTransport{}})
	if ctx.Err() != nil {
		return nil // it was asked to end
	}
	return err
}

// Arguments of the tools.
type (
	nothing     struct{}
	doctypeArgs struct {
		DocType string `json:"doctype" jsonschema:"a DocType"`
	}
	makeArgs struct {
		Name        string           `json:"name" jsonschema:"what the DocType is called, such as Book"`
		Fields      []map[string]any `json:"fields" jsonschema:"each with fieldname, fieldtype (Data, Int, Select, Link, ...), and where it needs them label, reqd, options, default"`
		Permissions []map[string]any `json:"permissions,omitempty" jsonschema:"each with role, read, write, create, delete; without any a System Manager may do everything"`
		More        map[string]any   `json:"more,omitempty" jsonschema:"other properties, such as autoname, title_field, is_submittable, istable"`
	}
	methodsArgs struct {
		Text string `json:"text,omitempty" jsonschema:"only paths with this in them"`
	}
	callArgs struct {
		Method    string         `json:"method" jsonschema:"dotted path, such as acme.shop.order"`
		Arguments map[string]any `json:"arguments,omitempty"`
		Verb      string         `json:"verb,omitempty" jsonschema:"GET keeps nothing of what it writes; POST without it"`
	}
	logsArgs struct {
		Plugin string `json:"plugin" jsonschema:"name of an installed plugin"`
		Lines  int    `json:"lines,omitempty" jsonschema:"100 without it"`
	}
	fileArgs struct {
		Path string `json:"path" jsonschema:"relative to the project folder"`
	}
	writeArgs struct {
		Path string `json:"path" jsonschema:"relative to the project folder"`
		Text string `json:"text" jsonschema:"the whole file"`
	}
	newArgs struct {
		Name string `json:"name" jsonschema:"dotted name, such as acme.shop"`
		Lang string `json:"lang,omitempty" jsonschema:"ts without it; also js, go, rust, c, cpp, zig, assemblyscript, wat, which need their compiler"`
	}
	pluginArgs struct {
		Path string `json:"path" jsonschema:"a plugin's folder or script in the project"`
	}
)

func (a *author) addTools(s *sdk.Server) {
	reads, makes, changes := &sdk.ToolAnnotations{ReadOnlyHint: true}, &sdk.ToolAnnotations{DestructiveHint: new(bool)}, &sdk.ToolAnnotations{}
	tool(a, s, "look", "What there is: the site's address, its DocTypes and plugins, the project's files.", reads, a.look)
	tool(a, s, "doctype", "A DocType with its fields.", reads, a.doctype)
	tool(a, s, "make_doctype", "Makes a DocType.", makes, a.makeDocType)
	tool(a, s, "methods", "The methods that can be called, with their arguments.", reads, a.methods)
	tool(a, s, "call", "Calls a method of the site, also framework.client.get_list, insert, set_value and the like.", changes, a.call)
	tool(a, s, "logs", "What a plugin has logged lately, with its failed calls and the lines of its sources.", reads, a.logs)
	tool(a, s, "read", "Reads a file of the project.", reads, a.read)
	tool(a, s, "write", "Writes a file of the project, whole.", changes, a.write)
	tool(a, s, "new_plugin", "Begins a plugin in a folder of its name: sources, manifest, test, AGENTS.md.", makes, a.newPlugin)
	tool(a, s, "test", "Builds a plugin and runs its tests, each on a fresh site in memory.", reads, a.test)
	tool(a, s, "install", "Builds a plugin and has it serve on the site, in place of the version before.", changes, a.install)
}

// tool adds a tool. What it fails with is told as an answer, with exc_type and trace where
// there are some.
func tool[In any](a *author, s *sdk.Server, name, about string, hints *sdk.ToolAnnotations, run func(ctx context.Context, args In) (any, error)) {
	sdk.AddTool(s, &sdk.Tool{Name: name, Description: about, Annotations: hints}, func(ctx context.Context, _ *sdk.CallToolRequest, args In) (*sdk.CallToolResult, any, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		v, err := run(ctx, args)
		failed := err != nil
		if failed {
			v = failure(err)
		} else if t, ok := v.(tested); ok {
			failed = !t.Passed
		}
		text, err := json.Marshal(v)
		if err != nil {
			return nil, nil, err
		}
		return &sdk.CallToolResult{IsError: failed, Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}, StructuredContent: json.RawMessage(text)}, nil, nil
	})
}

func failure(err error) map[string]any {
	said := map[string]any{"error": terminal.Explain(err)}
	var refusal *remote.Refusal
	var known *fault.Error
	switch {
	case errors.As(err, &refusal):
		said["exc_type"], said["error"] = refusal.Type, refusal.Message
		if refusal.Trace != "" {
			said["trace"] = refusal.Trace
		}
	case errors.As(err, &known):
		said["exc_type"] = known.ExcType()
	}
	return said
}

func (a *author) look(ctx context.Context, _ nothing) (any, error) {
	v := map[string]any{"url": a.site.URL(), "project": a.project.dir}
	for key, method := range map[string]string{"doctypes": "framework.client.get_doctypes", "plugins": "framework.plugins.list"} {
		var list any
		if err := a.site.Manage(ctx, method, nil, &list); err != nil {
			return nil, err
		}
		v[key] = list
	}
	files, more, err := a.project.files()
	if err != nil {
		return nil, err
	}
	v["files"] = files
	if more {
		v["more_files"] = true
	}
	return v, nil
}

func (a *author) doctype(ctx context.Context, args doctypeArgs) (v any, err error) {
	return v, a.site.Manage(ctx, "framework.client.get_doctype", map[string]any{"doctype": args.DocType}, &v)
}

func (a *author) makeDocType(ctx context.Context, args makeArgs) (any, error) {
	doc := map[string]any{"module": "Custom", "custom": 1}
	for name, value := range args.More {
		doc[name] = value
	}
	doc["doctype"], doc["name"], doc["fields"], doc["permissions"] = "DocType", args.Name, args.Fields, args.Permissions
	if len(args.Permissions) == 0 {
		doc["permissions"] = everything(doc)
	}
	var made map[string]any
	if err := a.site.Manage(ctx, "framework.client.insert", map[string]any{"doc": doc}, &made); err != nil {
		return nil, err
	}
	return map[string]any{"made": made["name"]}, nil
}

// everything is what a System Manager may do with documents of a DocType.
func everything(doc map[string]any) []map[string]any {
	set := func(property string) bool { v := doc[property]; return v != nil && v != false && v != 0.0 }
	if set("istable") {
		return nil // its rows are their document's
	}
	row := map[string]any{"role": "System Manager", "read": 1, "write": 1, "create": 1, "delete": 1}
	if set("is_submittable") {
		row["submit"], row["cancel"] = 1, 1
	}
	return []map[string]any{row}
}

// methods reads the description of the API: it says what the key's user may call.
func (a *author) methods(ctx context.Context, args methodsArgs) (any, error) {
	text, err := a.site.Description(ctx)
	if err != nil {
		return nil, err
	}
	var about struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(text, &about); err != nil {
		return nil, err
	}
	type one struct {
		Method string   `json:"method"`
		Verbs  []string `json:"verbs"`
		About  string   `json:"about,omitempty"`
		Body   any      `json:"arguments,omitempty"`
	}
	all := []one{}
	for path, verbs := range about.Paths {
		name, ok := strings.CutPrefix(path, "/api/method/")
		if !ok || !strings.Contains(name, args.Text) {
			continue
		}
		m := one{Method: name}
		for verb, operation := range verbs {
			var op struct {
				Summary     string `json:"summary"`
				Description string `json:"description"`
				Body        struct {
					Content map[string]struct {
						Schema any `json:"schema"`
					} `json:"content"`
				} `json:"requestBody"`
			}
			if json.Unmarshal(operation, &op) != nil || len(verb) > len("delete") {
				continue
			}
			m.Verbs = append(m.Verbs, strings.ToUpper(verb))
			if m.About = op.Description; m.About == "" {
				m.About = op.Summary
			}
			if args.Text != "" { // of a few; of all it would be a book
				if schema := op.Body.Content["application/json"].Schema; schema != nil {
					m.Body = schema
				}
			}
		}
		slices.Sort(m.Verbs)
		all = append(all, m)
	}
	slices.SortFunc(all, func(x, y one) int { return strings.Compare(x.Method, y.Method) })
	return map[string]any{"methods": all}, nil
}

func (a *author) call(ctx context.Context, args callArgs) (any, error) {
	verb := strings.ToUpper(args.Verb)
	switch verb {
	case "":
		verb = "POST"
	case "GET", "POST", "PUT", "DELETE":
	default:
		return nil, fault.Invalid("", "verb is GET, POST, PUT or DELETE")
	}
	given := args.Arguments
	if given == nil {
		given = map[string]any{}
	}
	text, err := json.Marshal(given)
	if err != nil {
		return nil, err
	}
	message, err := a.site.Call(ctx, verb, args.Method, text)
	if err != nil {
		return nil, err
	}
	if message == nil {
		message = json.RawMessage("null")
	}
	return map[string]any{"message": message}, nil
}

func (a *author) logs(ctx context.Context, args logsArgs) (any, error) {
	if args.Lines <= 0 {
		args.Lines = 100
	}
	lines := []json.RawMessage{}
	err := a.site.Manage(ctx, "framework.plugins.logs", map[string]any{"plugin": args.Plugin, "lines": args.Lines}, &lines)
	return map[string]any{"lines": lines}, err
}

func (a *author) read(_ context.Context, args fileArgs) (any, error) {
	text, err := a.project.read(args.Path)
	return map[string]any{"text": text}, err
}

func (a *author) write(_ context.Context, args writeArgs) (any, error) {
	return map[string]any{"written": args.Path, "bytes": len(args.Text)}, a.project.write(args.Path, args.Text)
}

func (a *author) newPlugin(_ context.Context, args newArgs) (any, error) {
	if args.Lang == "" {
		args.Lang = "ts"
	}
	dir, err := a.project.free(args.Name)
	if err != nil {
		return nil, err
	}
	if err := scaffold.Write(args.Lang, args.Name, dir); err != nil {
		return nil, err
	}
	return map[string]any{"folder": args.Name, "next": "Read " + args.Name + "/AGENTS.md, then write, test and install."}, nil
}

// tested is how tests went.
type tested struct {
	Passed bool             `json:"passed"`
	Tests  []testrun.Result `json:"tests"`
	Output string           `json:"output,omitempty"` // of compilers and programs
	Error  string           `json:"error,omitempty"`  // why they cannot be run
}

func (a *author) test(ctx context.Context, args pluginArgs) (any, error) {
	path, err := a.project.found(args.Path)
	if err != nil {
		return nil, err
	}
	t, err := plugintest.NewTester(a.in, path, 1)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	var printed bytes.Buffer
	t.Out = &printed
	v := tested{Passed: true, Tests: []testrun.Result{}}
	err = t.Round(ctx, func(r testrun.Result) {
		v.Tests = append(v.Tests, r)
		v.Passed = v.Passed && !r.Failed()
	})
	if v.Output = printed.String(); err != nil {
		v.Passed, v.Error = false, terminal.Explain(err)
	}
	return v, nil
}

func (a *author) install(ctx context.Context, args pluginArgs) (any, error) {
	path, err := a.project.found(args.Path)
	if err != nil {
		return nil, err
	}
	var printed bytes.Buffer
	whole, _, err := a.workspace.Build(ctx, path, &printed)
	if err != nil {
		return nil, withOutput(err, printed.String())
	}
	approve, err := a.given(ctx, whole)
	if err != nil {
		return nil, err
	}
	var done installed.Installation
	if err := a.site.Manage(ctx, "framework.plugins.install", map[string]any{"file": whole, "approve": strings.Join(approve, ",")}, &done); err != nil {
		return nil, err
	}
	v := map[string]any{"plugin": done.Plugin, "version": done.Version, "status": done.Status, "does": done.Does, "doctypes": done.DocTypes}
	if len(done.Waiting) > 0 {
		v["waits_for_approval"] = done.Waiting
		v["next"] = "A person may give this: armature plugin approve " + done.Plugin + ", or armature mcp --approve when it is started."
	}
	if done.Pending {
		v["pending"] = true
	}
	return v, nil
}

// given are the grants that a bundle gets along with its installation: on data that is
// thrown away all that it asks for, on kept data of this machine what an operator gives by
// installing, and beside these what the command was started with.
func (a *author) given(ctx context.Context, whole []byte) ([]string, error) {
	approve := slices.Clone(a.approve)
	if !a.own {
		return approve, nil
	}
	var planned installed.Installation
	if err := a.site.Manage(ctx, "framework.plugins.plan", map[string]any{"file": whole, "approve": strings.Join(approve, ",")}, &planned); err != nil {
		return nil, err
	}
	for _, right := range planned.Waiting {
		if a.thrown || !grant.NeedsApproval(right, true) {
			approve = append(approve, right)
		}
	}
	return approve, nil
}

// withOutput adds what compilers have printed, where the lines are.
func withOutput(err error, printed string) error {
	if printed = strings.TrimSpace(printed); printed == "" {
		return err
	}
	return fault.Wrap(fault.Validation, "", err, "%s\n%s", terminal.Explain(err), printed)
}
