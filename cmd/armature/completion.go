package main

import (
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"armature/plugins/grant"
	"armature/plugins/manifest"
	"armature/plugins/toolchain/scaffold"
	"armature/runtime/abi"
)

// What the shell is told of words that it completes (armature completion bash): those
// of the contract, which the names of grants and events are, and of the scaffolds.

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

// grantArguments completes the grants behind the name of a plugin.
func grantArguments(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return grantWords(cmd, args, typed)
}

// completeFlags says which words the flags take that take some of a few.
func completeFlags(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		completeFlags(cmd)
		if name := cmd.Name(); name == "approve" || name == "revoke" {
			cmd.ValidArgsFunction = grantArguments
		}
		for flag, words := range map[string]cobra.CompletionFunc{
			"approve": grantWords, "lang": choices(scaffold.Languages()...), "verb": choices(http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete),
			"log-level": choices("debug", "info", "warn", "error"), "log-format": choices("text", "json"),
		} {
			if cmd.LocalFlags().Lookup(flag) != nil {
				_ = cmd.RegisterFlagCompletionFunc(flag, words) // an error says that it is registered already
			}
		}
	}
}
