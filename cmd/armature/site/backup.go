package site

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"armature/cmd/armature/outfile"
	"armature/cmd/armature/secret"
	"armature/core/backup"
	"armature/core/sites"
	"armature/core/sites/archive"
)

func (g *group) backupCommand() *cobra.Command {
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
			"makes archives by schedule.\n" + secret.BackupHelp,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, file := args[0], ""
			if len(args) == 2 {
				file = args[1]
			}
			if file == "" {
				file = backup.Name(name, time.Now())
			}
			if err := outfile.Free(file); err != nil {
				return err
			}
			phrase, err := g.passphrase(cmd.InOrStdin(), passphrase)
			if err != nil {
				return err
			}
			return g.backup(cmd.Context(), name, file, phrase, !untried)
		},
	}
	cmd.Flags().StringVar(&passphrase, "passphrase-file", "", "file with the passphrase")
	cmd.Flags().BoolVar(&untried, "untried", false, "do not try the archive by restoring it")
	return cmd
}

func (g *group) backup(ctx context.Context, name, file, passphrase string, try bool) error {
	set, err := g.NewSet(sites.Config{})
	if err != nil {
		return err
	}
	defer set.CloseAll()
	shown := g.Progress()
	defer shown.End()
	write := func(tmp *os.File) (*backup.Manifest, error) {
		m, err := archive.Backup(ctx, set, name, passphrase, tmp, shown.Tell())
		if err == nil {
			err = tmp.Sync()
		}
		if err == nil && try {
			_, err = archive.Verify(ctx, set, tmp.Name(), passphrase, shown.Tell())
		}
		return m, err
	}
	if file == "-" {
		return g.backupOut(write)
	}
	m, err := backupTo(file, write)
	if err != nil {
		return err
	}
	shown.End()
	files, bytes := m.Files()
	tried := ""
	if try {
		tried = ", restored once to try it"
	}
	return g.Say(map[string]any{"name": name, "file": file, "records": m.Records(), "files": files, "bytes": bytes, "tried": try},
		"backed up site %s to %s: %d records, %d files of %d bytes%s", name, file, m.Records(), files, bytes, tried)
}

// backupOut writes an archive to standard output when it is whole.
func (g *group) backupOut(write func(*os.File) (*backup.Manifest, error)) error {
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
	_, err = io.Copy(g.Stdout, tmp)
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
	return m, outfile.Publish(tmp.Name(), file)
}

// passphrase finds the passphrase of an archive.
func (g *group) passphrase(in io.Reader, file string) (string, error) {
	return secret.Find(in, secret.BackupVariable, file, "Passphrase of the archive: ")
}
