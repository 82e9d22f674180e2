package plugindev

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"armature/cmd/armature/devserver"
	"armature/cmd/armature/outfile"
	"armature/core/accesslog"
	"armature/core/fault"
	"armature/plugins/bundle"
)

// ownStage is a server in this process, with a data folder that is thrown away or
// kept.
type ownStage struct {
	*devserver.Server
	site   string
	data   string
	folder string // of the plugins for all sites
	kept   bool   // the data is
	out    *devOutput
	told   bool // how to call the plugin
	access *accesslog.Log
}

func (g *group) newOwnStage(ctx context.Context, tmp string, d developing, out *devOutput) (st *ownStage, err error) {
	own := *g.Installation
	if err := devserver.Separate(&own, d.typed); err != nil {
		return nil, err
	}
	st = &ownStage{site: own.Site, kept: g.Data != "", out: out}
	if !st.kept {
		own = *own.Apart(filepath.Join(tmp, "data")) // nobody needs the password
	}
	st.access = accesslog.New(lineWriter{out}, accesslog.JSON)
	st.Server, err = devserver.Open(ctx, &own, devserver.Config{Listen: d.listen, Lent: d.lent, Log: slog.New(devLog{out: out}), Access: st.access})
	if err != nil {
		st.access.Close()
		return nil, err
	}
	st.data, st.folder = own.Data, own.Layout().Plugins()
	st.greet()
	return st, nil
}

func (st *ownStage) greet() {
	text := "a server of its own listens on " + st.URL
	if st.Auth != "" {
		text += fmt.Sprintf("\n\n  AUTH=\"Authorization: %s\"\n", st.Auth)
	} else {
		text += "\n\n  AUTH=$(armature user keys Administrator --header --data " + st.data + ")   # unless you have it: makes the old one void\n"
	}
	st.out.event(map[string]any{"event": "listens", "url": st.URL, "authorization": st.Auth}, text)
}

// show puts a bundle into the folder of the plugins and loads it. It waits for all that follows from loading: when
// it returns, calls are answered by the new version.
func (st *ownStage) show(ctx context.Context, whole []byte, b *bundle.Bundle) ([]string, error) {
	name := b.Manifest.Name
	file := filepath.Join(st.folder, name+".wasm")
	// Tried first, so that the folder never holds what does not load.
	tried, err := st.Platform.Guests.Shared().Check(ctx, file, b)
	if err != nil {
		return nil, err
	}
	defer tried.Close()
	if err := outfile.Replace(file, whole); err != nil {
		return nil, err
	}
	if err := st.Platform.Guests.Shared().LoadFrom(ctx, file, func() (*bundle.Bundle, error) { return b, nil }); err != nil {
		return nil, err
	}
	if _, err := st.Platform.Set.Open(ctx, st.site); err != nil {
		return nil, err
	}
	st.Platform.Guests.Site(st.site).Refresh(ctx)
	remarks, err := st.approve(ctx, name)
	if err == nil && !st.told {
		remarks = append(remarks, st.howToCall(b)...)
		st.told = true
	}
	return remarks, err
}

// approve gives a plugin what waits for an administrator, where there is nothing
// that it could harm.
func (st *ownStage) approve(ctx context.Context, name string) ([]string, error) {
	grants, found, err := st.Platform.Waiting(ctx, st.site, name)
	switch {
	case fault.KindOf(err) == fault.NotFound || err == nil && !found:
		return nil, nil
	case err != nil || len(grants) == 0:
		return nil, err
	}
	waiting := strings.Join(grants, ", ")
	if st.kept {
		return []string{"waits for approval: " + waiting + "; give it with: armature plugin approve " + name + " '" + strings.Join(grants, "' '") + "'"}, nil
	}
	err = st.Platform.Approve(ctx, st.site, name, grants)
	return []string{"given here, and elsewhere only with an administrator's approval: " + waiting}, err
}

// howToCall are commands that call the plugin's methods.
func (st *ownStage) howToCall(b *bundle.Bundle) (lines []string) {
	for _, m := range b.Manifest.Methods {
		line := `curl -H "$AUTH" `
		if len(m.Verbs) > 0 && !slices.Contains(m.Verbs, http.MethodGet) {
			line += `-H 'Content-Type: application/json' -d '{}' `
		}
		lines = append(lines, line+st.URL+"/api/method/"+m.Path)
		if len(lines) == maxCalls {
			break
		}
	}
	return lines
}

// maxCalls is how many methods are shown how to call.
const maxCalls = 5

func (st *ownStage) ended() <-chan struct{} { return st.Ended() }

func (st *ownStage) err() error { return st.Err() }

func (st *ownStage) close() {
	st.Server.Close()
	st.access.Close()
}
