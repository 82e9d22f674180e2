package main

import (
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"armature/cmd/armature/installation"
	"armature/cmd/armature/platform"
	"armature/cmd/armature/settings"
	"armature/core/tenant"
	"armature/plugins/grant"
	"armature/plugins/installed"
	"armature/plugins/manifest"
	"armature/plugins/toolchain/scaffold"
	"armature/runtime/abi"
)

// What the shell is told of words that it completes (armature completion bash): those
// of the contract, which the names of grants and events are, those of the scaffolds, and
// the names of sites and plugins.

// choices completes one word of a list.
func choices(words ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// grantWords completes a list of grants, joined by commas: the words, and the
// beginnings of those that name something of the site's.
func grantWords(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	done, last := "", typed
	if i := strings.LastIndexByte(typed, ','); i >= 0 {
		done, last = typed[:i+1], typed[i+1:]
	}
	if head, event, found := strings.Cut(last, "."); found && strings.HasPrefix(head, "event:") {
		return starting(done+head+".", event, abi.Events()), cobra.ShellCompDirectiveNoFileComp
	}
	if at := strings.LastIndexByte(last, ':'); at > len("resource:") && strings.HasPrefix(last, "resource:") {
		rights := []string{"read", "write", "create", "update", "delete", "submit"}
		return starting(done+last[:at+1], last[at+1:], rights), cobra.ShellCompDirectiveNoFileComp
	}
	words := slices.Concat(manifest.Grantable(), abi.Rights(), []string{grant.Everything, "resource:", "method:", "event:", abi.HTTPFetch + ":"})
	return starting(done, last, words), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// starting are the words that begin as is typed, each behind what is there.
func starting(before, typed string, words []string) (all []string) {
	for _, w := range words {
		if strings.HasPrefix(w, typed) {
			all = append(all, before+w)
		}
	}
	return all
}

// A completer knows the sites and plugins there are.
type completer struct{ in *installation.Installation }

// complete says which words the arguments and flags take that take some of a few.
func complete(root *cobra.Command, in *installation.Installation) {
	c := completer{in}
	_ = root.RegisterFlagCompletionFunc("site", c.siteNames) // an error says that it is registered already
	for _, group := range root.Commands() {
		for _, cmd := range group.Commands() {
			switch name := group.Name() + " " + cmd.Name(); name {
			case "site config", "site drop", "site backup", "site migrate", "site doctor", "site pause", "site resume":
				cmd.ValidArgsFunction = first(c.siteNames, nil)
			case "plugin approve", "plugin revoke":
				cmd.ValidArgsFunction = first(c.pluginNames, grantWords)
			case "plugin rollback", "plugin disable", "plugin enable", "plugin uninstall", "plugin logs":
				cmd.ValidArgsFunction = first(c.pluginNames, nil)
			}
		}
	}
	completeFlags(root)
}

// first completes the first argument in one way and those behind it in another.
func first(one, rest cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) == 0:
			return one(cmd, args, typed)
		case rest != nil:
			return rest(cmd, args, typed)
		}
		return nil, cobra.ShellCompDirectiveDefault // a file, for all we know
	}
}

// installation is where the flags, typed or set, say that the data is. What keeps
// names from being looked up is no concern of somebody who is typing.
func (c completer) installation(cmd *cobra.Command) (*installation.Installation, error) {
	err := settings.Apply(cmd)
	return c.in.Silent(), err
}

func (c completer) siteNames(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if in, err := c.installation(cmd); err == nil {
		records, _ := in.Records(cmd.Context())
		for _, r := range records {
			names = append(names, r.Name)
		}
	}
	return starting("", typed, names), cobra.ShellCompDirectiveNoFileComp
}

func (c completer) pluginNames(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if in, err := c.installation(cmd); err == nil && in.Exists(cmd.Context()) == nil {
		list := []installed.Entry{}
		_ = platform.With(cmd.Context(), in, func(_ *platform.Platform, t *tenant.Tenant) error {
			return platform.Manage(cmd.Context(), t, "list", nil, &list)
		})
		for _, e := range list {
			names = append(names, e.Name)
		}
	}
	return starting("", typed, names), cobra.ShellCompDirectiveNoFileComp
}

// completeFlags says which words the flags take that take some of a few.
func completeFlags(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		completeFlags(cmd)
		for flag, words := range map[string]cobra.CompletionFunc{
			"approve": grantWords, "lang": choices(scaffold.Languages()...), "verb": choices(http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete),
			"log-level": choices("debug", "info", "warn", "error"), "log-format": choices("text", "json"),
		} {
			if cmd.LocalFlags().Lookup(flag) != nil {
				_ = cmd.RegisterFlagCompletionFunc(flag, words) // as above
			}
		}
	}
}
