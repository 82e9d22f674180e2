package auth

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// Hooks is the life of the documents that decide who may do what: User and
// Role, and those that give single users more or less. A change of one is in the
// Activity Log and makes every process forget what it knows of callers.
func (s *Service) Hooks() document.Hooks { return hooks{s} }

type hooks struct{ s *Service }

// Handles covers the documents a Caller is made of.
func (hooks) Handles(typeName string) bool {
	switch typeName {
	case "User", invitationName, "Role", "User Permission", "DocShare", doctype.DocTypeName, sessionName, pluginName:
		return true
	}
	return false
}

func (hooks) RunsPlugins(string) bool { return false }

func (h hooks) Run(ctx context.Context, ev *document.Event) error {
	if ev.Doc.Type.Name == invitationName {
		return h.invitation(ctx, ev)
	}
	switch ev.Name {
	case document.OnUpdate, document.AfterDelete, document.AfterRename: // an insert is an update as well
		if err := checkNames(ev); err != nil {
			return err
		}
		if ev.Doc.Type.Name == "User" && ev.Name == document.AfterRename {
			taken, err := h.s.taken(ctx, ev.Tx, ev.Doc.Name(), ev.Doc.Name())
			if err != nil {
				return err
			}
			if taken {
				return fault.New(fault.Conflict, "DuplicateEntryError", "Somebody has the address %s already", ev.Doc.Name())
			}
		}
		if err := h.loggedOut(ctx, ev); err != nil {
			return err
		}
		if err := h.audit(ctx, ev); err != nil {
			return err
		}
		if name := ev.Doc.Type.Name; name == doctype.DocTypeName || name == pluginName {
			return nil // callers are made without it
		}
		return h.s.Changed(ctx, ev.Tx)
	}
	switch ev.Doc.Type.Name {
	case sessionName:
		if ev.Name == document.BeforeValidate {
			return fault.Denied("Sessions are made by logging in")
		}
	case "Role":
		return h.role(ev)
	case "User":
		return h.user(ctx, ev)
	}
	return nil
}

// role keeps the roles that nobody is given from being taken away.
func (h hooks) role(ev *document.Event) error {
	if ev.Name == document.OnTrash && (slices.Contains(automatic, ev.Doc.Name()) || ev.Doc.Name() == identity.SystemManager) {
		return fault.Invalid("", "The role %s cannot be deleted", ev.Doc.Name())
	}
	return nil
}

func (h hooks) user(ctx context.Context, ev *document.Event) error {
	switch ev.Name {
	case document.BeforeInsert:
		// The e-mail address becomes the name, which is compared letter by letter.
		if email := ev.Doc.Text("email"); email != "" && !builtin(ev.Doc.Name()) {
			email, err := cleanEmail(email)
			if err != nil {
				return err
			}
			taken, err := h.s.taken(ctx, ev.Tx, email, email)
			if err != nil {
				return err
			}
			if taken {
				return fault.New(fault.Conflict, "DuplicateEntryError", "Somebody has the address %s already", email)
			}
			ev.Doc.Put("email", email)
		}
		return h.s.throttleUsers(ctx, ev.Tx, ev.Doc.Type)
	case document.Validate:
		return h.validateUser(ctx, ev)
	case document.OnTrash:
		if builtin(ev.Doc.Name()) {
			return fault.Invalid("", "User %s cannot be deleted", ev.Doc.Name())
		}
	}
	return nil
}

func (h hooks) validateUser(ctx context.Context, ev *document.Event) error {
	user := ev.Doc
	if ev.Before != nil && user.Name() == identity.Administrator && ev.Caller.User != identity.Administrator {
		// Who could choose its password would pass every check.
		return fault.Denied("Only the Administrator may change the user Administrator")
	}
	if builtin(user.Name()) && !user.Bool("enabled") {
		return fault.Invalid("", "User %s cannot be disabled", user.Name())
	}
	if err := keepPlugins(ev); err != nil {
		return err
	}
	if err := keepService(ev); err != nil {
		return err
	}
	if err := keepNames(user, ev.Before); err != nil {
		return err
	}
	// Credentials are only ever set by GenerateKeys and SetPassword: who could put
	// a hash here could choose somebody's secret.
	// Nor is an address verified by saying so.
	for _, field := range []string{"api_key", "api_secret", "password_hash", "email_verified"} {
		if ev.Before == nil {
			user.Put(field, nil)
		} else {
			user.Put(field, ev.Before.Get(field))
		}
	}
	if err := h.s.keepSubject(ev); err != nil {
		return err
	}
	if err := h.newPassword(ctx, ev); err != nil {
		return err
	}
	user.Put("full_name", fullName(user))
	if builtin(user.Name()) {
		return nil
	}
	if ev.Before == nil {
		if err := h.s.chooseUsername(ctx, ev.Tx, user); err != nil {
			return err
		}
	}
	given, err := h.s.roles(ctx, ev.Tx, user)
	if err != nil {
		return err
	}
	if ev.Before != nil && isPlugin(ev.Before) {
		user.Put("user_type", PluginType)
		return nil
	}
	if isService(user) {
		return nil
	}
	user.Put("user_type", "Website User")
	if given.desk {
		user.Put("user_type", SystemUser)
	}
	return nil
}

