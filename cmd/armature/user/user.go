// Package user is the commands about the users of a site.
package user

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"armature/cmd/armature/installation"
	"armature/cmd/armature/secret"
	"armature/core/auth"
	"armature/core/document"
	"armature/core/identity"
	"armature/core/tenant"
)

// group is the commands about users.
type group struct {
	*installation.Installation
}

// Command makes the commands about users.
func Command(in *installation.Installation) *cobra.Command {
	a := &group{in}
	cmd := &cobra.Command{Use: "user", Short: "Users of a site"}
	cmd.AddCommand(a.addCommand(), a.keysCommand(), a.passwordCommand(), a.resetCommand(), a.factorsCommand())
	return cmd
}

func (g *group) addCommand() *cobra.Command {
	var firstName, lastName string
	var roles []string
	cmd := &cobra.Command{
		Use:   "add EMAIL",
		Short: "Add a user",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if firstName == "" {
				firstName, _, _ = strings.Cut(args[0], "@")
			}
			values := map[string]any{"email": args[0], "first_name": firstName, "last_name": lastName, "roles": roleRows(roles)}
			return g.WithTenant(cmd.Context(), func(t *tenant.Tenant) error {
				var name string
				err := t.Store.Write(cmd.Context(), document.OwnTx, func(tx document.Tx) error {
					doc, err := t.Documents.As(identity.Root(), tx).Insert(cmd.Context(), "User", values)
					if err != nil {
						return err
					}
					name = doc.Name()
					return nil
				})
				if err != nil {
					return err
				}
				return g.Say(map[string]any{"name": name}, "added %s", name)
			})
		},
	}
	cmd.Flags().StringVar(&firstName, "first-name", "", "first name; without it what stands before the @")
	cmd.Flags().StringVar(&lastName, "last-name", "", "last name")
	cmd.Flags().StringSliceVar(&roles, "role", nil, "role to give; may be repeated")
	return cmd
}

func roleRows(roles []string) []any {
	rows := make([]any, len(roles))
	for i, r := range roles {
		rows[i] = map[string]any{"role": r}
	}
	return rows
}

func (g *group) passwordCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "password EMAIL",
		Short: "Set a user's password, read from standard input",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			password, err := secret.Read(cmd.InOrStdin(), "Password: ")
			if err != nil {
				return err
			}
			hash, err := auth.HashPassword(password)
			if err != nil {
				return err
			}
			return g.WithTenant(cmd.Context(), func(t *tenant.Tenant) error {
				return g.setPassword(cmd.Context(), t, args[0], hash)
			})
		},
	}
}

func (g *group) resetCommand() *cobra.Command {
	var url string
	cmd := &cobra.Command{
		Use:   "reset EMAIL",
		Short: "Print a link by which a user may set the password once",
		Long:  "Print a link by which a user may set the password once, for a day unless the site's\nreset_password_link_expiry_duration says otherwise. Whoever has the link is the user.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.WithTenant(cmd.Context(), func(t *tenant.Tenant) error {
				link, lives, err := t.ResetLink(cmd.Context(), args[0], strings.TrimSuffix(url, "/"))
				if err != nil {
					return err
				}
				return g.Say(map[string]any{"link": link, "seconds": int(lives.Seconds())}, "%s", link)
			})
		},
	}
	cmd.Flags().StringVar(&url, "url", "", "where the site is; without it host_name or the first of hosts of its configuration")
	return cmd
}

func (g *group) factorsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "reset-factors EMAIL",
		Short: "Take a user's second factors away, when phone and recovery codes are lost",
		Long:  "Take a user's second factors, passkeys, recovery codes and remembered browsers away and end the user's sessions.\nBe sure who asks: from then on the password alone lets in, or where the site or a role demands a\nsecond factor, lets whoever knows it set one up. The Activity Log says that it was done.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.WithTenant(cmd.Context(), func(t *tenant.Tenant) error {
				var had bool
				err := t.Store.Write(cmd.Context(), document.GroupedTx, func(tx document.Tx) (err error) {
					had, err = t.Auth.ResetFactors(cmd.Context(), tx, identity.Root(), args[0])
					return err
				})
				if err != nil {
					return err
				}
				told := "%s had no second factor; sessions have ended"
				if had {
					told = "second factors of %s are reset and sessions have ended"
				}
				return g.Say(map[string]any{"name": args[0], "had_factor": had}, told, args[0])
			})
		},
	}
}

func (g *group) setPassword(ctx context.Context, t *tenant.Tenant, user, hash string) error {
	err := t.Store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		return t.Auth.SetPassword(ctx, tx, identity.Root(), user, hash)
	})
	if err != nil {
		return err
	}
	return g.Say(map[string]any{"name": user}, "password of %s changed", user)
}
