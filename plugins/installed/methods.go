package installed

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"armature/core/fault"
	"armature/core/identity"
	"armature/core/method"
	"armature/plugins/bundle"
	"armature/plugins/registry"
)

// invoker is what a site can call: its plugins' methods, and those by which
// plugins are managed.
type invoker struct {
	*registry.Site
	site  *Site
	table map[string]*method.Method
}

// Invoker adds the methods framework.plugins.* to those of the site's plugins.
func (s *Site) Invoker() method.Invoker {
	in := &invoker{Site: s.cfg.Table, site: s, table: map[string]*method.Method{}}
	for _, m := range s.methods() {
		in.table[m.Path] = m
	}
	return in
}

// Pin satisfies method.Invoker. The platform's own methods belong to no
// generation.
func (in *invoker) Pin(path string) (*method.Method, method.Pin, bool) {
	if m := in.table[path]; m != nil {
		return m, nil, true
	}
	return in.Site.Pin(path)
}

// Upload says which methods take a bundle as a file, and of how many bytes.
func (in *invoker) Upload(path string) int64 {
	if path == prefix+"install" || path == prefix+"plan" {
		return bundle.MaxSize
	}
	return 0
}

// Methods satisfies method.Lister.
func (in *invoker) Methods() []*method.Method {
	all := in.Site.Methods()
	for _, m := range in.table {
		all = append(all, m)
	}
	return all
}

// Why satisfies method.Unserved.
func (in *invoker) Why(path string) string {
	for _, r := range in.site.cfg.Records.all() {
		if !slices.Contains(r.Methods, path) {
			continue
		}
		switch missing := r.missing(); {
		case r.Status == Removed:
			return ""
		case r.Status == Disabled:
			return "the plugin " + r.Name + " is disabled"
		case len(missing) > 0:
			return "the plugin " + r.Name + " waits for the approval of " + strings.Join(missing, ", ")
		case r.Error != "":
			return "the plugin " + r.Name + " cannot be served: " + r.Error
		}
	}
	return ""
}

// methods are framework.plugins.*. They are for System Managers, and not for
// plugins that act for one. Each runs transactions of its own, none that lasts
// while a module is compiled.
func (s *Site) methods() []*method.Method {
	onPlugin := func(fn func(context.Context, *identity.Caller, string) (*Record, error)) func(context.Context, *method.Call) (any, error) {
		return func(ctx context.Context, call *method.Call) (any, error) {
			plugin, err := call.Args.Need("plugin")
			if err != nil {
				return nil, err
			}
			if _, err := fn(ctx, call.Caller, plugin); err != nil {
				return nil, err
			}
			list, err := s.list(ctx, plugin)
			if err != nil {
				return nil, err
			}
			return list[0], nil
		}
	}
	withNames := func(fn func(context.Context, *identity.Caller, string, []string) (*Record, error)) func(context.Context, *method.Call) (any, error) {
		return func(ctx context.Context, call *method.Call) (any, error) {
			return onPlugin(func(ctx context.Context, caller *identity.Caller, plugin string) (*Record, error) {
				return fn(ctx, caller, plugin, names(call.Args.Get("grants")))
			})(ctx, call)
		}
	}
	return []*method.Method{
		s.managing("install", "Install a plugin, or another version of one: wasm is the bundle in base64, or the part file of a multipart body the bundle itself; approve names the grants approved along with it, draft the hash of a version that is not kept once this one replaces it", s.callInstall(false)),
		s.managing("plan", "Say what install would do", s.callInstall(true)),
		s.managing("approve", "Give a plugin the grants it asks for, or those that are named", withNames(s.approve)),
		s.managing("revoke", "Take approved grants back", withNames(s.revoke)),
		s.managing("rollback", "Have the version serve that did before", onPlugin(s.rollback)),
		s.managing("disable", "Take a plugin off the site", onPlugin(s.disable)),
		s.managing("enable", "Put a disabled plugin back", onPlugin(s.enable)),
		s.managing("uninstall", "Remove a plugin; its DocTypes and their documents stay", func(ctx context.Context, call *method.Call) (any, error) {
			plugin, err := call.Args.Need("plugin")
			if err != nil {
				return nil, err
			}
			return nil, s.uninstall(ctx, call.Caller, plugin)
		}),
		showing("list", "List the plugins of the site", func(ctx context.Context, call *method.Call) (any, error) {
			return s.list(ctx, call.Args.Text("plugin"))
		}),
		showing("logs", "Show what a plugin has logged lately in the process that answers", func(_ context.Context, call *method.Call) (any, error) {
			plugin, err := call.Args.Need("plugin")
			if err != nil {
				return nil, err
			}
			n, err := strconv.Atoi(call.Args.Text("lines"))
			if err != nil || n <= 0 {
				n = 100
			}
			return s.lines(plugin, n), nil
		}),
	}
}

func (s *Site) callInstall(dry bool) func(context.Context, *method.Call) (any, error) {
	return func(ctx context.Context, call *method.Call) (any, error) {
		wasm, sent := call.Args.Get("file").([]byte)
		if !sent {
			text, err := call.Args.Need("wasm")
			if err != nil {
				return nil, err
			}
			if wasm, err = base64.StdEncoding.DecodeString(text); err != nil {
				return nil, fault.Wrap(fault.Validation, "", err, "wasm is not base64")
			}
		}
		return s.install(ctx, call.Caller, wasm, names(call.Args.Get("approve")), call.Args.Text("draft"), dry)
	}
}

const prefix = "framework.plugins."

func (s *Site) managing(name, description string, fn func(context.Context, *method.Call) (any, error)) *method.Method {
	m := showing(name, description, func(ctx context.Context, call *method.Call) (any, error) {
		answer, err := fn(ctx, call)
		if fault.KindOf(err) == fault.Permission {
			if kept := s.noteRefusal(ctx, call.Caller, call.Args.Text("plugin"), err); kept != nil {
				return nil, kept
			}
		}
		return answer, err
	})
	manage := m.Func
	m.Func = func(ctx context.Context, call *method.Call) (any, error) {
		answer, err := manage(ctx, call)
		if call.Parent != nil && call.Tx != nil && err != nil {
			// Written down when the transaction that the plugin is in has ended.
			call.Tx.SideEffects().Last(func() {
				ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteWait)
				defer cancel()
				if err := s.noteRefusal(ctx, call.Caller, call.Args.Text("plugin"), err); err != nil {
					s.log.Error("write down that a plugin was refused", "error", err)
				}
			})
		}
		return answer, err
	}
	m.Verbs = []string{http.MethodPost}
	return m
}

// noteWait is how long writing down a refusal may take after the call it is of.
const noteWait = 5 * time.Second

func showing(name, description string, fn func(context.Context, *method.Call) (any, error)) *method.Method {
	return &method.Method{
		Path: prefix + name, Description: description, Roles: []string{identity.SystemManager}, Tier: method.Named,
		Verbs: []string{http.MethodGet, http.MethodPost},
		Func: func(ctx context.Context, call *method.Call) (any, error) {
			if call.Parent != nil {
				// It would wait for the transaction that waits for it, and a
				// plugin that acts for an administrator must not raise itself.
				return nil, fault.Denied("Plugins are managed by people, not by plugins")
			}
			return fn(ctx, call)
		},
	}
}
