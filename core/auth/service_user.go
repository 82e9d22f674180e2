package auth

import (
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
)

// ServiceType is the user_type of the users as whom programs act: with keys, or with
// access tokens that a client of OAuth gets for itself (RFC 6749 section 4.4). Such a
// user has no password, and nobody logs in as one. A user is made one, and stays it.
const ServiceType = "Service"

// isService reports whether a user is a program's.
func isService(user *doctype.Document) bool { return user.Text("user_type") == ServiceType }

// logsIn reports whether a user is a person's, who may have a password and sessions.
func logsIn(user *doctype.Document) bool { return !isPlugin(user) && !isService(user) }

// IsService reports whether a document is of a user as whom programs act.
func IsService(user *doctype.Document) bool { return user.Type.Name == "User" && isService(user) }

// keepService keeps what has come as user_type from becoming another kind of user: a
// person's user, whose passwords and sessions others rely on, does not become a
// program's, nor the other way round.
func keepService(ev *document.Event) error {
	user := ev.Doc
	if ev.Before != nil && isService(ev.Before) != isService(user) {
		return fault.Invalid("CannotChangeConstantError", "User %s was made as %s, which does not change; make another user and disable %s",
			user.Name(), ev.Before.Text("user_type"), user.Name())
	}
	if isService(user) && user.Text("new_password") != "" {
		return noLogin(user)
	}
	return nil
}

// noLogin refuses what would let somebody log in as a user as whom nobody does.
func noLogin(user *doctype.Document) error {
	whose := "a plugin"
	if isService(user) {
		whose = "a program"
	}
	return fault.Invalid("", "%s is the user of %s, and nobody logs in as that", user.Name(), whose)
}
