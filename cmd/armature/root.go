package main

import (
	"errors"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"armature/core/fault"
	"armature/core/site"
	"armature/core/sites"
)

// app is what every subcommand shares.
type app struct {
	stdout, stderr io.Writer

	config   string // file with settings
	data     string
	database string
	redis    string
	site     string
	json     bool
	recreate bool

	publishers   string // public keys, separated by commas
	folderLimits string // key=number, separated by commas
	url          string // of a hosted site; empty: the site of data and site is meant
	apiKey       string // for it

	args    []string // of the program
	serving serving  // the settings of serve
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "armature",
		Short: "A document platform with WebAssembly plugins",
		Long: "A document platform with WebAssembly plugins.\n\n" +
			"Every flag can also be set by an environment variable (--log-level is\n" +
			"ARMATURE_LOG_LEVEL) and in the JSON file named by --config ({\"log-level\": \"warn\"}).\n" +
			"Flags win over the environment, and that over the file.\n\n" +
			"Secrets are only read from the environment: ARMATURE_SECRET_KEY, the master key,\n" +
			"ARMATURE_ADMIN_PASSWORD, the Administrator's password on a new site, and\n" +
			"ARMATURE_BACKUP_PASSPHRASE, which archives are sealed under, unless a file has it.",
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return a.settings(cmd)
		},
	}
	flags := root.PersistentFlags()
	flags.StringVar(&a.config, "config", "", "JSON file with settings, by flag name")
	flags.StringVar(&a.data, "data", "./data", "folder of everything the server keeps")
	flags.BoolVar(&a.recreate, "recreate", false, "let a site whose database is missing begin with an empty one")
	flags.StringVar(&a.database, "database", "", "postgres:// URL; without it every site is a SQLite file")
	flags.StringVar(&a.redis, "redis", "", "redis:// URL where several servers count rate limits together")
	flags.StringVar(&a.site, "site", site.Default, "the site that is meant")
	flags.StringVar(&a.publishers, "plugin-publishers", "", "public keys, separated by commas: plugins alone are taken that one of them\nhas signed; a site may ask for more")
	flags.StringVar(&a.folderLimits, "plugin-folder-limits", "", "what a plugin in a folder of the server may use without an approval, such as\ncpu_ms=1000,memory=67108864; without it as much as its manifest says")
	flags.BoolVar(&a.json, "json", false, "print JSON")
	root.AddCommand(a.serveCommand(), a.siteCommand(), a.userCommand(), a.pluginCommand(), a.versionCommand())
	completeFlags(root)
	return root
}

func (a *app) layout() sites.Layout { return sites.Layout{Data: a.data} }

// explain is what a person reads of an error: a fault without its type and
// cause, and for the common mistakes what to do about them.
func explain(err error) string {
	var f *fault.Error
	if errors.As(err, &f) && f.Message != "" {
		if f.Kind == fault.Unavailable && f.Err != nil {
			return f.Message + "\ncause: " + f.Err.Error() // which this reader can do something about
		}
		return f.Message
	}
	text := err.Error()
	switch {
	case errors.Is(err, site.ErrWrongMaster):
		text += "\nhint: use the secret.key or ARMATURE_SECRET_KEY that this data was made with"
	case errors.Is(err, fs.ErrPermission):
		text += "\nhint: run as the user who owns the data folder"
	}
	return text
}
