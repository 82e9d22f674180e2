package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"armature/core/fault"
	"armature/core/host"
	"armature/core/site"
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
}

// envPrefix begins the environment variable of every flag: --log-format is
// ARMATURE_LOG_FORMAT.
const envPrefix = "ARMATURE_"

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:           "armature",
		Short:         "A document platform with WebAssembly plugins",
		Long:          "A document platform with WebAssembly plugins.\n\nEvery flag can also be set by the environment variable ARMATURE_<FLAG> and in the\nJSON file named by --config; flags win over the environment, that over the file.",
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return a.settings(cmd.Flags())
		},
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	flags := root.PersistentFlags()
	flags.StringVar(&a.config, "config", "", "JSON file with settings, by flag name")
	flags.StringVar(&a.data, "data", "./data", "folder of everything the server keeps")
	flags.StringVar(&a.database, "database", "", "postgres:// URL; without it every site is a SQLite file")
	flags.StringVar(&a.redis, "redis", "", "redis:// URL where several servers count rate limits together")
	flags.StringVar(&a.site, "site", site.Default, "the site that is meant")
	flags.BoolVar(&a.json, "json", false, "print JSON")
	root.AddCommand(a.serveCommand(), a.siteCommand(), a.userCommand(), a.pluginCommand(), a.versionCommand())
	return root
}

// settings gives every flag that was not typed its value from the environment,
// and failing that from the configuration file.
func (a *app) settings(flags *pflag.FlagSet) error {
	if path, ok := os.LookupEnv(envPrefix + "CONFIG"); ok && !flags.Changed("config") {
		a.config = path
	}
	file, err := readSettings(a.config)
	if err != nil {
		return err
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || f.Name == "help" || f.Name == "config" || err != nil {
			return
		}
		if value, ok := os.LookupEnv(envName(f.Name)); ok {
			if serr := f.Value.Set(value); serr != nil {
				err = fmt.Errorf("%s: %w", envName(f.Name), serr)
			}
			return
		}
		if value, ok := file[f.Name]; ok {
			if serr := f.Value.Set(fmt.Sprint(value)); serr != nil {
				err = fmt.Errorf("%s: %s: %w", a.config, f.Name, serr)
			}
		}
	})
	return err
}

func envName(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

func readSettings(path string) (map[string]any, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	defer f.Close()
	dec := json.NewDecoder(f)
	dec.UseNumber()
	var settings map[string]any
	if err := dec.Decode(&settings); err != nil {
		return nil, fmt.Errorf("settings: %s: %w", path, err)
	}
	return settings, nil
}

func (a *app) layout() host.Layout { return host.Layout{Data: a.data} }

// explain is what a person reads of an error: a fault without its type and
// cause, and for the common mistakes what to do about them.
func explain(err error) string {
	var f *fault.Error
	if errors.As(err, &f) && f.Message != "" {
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
