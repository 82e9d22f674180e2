// Package settings gives flags that were not typed their values: from the
// environment, and failing that from the configuration file.
package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Prefix begins the environment variable of every flag: --log-format is
// ARMATURE_LOG_FORMAT.
const Prefix = "ARMATURE_"

// ToolEnvironment is what compilers and the tests of plugins are told: our settings
// are left out. Among them are an API key, the master key and a database's password,
// and what a tool runs, such as a plugin's tests and what those import, has no
// business with them.
func ToolEnvironment() []string {
	return slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, Prefix) })
}

func Variable(flag string) string {
	return Prefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Apply gives every flag that was not typed its value from the environment,
// and failing that from the configuration file.
func Apply(cmd *cobra.Command) error {
	path, err := cmd.Flags().GetString("config")
	if err != nil {
		return err
	}
	if named, ok := os.LookupEnv(Variable("config")); ok && !cmd.Flags().Changed("config") {
		path = named
	}
	values, err := settingsOf(cmd, path)
	if err != nil {
		return err
	}
	for _, v := range values {
		if err := v.flag.Value.Set(v.text); err != nil {
			return fmt.Errorf("%s: %w", v.source, err)
		}
	}
	return nil
}

// setting is the value of a flag that was not typed, and where it comes from.
type setting struct {
	flag   *pflag.Flag
	text   string
	source string
}

// settingsOf reads what the environment and the file say of a command's flags.
func settingsOf(cmd *cobra.Command, path string) ([]setting, error) {
	file, err := readSettings(path, Names(cmd.Root()))
	if err != nil {
		return nil, err
	}
	var list []setting
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed || !Settable(f.Name) {
			return
		}
		if text, ok := os.LookupEnv(Variable(f.Name)); ok {
			list = append(list, setting{f, text, Variable(f.Name)})
		} else if text, ok := file[f.Name]; ok {
			list = append(list, setting{f, text, path + ": " + f.Name})
		}
	})
	return list, nil
}

// Settable reports whether the flag can be set elsewhere than on the command
// line.
func Settable(flag string) bool { return flag != "help" && flag != "config" && flag != "version" }

// Names are the flags of all commands together and of serve: one file is
// for the server and for the commands beside it.
func Names(root *cobra.Command) []string {
	names := map[string]bool{}
	note := func(f *pflag.Flag) { names[f.Name] = Settable(f.Name) }
	root.PersistentFlags().VisitAll(note)
	for _, c := range root.Commands() {
		if c.Name() == "serve" {
			c.Flags().VisitAll(note)
		}
	}
	maps.DeleteFunc(names, func(_ string, ok bool) bool { return !ok })
	return slices.Sorted(maps.Keys(names))
}

// readSettings reads a JSON file of settings by the names of flags, in which _
// may stand for -. What is not a setting is refused: a misspelt limit is a limit
// that does not hold.
func readSettings(path string, known []string) (map[string]string, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	defer f.Close()
	settings, err := decodeSettings(f, known)
	if err != nil {
		return nil, fmt.Errorf("settings: %s: %w", path, err)
	}
	return settings, nil
}

func decodeSettings(r io.Reader, known []string) (map[string]string, error) {
	dec := json.NewDecoder(r)
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.Join(errors.New("must be a JSON object such as {\"listen\": \"127.0.0.1:8000\"}"), err)
	}
	settings := map[string]string{}
	for dec.More() {
		key, err := dec.Token() // an object's keys are strings
		if err != nil {
			return nil, err
		}
		name := strings.ReplaceAll(key.(string), "_", "-")
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("%q is not a setting; there are %s", key, strings.Join(known, ", "))
		}
		if _, twice := settings[name]; twice {
			return nil, fmt.Errorf("%s is set twice", name)
		}
		value, err := dec.Token()
		if err != nil {
			return nil, err
		}
		switch v := value.(type) {
		case string, json.Number, bool:
			settings[name] = fmt.Sprint(v)
		default:
			return nil, fmt.Errorf("%s must be a string, a number, true or false", name)
		}
	}
	if _, err := dec.Token(); err != nil { // the closing brace
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is something after the object")
	}
	return settings, nil
}

// Misspelt are the variables of the environment that look like settings and are
// none. They are only worth a warning: Kubernetes makes some of its own for a
// service of the name armature.
func Misspelt(known []string, environ []string) []string {
	var names []string
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		rest, ours := strings.CutPrefix(name, Prefix)
		if !ours || slices.Contains([]string{"CONFIG", "SECRET_KEY", "ADMIN_PASSWORD", "BACKUP_PASSPHRASE", "SIGNING_PASSPHRASE", "API_KEY", "URL", "PORT"}, rest) ||
			slices.ContainsFunc([]string{"SERVICE_", "PORT_", "TEST_"}, func(p string) bool { return strings.HasPrefix(rest, p) }) {
			continue
		}
		if !slices.ContainsFunc(known, func(k string) bool { return Variable(k) == name }) {
			names = append(names, name)
		}
	}
	return names
}
