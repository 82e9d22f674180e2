package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"armature/cmd/armature/terminal"
	"armature/runtime/abi"
)

// version is set when a release is built.
var version = "development"

func versionCommand(t *terminal.Terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print what this binary is",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := map[string]any{
				"version": version, "abi": abi.Version, "go": runtime.Version(),
				"os": runtime.GOOS, "arch": runtime.GOARCH,
			}
			return t.Say(v, "%s", versionLine())
		},
	}
}

// versionLine is the version as a person reads it, also by --version.
func versionLine() string {
	return fmt.Sprintf("armature %s (ABI %d, %s, %s/%s)", version, abi.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
