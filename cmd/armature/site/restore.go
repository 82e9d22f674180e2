package site

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"armature/cmd/armature/secret"
	"armature/cmd/armature/terminal"
	"armature/core/backup"
	"armature/core/sites"
	"armature/core/sites/archive"
)

// restoring is what the flags of site restore say.
type restoring struct {
	archive.RestoreOptions
	passphrase string // file
	check      bool
}

func (g *group) restoreCommand() *cobra.Command {
	var r restoring
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Make a site of an archive",
		Long: "Make a site of an archive, in SQLite or PostgreSQL, whichever it was made from. The archive is\n" +
			"read and checked whole before anything is made; every record is compared after it was stored;\n" +
			"the site is seen when all of it is there. A site of the name is left alone, unless --replace moves\n" +
			"it to <data>/dropped first.\n\n" +
			"What comes of it is a copy, whose original may go on elsewhere: nothing is sent from it, no letter\n" +
			"and no request of its plugins and Connected Apps, until `site resume`. One that takes the place of\n" +
			"the site it was made from by --replace is as that was, and --sending says that this is the original now.\n\n" +
			"--check makes nothing: it tries the archive in a database that is thrown away.\n" + secret.BackupHelp,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.restore(cmd.Context(), cmd.InOrStdin(), args[0], r)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&r.As, "as", "", "name of the site; without it the one in the archive")
	flags.BoolVar(&r.Replace, "replace", false, "move a site of that name aside")
	flags.BoolVar(&r.Sending, "sending", false, "it takes the place of its original: what it has to send is sent")
	flags.BoolVar(&r.check, "check", false, "only try the archive")
	flags.StringVar(&r.passphrase, "passphrase-file", "", "file with the passphrase")
	return cmd
}

func (g *group) restore(ctx context.Context, in io.Reader, file string, r restoring) error {
	shown := g.Progress()
	defer shown.End()
	r.Tell = shown.Tell()
	cover, err := backup.Inspect(ctx, file, r.Tell)
	if err != nil {
		return err
	}
	set, err := g.NewSet(sites.Config{})
	if err != nil {
		return err
	}
	defer set.CloseAll()
	// Who has to type the passphrase does so for an archive that can be restored.
	if !r.check {
		if err := archive.CheckCover(ctx, set, cover, r.RestoreOptions); err != nil {
			return restoreHint(err)
		}
	}
	shown.End()
	phrase, err := g.passphrase(in, r.passphrase)
	if err != nil {
		return err
	}
	if r.check {
		return g.tryArchive(ctx, set, file, phrase, shown)
	}
	done, err := archive.Restore(ctx, set, file, phrase, r.RestoreOptions)
	if err != nil {
		return restoreHint(err)
	}
	shown.End()
	return g.sayRestored(done)
}

func restoreHint(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w\nhint: restore --as another name, or with --replace to move it aside", err)
	}
	return err
}

func (g *group) tryArchive(ctx context.Context, set *sites.Set, file, passphrase string, shown *terminal.Progress) error {
	tried, err := archive.Verify(ctx, set, file, passphrase, shown.Tell())
	if err != nil {
		return err
	}
	shown.End()
	h, m := tried.Header, &tried.Manifest
	files, bytes := m.Files()
	return g.Say(map[string]any{
		"name": h.Site, "made": h.Made, "version": h.Version, "records": m.Records(), "files": files, "bytes": bytes,
	}, "the archive of site %s of %s can be restored: %d records, %d files of %d bytes", h.Site, h.Made.Format("2006-01-02 15:04:05 MST"), m.Records(), files, bytes)
}

func (g *group) sayRestored(done *archive.Restored) error {
	if g.JSON {
		return g.PrintJSON(done)
	}
	for _, note := range done.Notes {
		fmt.Fprintln(g.Stderr, "note:", note)
	}
	if done.Moved != "" {
		fmt.Fprintln(g.Stderr, "note: the site that was there is in", done.Moved)
	}
	if done.Schema != "" {
		fmt.Fprintln(g.Stderr, "note: its database is the PostgreSQL schema", done.Schema)
	}
	if done.Paused != "" {
		fmt.Fprintf(g.Stderr, "note: nothing is sent from it until you say so: armature site resume %s\n", done.Site)
	}
	return g.Say(done, "restored site %s: %d records and %d files, compared with the archive", done.Site, done.Records, done.Files)
}
