package serve

import (
	"strings"

	"armature/cmd/armature/terminal"
	"armature/core/store"
)

// replicaURLs is a flag that is given several times, or once with spaces between.
type replicaURLs []string

// String implements pflag.Value.
func (u *replicaURLs) String() string { return strings.Join(*u, " ") }

// Type implements pflag.Value.
func (u *replicaURLs) Type() string { return "URL" }

// Set implements pflag.Value. It takes anything: what a flag refuses is shown, and a URL
// may hold a password.
func (u *replicaURLs) Set(text string) error {
	*u = append(*u, strings.Fields(text)...)
	return nil
}

// check refuses what cannot be followed.
func (u *replicaURLs) check(database string) error {
	if len(*u) == 0 {
		return nil
	}
	if err := store.CheckReplicas(database, *u); err != nil {
		return terminal.Misuse("--database-replica: %w", err)
	}
	return nil
}
