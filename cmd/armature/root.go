package main

import (
	"github.com/spf13/cobra"

	"armature/cmd/armature/client"
	"armature/cmd/armature/installation"
	"armature/cmd/armature/job"
	"armature/cmd/armature/mcp"
	"armature/cmd/armature/plugin"
	"armature/cmd/armature/schedule"
	"armature/cmd/armature/serve"
	"armature/cmd/armature/settings"
	"armature/cmd/armature/site"
	"armature/cmd/armature/terminal"
	"armature/cmd/armature/user"
)

// newRoot makes the program's commands; args are those they will be given.
func newRoot(t *terminal.Terminal, args []string) *cobra.Command {
	in := &installation.Installation{Terminal: t, Version: version}
	root := &cobra.Command{
		Use:   "armature",
		Short: "A document platform with WebAssembly plugins",
		Long: "A document platform with WebAssembly plugins.\n\n" +
			"Every flag can also be set by an environment variable (--log-level is\n" +
			"ARMATURE_LOG_LEVEL) and in the JSON file named by --config ({\"log-level\": \"warn\"}).\n" +
			"Flags win over the environment, and that over the file.\n\n" +
			"Secrets are only read from the environment: ARMATURE_SECRET_KEY, the master key,\n" +
			"ARMATURE_ADMIN_PASSWORD, the Administrator's password on a new site, and\n" +
			"ARMATURE_BACKUP_PASSPHRASE, which archives are sealed under, unless a file has it.\n\n" +
			"It ends with 0; 1: it failed; 2: the command line or the configuration is wrong;\n" +
			"3: what was named is not there; 4: it is refused; 5: a server or a database is away.\n" +
			"With --json errors, too, are JSON, on standard error.",
		Version:           versionLine(),
		SilenceUsage:      true,
		SilenceErrors:     true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return terminal.AsMisuse(settings.Apply(cmd)) },
	}
	flags := root.PersistentFlags()
	flags.String("config", "", "JSON file with settings, by flag name")
	in.AddFlags(flags)
	flags.BoolVar(&t.JSON, "json", false, "print JSON")
	again := func() *cobra.Command { return newRoot(&terminal.Terminal{Stdout: t.Stdout, Stderr: t.Stderr}, args) }
	root.AddCommand(serve.Command(in, again, args), site.Command(in), user.Command(in), job.Command(in), schedule.Command(in), plugin.Command(in), client.Command(in), mcp.Command(in), versionCommand(t))
	root.SetVersionTemplate("{{.Version}}\n")
	complete(root, in)
	strict(root)
	return root
}
