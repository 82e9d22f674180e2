package plugindev

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"armature/cmd/armature/installation"
	"armature/cmd/armature/outfile"
	"armature/cmd/armature/platform"
	"armature/cmd/armature/terminal"
	"armature/core/accesslog"
	"armature/core/auth"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/httpapi"
	"armature/core/identity"
	"armature/core/serve"
	"armature/core/site"
	"armature/core/tenant"
	"armature/plugins/bundle"
)

// ownStage is a server in this process, with a data folder that is thrown away or
// kept.
type ownStage struct {
	p      *platform.Platform
	site   string
	data   string
	folder string // of the plugins for all sites
	kept   bool   // the data is
	url    string
	auth   string // value of the header; empty: nobody was given a new key
	out    *devOutput
	told   bool // how to call the plugin
	access *accesslog.Log

	stop   context.CancelFunc
	done   chan struct{}
	served error
}

func (g *group) newOwnStage(ctx context.Context, tmp string, d developing, out *devOutput) (st *ownStage, err error) {
	own := *g.Installation
	if err := d.separate(&own); err != nil {
		return nil, err
	}
	st = &ownStage{site: own.Site, kept: g.Data != "", out: out, done: make(chan struct{})}
	if !st.kept {
		own = *own.Apart(filepath.Join(tmp, "data")) // nobody needs the password
	}
	log := slog.New(devLog{out: out})
	if st.p, err = platform.Open(ctx, &own, log, platform.Options{Idle: -1, Live: true}); err != nil {
		return nil, err
	}
	server, err := listenOwn(d, log)
	if err != nil {
		st.p.Close()
		return nil, err
	}
	if err = st.p.Start(ctx); err == nil {
		var t *tenant.Tenant
		if t, err = own.OpenTenant(ctx, st.p.Set); err == nil {
			st.auth, err = newKeys(ctx, t)
		}
	}
	if err != nil {
		_ = server.Close()
		st.p.Close()
		return nil, err
	}
	st.data, st.folder, st.url = own.Data, own.Layout().Plugins(), server.URL()
	st.access = accesslog.New(lineWriter{out}, accesslog.JSON)
	handler := httpapi.New(httpapi.Config{Sites: st.p.Set, Logger: log, Access: st.access})
	ctx, st.stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(st.done)
		st.served = server.Serve(ctx, handler)
	}()
	st.greet()
	return st, nil
}

// separate takes away what a server of its own would share with another one: the
// shell may have been set up for a site that people use, and a plugin that is
// being written is given what it asks for. Settings that come from one place with
// the data folder belong together and stay.
func (d developing) separate(in *installation.Installation) error {
	if in.Data != "" && !d.typed("data") {
		return nil
	}
	for _, s := range []struct {
		flag  string
		value *string
		none  string
	}{{"database", &in.Database, ""}, {"redis", &in.Redis, ""}, {"site", &in.Site, site.Default}} {
		switch {
		case !d.typed(s.flag):
			*s.value = s.none
		case in.Data == "":
			return terminal.Misuse("--%s needs --data: without it the server has data of its own, which is thrown away at the end", s.flag)
		}
	}
	return nil
}

// listenOwn listens where it was asked to, or without being asked on any address
// of this machine.
func listenOwn(d developing, log *slog.Logger) (*serve.Server, error) {
	c := serve.Config{Listen: d.listen, DrainTimeout: time.Second, Logger: log}
	s, err := serve.Listen(c)
	if d.lent && errors.Is(err, syscall.EADDRINUSE) {
		c.Listen = "127.0.0.1:0"
		return serve.Listen(c)
	}
	return s, err
}

// newKeys gives the Administrator an API key, where nobody has one that would
// stop working.
func newKeys(ctx context.Context, t *tenant.Tenant) (string, error) {
	var keys auth.Keys
	err := t.Store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		user, err := t.Documents.As(identity.Root(), tx).Get(ctx, "User", "Administrator")
		if err != nil || user.Text("api_key") != "" {
			return err
		}
		keys, err = t.Auth.GenerateKeys(ctx, tx, identity.Root(), "Administrator")
		return err
	})
	if err != nil || keys.Key == "" {
		return "", err
	}
	return "token " + keys.Key + ":" + keys.Secret, nil
}

func (st *ownStage) greet() {
	text := "a server of its own listens on " + st.url
	if st.auth != "" {
		text += fmt.Sprintf("\n\n  AUTH=\"Authorization: %s\"\n", st.auth)
	} else {
		text += "\n\n  AUTH=$(armature user keys Administrator --header --data " + st.data + ")   # unless you have it: makes the old one void\n"
	}
	st.out.event(map[string]any{"event": "listens", "url": st.url, "authorization": st.auth}, text)
}

// show puts a bundle into the folder of the plugins and loads it. It waits for all that follows from loading: when
// it returns, calls are answered by the new version.
func (st *ownStage) show(ctx context.Context, whole []byte, b *bundle.Bundle) ([]string, error) {
	name := b.Manifest.Name
	file := filepath.Join(st.folder, name+".wasm")
	// Tried first, so that the folder never holds what does not load.
	tried, err := st.p.Guests.Shared().Check(ctx, file, b)
	if err != nil {
		return nil, err
	}
	defer tried.Close()
	if err := outfile.Replace(file, whole); err != nil {
		return nil, err
	}
	if err := st.p.Guests.Shared().LoadFrom(ctx, file, func() (*bundle.Bundle, error) { return b, nil }); err != nil {
		return nil, err
	}
	if _, err := st.p.Set.Open(ctx, st.site); err != nil {
		return nil, err
	}
	st.p.Guests.Site(st.site).Refresh(ctx)
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
	grants, found, err := st.p.Waiting(ctx, st.site, name)
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
	err = st.p.Approve(ctx, st.site, name, grants)
	return []string{"given here, and elsewhere only with an administrator's approval: " + waiting}, err
}

// howToCall are commands that call the plugin's methods.
func (st *ownStage) howToCall(b *bundle.Bundle) (lines []string) {
	for _, m := range b.Manifest.Methods {
		line := `curl -H "$AUTH" `
		if len(m.Verbs) > 0 && !slices.Contains(m.Verbs, http.MethodGet) {
			line += `-H 'Content-Type: application/json' -d '{}' `
		}
		lines = append(lines, line+st.url+"/api/method/"+m.Path)
		if len(lines) == maxCalls {
			break
		}
	}
	return lines
}

// maxCalls is how many methods are shown how to call.
const maxCalls = 5

func (st *ownStage) ended() <-chan struct{} { return st.done }

func (st *ownStage) err() error { return st.served }

func (st *ownStage) close() {
	st.stop()
	<-st.done
	st.access.Close()
	st.p.Close()
}
