package plugindev

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"armature/cmd/armature/outfile"
	"armature/cmd/armature/platform"
	"armature/cmd/armature/remote"
	"armature/plugins/bundle"
	"armature/plugins/grant"
	"armature/plugins/installed"
)

// logsEvery is how often a log elsewhere is asked for what is new.
const logsEvery = 500 * time.Millisecond

// follower prints what a plugin logs elsewhere, until it is closed.
type follower struct {
	out    *devOutput
	lines  func(ctx context.Context, plugin string) ([]json.RawMessage, error)
	cancel context.CancelFunc
	work   sync.WaitGroup
	begun  bool
	news   news
}

// follow begins to follow a plugin; the first time only.
func (f *follower) follow(plugin string) {
	if f.begun {
		return
	}
	f.begun = true
	var ctx context.Context
	ctx, f.cancel = context.WithCancel(context.Background())
	f.look(ctx, plugin) // what is there is old
	f.work.Go(func() {
		tick := time.NewTicker(logsEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				f.look(ctx, plugin)
			}
		}
	})
}

func (f *follower) look(ctx context.Context, plugin string) {
	lines, err := f.lines(ctx, plugin)
	if err != nil {
		return // an answer that fails now is asked for again
	}
	for _, line := range f.news.of(lines) {
		f.out.line(line)
	}
}

func (f *follower) close() {
	if f.begun {
		f.cancel()
		f.work.Wait()
	}
}

// hostedStage is a site of a server elsewhere.
type hostedStage struct {
	follower
	hosted  *remote.Site
	approve string
	draft   string // hash of what this session has stored there, to go with the next one
}

func newHostedStage(h *remote.Site, approve []string, out *devOutput) *hostedStage {
	st := &hostedStage{hosted: h, approve: strings.Join(approve, ",")}
	st.follower = follower{out: out, lines: func(ctx context.Context, plugin string) (lines []json.RawMessage, err error) {
		return lines, h.Manage(ctx, "framework.plugins.logs", map[string]any{"plugin": plugin, "lines": 200}, &lines)
	}}
	return st
}

func (st *hostedStage) show(ctx context.Context, whole []byte, b *bundle.Bundle) (remarks []string, err error) {
	st.follow(b.Manifest.Name)
	var done installed.Installation
	if err := st.hosted.Manage(ctx, "framework.plugins.install", map[string]any{"file": whole, "approve": st.approve, "draft": st.draft}, &done); err != nil {
		return nil, err
	}
	if done.First {
		st.draft = done.Hash
	} else if done.Hash != st.draft {
		st.draft = "" // a version of before, gone back to by undoing: not ours
	}
	if len(done.Waiting) > 0 {
		remarks = append(remarks, "waits for approval: "+strings.Join(done.Waiting, ", ")+"; "+approveWith(done.Waiting))
	}
	switch {
	case done.Pending && done.Replaces != "":
		remarks = append(remarks, "until then "+done.Replaces+" goes on serving")
	case done.Pending:
		remarks = append(remarks, "until then it does not serve")
	}
	return remarks, nil
}

// approveWith says how what waits is given: all at once, and by name what is given
// by name alone.
func approveWith(waiting []string) string {
	named := ""
	for _, g := range waiting {
		if grant.ByName(g) {
			named += " --approve '" + g + "'"
		}
	}
	return "if you may, give it with --approve " + grant.Everything + named
}

func (st *hostedStage) ended() <-chan struct{} { return nil }

func (st *hostedStage) err() error { return nil }

// folderStage is a folder that a server on this machine loads plugins from.
type folderStage struct {
	follower
	folder string
}

func (g *group) newFolderStage(ctx context.Context, folder string, out *devOutput) (*folderStage, error) {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("--plugins %s: there is no such folder; a server makes it when it starts", folder)
	}
	beside := *g.Installation
	if beside.Data == "" {
		beside.Data = filepath.Dir(filepath.Clean(folder))
	}
	site, err := beside.SiteFolder(ctx, g.Site)
	if err != nil {
		return nil, fmt.Errorf("%w\nhint: --data names the data folder of the server that loads plugins from %s", err, folder)
	}
	st := &folderStage{folder: folder}
	st.follower = follower{out: out, lines: func(_ context.Context, plugin string) ([]json.RawMessage, error) {
		return readLines(platform.LogFile(site, plugin))
	}}
	return st, nil
}

// readLines reads a log; one that is not there is empty.
func readLines(path string) (lines []json.RawMessage, err error) {
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		lines = append(lines, bytes.TrimSuffix(line, []byte("\n")))
	}
	return lines, nil
}

func (st *folderStage) show(_ context.Context, whole []byte, b *bundle.Bundle) ([]string, error) {
	st.follow(b.Manifest.Name)
	file := filepath.Join(st.folder, b.Manifest.Name+".wasm")
	for _, e := range bundle.List(st.folder) {
		if e.Err == nil && e.Bundle.Manifest.Name == b.Manifest.Name && e.Path != file {
			return nil, fmt.Errorf("%s is there already, as %s: remove that first", b.Manifest.Name, e.Path)
		}
	}
	if err := outfile.Replace(file, whole); err != nil {
		return nil, err
	}
	return []string{"put into " + file + ", for the server to load"}, nil
}

func (st *folderStage) ended() <-chan struct{} { return nil }

func (st *folderStage) err() error { return nil }
