package doctypes

import "strings"

// reserved are names that the platform keeps for itself without shipping a DocType
// of that name: those of tables beside the DocTypes, whose rows a backup tells
// apart by them, and those that later versions will ship.
var reserved = func() map[string]bool {
	all := map[string]bool{}
	for _, name := range []string{
		"Site Secret", "Site Migration", "Site Backup", "Login Failure", "Password Reset", "Password Reset Wish",

		"API Key", "Authentication Factor", "Dead Letter", "Device Authorization", "Email Account", "Email Queue",
		"Job", "Job Schedule", "Notification", "Passkey", "Recovery Code", "Saved View", "Service Account",
		"Site Usage", "Webhook Attempt", "Webhook Field",
	} {
		all[strings.ToLower(name)] = true
	}
	return all
}()

// Reserved reports whether a DocType of a user's may not have the name, in
// whichever case it is written.
func Reserved(name string) bool { return reserved[strings.ToLower(strings.TrimSpace(name))] }
