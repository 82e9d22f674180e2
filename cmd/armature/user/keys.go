package user

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"armature/cmd/armature/terminal"
	"armature/core/auth"
	"armature/core/document"
	"armature/core/identity"
	"armature/core/tenant"
)

func (g *group) keysCommand() *cobra.Command {
	var header bool
	var n auth.NewKey
	cmd := &cobra.Command{
		Use:   "keys EMAIL",
		Short: "Give a user an API key, and print it",
		Long: "Give a user an API key and print it as JSON, or as the header that a client sends:\n" +
			"AUTH=$(armature user keys EMAIL --header); curl -H \"$AUTH\" ...\nThe secret is shown only now.\n\n" +
			"With --name it is one more key, which may be narrowed by --scope and end after --days. Without, it is\nthe single one of the user's document, and its secret before it stops working.",
		Example: "  armature user keys robot@example.com --name \"Nightly export\" --scope resource:ToDo:read --days 90\n" +
			"  armature user keys list robot@example.com\n  armature user keys end robot@example.com k4f1c...",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			named := cmd.Flags().Changed("name")
			if !named && (cmd.Flags().Changed("scope") || cmd.Flags().Changed("days")) {
				return terminal.Misuse("--scope and --days are of a key with a name: give --name as well")
			}
			return g.WithTenant(cmd.Context(), func(t *tenant.Tenant) error {
				var keys auth.Keys
				err := t.Store.Write(cmd.Context(), document.GroupedTx, func(tx document.Tx) (err error) {
					if named {
						keys, err = t.Auth.MakeKeyOf(cmd.Context(), tx, identity.Root(), args[0], n)
					} else {
						keys, err = t.Auth.GenerateKeys(cmd.Context(), tx, identity.Root(), args[0])
					}
					return err
				})
				if err != nil {
					return err
				}
				if header {
					_, err := fmt.Fprintf(g.Stdout, "Authorization: token %s:%s\n", keys.Key, keys.Secret)
					return err
				}
				return g.PrintJSON(keys)
			})
		},
	}
	cmd.Flags().BoolVar(&header, "header", false, "print the header to send")
	cmd.Flags().StringVar(&n.Title, "name", "", "make one more key, of this name")
	cmd.Flags().StringArrayVar(&n.Scopes, "scope", nil, "what it may, as resource:ToDo:read or method:acme.shop.*; may be repeated;\nwithout it all that its user may")
	cmd.Flags().IntVar(&n.Days, "days", 0, "days until it ends; 0: it does not")
	cmd.AddCommand(g.listKeysCommand(), g.endKeyCommand())
	return cmd
}

func (g *group) listKeysCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list EMAIL",
		Short: "List a user's API keys",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.WithTenant(cmd.Context(), func(t *tenant.Tenant) error {
				list, err := t.Auth.KeysOf(cmd.Context(), identity.Root(), args[0])
				if err != nil {
					return err
				}
				return g.showKeys(list)
			})
		},
	}
}

// shownKey is a key as it is printed.
type shownKey struct {
	Key     string   `json:"api_key"`
	Title   string   `json:"title"`
	Scopes  []string `json:"scopes"` // none: all that its user may
	Added   string   `json:"creation,omitempty"`
	Expires string   `json:"expires,omitempty"`   // RFC 3339; absent: never
	Used    string   `json:"last_used,omitempty"` // RFC 3339; absent: never, or not known
	Expired bool     `json:"expired"`
	Single  bool     `json:"single"`
}

func (g *group) showKeys(list []auth.NamedKey) error {
	at := func(seconds int64) string {
		if seconds == 0 {
			return ""
		}
		return time.Unix(seconds, 0).UTC().Format(time.RFC3339)
	}
	shown := make([]shownKey, len(list))
	for i, k := range list {
		shown[i] = shownKey{k.Key, k.Title, append([]string{}, k.Scopes...), k.Added, at(k.Expires), at(k.Used), k.Expired, k.Single}
	}
	rows := make([][]any, len(shown))
	for i, k := range shown {
		rows[i] = []any{k.Key, cmp.Or(k.Title, "-"), cmp.Or(strings.Join(k.Scopes, " "), "everything"), cmp.Or(k.Expires, "never"), cmp.Or(k.Used, "-")}
	}
	return g.Table(shown, "KEY\tNAME\tMAY\tENDS\tLAST USED", rows)
}

func (g *group) endKeyCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "end EMAIL KEY",
		Aliases: []string{"revoke"},
		Short:   "End one of a user's API keys",
		Long:    "End one of a user's API keys, which `armature user keys list EMAIL` lists. Every server refuses it within a second.",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.WithTenant(cmd.Context(), func(t *tenant.Tenant) error {
				err := t.Store.Write(cmd.Context(), document.GroupedTx, func(tx document.Tx) error {
					return t.Auth.EndKeyOf(cmd.Context(), tx, identity.Root(), args[0], args[1])
				})
				if err != nil {
					return err
				}
				return g.Say(map[string]any{"api_key": args[1]}, "ended %s", args[1])
			})
		},
	}
}
