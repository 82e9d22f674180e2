package platform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"armature/cmd/armature/installation"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/tenant"
	"armature/plugins/installed"
)

// With opens the site that is meant with its plugins, beside a server
// that may be running on the same data.
func With(ctx context.Context, in *installation.Installation, fn func(*Platform, *tenant.Tenant) error) error {
	log := slog.New(slog.NewTextHandler(in.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	o := Options{observer: true, Idle: -1}
	if err := o.Trust(in); err != nil {
		return err
	}
	p, err := Open(ctx, in, log, o)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Start(ctx); err != nil {
		return err
	}
	t, err := in.OpenTenant(ctx, p.Set)
	if err != nil {
		return err
	}
	return fn(p, t)
}

// Manage calls one of framework.plugins.* on an open site.
func Manage(ctx context.Context, t *tenant.Tenant, name string, args map[string]any, result any) error {
	res, err := t.Methods().Run(ctx, method.Invocation{
		Path: "framework.plugins." + name, Verb: http.MethodPost, Caller: identity.Root(), Args: method.ArgsMap(args),
	})
	if err != nil || result == nil {
		return err
	}
	if err := json.Unmarshal(res.Message, result); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Waiting is what of a plugin waits for an administrator's approval on a site; there
// is no such plugin where found is false. The error is why it does not load.
func (p *Platform) Waiting(ctx context.Context, site, plugin string) (grants []string, found bool, err error) {
	var list []installed.Entry
	if err := p.manage(ctx, site, "list", map[string]any{"plugin": plugin}, &list); err != nil || len(list) == 0 {
		return nil, false, err
	}
	if list[0].Error != "" {
		return nil, true, errors.New(list[0].Error)
	}
	return list[0].Waiting, true, nil
}

// Approve gives a plugin of a site what waits.
func (p *Platform) Approve(ctx context.Context, site, plugin string, grants []string) error {
	return p.manage(ctx, site, "approve", map[string]any{"plugin": plugin, "grants": strings.Join(grants, ",")}, nil)
}

// manage calls one of framework.plugins.* on a site.
func (p *Platform) manage(ctx context.Context, site, name string, args map[string]any, result any) error {
	t, err := p.Set.Open(ctx, site)
	if err != nil {
		return err
	}
	return Manage(ctx, t, name, args, result)
}
