package site

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"armature/cmd/armature/secret"
	"armature/cmd/armature/terminal"
	"armature/core/mail"
	"armature/core/tenant"
)

func (g *group) mailCommand() *cobra.Command {
	var c mail.Settings
	var password bool
	var test string
	cmd := &cobra.Command{
		Use:   "mail",
		Short: "Set or try the mail server of a site",
		Long: "Set the mail server of a site (--site). With --password a password is read from standard\n" +
			"input and kept sealed. With --test a letter is sent to an address with what is set.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if (c.Host == "") == (test == "") {
				return terminal.Misuse("usage: armature site mail --host HOST --from ADDRESS, or --test ADDRESS")
			}
			return g.WithTenant(cmd.Context(), func(t *tenant.Tenant) error {
				if test != "" {
					if err := t.SendTestMail(cmd.Context(), test); err != nil {
						return err
					}
					return g.Say(map[string]any{"sent": test}, "sent a letter to %s", test)
				}
				if password {
					text, err := secret.Read(cmd.InOrStdin(), "Password: ")
					if err != nil {
						return err
					}
					c.Password = t.Site.Secret.Seal(mail.Purpose, []byte(text))
				}
				raw, err := json.Marshal(c)
				if err != nil {
					return err
				}
				if _, err := mail.Parse(raw, t.Site.Secret.Open); err != nil {
					return err
				}
				return g.setConfig(cmd.Context(), t.Site.Name, "mail", string(raw))
			})
		},
	}
	cmd.Flags().StringVar(&c.Host, "host", "", "name of the mail server")
	cmd.Flags().IntVar(&c.Port, "port", 0, "its port; 0: 587, 465 for tls, 25 for none")
	cmd.Flags().StringVar(&c.User, "user", "", "who logs in there; without it nobody does")
	cmd.Flags().BoolVar(&password, "password", false, "read the password from standard input")
	cmd.Flags().StringVar(&c.TLS, "tls", mail.StartTLS, "starttls, tls or none")
	cmd.Flags().StringVar(&c.From, "from", "", "address the letters come from")
	cmd.Flags().StringVar(&test, "test", "", "address to send a letter to")
	return cmd
}
