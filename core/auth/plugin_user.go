package auth

import (
	"context"
	"strings"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// PluginType is the user_type of the users as whom plugins run handlers. Nobody
// logs in as one of them, by whatever credentials.
const PluginType = "Plugin"

// pluginDomain ends the names of those users. No such host exists (RFC 2606 section
// 2), so that nobody has an address that is the name of one.
const pluginDomain = "@plugin.invalid"

// PluginUser is the name of the user as whom handlers of a plugin run.
func PluginUser(plugin string) string { return plugin + pluginDomain }

// isPlugin reports whether a user is one of a plugin.
func isPlugin(user *doctype.Document) bool { return user.Text("user_type") == PluginType }

// EnsurePluginUser makes the user of a plugin, in the transaction of who approves
// that its handlers run as it, and returns its name. It has no roles until it is
// given some. Conflict: somebody else's user has the name.
func (s *Service) EnsurePluginUser(ctx context.Context, tx document.Tx, by *identity.Caller, plugin string) (string, error) {
	name := PluginUser(plugin)
	dt, err := s.docType("User")
	if err != nil {
		return "", err
	}
	user, err := tx.Get(ctx, s.catalog.Schema(), dt, name, true)
	switch {
	case err == nil && !isPlugin(user):
		return "", fault.New(fault.Conflict, "", "There is a user %s, who is not the plugin's: rename or delete that user first", name)
	case err == nil && user.Bool("enabled"):
		return name, nil
	case err == nil:
		user.Put("enabled", int64(1))
		err = s.save(ctx, tx, by, user, "enabled")
	case fault.KindOf(err) == fault.NotFound:
		err = s.insert(ctx, tx, dt, name, by.User, map[string]any{
			"email": name, "first_name": plugin, "full_name": plugin, "enabled": int64(1), "user_type": PluginType,
		})
		if err == nil {
			err = s.Changed(ctx, tx)
		}
	}
	if err != nil {
		return "", err
	}
	act := Activity{Operation: "User", User: name, Subject: "User " + name + " was made for the plugin " + plugin}
	return name, s.Record(ctx, tx, act.Did(by))
}

// RetirePluginUser disables the user of a plugin that is gone and takes its roles
// away: another plugin of the name does not inherit them. What it owns stays its.
func (s *Service) RetirePluginUser(ctx context.Context, tx document.Tx, by *identity.Caller, plugin string) error {
	name := PluginUser(plugin)
	user, err := s.read(ctx, tx, name, true)
	if fault.KindOf(err) == fault.NotFound || err == nil && !isPlugin(user) {
		return nil
	}
	if err != nil {
		return err
	}
	user.Put("enabled", int64(0))
	user.PutRows("roles", nil)
	user.Put("modified", doctype.FormatDatetime(s.now()))
	user.Put("modified_by", by.User)
	columns := []*doctype.Field{user.Type.Field("enabled"), user.Type.Field("modified"), user.Type.Field("modified_by")}
	if _, err := tx.Update(ctx, s.catalog.Schema(), user, columns, []*doctype.Field{user.Type.Field("roles")}, ""); err != nil {
		return err
	}
	act := Activity{Operation: "User", User: name, Subject: "User " + name + " was disabled and lost its roles: the plugin is gone"}
	if err := s.Record(ctx, tx, act.Did(by)); err != nil {
		return err
	}
	return s.Changed(ctx, tx)
}

// PluginCaller is the user of a plugin as a caller, read in the transaction in which
// it acts. Permission: there is none, or it is disabled.
func (s *Service) PluginCaller(ctx context.Context, tx document.Tx, plugin string) (*identity.Caller, error) {
	name := PluginUser(plugin)
	user, err := s.read(ctx, tx, name, false)
	switch {
	case fault.KindOf(err) == fault.NotFound, err == nil && (!isPlugin(user) || !user.Bool("enabled")):
		return nil, fault.Denied("The plugin %s cannot run as the user %s, who is missing or disabled", plugin, name)
	case err != nil:
		return nil, err
	}
	return s.callerWithRoles(ctx, tx, user)
}

// RefusedPlugin keeps that somebody tried to change what a plugin may do and may
// not.
func (s *Service) RefusedPlugin(ctx context.Context, tx document.Tx, by *identity.Caller, plugin, why string) error {
	what := "Plugin " + plugin
	if plugin == "" {
		what = "A plugin's installation"
	}
	act := Activity{Operation: "Plugins", Status: Refused, User: by.User, Subject: what + ": refused: " + why}
	return s.Record(ctx, tx, act.Did(by))
}

// keepPlugins keeps the users of plugins what they are: made by approving a plugin,
// without credentials, and given roles by people.
func keepPlugins(ev *document.Event) error {
	user := ev.Doc
	if ev.Before == nil {
		if strings.HasSuffix(fold(user.Text("email")), pluginDomain) {
			return fault.Denied("Users whose addresses end in %s are made with the approval of a plugin", pluginDomain)
		}
		return nil
	}
	if !isPlugin(ev.Before) {
		return nil
	}
	if ev.Caller.Frame != nil {
		return fault.Denied("The user of a plugin is changed by people, not by plugins")
	}
	if user.Text("new_password") != "" {
		return noLogin(user)
	}
	return nil
}
