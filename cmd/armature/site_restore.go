package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"armature/core/backup"
	"armature/core/sites"
)

// restoring is what the flags of site restore say.
type restoring struct {
	sites.RestoreOptions
	passphrase string // file
	check      bool
}

func (a *app) siteRestoreCommand() *cobra.Command {
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
			"--check makes nothing: it tries the archive in a database that is thrown away.\n" + passphraseHelp,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.restore(cmd.Context(), cmd.InOrStdin(), args[0], r)
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

func (a *app) restore(ctx context.Context, in io.Reader, file string, r restoring) error {
	shown := a.progress()
	defer shown.end()
	r.Tell = shown.tell()
	cover, err := backup.Inspect(ctx, file, r.Tell)
	if err != nil {
		return err
	}
	set, err := a.newSet(sites.Config{})
	if err != nil {
		return err
	}
	defer set.CloseAll()
	// Who has to type the passphrase does so for an archive that can be restored.
	if !r.check {
		if err := set.CheckCover(ctx, cover, r.RestoreOptions); err != nil {
			return restoreHint(err)
		}
	}
	shown.end()
	phrase, err := a.passphrase(in, r.passphrase)
	if err != nil {
		return err
	}
	if r.check {
		return a.tryArchive(ctx, set, file, phrase, shown)
	}
	done, err := set.Restore(ctx, file, phrase, r.RestoreOptions)
	if err != nil {
		return restoreHint(err)
	}
	shown.end()
	return a.sayRestored(done)
}

func restoreHint(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w\nhint: restore --as another name, or with --replace to move it aside", err)
	}
	return err
}

func (a *app) tryArchive(ctx context.Context, set *sites.Set, file, passphrase string, shown *progress) error {
	archive, err := set.Verify(ctx, file, passphrase, shown.tell())
	if err != nil {
		return err
	}
	shown.end()
	h, m := archive.Header, &archive.Manifest
	files, bytes := m.Files()
	return a.say(map[string]any{
		"name": h.Site, "made": h.Made, "version": h.Version, "records": m.Records(), "files": files, "bytes": bytes,
	}, "the archive of site %s of %s can be restored: %d records, %d files of %d bytes", h.Site, h.Made.Format("2006-01-02 15:04:05 MST"), m.Records(), files, bytes)
}

func (a *app) sayRestored(done *sites.Restored) error {
	if a.json {
		return a.printJSON(done)
	}
	for _, note := range done.Notes {
		fmt.Fprintln(a.stderr, "note:", note)
	}
	if done.Moved != "" {
		fmt.Fprintln(a.stderr, "note: the site that was there is in", done.Moved)
	}
	if done.Schema != "" {
		fmt.Fprintln(a.stderr, "note: its database is the PostgreSQL schema", done.Schema)
	}
	if done.Paused != "" {
		fmt.Fprintf(a.stderr, "note: nothing is sent from it until you say so: armature site resume %s\n", done.Site)
	}
	return a.say(done, "restored site %s: %d records and %d files, compared with the archive", done.Site, done.Records, done.Files)
}
