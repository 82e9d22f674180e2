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
	"armature/core/sites"
)

// passphraseVariable holds the passphrase of backups.
const passphraseVariable = envPrefix + "BACKUP_PASSPHRASE"

const passphraseHelp = "The passphrase comes from " + passphraseVariable + ", the first line of --passphrase-file,\nor standard input."

func (a *app) siteBackupCommand() *cobra.Command {
	var passphrase string
	var untried bool
	cmd := &cobra.Command{
		Use:   "backup NAME [FILE]",
		Short: "Write a site into one archive",
		Long: "Write a site into one archive that can be carried: documents, DocTypes, files, users, clients,\n" +
			"plugins, configuration and secrets, as they are at one moment, while servers go on serving it.\n" +
			"Logs and the plugins for all sites are not in it. Without FILE it is NAME-<time>.armature; - is\n" +
			"standard output. A file that is there is never overwritten. The archive is sealed under a passphrase, without which it is worth nothing.\n" +
			"Then it is tried: restored into a database that is thrown away, and compared. `serve --backup-to`\n" +
			"makes archives by schedule.\n" + passphraseHelp,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, file := args[0], ""
			if len(args) == 2 {
				file = args[1]
			}
			if file == "" {
				file = backup.Name(name, time.Now())
			}
			if err := free(file); err != nil {
				return err
			}
			phrase, err := a.passphrase(cmd.InOrStdin(), passphrase)
			if err != nil {
				return err
			}
			return a.backup(cmd.Context(), name, file, phrase, !untried)
		},
	}
	cmd.Flags().StringVar(&passphrase, "passphrase-file", "", "file with the passphrase")
	cmd.Flags().BoolVar(&untried, "untried", false, "do not try the archive by restoring it")
	return cmd
}

func (a *app) backup(ctx context.Context, name, file, passphrase string, try bool) error {
	set, err := a.newSet(sites.Config{})
	if err != nil {
		return err
	}
	defer set.CloseAll()
	shown := a.progress()
	defer shown.end()
	write := func(tmp *os.File) (*backup.Manifest, error) {
		m, err := set.Backup(ctx, name, passphrase, tmp, shown.tell())
		if err == nil {
			err = tmp.Sync()
		}
		if err == nil && try {
			_, err = set.Verify(ctx, tmp.Name(), passphrase, shown.tell())
		}
		return m, err
	}
	if file == "-" {
		return a.backupOut(write)
	}
	m, err := backupTo(file, write)
	if err != nil {
		return err
	}
	shown.end()
	files, bytes := m.Files()
	tried := ""
	if try {
		tried = ", restored once to try it"
	}
	return a.say(map[string]any{"name": name, "file": file, "records": m.Records(), "files": files, "bytes": bytes, "tried": try},
		"backed up site %s to %s: %d records, %d files of %d bytes%s", name, file, m.Records(), files, bytes, tried)
}

// backupOut writes an archive to standard output when it is whole.
func (a *app) backupOut(write func(*os.File) (*backup.Manifest, error)) error {
	tmp, err := os.CreateTemp("", "armature-backup-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	defer tmp.Close()
	if _, err := write(tmp); err != nil {
		return err
	}
	if _, err := tmp.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = io.Copy(a.stdout, tmp)
	return err
}

// backupTo writes a file that appears under its name when it is whole.
func backupTo(file string, write func(*os.File) (*backup.Manifest, error)) (*backup.Manifest, error) {
	tmp, err := os.CreateTemp(filepath.Dir(file), ".armature-backup-*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(tmp.Name())
	m, err := write(tmp)
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, err
	}
	return m, publish(tmp.Name(), file)
}

// free reports whether a file may be written: a backup that is there is worth more
// than the wish to make another.
func free(file string) error {
	if file == "-" {
		return nil
	}
	switch _, err := os.Lstat(file); {
	case err == nil:
		return fmt.Errorf("%s is there already and is not overwritten: name another file, or remove it first", file)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

// publish gives a whole file its name, unless somebody else has taken that
// meanwhile.
func publish(tmp, file string) error {
	err := os.Link(tmp, file)
	if err == nil {
		return os.Remove(tmp)
	}
	if err := free(file); err != nil {
		return err
	}
	return os.Rename(tmp, file) // a file system without links
}

// passphrase finds the passphrase of an archive.
func (a *app) passphrase(in io.Reader, file string) (string, error) {
	return secretText(in, passphraseVariable, file, "Passphrase of the archive: ")
}

// secretText finds a passphrase: in a file, in a variable of the environment, or
// from whoever types it. It is no argument: those show in the list of processes and
// in the shell's history.
func secretText(in io.Reader, variable, file, prompt string) (string, error) {
	phrase, err := givenText(variable, file)
	if err == nil && phrase == "" {
		phrase, err = readPassword(in, prompt)
	}
	if err == nil && phrase == "" {
		err = fmt.Errorf("the passphrase is empty: set %s", variable)
	}
	return phrase, err
}

// givenPassphrase is the one that nobody has to be asked for; empty: there is none.
func givenPassphrase(file string) (string, error) { return givenText(passphraseVariable, file) }

func givenText(variable, file string) (string, error) {
	if file == "" {
		return os.Getenv(variable), nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("passphrase: %w", err)
	}
	phrase, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSuffix(phrase, "\r"), nil
}