// keepNames refuses another e-mail address, which is changed where both agree
// (AnswerAddress), and cleans the user name. The address that a user comes with is their
// name for good, by which sessions, grants and the owners of documents know them.
func keepNames(user, before *doctype.Document) error {
	if before != nil {
		if email := user.Text("email"); email != before.Text("email") && fold(email) != user.Name() {
			return fault.Invalid("CannotChangeConstantError",
				"The e-mail address of %s is changed at /app/address, where the old and the new one agree, or by the method framework.user.set_address", user.Name())
		}
		user.Put("email", before.Get("email"))
	}
	name := user.Text("username")
	if name == "" || before != nil && before.Text("username") == name {
		return nil
	}
	name, err := cleanUsername(name)
	if err == nil {
		user.Put("username", name)
	}
	return err
}

// checkNames refuses what others' hooks have made of the names of a user after
// keepNames has cleaned them.
func checkNames(ev *document.Event) error {
	if ev.Doc.Type.Name != "User" {
		return nil
	}
	if ev.Name == document.AfterRename && (isPlugin(ev.Doc) || strings.HasSuffix(ev.Doc.Name(), pluginDomain)) {
		return fault.Denied("The user of a plugin has the plugin's name, and nobody else has it")
	}
	if ev.Name != document.OnUpdate || builtin(ev.Doc.Name()) || isPlugin(ev.Doc) {
		return nil
	}
	if clean, err := cleanEmail(ev.Doc.Name()); ev.Before == nil && (err != nil || clean != ev.Doc.Name()) {
		return cmp.Or[error](err, fault.Invalid("InvalidEmailAddressError", "%s cannot be the name of a user", ev.Doc.Name()))
	}
	name := ev.Doc.Text("username")
	if ev.Before != nil && ev.Before.Text("username") == name {
		return nil
	}
	if clean, err := cleanUsername(name); err != nil || clean != name {
		return cmp.Or[error](err, fault.Invalid("InvalidNameError", "%s cannot be a user name", name))
	}
	return nil
}

// newPassword sets the password that an administrator has put into the document,
// and takes it out again. Other users do not see the field: they have to know
// their old password (ChangePassword).
func (h hooks) newPassword(ctx context.Context, ev *document.Event) error {
	user := ev.Doc
	field := user.Type.Field("new_password")
	if field == nil || user.Text("new_password") == "" {
		return nil
	}
	text, err := h.s.secret.Open(document.SealPurpose(user.Type.Name, field.Name), user.Text("new_password"))
	if err != nil {
		return err
	}
	user.Put("new_password", nil)
	if err := CheckPolicy(string(text)); err != nil {
		return err
	}
	user.Put("password_hash", h.s.hasher.hash(string(text)))
	if err := h.s.ended(ctx, ev.Tx, ev.Caller, user.Name()); err != nil {
		return err
	}
	if err := h.s.endResets(ctx, ev.Tx, user.Name()); err != nil {
		return err
	}
	if err := h.s.forgetBrowsers(ctx, ev.Tx, user.Name()); err != nil {
		return err
	}
	if user.Bool("logout_all_sessions") {
		if err := h.s.EndSessions(ctx, ev.Tx, user.Name()); err != nil {
			return err
		}
	}
	return h.s.Record(ctx, ev.Tx, Activity{Operation: "Password", User: user.Name()}.Did(ev.Caller))
}

func builtin(user string) bool { return user == identity.Administrator || user == identity.Guest }

// fullName joins what there is of the three names.
func fullName(user *doctype.Document) string {
	var parts []string
	for _, field := range []string{"first_name", "middle_name", "last_name"} {
		if s := user.Text(field); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, " ")
}

// loggedOut ends the sessions and the OAuth grants of a user who has been disabled, deleted or given
// another name: whoever gets the name later must not inherit them.
func (h hooks) loggedOut(ctx context.Context, ev *document.Event) error {
	if ev.Doc.Type.Name != "User" {
		return nil
	}
	user := ev.Doc
	if ev.Before != nil {
		user = ev.Before
	}
	if ev.Name == document.OnUpdate && (ev.Before == nil || ev.Doc.Bool("enabled")) {
		return nil
	}
	if err := h.factors(ctx, ev); err != nil {
		return err
	}
	if err := h.s.endResets(ctx, ev.Tx, user.Name()); err != nil {
		return err
	}
	if err := h.s.EndSessions(ctx, ev.Tx, user.Name()); err != nil {
		return err
	}
	return h.s.ended(ctx, ev.Tx, ev.Caller, user.Name())
}

// factors has second factors and keys go with their user, and browsers forget a user who is
// disabled. Users keep their names.
func (h hooks) factors(ctx context.Context, ev *document.Event) error {
	user := ev.Doc.Name()
	if ev.Name == document.AfterDelete {
		if err := h.s.dropFactors(ctx, ev.Tx, user, h.s.keys, h.s.factors.dt, h.s.factors.passkeys, h.s.factors.recovery); err != nil {
			return err
		}
	}
	return h.s.forgetBrowsers(ctx, ev.Tx, user)
}
