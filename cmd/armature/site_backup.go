package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"armature/core/backup"
	"armature/core/host"
)

// passphraseVariable holds the passphrase of backups.
const passphraseVariable = envPrefix + "BACKUP_PASSPHRASE"

const passphraseHelp = "The passphrase comes from " + passphraseVariable + ", the first line of --passphrase-file,\nor standard input."

func (a *app) siteBackupCommand() *cobra.Command {
	var passphrase string
	cmd := &cobra.Command{
		Use:   "backup NAME [FILE]",
		Short: "Write a site into one archive",
		Long: "Write a site into one archive that can be carried: documents, DocTypes, files, users, clients,\n" +
			"plugins, configuration and secrets, as they are at one moment, while servers go on serving it.\n" +
			"Logs and the plugins for all sites are not in it. Without FILE it is NAME-<time>.armature; - is\n" +
			"standard output. The archive is sealed under a passphrase, without which it is worth nothing.\n" + passphraseHelp,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, file := args[0], ""
			if len(args) == 2 {
				file = args[1]
			}
			if file == "" {
				file = name + "-" + time.Now().UTC().Format("20060102T150405Z") + ".armature"
			}
			phrase, err := a.passphrase(cmd.InOrStdin(), passphrase)
			if err != nil {
				return err
			}
			return a.backup(cmd.Context(), name, file, phrase)
		},
	}
	cmd.Flags().StringVar(&passphrase, "passphrase-file", "", "file with the passphrase")
	return cmd
}

func (a *app) backup(ctx context.Context, name, file, passphrase string) error {
	set, err := a.newSet(host.Config{})
	if err != nil {
		return err
	}
	defer set.CloseAll()
	if file == "-" {
		_, err := set.Backup(ctx, name, passphrase, a.stdout)
		return err
	}
	m, err := backupTo(file, func(w io.Writer) (*backup.Manifest, error) { return set.Backup(ctx, name, passphrase, w) })
	if err != nil {
		return err
	}
	files, bytes := m.Files()
	return a.say(map[string]any{"name": name, "file": file, "records": m.Records(), "files": files, "bytes": bytes},
		"backed up site %s to %s: %d records, %d files of %d bytes", name, file, m.Records(), files, bytes)
}

// backupTo writes a file that appears under its name when it is whole.
func backupTo(file string, write func(io.Writer) (*backup.Manifest, error)) (*backup.Manifest, error) {
	tmp, err := os.CreateTemp(filepath.Dir(file), ".armature-backup-*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(tmp.Name())
	m, err := write(tmp)
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, err
	}
	return m, os.Rename(tmp.Name(), file)
}

func (a *app) siteRestoreCommand() *cobra.Command {
	var as, passphrase string
	var replace bool
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Make a site of an archive",
		Long: "Make a site of an archive, in SQLite or PostgreSQL, whichever it was made from. The archive is\n" +
			"read and checked whole before anything is made; every record is compared after it was stored;\n" +
			"the site is seen when all of it is there. A site of the name is left alone, unless --replace moves\n" +
			"it to <data>/dropped first.\n" + passphraseHelp,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			phrase, err := a.passphrase(cmd.InOrStdin(), passphrase)
			if err != nil {
				return err
			}
			return a.restore(cmd.Context(), args[0], phrase, as, replace)
		},
	}
	cmd.Flags().StringVar(&as, "as", "", "name of the site; without it the one in the archive")
	cmd.Flags().BoolVar(&replace, "replace", false, "move a site of that name aside")
	cmd.Flags().StringVar(&passphrase, "passphrase-file", "", "file with the passphrase")
	return cmd
}

func (a *app) restore(ctx context.Context, file, passphrase, as string, replace bool) error {
	set, err := a.newSet(host.Config{})
	if err != nil {
		return err
	}
	defer set.CloseAll()
	done, err := set.Restore(ctx, file, passphrase, as, replace)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w\nhint: restore --as another name, or with --replace to move it aside", err)
	}
	if err != nil {
		return err
	}
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
	return a.say(done, "restored site %s: %d records and %d files, compared with the archive", done.Site, done.Records, done.Files)
}

// passphrase finds the passphrase. It is no argument: those show in the list of
// processes and in the shell's history.
func (a *app) passphrase(in io.Reader, file string) (string, error) {
	phrase := os.Getenv(passphraseVariable)
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("passphrase: %w", err)
		}
		phrase, _, _ = strings.Cut(string(text), "\n")
		phrase = strings.TrimSuffix(phrase, "\r")
	}
	if phrase == "" {
		var err error
		if phrase, err = readPassword(in, "Passphrase of the archive: "); err != nil {
			return "", err
		}
	}
	if phrase == "" {
		return "", fmt.Errorf("the passphrase is empty: set %s", passphraseVariable)
	}
	return phrase, nil
}
