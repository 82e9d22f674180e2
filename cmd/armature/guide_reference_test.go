package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"armature/cmd/armature/armaturetest"
	"armature/cmd/armature/terminal"
	"armature/core/site"
)

var update = flag.Bool("update", false, "write the pages of the guide anew that are made of the program")

// TestGuideReference: the pages of the guide that list what the program has are what it has.
func TestGuideReference(t *testing.T) {
	root := armaturetest.Root(t)
	for name, text := range map[string]string{
		"settings": settingsPage(),
		"commands": commandsPage(newRoot(&terminal.Terminal{Stdout: os.Stdout, Stderr: os.Stderr}, nil)),
		"errors":   errorsPage(t, root),
		"fields":   fieldsPage(t, root),
	} {
		file := filepath.Join(root, "core", "docs", "guide", "pages", name+".md")
		if *update {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if stored, err := os.ReadFile(file); err != nil || string(stored) != text {
			t.Errorf("%s.md is not what the program says (%v); run the test with -update", name, err)
		}
	}
}

func settingsPage() string {
	var b strings.Builder
	b.WriteString("# Settings of a site\n\n" +
		"`armature site config NAME set KEY JSON` sets one, the value `null` takes it away, `armature site settings` lists them all. Running servers\n" +
		"take a change over within a second. A key that is no setting is refused. [Sites](sites.md) has examples.\n\n")
	for _, s := range site.Settings() {
		fmt.Fprintf(&b, "## %s\n\n%s\n\n", s.Key, s.Meaning)
		fmt.Fprintf(&b, "It is %s.", s.Kind)
		if s.Default != "" {
			fmt.Fprintf(&b, " Without it: %s.", s.Default)
		}
		b.WriteString("\n\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// fieldsPage is the page that core/doctype makes of its descriptors and keeps true.
func fieldsPage(t *testing.T, root string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "core", "doctype", "fieldtypes.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "writes it anew.\n")
	if !ok {
		t.Fatal("fieldtypes.md does not say how it is made")
	}
	return "# Field types and properties\n\nA DocType is JSON: its own properties, `fields` and `permissions`. [DocTypes](doctypes.md) shows how to use them.\n" + rest
}

func commandsPage(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Commands\n\n" + root.Long + "\n\n## Flags of all commands\n\n")
	flagRows(&b, root.PersistentFlags())
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if !sub.IsAvailableCommand() || sub.Name() == "help" || sub.Name() == "completion" {
				continue
			}
			if sub.Runnable() {
				fmt.Fprintf(&b, "## %s\n\n```text\n%s\n```\n\n%s\n\n", sub.CommandPath(), sub.UseLine(), paragraphs(sub))
				if sub.Example != "" {
					fmt.Fprintf(&b, "```text\n%s\n```\n\n", strings.TrimRight(sub.Example, "\n"))
				}
				flagRows(&b, sub.LocalNonPersistentFlags())
			}
			walk(sub)
		}
	}
	walk(root)
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// paragraphs are what the command says of itself; what it indents is shown as it is.
func paragraphs(c *cobra.Command) string {
	text := c.Long
	if text == "" {
		text = c.Short + "."
	}
	parts := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range parts {
		if strings.HasPrefix(p, "  ") || strings.HasPrefix(p, "\t") {
			parts[i] = "```text\n" + p + "\n```"
		} else {
			parts[i] = strings.NewReplacer("<", `\<`, "*", `\*`).Replace(p)
		}
	}
	return strings.Join(parts, "\n\n")
}

func flagRows(b *strings.Builder, flags *pflag.FlagSet) {
	rows := false
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		if !rows {
			rows = true
			b.WriteString("| flag | what it does | default |\n|---|---|---|\n")
		}
		kind, usage := pflag.UnquoteUsage(f)
		if kind != "" {
			kind = " " + kind
		}
		def := f.DefValue
		if def == "false" || def == "[]" || def == "0" || def == "0s" {
			def = ""
		}
		if home, err := os.UserHomeDir(); err == nil {
			def = strings.ReplaceAll(def, home, "~")
		}
		if def != "" {
			def = "`" + def + "`"
		}
		fmt.Fprintf(b, "| `--%s%s` | %s | %s |\n", f.Name, kind, strings.NewReplacer("|", `\|`, "<", `\<`, "*", `\*`, "\n", " ").Replace(usage), def)
	})
	if rows {
		b.WriteString("\n")
	}
}

// errorsPage is made of the kinds of errors, and of every exc_type that the code names.
func errorsPage(t *testing.T, root string) string {
	t.Helper()
	found := excTypes(t, root)
	var b strings.Builder
	b.WriteString("# Errors\n\n" +
		"An error is JSON with `exc_type`, by which a program tells errors apart, and `message`, which is for people. The status follows from the\n" +
		"kind of error; `417` is a request that was understood and that a rule refuses.\n\n" +
		"```json\n{\"exc_type\": \"DoesNotExistError\", \"message\": \"ToDo T1 not found\"}\n```\n\n" +
		"`_server_messages` and `exc` are in it as well, for older clients. A plugin may have types of its own: what is not in this list is from one.\n\n" +
		"| exc_type | status | what it means |\n|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(found)) {
		meaning := excMeanings[name]
		if meaning == "" {
			t.Errorf("guide_errors_test.go does not say what %s means", name)
		}
		var codes []string
		for status := range found[name] {
			codes = append(codes, fmt.Sprint(status))
		}
		slices.Sort(codes)
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, strings.Join(codes, ", "), meaning)
	}
	for name := range excMeanings {
		if found[name] == nil {
			t.Errorf("guide_errors_test.go explains %s, which the code does not have", name)
		}
	}
	if regexp.MustCompile(`\| *\|\n`).MatchString(b.String()) {
		t.Error("errors.md has an empty cell")
	}
	return b.String()
}

// TestGuideCommandLines: what a page has somebody type on another machine names commands
// and flags that there are.
func TestGuideCommandLines(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(armaturetest.Root(t), "core", "docs", "guide", "pages", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	quoted := regexp.MustCompile(`'[^']*'`)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		inside := false
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(line, "```") {
				inside = line == "```sh"
				continue
			}
			_, command, ours := strings.Cut(" "+line, " armature ")
			if !inside || !ours || strings.Contains(line, "docker") || strings.Contains(line, "systemctl") {
				continue
			}
			root := newRoot(&terminal.Terminal{Stdout: os.Stdout, Stderr: os.Stderr}, nil)
			c, rest, err := root.Find(strings.Fields(quoted.ReplaceAllString(command, "x")))
			if err == nil {
				err = c.ParseFlags(rest)
			}
			if err == nil && !c.Runnable() {
				err = fmt.Errorf("%s does nothing", c.CommandPath())
			}
			if err == nil && c.Args != nil {
				err = c.Args(c, c.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s:%d: %v", filepath.Base(page), i+1, err)
			}
		}
	}
}
