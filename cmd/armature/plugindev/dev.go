// Package plugindev is the command that builds a plugin at every save and has it
// served.
package plugindev

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"armature/cmd/armature/devserver"
	"armature/cmd/armature/installation"
	"armature/cmd/armature/plugintest"
	"armature/cmd/armature/remote"
	"armature/cmd/armature/settings"
	"armature/cmd/armature/terminal"
	"armature/plugins/bundle"
	"armature/plugins/testrun"
	"armature/plugins/toolchain"
	"armature/plugins/watch"
)

// developing is the settings of plugin dev.
type developing struct {
	listen  string
	plugins string
	approve []string
	test    bool // run the tests at each save
	lent    bool // listen was not asked for: another address will do
	typed   func(flag string) bool
}

// group is the command that serves a plugin while it is written.
type group struct {
	*installation.Installation
	remote *remote.Flags
}

// Command makes the command.
func Command(in *installation.Installation, server *remote.Flags) *cobra.Command {
	a := &group{in, server}
	var d developing
	cmd := &cobra.Command{
		Use:   "dev [DIR | SCRIPT]",
		Short: "Build a plugin whenever it is saved, and serve it",
		Long: "Build a plugin whenever it is saved, and serve it: on a server of its own, whose address and API key\n" +
			"are printed and whose data is thrown away at the end, unless --data names a folder to keep it in; on a\n" +
			"hosted site with --url; or by a server that runs on this machine, with --plugins, the folder that it\n" +
			"loads plugins from. What the plugin logs is printed, and its failed calls, with the lines of the\n" +
			"sources. A version that does not compile or load is told, and the one before goes on serving.\n" +
			"Pages of the frontend of a server of its own load themselves again when a file is saved.\n" +
			"A hosted site keeps what served before and the last of the versions, not each that was saved.\n\n" +
			"Database, Redis and site of the environment or a file of settings are left alone, as those of a server\n" +
			"that people may use, unless the data folder comes from there, too; beside --data give them as flags.\n\n" +
			"The builds are quick ones, with names and lines inside: use `plugin build` for what is installed.",
		Example: "  armature plugin dev\n" +
			"  armature plugin dev shop.ts --data ./data\n" +
			"  ARMATURE_API_KEY=key:secret armature plugin dev --url https://staging.example.org",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, inEnv := os.LookupEnv(settings.Variable("listen"))
			d.lent = !cmd.Flags().Changed("listen") && !inEnv
			if !devserver.DataGiven(cmd) {
				a.Data = ""
			}
			d.typed = cmd.Flags().Changed
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			return a.develop(cmd.Context(), dir, d)
		},
	}
	cmd.Flags().StringVar(&d.listen, "listen", "127.0.0.1:8000", "address of the server of its own; without the flag another one if this is taken")
	cmd.Flags().StringVar(&d.plugins, "plugins", "", "folder from which a running server loads plugins; --data says where its logs are")
	cmd.Flags().BoolVar(&d.test, "test", false, "run the plugin's tests after each build that serves, on sites of their own")
	cmd.Flags().StringSliceVar(&d.approve, "approve", nil, "grants to approve, with --url; a server of its own gives what is asked for")
	return cmd
}

// stage is where a plugin is served while it is being written.
type stage interface {
	// show has a bundle serve, and says what else there is to say. An error
	// leaves what served before.
	show(ctx context.Context, whole []byte, b *bundle.Bundle) (remarks []string, err error)
	// ended is closed when the stage has ended by itself; err says why.
	ended() <-chan struct{}
	err() error
	close()
}

// develop builds and serves until ctx ends.
func (g *group) develop(ctx context.Context, dir string, d developing) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	// What cannot become a plugin by being saved again is said at once.
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !bundle.IsScript(dir) {
		if _, err := toolchain.Detect(dir); err != nil {
			return fmt.Errorf("%s is no plugin\nhint: armature plugin new acme.hello --lang ts begins one", dir)
		}
	}
	tmp, err := os.MkdirTemp("", "armature-dev-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	out := &devOutput{Terminal: g.Terminal}
	workspace, err := toolchain.NewWorkspace(settings.ToolEnvironment())
	if err != nil {
		return err
	}
	defer workspace.Close()
	s := &session{dir: dir, out: out, workspace: workspace}
	root, skip := dir, toolchain.IsOutput
	if !info.IsDir() {
		root = filepath.Dir(dir)
		skip = func(name string) bool { return name != filepath.Base(dir) }
	}
	tree, err := watch.FollowTree(root, watch.TreeConfig{Skip: skip})
	if err != nil {
		return err
	}
	defer tree.Close()
	if s.stage, err = g.openStage(ctx, tmp, d, out); err != nil {
		return err
	}
	defer s.stage.close()
	if d.test {
		if s.tests, err = plugintest.NewTester(g.Installation, dir, plugintest.AheadAgain); err != nil {
			return err
		}
		defer s.tests.Close()
	}
	return s.run(ctx, tree)
}

func (g *group) openStage(ctx context.Context, tmp string, d developing, out *devOutput) (stage, error) {
	h, err := g.remote.Site(g.Stderr, g.Version)
	switch {
	case err != nil:
		return nil, err
	case h != nil && d.plugins != "":
		return nil, terminal.Misuse("give either --url or --plugins")
	case h != nil:
		return newHostedStage(h, d.approve, out), nil
	case d.plugins != "":
		return g.newFolderStage(ctx, d.plugins, out)
	}
	return g.newOwnStage(ctx, tmp, d, out)
}

// session is one plugin that is being written.
type session struct {
	dir       string
	out       *devOutput
	workspace *toolchain.Workspace
	stage     stage
	tests     *plugintest.Tester // nil: they are not run
	serving   string             // when what serves was saved; empty: nothing serves
}

// run builds what there is, and again after every change, until ctx ends. A
// change calls off the build that is under way.
func (s *session) run(ctx context.Context, tree *watch.Tree) error {
	for {
		build, cancel := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.round(build)
		}()
		overtaken := false
		select {
		case <-done:
		case <-tree.Changed():
			overtaken = true
		case <-s.stage.ended():
		case <-ctx.Done():
		}
		cancel()
		<-done
		if overtaken {
			continue
		}
		select {
		case <-tree.Changed():
		case <-s.stage.ended():
			return s.stage.err()
		case <-ctx.Done():
			return nil
		}
	}
}

// round is one build, and having it served. What it prints is printed when it is
// over, and nothing if it was called off.
func (s *session) round(ctx context.Context) {
	began := time.Now()
	var printed bytes.Buffer
	whole, b, err := s.workspace.Build(ctx, s.dir, &printed)
	built := time.Since(began)
	var remarks []string
	if err == nil {
		remarks, err = s.stage.show(ctx, whole, b)
	}
	if ctx.Err() != nil {
		return
	}
	s.out.tools(printed.String())
	if err != nil {
		s.out.failed(err, s.serving)
		return
	}
	s.serving = began.Format(time.TimeOnly)
	s.out.serves(b, built, time.Since(began), remarks)
	if s.tests != nil {
		s.test(ctx)
	}
}

// test runs the tests of what serves now.
func (s *session) test(ctx context.Context) {
	began := time.Now()
	var printed bytes.Buffer
	s.tests.Out = &printed
	var results []testrun.Result
	err := s.tests.Round(ctx, func(r testrun.Result) { results = append(results, r) })
	if ctx.Err() == nil {
		s.out.tested(results, printed.String(), err, time.Since(began))
	}
}
